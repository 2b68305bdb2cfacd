"""Writing native traces: what is written is read back, and files appear whole or not at all."""

import dataclasses
import io
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.files import writing
from policy_engine.trace import FileFormat, JobTrace, read_trace, write_trace
from policy_engine.trace.writing import native_frame, write_stream

HEADER = "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds"


def trace_of(text: str) -> JobTrace:
    return read_trace(io.BytesIO(text.encode()))


def same(one: JobTrace, other: JobTrace) -> bool:
    for field in dataclasses.fields(JobTrace):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, pl.Series):
            equal = a.equals(b)
        elif isinstance(a, np.ndarray):
            equal = a.dtype == b.dtype and np.array_equal(a, b)
        else:
            equal = a == b
        if not equal:
            return False
    return True


seconds = st.integers(0, 10**9).map(lambda ms: ms / 1000)
rows = st.fixed_dictionaries(
    {
        "share": st.sampled_from(["s", "t", 'a "quoted", one', "\n", "ü"]),
        "submitted_at": seconds,
        "instances": st.dictionaries(st.sampled_from(["ml.x", "ml.y", "ml.z"]), st.integers(1, 10**6), min_size=1).map(
            lambda need: ";".join(f"{unit}={count}" for unit, count in need.items())
        ),
        "runtime_seconds": seconds,
        "priority": st.integers(0, 9999),
        "preemption_retries": st.none() | st.integers(0, 10**6),
        "checkpoint": st.none() | st.just("on_stop") | st.integers(1, 10**9).map(lambda ms: str(ms / 1000)),
        "attempt_seconds": st.none() | st.integers(1, 10**9).map(lambda ms: ms / 1000),
        "fails": st.booleans(),
    }
)
SCHEMA = {"preemption_retries": pl.Int64, "checkpoint": pl.String, "attempt_seconds": pl.Float64}


@settings(max_examples=40, deadline=None)
@given(st.lists(rows, min_size=1, max_size=8), st.sampled_from(list(FileFormat)))
def test_what_is_written_is_read_back(jobs: list[dict[str, object]], form: FileFormat) -> None:
    source = io.BytesIO()
    named = [{"job_id": f"job {number},\n", **job} for number, job in enumerate(jobs)]
    pl.DataFrame(named, schema_overrides=SCHEMA).write_parquet(source)
    trace = read_trace(io.BytesIO(source.getvalue()))
    written = io.BytesIO()
    write_stream(trace, written, form)
    assert same(read_trace(io.BytesIO(written.getvalue()), format=form), trace)


@pytest.mark.parametrize("form", list(FileFormat))
@pytest.mark.parametrize("at", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.125Z"])
def test_a_trace_with_dates_is_written_with_dates(form: FileFormat, at: str) -> None:
    trace = trace_of(f"{HEADER}\na,s,{at},ml.x,1,1\nb,s,2026-01-01T00:01:00Z,ml.x,1,1\n")
    written = io.BytesIO()
    write_stream(trace, written, form)
    assert same(read_trace(io.BytesIO(written.getvalue())), trace)
    if form is not FileFormat.PARQUET:
        assert at.encode() in written.getvalue()


def test_columns_that_no_job_uses_are_left_out_and_whole_seconds_stay_whole() -> None:
    trace = trace_of(f"{HEADER},priority,checkpoint,fails\na,s,1.0,ml.x,2,60,0,,false\n")
    assert native_frame(trace).columns == HEADER.split(",")
    written = io.BytesIO()
    write_stream(trace, written, FileFormat.CSV)
    assert written.getvalue().decode() == f"{HEADER}\na,s,1,ml.x,2,60\n"


@pytest.mark.parametrize(
    ("name", "begins"), [("t.csv", b"job_id,"), ("t.jsonl", b'{"job_id"'), ("t.parquet", b"PAR1"), ("t", b"job_id,")]
)
def test_the_format_follows_the_file_s_name(name: str, begins: bytes, tmp_path: Path) -> None:
    write_trace(trace_of(f"{HEADER}\na,s,0,ml.x,1,1\n"), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)
    write_trace(trace_of(f"{HEADER}\na,s,0,ml.x,1,1\n"), tmp_path / name, format=FileFormat.PARQUET, overwrite=True)
    assert (tmp_path / name).read_bytes().startswith(b"PAR1")


def test_a_file_that_is_there_is_kept_unless_overwriting_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("precious")
    with pytest.raises(FileExistsError), writing(path, overwrite=False) as file:
        file.write(b"new")
    assert path.read_text() == "precious"
    with writing(path, overwrite=True) as file:
        file.write(b"new")
        assert path.read_text() == "precious"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "out"

    def interrupted() -> None:
        with writing(path, overwrite=False) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out"

    def overtaken() -> None:
        with writing(path, overwrite=False) as file:
            file.write(b"new")
            path.write_text("somebody else's")

    with pytest.raises(FileExistsError):
        overtaken()
    assert path.read_text() == "somebody else's"


def test_links_are_followed_permissions_are_ordinary_and_directories_refused(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    with writing(link, overwrite=False) as file:
        file.write(b"x")
    assert link.is_symlink()
    assert target.read_bytes() == b"x"
    (tmp_path / "plain").touch()
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    with pytest.raises(IsADirectoryError), writing(tmp_path, overwrite=True) as file:
        file.write(b"x")
    with pytest.raises(FileNotFoundError), writing(tmp_path / "no" / "where", overwrite=True) as file:
        file.write(b"x")


def test_a_device_is_written_directly() -> None:
    with writing(Path("/dev/null"), overwrite=False) as file:
        file.write(b"x")
    assert Path("/dev/null").is_char_device()
