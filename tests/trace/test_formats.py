"""Foreign traces: what each column becomes, what is left out, and that the real ones convert."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from policy_engine.diagnostics import Finding, InputError
from policy_engine.trace import JobTrace
from policy_engine.trace.formats import FORMATS, Options, Sizes, TimeUnit, convert
from policy_engine.trace.writing import native_frame

REAL = Path(__file__).parents[2].parent / "shared" / "traces"
PHILLY = "job_id,submit_s,duration_s,gpus,team\n"
MIX2 = "job_id,user,num_gpu,submit_time,duration,job_type\n"
OPENB = "name,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"


def made(kind: str, text: str, **options: object) -> tuple[JobTrace, list[str]]:
    notes: list[Finding] = []
    trace = convert(io.BytesIO(text.encode()), FORMATS[kind], Options(**options), note=notes.append)  # type: ignore[arg-type]
    return trace, [note.message for note in notes]


def findings(kind: str, text: str, **options: object) -> list[Finding]:
    with pytest.raises(InputError) as caught:
        made(kind, text, **options)
    return list(caught.value.findings)


def needs(trace: JobTrace) -> list[tuple[str, int]]:
    frame = native_frame(trace)
    return list(zip(frame["instance_type"], frame["instance_count"], strict=True))


@pytest.mark.parametrize(
    ("gpus", "need"),
    [
        (1, ("ml.g5.xlarge", 1)),
        (2, ("ml.g5.12xlarge", 1)),
        (4, ("ml.g5.12xlarge", 1)),
        (5, ("ml.g5.48xlarge", 1)),
        (8, ("ml.g5.48xlarge", 1)),
        (9, ("ml.g5.48xlarge", 2)),
        (128, ("ml.g5.48xlarge", 16)),
    ],
)
def test_a_job_takes_the_first_type_that_holds_its_gpus_or_several_of_the_largest(
    gpus: int, need: tuple[str, int]
) -> None:
    trace, _ = made("philly", f"{PHILLY}a,0,60,{gpus},t\n")
    assert needs(trace) == [need]


def test_the_sizes_of_instance_types_can_be_chosen() -> None:
    trace, _ = made("philly", f"{PHILLY}a,0,60,3,t\nb,0,60,1,t\n", gpus=Sizes(((2, "ml.x"),)))
    assert needs(trace) == [("ml.x", 2), ("ml.x", 1)]


@pytest.mark.parametrize(
    ("options", "shares"),
    [
        ({}, ["t1", "t2", "t1", "t3"]),
        ({"share_prefix": "team-"}, ["team-t1", "team-t2", "team-t1", "team-t3"]),
        ({"share_of": {"t1": "a", "t2": "b"}}, ["a", "b", "a", "t3"]),
        ({"share_of": {"t1": "a", "*": "rest"}}, ["a", "rest", "a", "rest"]),
        ({"share": "all"}, ["all"] * 4),
        ({"spread": 3}, ["share-1", "share-2", "share-3", "share-1"]),
    ],
)
def test_teams_become_shares(options: dict[str, object], shares: list[str]) -> None:
    text = PHILLY + "".join(f"{job},{job},60,1,{team}\n" for job, team in enumerate(["t1", "t2", "t1", "t3"]))
    assert native_frame(made("philly", text, **options)[0])["share"].to_list() == shares


def test_a_team_that_is_not_in_the_trace_is_noted() -> None:
    _, notes = made("philly", f"{PHILLY}a,0,60,1,t\n", share_of={"typo": "s"})
    assert notes == ["--share-of typo: the trace has no such value"]


def test_bad_rows_of_a_foreign_trace_are_reported_where_they_stand_in_it() -> None:
    found = findings("philly", f"{PHILLY}a,0,60,1,t\nb,x,-1,0,\na,0,nan,2.5,t\nc,0,60,,t\n")
    assert [(f.id, f.position.line, f.position.column) for f in found if f.position] == [
        ("TR011", 4, 1),
        ("TR012", 3, 10),
        ("TR014", 3, 3),
        ("TR016", 3, 8),
        ("TR016", 4, 9),
        ("TR016", 5, 8),
        ("TR017", 3, 5),
        ("TR017", 4, 5),
    ]
    assert [f.message.rpartition(", ")[2] for f in found if f.id == "TR016"] == [
        'not "0"',
        'not "2.5"',
        "found nothing",
    ]


def test_a_source_without_the_format_s_columns_is_refused() -> None:
    (finding,) = findings("philly", "job_id,team\na,t\n")
    assert (finding.id, finding.message) == ("TR040", "the file has no column submit_s, duration_s, gpus")


def test_mix2_times_are_minutes_classes_are_priorities_and_jobs_without_gpus_are_left_out() -> None:
    text = MIX2 + "a,u,1,2,3,strict\nb,u,0,1,1,soft\nc,v,1,1,1,soft\nd,v,1,0,1,best\n"
    trace, notes = made("philly-mix2", text)
    assert trace.job_id.to_list() == ["d", "c", "a"]
    assert trace.submitted_at.tolist() == [0, 60_000, 120_000]
    assert trace.runtime.tolist() == [60_000, 60_000, 180_000]
    assert trace.priority.tolist() == [0, 100, 200]
    assert notes == ["1 of 4 rows are left out: jobs that need no GPU"]
    again, _ = made("philly-mix2", text, priority_of={"best": 7}, unit=TimeUnit.SECONDS)
    assert (again.priority.tolist(), again.runtime.tolist()) == ([7, 100, 200], [1000, 1000, 3000])


def test_a_class_without_a_priority_is_refused() -> None:
    (finding,) = findings("philly-mix2", MIX2 + "a,u,1,2,3,urgent\n")
    assert finding.id == "TR044"
    trace, _ = made("philly-mix2", MIX2 + "a,u,1,2,3,urgent\n", priority_of={"*": 5})
    assert trace.priority.tolist() == [5]


def test_opendc_times_are_dates_and_its_tasks_need_a_share() -> None:
    text = "id,submission_time,duration,cpu_count\n1,1656604920000,1500,16\n2,1656604921500,1000,200\n"
    assert [finding.id for finding in findings("opendc", text)] == ["TR043"]
    trace, _ = made("surf", text, share="s")
    assert trace.epoch == 1_656_604_920_000
    assert trace.submitted_at.tolist() == [0, 1500]
    assert trace.runtime.tolist() == [1500, 1000]
    assert needs(trace) == [("ml.m5.4xlarge", 1), ("ml.m5.24xlarge", 3)]


def test_openb_pods_run_from_scheduling_to_deletion_on_gpus_of_their_first_model() -> None:
    text = (
        OPENB + "a,1,460,,LS,Running,10,100,30\nb,8,1000,P100|T4,BE,Failed,20,50,25\n"
        "c,0,0,,LS,Running,0,9,1\nd,1,1000,,BE,Pending,5,9,\n"
    )
    trace, notes = made("openb", text, type_of={"P100": "ml.p2.xlarge"}, priority_of={"LS": 100, "*": 0})
    assert needs(trace) == [("any", 1), ("ml.p2.xlarge", 8)]
    assert trace.submitted_at.tolist() == [10_000, 20_000]
    assert trace.runtime.tolist() == [70_000, 25_000]
    assert trace.fails.tolist() == [False, True]
    assert trace.priority.tolist() == [100, 0]
    assert notes == [
        "1 of 4 rows are left out: pods that need no GPU",
        "1 of 4 rows are left out: pods that were never scheduled",
        "instance types are GPU models: any",
    ]


SWF = """\
; Version: 2.2
; UnixStartTime: 1000000000
  1   0 5  60  4 -1 -1   4 100 -1 1 7 8 1 3 1 -1 -1
  2  10 5  -1 -1 -1 -1   4 100 -1 5 7 8 1 3 1 -1 -1
  3  20 5  30 -1 -1 -1  32 100 -1 0 9 8 1 -1 1 -1 -1

  4  30 5  30 -1 -1 -1  -1 100 -1 1 9 8 1 -1 1 -1 -1
  1  20 5  30  4 -1 -1   4 100 -1 2 7 8 1 3 1 -1 -1
"""


def test_swf_lines_are_jobs_on_processors_and_the_preamble_gives_the_start() -> None:
    trace, notes = made("swf", SWF)
    assert trace.job_id.to_list() == ["1", "3"]
    assert native_frame(trace)["share"].to_list() == ["3", "unknown"]
    assert needs(trace) == [("ml.m5.xlarge", 1), ("ml.m5.12xlarge", 1)]
    assert trace.fails.tolist() == [False, True]
    assert (trace.epoch, trace.submitted_at.tolist()) == (1_000_000_000_000, [0, 20_000])
    assert notes == [
        "1 of 5 rows are left out: partial runs, whose jobs have a line of their own",
        "1 of 5 rows are left out: jobs that never ran",
        "1 of 5 rows are left out: jobs that name no processors",
    ]
    assert native_frame(made("swf", SWF, share_by="user")[0])["share"].to_list() == ["7", "9"]


def test_swf_faults_have_their_line_and_column() -> None:
    (short,) = findings("swf", SWF + "5 1 1\n")
    assert (short.id, short.position and short.position.line) == ("TR005", 9)
    (wrong,) = findings("swf", SWF.replace(" 60 ", " 6x "))
    assert (wrong.id, wrong.position and (wrong.position.line, wrong.position.column)) == ("TR017", (3, 12))
    assert [finding.id for finding in findings("swf", "; nothing\n")] == ["TR002"]


def test_any_table_converts_by_mapping_its_columns() -> None:
    text = "id,proj,start,wall,n,prio\n1,p,1700000000000,1500,8,high\n2,q,1700000001000,500,1,low\n"
    trace, _ = made(
        "columns",
        text,
        columns={
            "job_id": "id",
            "share": "proj",
            "submitted_at": "start",
            "runtime_seconds": "wall",
            "gpus": "n",
            "priority": "prio",
        },
        constants={"checkpoint": "on_stop"},
        priority_of={"high": 10, "low": 1},
        unit=TimeUnit.MILLISECONDS,
        unix=True,
    )
    assert trace.epoch == 1_700_000_000_000
    assert native_frame(trace).drop("submitted_at").rows() == [
        ("1", "p", "ml.g5.48xlarge", 1, 1.5, 10, "on_stop"),
        ("2", "q", "ml.g5.xlarge", 1, 0.5, 1, "on_stop"),
    ]


def test_native_columns_need_no_mapping_and_a_unit_scales_all_times() -> None:
    header = "job_id,submitted_at,instances,runtime_seconds,checkpoint,attempt_seconds"
    text = f"{header}\na,1,ml.x=2,2,on_stop,\nb,1,ml.x=2,x,5,60\n"
    (finding,) = findings("columns", text, share="s", unit=TimeUnit.MINUTES)
    assert finding.message.endswith('not "x"')
    trace, _ = made("columns", text.replace("x,5", "3,5"), share="s", unit=TimeUnit.MINUTES)
    assert native_frame(trace).rows() == [
        ("a", "s", 60, "ml.x", 2, 120, "on_stop", None),
        ("b", "s", 60, "ml.x", 2, 180, "300", 3600),
    ]


def test_a_size_may_be_the_same_for_all_jobs() -> None:
    text = "job_id,submitted_at,runtime_seconds\na,0,1\nb,0,1\n"
    trace, _ = made("columns", text, share="s", constants={"gpus": "9"})
    assert needs(trace) == [("ml.g5.48xlarge", 2)] * 2
    (finding, *_) = findings("columns", text, share="s", constants={"gpus": "many"})
    assert finding.message.endswith('not "many"')


def test_mapping_what_is_not_there_is_refused() -> None:
    assert [f.id for f in findings("columns", "a\n1\n", columns={"job_id": "b"})] == ["TR040"]
    (finding,) = findings("columns", "a\n1\n", columns={"jobid": "a"})
    assert (finding.id, finding.help) == ("TR045", "did you mean 'job_id'?")
    (twice,) = findings("columns", "a\n1\n", columns={"job_id": "a"}, constants={"job_id": "x"})
    assert twice.id == "TR045"


@pytest.mark.parametrize(
    ("kind", "file", "options", "expected"),
    [
        ("philly", "philly.csv", Options(gpus=Sizes(((1, "gpu"),))), (82_247, 15, 978_078)),
        ("philly-mix2", "philly_mix2.csv", Options(gpus=Sizes(((1, "gpu"),))), (30_940 - 194, 11, 378_975)),
        ("surf", "surf_halfyear.parquet", Options(spread=4), (194_917, 4, 356_203)),
        ("opendc", "opendc_100k.parquet", Options(share="s"), (100_000, 1, 100_000)),
        ("openb", "openb_pod_list_default.csv", Options(), (8152 - 1088 - 861, 4, 59_612)),
        ("openb", "openb_pod_list_gpuspec33.csv", Options(), (8152 - 1088 - 861, 4, 59_612)),
        ("swf", "accasim_sample.swf", Options(share_by="user"), (25, 5, 70)),
    ],
)
def test_real_traces_convert_whole(kind: str, file: str, options: Options, expected: tuple[int, int, int]) -> None:
    """Jobs, shares and instance-hours: the hours are added up from the sources row by row, elsewhere."""
    trace = convert(REAL / file, FORMATS[kind], options)
    seconds = (trace.needs.sum(axis=1)[trace.need] * (trace.runtime / 1000)).sum()
    assert (len(trace), len(trace.share_names), round(seconds / 3600)) == expected
    assert (np.diff(trace.submitted_at) >= 0).all()


def test_philly_s_teams_have_the_hours_that_are_known_of_them() -> None:
    trace = convert(REAL / "philly.csv", FORMATS["philly"], Options(gpus=Sizes(((1, "gpu"),))))
    hours = pl.DataFrame(
        {"team": pl.Series(trace.share_names).gather(trace.share), "h": trace.needs[trace.need, 0] * trace.runtime}
    )
    by_team = {team: round(h / 3.6e6) for team, h in hours.group_by("team").sum().rows()}
    assert [by_team[team] for team in ("ee9e8c", "7f04ca", "b436b2", "6214e9", "6c71a0")] == [
        256_112,
        164_931,
        125_740,
        97_185,
        82_203,
    ]
