"""What jobs need: instances of one type, or of several, as distinct rows that jobs point at."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from policy_engine.diagnostics import Finding, Severity
from policy_engine.trace.bad_rows import BadRows
from policy_engine.trace.checks import Number, numbers, optional_texts
from policy_engine.trace.codes import encode
from policy_engine.trace.columns import INSTANCE_COUNT, INSTANCE_TYPE, INSTANCES
from policy_engine.trace.jobs import Bool, Int32, Int64
from policy_engine.trace.tables import Table

MOST_INSTANCES = 1_000_000
MOST_TYPES = 1_000
_TYPE = r"[A-Za-z0-9._-]+"
_ENTRY = rf"{_TYPE}=[0-9]{{1,7}}"
_EXPECTED_COUNT = f"a whole number of instances, 1 to {MOST_INSTANCES}"
_EXPECTED_SEVERAL = (
    "instance types with a number of instances, each type once, such as ml.g5.xlarge=2;ml.p4d.24xlarge=1"
)
_EXPECTED_ONE_FORM = "instances, or instance_type and instance_count, and not both"


@dataclass(frozen=True, eq=False, slots=True)
class Needs:
    """k distinct needs over the units, and which of them each of n jobs has. Their order means nothing."""

    units: tuple[str, ...]
    rows: Int64
    """k x len(units)."""
    of_job: Int32


def read_needs(table: Table, bad: BadRows) -> Needs | None:
    """Read `instance_type` and `instance_count`, or `instances`, one or the other in each row. None if any is bad."""
    before = len(bad.findings)
    if INSTANCES in table.columns:
        lists, list_code, single = _lists(table, bad)
        types, key = _single(table, bad, pl.Series(single))
        key = np.where(single, key, -1 - list_code.astype(np.int64))
        malformed, entries = _parse(lists)
        if malformed.any():
            rows = pl.Series(malformed[list_code] & (list_code >= 0))
            values = lists.gather(list_code).set(~rows, None)
            bad.report("TR015", INSTANCES, rows, expected=_EXPECTED_SEVERAL, values=values)
    else:
        types, key = _single(table, bad, None)
        lists = types.clear()
        _, entries = _parse(lists)
    if len(bad.findings) > before:
        return None
    units = types.append(entries["unit"].unique(maintain_order=True)).unique(maintain_order=True)
    if len(units) > MOST_TYPES:
        message = f"the trace names {len(units):,} instance types; at most {MOST_TYPES:,} are possible"
        bad.add(Finding("TR015", Severity.ERROR, message, position=table.position(0, None)))
        return None
    return _distinct_rows(units, pl.Series(key), len(lists), entries)


def _texts(table: Table, bad: BadRows, column: str) -> pl.Series:
    values = optional_texts(table, bad, "TR015", column)
    return pl.Series(column, ["?"]).new_from_index(0, len(table)) if values is None else values


def _lists(table: Table, bad: BadRows) -> tuple[pl.Series, Int32, Bool]:
    """Distinct `instances`, which of them each row has (-1: none), and which rows have the one-type form alone."""
    values = _texts(table, bad, INSTANCES)
    objects = values.str.starts_with("{").fill_null(value=False)
    if objects.any():  # JSON Lines may hold an object: {"ml.g5.xlarge": 2}
        plain = values.str.replace_all(r'[{}" ]', "").str.replace_all(":", "=").str.replace_all(",", ";")
        values = plain.zip_with(objects, values)
    single = np.zeros(len(table), np.bool_)
    for column in (INSTANCE_TYPE, INSTANCE_COUNT):
        if column in table.columns:
            single |= table.column(column).is_not_null().to_numpy()
    distinct, code = encode(values)
    bad.report("TR015", INSTANCES, pl.Series((code >= 0) == single), expected=_EXPECTED_ONE_FORM, values=values)
    return distinct, code, single & (code < 0)


def _single(table: Table, bad: BadRows, among: pl.Series | None) -> tuple[pl.Series, Int64]:
    """Distinct instance types, and a key of each row's type and count; rows not `among` these have any key."""
    if not {INSTANCE_TYPE, INSTANCE_COUNT} <= set(table.columns):
        return pl.Series([], dtype=pl.String), np.zeros(len(table), np.int64)
    values = _texts(table, bad, INSTANCE_TYPE)
    types, code = encode(values)
    sound = types.str.contains(f"^{_TYPE}$").to_numpy()
    if (code < 0).any() or not sound.all():
        wrong = pl.Series(np.append(~sound, True)[code])
        wrong = wrong if among is None else wrong & among
        bad.report("TR015", INSTANCE_TYPE, wrong, expected="an instance type such as ml.g5.xlarge", values=values)
    rule = Number("TR016", INSTANCE_COUNT, _EXPECTED_COUNT, 1, MOST_INSTANCES, whole=True, required=True)
    counts = numbers(table, bad, rule, among=among).fill_null(0).cast(pl.Int64).to_numpy()
    return types, code * np.int64(MOST_INSTANCES + 1) + counts


def _parse(lists: pl.Series) -> tuple[Bool, pl.DataFrame]:
    """Which of distinct `instances` texts are malformed, and the entries of the others: list, unit, count."""
    frame = lists.alias("text").to_frame().with_row_index("list")
    shaped = pl.col("text").str.contains(f"^{_ENTRY}(?:;{_ENTRY})*$")
    entries = (
        frame.filter(shaped)
        .select("list", pl.col("text").str.split(";"))
        .explode("text")
        .select(
            "list",
            unit=pl.col("text").str.extract("^([^=]+)="),
            count=pl.col("text").str.extract("=(.+)$").cast(pl.Int64),
        )
    )
    bad_count = (pl.col("count") < 1) | (pl.col("count") > MOST_INSTANCES)
    twice = pl.struct("list", "unit").is_duplicated()
    malformed = ~frame.select(shaped).to_series().to_numpy()
    malformed[entries.filter(bad_count | twice)["list"].to_numpy()] = True
    return malformed, entries


def _distinct_rows(units: pl.Series, key: pl.Series, lists: int, entries: pl.DataFrame) -> Needs:
    """Needs from each job's key: type code and count, or -1 minus the code of its list."""
    keys, key_code = encode(key)
    of_key = keys.to_numpy()
    rows = np.zeros((len(of_key), len(units)), np.int64)
    one = np.flatnonzero(of_key >= 0)
    rows[one, of_key[one] // (MOST_INSTANCES + 1)] = of_key[one] % (MOST_INSTANCES + 1)
    row_of_list = np.zeros(lists, np.int64)
    some = np.flatnonzero(of_key < 0)
    row_of_list[-1 - of_key[some]] = some
    unit_code = entries["unit"].replace_strict(
        units, pl.Series(range(len(units)), dtype=pl.Int64), return_dtype=pl.Int64
    )
    rows[row_of_list[entries["list"].to_numpy()], unit_code.to_numpy()] = entries["count"].to_numpy()
    distinct, same = _unique_rows(rows)
    return Needs(tuple(units), distinct, same[key_code])


def _unique_rows(rows: Int64) -> tuple[Int64, Int32]:
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    flat: npt.NDArray[np.int32] = inverse.reshape(-1).astype(np.int32)
    return distinct, flat
