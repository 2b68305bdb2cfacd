"""The native trace format: what is read, and what is refused, where."""

import gzip
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.diagnostics import Finding, InputError
from policy_engine.trace import NONE, ON_STOP, FileFormat, JobTrace, check_shares, read_trace

HEADER = "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds"
ROW = {
    "job_id": "a",
    "share": "s",
    "submitted_at": 0,
    "instance_type": "ml.g5.xlarge",
    "instance_count": 1,
    "runtime_seconds": 60,
}


def read(text: str | bytes, **options: object) -> JobTrace:
    content = text if isinstance(text, bytes) else text.encode()
    return read_trace(io.BytesIO(content), **options)  # type: ignore[arg-type]


def findings(text: str | bytes, **options: object) -> tuple[Finding, ...]:
    with pytest.raises(InputError) as caught:
        read(text, **options)
    return caught.value.findings


def places(found: tuple[Finding, ...]) -> list[tuple[str, int, int]]:
    return [(f.id, f.position.line, f.position.column) for f in found if f.position]


def one_row(**values: object) -> str:
    row = {**ROW, **values}
    return ",".join(row) + "\n" + ",".join("" if v is None else str(v) for v in row.values()) + "\n"


def needs_of(trace: JobTrace, job: int) -> dict[str, int]:
    return {unit: int(count) for unit, count in zip(trace.units, trace.needs[trace.need[job]], strict=True) if count}


def test_a_trace_is_columns_in_submission_order_with_ties_in_row_order() -> None:
    trace = read(
        f"{HEADER},priority,preemption_retries,checkpoint,attempt_seconds,fails\n"
        "late,s2,10.0004,ml.p5.48xlarge,3,0.0015,9999,0,on_stop,1,true\n"
        "tie-1,s1,5,ml.g5.xlarge,1,60,,,,,\n"
        "tie-2,s2,5,ml.g5.xlarge,1,1e2,7,3,0.5,3600,FALSE\n"
    )
    assert trace.job_id.to_list() == ["tie-1", "tie-2", "late"]
    assert [trace.share_names[s] for s in trace.share] == ["s1", "s2", "s2"]
    assert trace.submitted_at.tolist() == [5000, 5000, 10000]
    assert trace.runtime.tolist() == [60_000, 100_000, 2]
    assert trace.priority.tolist() == [0, 7, 9999]
    assert trace.preemption_retries.tolist() == [NONE, 3, 0]
    assert trace.checkpoint.tolist() == [NONE, 500, ON_STOP]
    assert trace.attempt_timeout.tolist() == [NONE, 3_600_000, 1000]
    assert trace.fails.tolist() == [False, False, True]
    assert [needs_of(trace, job) for job in range(3)] == [
        {"ml.g5.xlarge": 1},
        {"ml.g5.xlarge": 1},
        {"ml.p5.48xlarge": 3},
    ]
    assert trace.epoch is None


def test_columns_are_as_narrow_as_a_job_trace_promises() -> None:
    trace = read(one_row())
    narrow = {
        "share": np.int32, "need": np.int32, "needs": np.int64, "submitted_at": np.int64, "runtime": np.int64,
        "priority": np.int16, "preemption_retries": np.int32, "checkpoint": np.int64, "attempt_timeout": np.int64,
        "fails": np.bool_,
    }  # fmt: skip
    assert {name: getattr(trace, name).dtype.type for name in narrow} == narrow
    assert trace.job_id.dtype == pl.String


def test_needs_shares_and_units_stand_in_order_of_first_submission_whatever_the_row_order() -> None:
    rows = ["a,s2,3,ml.b,1,1", "b,s1,2,ml.a,2,1", "c,s3,1,ml.c,1,1", "d,s1,4,ml.a,2,1"]
    one = read("\n".join([HEADER, *rows]))
    other = read("\n".join([HEADER, *reversed(rows)]))
    for trace in (one, other):
        assert trace.share_names == ("s3", "s1", "s2")
        assert trace.units == ("ml.c", "ml.a", "ml.b")
        assert trace.needs.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 1]]
        assert trace.need.tolist() == [0, 1, 2, 1]


def test_instances_list_several_types_and_equal_needs_are_one() -> None:
    trace = read(
        "job_id,share,submitted_at,instances,instance_type,instance_count,runtime_seconds\n"
        "a,s,0,ml.x=2;ml.y=1,,,1\nb,s,0,ml.y=1;ml.x=2,,,1\nc,s,0,,ml.x,2,1\nd,s,0,ml.x=2,,,1\n"
    )
    assert [needs_of(trace, job) for job in range(4)] == [{"ml.x": 2, "ml.y": 1}] * 2 + [{"ml.x": 2}] * 2
    assert trace.need.tolist() == [0, 0, 1, 1]


def test_json_lines_take_numbers_texts_nulls_and_an_object_of_instances() -> None:
    trace = read(
        '{"job_id": 17, "share": "s", "submitted_at": 1.5, "instances": {"ml.x": 2, "ml.y": 1}, "runtime_seconds":"60"}'
        "\n\n   \n"
        '{"job_id": "b", "share": "s", "submitted_at": 0, "instances": "ml.x=1", "runtime_seconds": 1e2,'
        ' "priority": null, "fails": true}\n'
    )
    assert trace.job_id.to_list() == ["b", "17"]
    assert needs_of(trace, 1) == {"ml.x": 2, "ml.y": 1}
    assert trace.runtime.tolist() == [100_000, 60_000]
    assert trace.fails.tolist() == [True, False]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "csv.gz"])
def test_every_format_reads_the_same_by_suffix_and_by_sniffing(form: str, tmp_path: Path) -> None:
    frame = pl.DataFrame([ROW, {**ROW, "job_id": "b", "submitted_at": 90, "instance_count": 2}])
    path = tmp_path / f"trace.{form}"
    match form:
        case "csv":
            frame.write_csv(path)
        case "jsonl":
            frame.write_ndjson(path)
        case "parquet":
            frame.write_parquet(path)
        case "csv.gz":
            path.write_bytes(gzip.compress(frame.write_csv().encode()))
    for trace in (read_trace(path), read_trace(str(path)), read(path.read_bytes())):
        assert trace.job_id.to_list() == ["a", "b"]
        assert trace.submitted_at.tolist() == [0, 90_000]
        assert trace.needs[trace.need].tolist() == [[1], [2]]


def test_parquet_columns_may_have_any_fitting_type() -> None:
    frame = pl.DataFrame(
        {
            "job_id": [7, 8],
            "share": pl.Series(["s", "t"], dtype=pl.Categorical),
            "submitted_at": pl.Series([1, 2], dtype=pl.UInt8),
            "instance_type": pl.Series([b"ml.x", b"ml.x"], dtype=pl.Binary),
            "instance_count": [2.0, 3.0],
            "runtime_seconds": pl.Series([90_000, 1500], dtype=pl.Duration("ms")),
            "priority": pl.Series([None, None], dtype=pl.Null),
            "fails": [True, None],
        }
    )
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    trace = read(buffer.getvalue())
    assert trace.job_id.to_list() == ["7", "8"]
    assert trace.runtime.tolist() == [90_000, 1500]
    assert trace.needs[trace.need].tolist() == [[2], [3]]
    assert trace.fails.tolist() == [True, False]
    assert trace.priority.tolist() == [0, 0]


def test_dates_count_from_the_earliest_submission_and_keep_it() -> None:
    rows = ["2026-01-02T00:00:01.5Z", "2026-01-02 01:00:00+01:00", "2026-01-02", "2026-01-01T19:00:00-0500"]
    trace = read("\n".join([HEADER, *(f"{i},s,{at},ml.x,1,1" for i, at in enumerate(rows))]))
    assert trace.submitted_at.tolist() == [0, 0, 0, 1500]
    assert trace.job_id.to_list() == ["1", "2", "3", "0"]
    assert trace.epoch == 1_767_312_000_000


def test_parquet_datetimes_are_dates() -> None:
    buffer = io.BytesIO()
    at = pl.Series(["2026-01-01T00:00:02", "2026-01-01T00:00:00"]).str.to_datetime(time_zone="Europe/Berlin")
    pl.DataFrame([ROW, {**ROW, "job_id": "b"}]).with_columns(submitted_at=at).write_parquet(buffer)
    trace = read(buffer.getvalue())
    assert trace.submitted_at.tolist() == [0, 2000]
    assert trace.epoch == 1_767_222_000_000


@pytest.mark.parametrize(
    ("column", "value", "id_"),
    [
        ("job_id", None, "TR010"),
        ("share", None, "TR012"),
        ("submitted_at", None, "TR014"),
        ("submitted_at", "-1", "TR014"),
        ("submitted_at", "nan", "TR014"),
        ("submitted_at", "inf", "TR014"),
        ("submitted_at", "10" * 9, "TR014"),
        ("submitted_at", "yesterday", "TR014"),
        ("submitted_at", "2026-02-30T00:00:00Z", "TR014"),
        ("instance_type", None, "TR015"),
        ("instance_type", "ml g5", "TR015"),
        ("instance_count", None, "TR016"),
        ("instance_count", "0", "TR016"),
        ("instance_count", "-3", "TR016"),
        ("instance_count", "1.5", "TR016"),
        ("instance_count", "1000000000000000000", "TR016"),
        ("instance_count", "two", "TR016"),
        ("runtime_seconds", None, "TR017"),
        ("runtime_seconds", "NaN", "TR017"),
        ("runtime_seconds", "-0.5", "TR017"),
        ("runtime_seconds", "inf", "TR017"),
        ("runtime_seconds", "1e18", "TR017"),
        ("runtime_seconds", "abc", "TR017"),
        ("runtime_seconds", " 5", "TR017"),
        ("priority", "10000", "TR018"),
        ("priority", "-1", "TR018"),
        ("priority", "1.5", "TR018"),
        ("priority", "high", "TR018"),
        ("preemption_retries", "-1", "TR019"),
        ("preemption_retries", "0.5", "TR019"),
        ("checkpoint", "0", "TR020"),
        ("checkpoint", "-60", "TR020"),
        ("checkpoint", "0.0001", "TR020"),
        ("checkpoint", "onstop", "TR020"),
        ("attempt_seconds", "0", "TR021"),
        ("attempt_seconds", "-1", "TR021"),
        ("attempt_seconds", "nan", "TR021"),
        ("fails", "yes", "TR022"),
        ("instances", "ml.x", "TR015"),
        ("instances", "ml.x=0", "TR015"),
        ("instances", "ml.x=1;ml.x=2", "TR015"),
        ("instances", "ml.x=1;", "TR015"),
        ("instances", "ml.x=1.5", "TR015"),
        ("instances", "ml.x=99999999999999999999", "TR015"),
        ("instances", "=1", "TR015"),
    ],
)
def test_a_bad_value_is_reported_at_its_place(column: str, value: str | None, id_: str) -> None:
    values: dict[str, object] = {column: value}
    if column == "instances":
        values |= {"instance_type": None, "instance_count": None}
    text = one_row(**values)
    (finding,) = findings(text)
    assert (finding.id, finding.path) == (id_, (column,))
    row = text.splitlines()[1]
    assert finding.position is not None
    assert (finding.position.line, finding.position.text) == (2, row)
    assert row[finding.position.column - 1 :].split(",")[0] == (value or "")
    assert column in finding.message
    assert (f'"{value}"' if value else "found nothing") in finding.message
    json_row = {**{name: str(v) for name, v in ROW.items()}, **values}
    (in_json,) = findings(pl.DataFrame([json_row]).write_ndjson())
    assert (in_json.id, in_json.message) == (id_, finding.message)


@pytest.mark.parametrize(
    "values", [{"instances": "ml.x=1"}, {"instances": None, "instance_type": None, "instance_count": None}]
)
def test_a_row_has_one_form_of_need_and_not_both_or_neither(values: dict[str, object]) -> None:
    text = (
        one_row(**values).rstrip()
        + "\n"
        + one_row(job_id="b", instances="ml.x=1", instance_type=None, instance_count=None)
    )
    (finding,) = findings("\n".join(text.splitlines()[i] for i in (0, 1, 3)))
    assert places((finding,))[0][:2] == ("TR015", 2)


def test_all_faults_are_reported_at_once_with_their_lines() -> None:
    found = findings(
        f'{HEADER}\na,s,0,ml.x,0,nan\na,s,0,ml.x,1,1\n"c,\nd",s,-1,ml.x,1,1\n,s,0,ml.x,1,1\nshort,s\n\nlong,s,0,ml.x,1,1,1\n',
        shares={"t"},
    )
    assert sorted(places(found)) == [
        ("TR005", 7, 1), ("TR005", 9, 1), ("TR010", 6, 1), ("TR011", 3, 1),
        ("TR013", 2, 3), ("TR013", 3, 3), ("TR013", 5, 4), ("TR013", 6, 2),
        ("TR014", 5, 6), ("TR016", 2, 12), ("TR017", 2, 14),
    ]  # fmt: skip


def test_many_faults_of_a_kind_are_counted_and_the_first_twenty_shown() -> None:
    found = findings(HEADER + "\n" + "".join(f"{i},s,0,ml.x,0,-1\n" for i in range(12_345)))
    counts = [f for f in found if f.id == "TR016"]
    assert [f.position.line for f in counts if f.position][:20] == list(range(2, 22))
    assert "12,345 rows in all" in counts[20].message
    assert len(found) == 42


def test_a_parquet_position_is_row_and_column() -> None:
    buffer = io.BytesIO()
    pl.DataFrame([ROW, {**ROW, "job_id": "b", "runtime_seconds": -1}]).write_parquet(buffer)
    assert places(findings(buffer.getvalue())) == [("TR017", 2, 6)]


def test_a_parquet_column_of_the_wrong_type_is_one_finding_each() -> None:
    buffer = io.BytesIO()
    wrong = {"job_id": 1.5, "share": True, "submitted_at": [1], "runtime_seconds": [60], "fails": 1.5, "priority": True}
    pl.DataFrame([{**ROW, **wrong}] * 30, strict=False).write_parquet(buffer)
    assert sorted(f.id for f in findings(buffer.getvalue())) == ["TR010", "TR012", "TR014", "TR017", "TR018", "TR022"]


def test_a_malformed_json_line_is_reported_with_the_other_faults() -> None:
    good = '{"job_id": "%s", "share": "s", "submitted_at": 0, "instances": "ml.x=1", "runtime_seconds": %s}\n'
    found = findings(good % ("a", 1) + "[1]\n" + good % ("b", "NaN") + "\n" + good % ("c", -1) + '{"job_id": \n{} {}\n')
    assert places(found) == [("TR006", 2, 1), ("TR006", 3, 1), ("TR006", 6, 1), ("TR006", 7, 1), ("TR017", 5, 73)]


def test_seconds_and_dates_do_not_mix() -> None:
    assert places(findings(f"{HEADER}\na,s,0,ml.x,1,1\nb,s,2026-01-01,ml.x,1,1\n")) == [("TR014", 3, 5)]
    assert places(findings(f"{HEADER}\na,s,2026-01-01,ml.x,1,1\nb,s,0,ml.x,1,1\n")) == [("TR014", 3, 5)]


def test_unix_times_are_refused_with_a_way_out() -> None:
    (finding,) = findings(one_row(submitted_at=1_767_225_600))
    assert "trace convert" in finding.help


@pytest.mark.parametrize(
    ("column", "help_"),
    [
        ("runtime", "runtime_seconds"),
        ("SubmittedAt", "submitted_at"),
        ("jobid", "job_id"),
        ("instance_typ", "instance_type"),
    ],
)
def test_a_missing_column_names_what_was_probably_meant(column: str, help_: str) -> None:
    (finding,) = findings(one_row().replace(help_, column))
    assert finding.id == "TR003"
    assert finding.help == f'did you mean the column "{column}"? Rename it to {help_}'


def test_an_unknown_column_near_an_optional_one_is_refused_and_any_other_is_noted() -> None:
    (finding,) = findings(one_row(checkpoints=60))
    assert (finding.id, finding.help) == ("TR004", "did you mean checkpoint? Rename the column, or drop it")
    notes: list[Finding] = []
    assert len(read(one_row(model_name="bert", user="x"), note=notes.append)) == 1
    assert [note.message for note in notes] == ["columns that a trace does not have are ignored: model_name, user"]


@pytest.mark.parametrize(
    ("content", "id_"),
    [
        (b"", "TR002"),
        (b"\xef\xbb\xbf", "TR002"),
        (b"\n\n", "TR002"),
        (HEADER.encode(), "TR002"),
        (HEADER.encode() + b"\n", "TR002"),
        (b"\x00\x01\x02\xff" * 50, "TR001"),
        (HEADER.encode() + b"\na,s,0,\xff\xfe,1,1\n", "TR001"),
        (HEADER.encode("utf-16"), "TR001"),
        (b"PAR1 truncated", "TR001"),
        (b"\x1f\x8b\x08 damaged", "TR001"),
        (gzip.compress(HEADER.encode() * 100, mtime=0)[:-20], "TR001"),
        (HEADER.encode() + b'\n"a,s,0,ml.x,1,1\n', "TR001"),
        (HEADER.encode() + b'\n "a,b",s,0,ml.x,1,1\n', "TR001"),
        (HEADER.replace(",", ";").encode() + b"\n1;2;3;4;5;6\n", "TR003"),
        (HEADER.encode() + b",share\na,s,0,ml.x,1,1,s\n", "TR004"),
        (HEADER.replace(",", "\r").encode(), "TR003"),
        (b'{"a": ' + b"[" * 100_000, "TR006"),
        (b"{}\n", "TR003"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_trace_is_one_clear_error(content: bytes, id_: str) -> None:
    assert {finding.id for finding in findings(content)} == {id_}


def test_a_file_that_cannot_be_opened_is_an_input_error(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.csv", tmp_path):
        with pytest.raises(InputError) as caught:
            read_trace(path)
        assert caught.value.findings[0].position is not None
        assert caught.value.findings[0].position.file == str(path)


def test_the_format_can_be_forced() -> None:
    assert {f.id for f in findings(one_row(), format=FileFormat.JSONL)} == {"TR006"}
    assert {f.id for f in findings(one_row(), format=FileFormat.PARQUET)} == {"TR001"}


@settings(deadline=None)
@given(st.data())
def test_damaged_parquet_is_an_input_error_or_a_trace_and_never_anything_else(data: st.DataObject) -> None:
    buffer = io.BytesIO()
    pl.DataFrame([{**ROW, "job_id": str(i)} for i in range(50)]).write_parquet(buffer)
    content = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        jobs = len(read(cut))
    except InputError:
        jobs = 0
    assert jobs in {0, 50}


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from([None, *FileFormat]))
def test_no_bytes_make_the_reader_fail(content: bytes, form: FileFormat | None) -> None:
    for garbage in (content, HEADER.encode() + b"\n" + content, b'{"job_id":' + content):
        assert findings(garbage, format=form)


def test_line_ends_byte_order_mark_and_quotes_are_no_data() -> None:
    trace = read(b"\xef\xbb\xbf" + f'{HEADER}\r\n"a ""1"",\r\nb","s",0,ml.x,1,"2"\r\n\r\n'.encode())
    assert trace.job_id.to_list() == ['a "1",\r\nb']
    assert trace.runtime.tolist() == [2000]


def test_hostile_job_ids_are_data_and_are_cut_and_escaped_in_messages() -> None:
    ids = ["x" * 10_240, "<script>alert(1)</script>", "\x1b[31m\x07", "=1+1", "\u202e", " "]
    frame = pl.DataFrame([{**ROW, "job_id": i} for i in ids])
    assert read(frame.write_csv()).job_id.to_list() == ids
    messages = [
        f.message + (f.position.text if f.position else "") for f in findings(pl.concat([frame, frame]).write_csv())
    ]
    assert len(messages) == len(ids)
    assert all(len(message) < 700 and message.isprintable() for message in messages)


def test_shares_of_a_trace_in_memory_are_checked_against_a_topology() -> None:
    trace = read(one_row(share="serch"))
    check_shares(trace, ["serch"])
    with pytest.raises(InputError) as caught:
        check_shares(trace, ["search", "vision"])
    (finding,) = caught.value.findings
    assert (finding.id, finding.help) == ("TR013", "did you mean 'search'?")


def test_more_instance_types_than_exist_are_a_wrong_column() -> None:
    rows = "".join(f"{i},s,0,type-{i},1,1\n" for i in range(1001))
    assert {f.id for f in findings(f"{HEADER}\n{rows}")} == {"TR015"}
