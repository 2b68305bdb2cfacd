"""What `make lint` relies on: that the contracts on imports cover everything there is."""

import subprocess
import sys
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
IMPORT_LINTER = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
LAYERS = next(contract for contract in IMPORT_LINTER["contracts"] if contract["type"] == "layers")


def test_the_contracts_on_imports_hold():
    lint_imports = str(Path(sys.executable).parent / "lint-imports")
    run = subprocess.run(
        [lint_imports, "--no-logo", "--no-cache"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    assert "0 broken" in run.stdout


def test_every_part_of_the_policy_engine_has_a_layer():
    parts = {path.stem for path in (CHECKOUT / "policy_engine").iterdir() if not path.name.startswith("__")}
    layered = {part.strip() for layer in LAYERS["layers"] for part in layer.split("|")}
    assert layered == parts - {"py"}
    assert LAYERS["exhaustive"] is True


def test_every_package_is_typed_for_its_users():
    assert (CHECKOUT / "policy_engine" / "py.typed").exists()
    assert (CHECKOUT / "constructs" / "batch_quota" / "py.typed").exists()
