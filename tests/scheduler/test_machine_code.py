"""Where the compiled kernel is kept, and what happens when that does not work."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from policy_engine.scheduler import machine_code
from policy_engine.scheduler.replay import COMPILE_FROM, compilation_pending

REPLAY = "from outcome_bytes import fingerprints; print(fingerprints(range(20), use_compiled={compiled}))"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BATCH_QUOTA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def keep(cache: Path, content: bytes) -> None:
    cache.mkdir(exist_ok=True)
    (cache / machine_code.file_name()).write_bytes(content)


def test_on_a_fresh_machine_a_large_replay_has_to_compile_and_a_small_one_has_not(cache: Path):
    assert compilation_pending(COMPILE_FROM) == cache
    assert compilation_pending(COMPILE_FROM - 1) is None


def test_what_is_kept_need_not_be_compiled(cache: Path):
    keep(cache, hashlib.sha256(b"code").digest() + b"code")
    assert compilation_pending(COMPILE_FROM) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"code", hashlib.sha256(b"code").digest() + b"cod", bytes(32) + b"code"],
    ids=["empty", "no digest", "cut short", "other digest"],
)
def test_what_is_damaged_is_compiled_anew(cache: Path, content: bytes):
    keep(cache, content)
    assert compilation_pending(COMPILE_FROM) == cache


def test_a_directory_that_cannot_be_made_is_not_writable(tmp_path: Path):
    (tmp_path / "file").touch()
    assert not machine_code.writable(tmp_path / "file" / "cache")


def test_the_cache_is_the_users_own(cache: Path):
    assert machine_code.writable(cache)
    assert cache.stat().st_mode & 0o077 == 0


def outcome_in_another_process(cache: Path, *, compiled: bool) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", REPLAY.format(compiled=compiled)],
        env={**os.environ, "BATCH_QUOTA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_processes_that_compile_at_once_agree_and_leave_one_file(cache: Path):
    both = [outcome_in_another_process(cache, compiled=True) for _ in range(2)]
    outcomes = {process.communicate()[0] for process in both}
    interpreted = outcome_in_another_process(cache, compiled=False).communicate()[0]
    assert interpreted
    assert outcomes == {interpreted}
    assert [file.name for file in cache.iterdir()] == [machine_code.file_name()]


@pytest.mark.slow
def test_where_nothing_can_be_kept_a_replay_compiles_and_works(tmp_path: Path):
    (tmp_path / "file").touch()
    cache = tmp_path / "file" / "cache"
    compiled, interpreted = (outcome_in_another_process(cache, compiled=choice) for choice in (True, False))
    assert compiled.communicate()[0] == interpreted.communicate()[0] != ""
