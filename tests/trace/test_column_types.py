"""Parquet columns may have any type at all: each is a trace or findings, never another error."""

import datetime as dt
import io
from decimal import Decimal

import polars as pl
import pytest

from policy_engine.diagnostics import InputError
from policy_engine.trace import read_trace
from policy_engine.trace.formats import FORMATS, Options, TimeUnit, convert

COLUMNS = {
    "int8": pl.Series([1, -1], dtype=pl.Int8),
    "uint64": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
    "int128": pl.Series([2**100, None], dtype=pl.Int128),
    "float": pl.Series([float("nan"), float("inf")]),
    "decimal": pl.Series([Decimal("1.5"), None]),
    "boolean": pl.Series([True, None]),
    "null": pl.Series([None, None]),
    "binary": pl.Series([b"\xff\xfe", b""]),
    "categorical": pl.Series(["a", "b"], dtype=pl.Categorical),
    "date": pl.Series([dt.date(2026, 1, 1), None]),
    "datetime": pl.Series([dt.datetime(2026, 1, 1, tzinfo=dt.UTC), None]),
    "time": pl.Series([dt.time(1), None]),
    "duration": pl.Series([dt.timedelta(1), None]),
    "list": pl.Series([[1], [2]]),
    "array": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)),
    "struct": pl.Series([{"a": 1}, {"a": 2}]),
}
NATIVE = pl.DataFrame(
    {
        "job_id": ["a", "b"],
        "share": ["s", "s"],
        "submitted_at": [0, 1],
        "instance_type": ["x", "x"],
        "instance_count": [1, 2],
        "instances": [None, None],
        "runtime_seconds": [1, 2],
        "priority": [1, 2],
        "preemption_retries": [1, None],
        "checkpoint": ["1", None],
        "attempt_seconds": [1, None],
        "fails": [True, None],
    },
    schema_overrides={"instances": pl.String},
)
FOREIGN = {
    "philly": ("job_id", "submit_s", "duration_s", "gpus", "team"),
    "philly-mix2": ("job_id", "user", "num_gpu", "submit_time", "duration", "job_type"),
    "opendc": ("id", "submission_time", "duration", "cpu_count"),
    "openb": (
        *("name", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase"),
        *("creation_time", "deletion_time", "scheduled_time"),
    ),
}


def parquet(frame: pl.DataFrame) -> io.BytesIO:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return io.BytesIO(buffer.getvalue())


@pytest.mark.parametrize("column", NATIVE.columns)
@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_a_native_column_of_any_type_is_read_or_refused(column: str, values: pl.Series) -> None:
    frame = NATIVE.with_columns(values.alias(column))
    options = Options(unit=TimeUnit.MINUTES, unix=True, priority_of={"*": 1})
    jobs = []
    for read in (read_trace, lambda source: convert(source, FORMATS["columns"], options)):
        try:
            jobs.append(len(read(parquet(frame))))
        except InputError as error:
            jobs.append(2 if error.findings else 0)
    assert jobs == [2, 2]


@pytest.mark.parametrize(
    ("kind", "column"), [(kind, column) for kind, columns in FOREIGN.items() for column in columns]
)
def test_a_foreign_column_of_any_type_is_converted_or_refused(kind: str, column: str) -> None:
    options = Options(share="s" if kind == "opendc" else None, priority_of={"*": 1})
    for name, values in COLUMNS.items():
        frame = pl.DataFrame({known: [1, 2] for known in FOREIGN[kind]}).with_columns(values.alias(column))
        try:
            jobs = len(convert(parquet(frame), FORMATS[kind], options))
        except InputError as error:
            jobs = len(error.findings)
        assert jobs > 0, name
