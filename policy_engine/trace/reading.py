"""Reads job traces in the native format: one row a job. Every bad row is reported; a trace comes only of good ones."""

from collections.abc import Callable, Collection

import numpy as np
import polars as pl

from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.topology.suggestions import did_you_mean
from policy_engine.trace import columns as c
from policy_engine.trace.assembling import assemble
from policy_engine.trace.bad_rows import SHOWN, BadRow, BadRows, show
from policy_engine.trace.checks import (
    ALL_SECONDS,
    Number,
    check_numbers,
    flags,
    milliseconds,
    numbers,
    submissions,
    texts,
)
from policy_engine.trace.jobs import NONE, ON_STOP, JobTrace
from policy_engine.trace.needs import read_needs
from policy_engine.trace.tables import FileFormat, Source, Table, open_table
from policy_engine.trace.times import seconds_to_milliseconds

_SECONDS = f"a number of seconds, 0 to {ALL_SECONDS}"
_POSITIVE = f"a number of seconds, 0.001 to {ALL_SECONDS}"
_RUNTIME = Number("TR017", c.RUNTIME, _SECONDS, 0, ALL_SECONDS, required=True)
_PRIORITY = Number("TR018", c.PRIORITY, "a whole number from 0 to 9999", 0, 9999, whole=True)
_RETRIES = Number(
    "TR019", c.RETRIES, "a whole number from 0 to 1000000, or nothing for unlimited", 0, 1_000_000, whole=True
)
_CHECKPOINT = Number("TR020", c.CHECKPOINT, f"{_POSITIVE}, on_stop, or nothing", 0.001, ALL_SECONDS)
_ATTEMPT = Number("TR021", c.ATTEMPT, f"{_POSITIVE}, or nothing", 0.001, ALL_SECONDS)


def read_trace(
    source: Source,
    *,
    format: FileFormat | None = None,  # noqa: A002
    shares: Collection[str] | None = None,
    note: Callable[[Finding], None] = lambda _: None,
) -> JobTrace:
    """Read a native trace from a path, `-` (standard input) or an open binary stream.

    Without `format` it is taken from the file's name, else from its first bytes. With `shares`, jobs of any other
    share are bad rows. `note` gets what a user should know and need not mend, such as columns that are ignored.

    Raises InputError with everything that is wrong, each row at its line.
    """
    return trace_of(open_table(source, format), shares=shares, note=note)


def trace_of(
    table: Table, *, shares: Collection[str] | None = None, note: Callable[[Finding], None] = lambda _: None
) -> JobTrace:
    """Turn a table with the native columns into a trace. Raises InputError."""
    bad = BadRows(table)
    if not len(table):
        bad.raise_if_any()
    for finding in c.check_columns(table, note):
        bad.add(finding)
    if any(finding.id == "TR003" for finding in bad.findings):
        bad.raise_if_any()
    if not len(table):
        bad.add(Finding("TR002", Severity.ERROR, "the trace has no jobs", position=table.position(0, None)))
        bad.raise_if_any()
    job_id = texts(table, bad, "TR010", c.JOB_ID, "an id")
    _check_unique(bad, job_id)
    share = texts(table, bad, "TR012", c.SHARE, "a share")
    if shares is not None:
        _check_shares(bad, share, shares)
    submitted_at, epoch = submissions(table, bad)
    needs = read_needs(table, bad)
    runtime = milliseconds(table, bad, _RUNTIME)
    priority = _optional(table, bad, _PRIORITY, 0)
    retries = _optional(table, bad, _RETRIES, NONE)
    checkpoint = _checkpoints(table, bad)
    attempt_timeout = _attempt_timeouts(table, bad)
    fails = flags(table, bad, "TR022", c.FAILS) if c.FAILS in table.columns else False
    bad.raise_if_any()
    if needs is None:
        raise AssertionError("needs that cannot be read are reported")
    return assemble(
        job_id=job_id,
        share=share,
        needs=needs,
        submitted_at=submitted_at,
        runtime=runtime,
        priority=priority,
        preemption_retries=retries,
        checkpoint=checkpoint,
        attempt_timeout=attempt_timeout,
        fails=fails,
        epoch=epoch,
    )


def check_shares(trace: JobTrace, shares: Collection[str]) -> None:
    """Raise InputError if jobs of a trace in memory name shares that are not among `shares`."""
    findings = []
    for code, name in enumerate(trace.share_names):
        if name not in shares:
            jobs = np.flatnonzero(trace.share == code)
            message = (
                f"unknown share {show(name)}: {len(jobs):,} jobs, the first of them {show(trace.job_id[int(jobs[0])])}"
            )
            findings.append(Finding("TR013", Severity.ERROR, message, _known(name, shares)))
    if findings:
        raise InputError(findings)


def _check_unique(bad: BadRows, job_id: pl.Series) -> None:
    hashes = np.sort(job_id.hash().to_numpy())
    if not (hashes[1:] == hashes[:-1]).any():
        return
    again = ~job_id.is_first_distinct() & job_id.is_not_null()
    bad.report("TR011", c.JOB_ID, again, expected="an id that no earlier row has", values=job_id)


def _check_shares(bad: BadRows, share: pl.Series, shares: Collection[str]) -> None:
    unknown = ~share.is_in(list(shares)).fill_null(value=True)
    rows = unknown.arg_true()
    shown = [BadRow(row, f"unknown share {show(share[row])}", _known(share[row], shares)) for row in rows.head(SHOWN)]
    bad.report_rows("TR013", c.SHARE, shown, len(rows), "unknown share")


def _known(name: str, shares: Collection[str]) -> str:
    names = sorted(shares)
    otherwise = "the topology has " + ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return did_you_mean(name[:128], names, otherwise)


def _optional(table: Table, bad: BadRows, rule: Number, default: int) -> pl.Series | int:
    if rule.column not in table.columns:
        return default
    return numbers(table, bad, rule).fill_null(default)


def _attempt_timeouts(table: Table, bad: BadRows) -> pl.Series | int:
    if c.ATTEMPT not in table.columns:
        return NONE
    return milliseconds(table, bad, _ATTEMPT).fill_null(NONE)


def _checkpoints(table: Table, bad: BadRows) -> pl.Series | int:
    if c.CHECKPOINT not in table.columns:
        return NONE
    values = table.column(c.CHECKPOINT)
    if values.dtype != pl.String:
        return milliseconds(table, bad, _CHECKPOINT).fill_null(NONE)
    on_stop = (values == "on_stop").fill_null(value=False)
    numeric = values.set(on_stop, None)
    seconds = check_numbers(bad, _CHECKPOINT, numeric, numeric.cast(pl.Float64, strict=False))
    return seconds_to_milliseconds(seconds).fill_null(NONE).set(on_stop, ON_STOP)
