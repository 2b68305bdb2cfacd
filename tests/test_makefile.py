"""What make does before anything is installed, and what CI runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

CHECKOUT = Path(__file__).parents[1]
MAKEFILE = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(" ".join(re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)).split()) - {"broken-venv"}
PYTHON = shlex.quote(sys.executable)
STAMPS = [".requirements", ".project", ".requirements-dev", ".requirements-docs", ".policy-evaluator"]
EVALUATOR = "tests/policy_evaluator/package-lock.json"
CLIENTS = Path("tests", "clients", "requirements.txt")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files of the checkout that make reads, in a folder with a space in its name."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    for file in ["Makefile", "pyproject.toml", "constraints.txt", *CHECKOUT.glob("requirements*.txt")]:
        (folder / Path(file).name).symlink_to(CHECKOUT / file)
    for nested in (EVALUATOR, CLIENTS):
        (folder / nested).parent.mkdir(parents=True)
        (folder / nested).symlink_to(CHECKOUT / nested)
    return folder


@pytest.fixture
def installed(clone: Path) -> Path:
    """The same after `make test`: a virtual environment with all that is installed into it."""
    environment = clone / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    (environment / "pyvenv.cfg").write_text(f"version = 3.11\ncommand = python3 -m venv {environment}\n")
    for stamp in STAMPS:
        (environment / stamp).touch()
    return clone


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments, *(f"{name}={value}" for name, value in variables.items())],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def executable(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return shlex.quote(str(path))


def test_help_lists_every_target(clone: Path):
    listed = re.findall(r"^make ([a-z0-9-]+) +\S.*$", make(clone).stdout, re.MULTILINE)
    assert sorted(listed) == sorted(TARGETS)


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_target_can_be_made(clone: Path, target: str):
    dry = make(clone, "--dry-run", target)
    assert dry.returncode == 0, dry.stderr


def test_a_python_that_is_too_old_is_refused_with_what_to_do(clone: Path, tmp_path: Path):
    run = f'exec {PYTHON} -c "import sys; sys.version_info = (3, 9, 18); exec(sys.argv[1])" "$2"'
    refused = make(clone, "demo", PYTHON=executable(tmp_path / "python3.9", run))
    assert refused.returncode != 0
    assert "is Python 3.9\n" in refused.stderr
    assert "needs Python 3.11 or newer. Name it: make demo PYTHON=python3.12" in refused.stderr
    assert not (clone / ".venv").exists()


def test_a_python_that_is_not_there_is_refused_with_what_to_do(clone: Path):
    refused = make(clone, "demo", PYTHON="no-such-python")
    assert refused.returncode != 0
    assert "needs Python 3.11 or newer" in refused.stderr


def test_a_python_without_virtual_environments_is_refused_with_what_to_install(clone: Path, tmp_path: Path):
    (tmp_path / "ensurepip.py").write_text("raise ImportError")
    run = f'PYTHONPATH={shlex.quote(str(tmp_path))} exec {PYTHON} "$@"'
    refused = make(clone, "test", PYTHON=executable(tmp_path / "python3", run))
    assert refused.returncode != 0
    assert "have them in the package python3-venv" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize("stamp", STAMPS)
def test_what_is_installed_is_not_installed_again(installed: Path, stamp: str):
    assert make(installed, "--question", f".venv/{stamp}").returncode == 0


@pytest.mark.parametrize(
    ("changed", "stale"),
    [
        ("requirements-build.txt", STAMPS),
        ("requirements.txt", STAMPS),
        ("constraints.txt", STAMPS),
        ("pyproject.toml", [".project", ".requirements-dev", ".requirements-docs"]),
        ("requirements-dev.txt", [".requirements-dev"]),
        ("requirements-docs.txt", [".requirements-docs"]),
        (EVALUATOR, [".policy-evaluator"]),
    ],
)
def test_what_has_changed_is_installed_again(installed: Path, changed: str, stale: list[str]):
    later = (installed / ".venv" / STAMPS[0]).stat().st_mtime + 10
    content = (installed / changed).read_bytes()
    (installed / changed).unlink()
    (installed / changed).write_bytes(content)
    os.utime(installed / changed, (later, later))
    assert [stamp for stamp in STAMPS if make(installed, "--question", f".venv/{stamp}").returncode] == stale


def test_a_checkout_that_was_moved_gets_a_new_virtual_environment(installed: Path, tmp_path: Path):
    moved = installed.rename(tmp_path / "moved")
    dry = make(moved, "--dry-run", "demo")
    assert "rm -rf .venv\n" in dry.stdout
    assert "python3 -m venv .venv" in dry.stdout


def test_a_virtual_environment_whose_python_is_gone_is_made_anew(installed: Path):
    (installed / ".venv" / "bin" / "python").unlink()
    (installed / ".venv" / "bin" / "python").symlink_to("/no/such/python")
    assert "rm -rf .venv\n" in make(installed, "--dry-run", "demo").stdout


def test_a_virtual_environment_made_by_another_tool_is_left_alone(installed: Path):
    (installed / ".venv" / "pyvenv.cfg").write_text("uv = 0.9\nversion_info = 3.11\n")
    assert "rm -rf .venv\n" not in make(installed, "--dry-run", "demo").stdout


@pytest.mark.parametrize(
    ("output", "status", "last"),
    [
        ("12 passed in 3.45s", 0, "12 passed in 3.45s"),
        (
            "1 failed, 11 passed in 83.45s (0:01:23)\nmake: *** [pytest] Error 1",
            2,
            "1 failed, 11 passed in 83.45s (0:01:23)",
        ),
        ("==== 12 passed, 3 warnings in 3.45s ====\nmore", 0, "==== 12 passed, 3 warnings in 3.45s ===="),
        ("make: *** [.venv/.requirements] Error 1", 2, "pytest did not run"),
    ],
)
def test_the_last_line_of_ci_is_pytests_and_its_status_is_makes(tmp_path: Path, output: str, status: int, last: str):
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").symlink_to(CHECKOUT / ".ci" / "run")
    (tmp_path / "bin").mkdir()
    executable(tmp_path / "bin" / "make", f"printf '%s\\n' \"$*\" CI=$CI {shlex.quote(output)}; exit {status}")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    ci = subprocess.run(
        ["bash", ".ci/run"], cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert ci.returncode == status
    assert ci.stdout.splitlines()[:2] == ["--keep-going test", "CI=true"]
    assert ci.stdout.splitlines()[-1] == last


def test_every_hook_before_a_commit_is_a_command_of_the_virtual_environment():
    config = YAML(typ="safe").load(CHECKOUT / ".pre-commit-config.yaml")
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    assert {repository["repo"] for repository in config["repos"]} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    commands = {hook["entry"].split()[0] for hook in hooks}
    assert {command for command in commands if not command.startswith(".venv/bin/")} == set()
    assert {command for command in commands if not (Path(sys.executable).parent / Path(command).name).exists()} == set()
