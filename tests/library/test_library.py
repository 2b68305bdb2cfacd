"""`from policy_engine import …`: what a script or a notebook has, and that it says what the command line says."""

import ast
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, share

import policy_engine
from policy_engine import (
    Assumptions,
    InputError,
    Replay,
    Topology,
    compare,
    explain,
    read_events,
    read_prices,
    read_topology,
    read_trace,
    replay,
    validate,
)
from policy_engine.cli import main
from policy_engine.library.columns import FRAMES, column_tables
from policy_engine.report import outcome_document
from policy_engine.topology import Expectations

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
G5 = "ml.g5.xlarge"
HOUR = 3600


def two_shares(**options: object) -> Scenario:
    """A borrower is preempted once for a lender's job, and a job of the lender never ends within two hours."""
    jobs = [
        Row("borrows", "borrower", 0, {G5: 4}, HOUR),
        Row("claims", "lender", 600, {G5: 2}, 600),
        Row("late", "lender", 7000, {G5: 1}, HOUR),
    ]
    shares = {"borrower": share({G5: 2}, LEND_AND_BORROW), "lender": share({G5: 2}, LEND)}
    return make_scenario({G5: 4}, shares, jobs, **options)


@pytest.fixture(scope="module")
def now() -> Replay:
    prices = read_prices(EXAMPLES / "prices" / "made-up.yaml")
    topology = read_topology(EXAMPLES / "changes" / "now.yaml")
    return replay(topology, read_trace(str(EXAMPLES / "traces" / "training.csv")), label="now", prices=prices)


def test_what_is_exported_is_imported_when_it_is_first_used_and_typed_as_it_is():
    program = (
        "import sys, policy_engine\n"
        "print(*{'numpy', 'polars', 'numba', 'pydantic', 'rich'} & set(sys.modules))\n"
        "print(set(policy_engine.__all__) <= set(dir(policy_engine)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "True"]
    (typed,) = (node for node in ast.parse(Path(policy_engine.__file__).read_text()).body if isinstance(node, ast.If))
    imports = [
        (statement.module, alias.name)
        for statement in typed.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    ]
    homes = [(f"policy_engine.{home}", name) for home, names in policy_engine._HOMES.items() for name in names]
    assert imports == homes
    assert [name for name in policy_engine.__all__ if getattr(policy_engine, name).__name__ != name] == []
    with pytest.raises(AttributeError, match="no attribute 'repaly'"):
        policy_engine.repaly  # noqa: B018


def frame_of(owner: object, expression: str) -> pl.DataFrame:
    attribute = expression.partition(".")[2]
    return owner.usage_every(HOUR) if attribute == "usage_every(seconds)" else getattr(owner, attribute)


@pytest.mark.parametrize("full", [True, False], ids=["a replay", "a replay of nothing"])
def test_frames_have_the_columns_that_are_defined_in_order_and_type(full: bool):  # noqa: FBT001
    scenario = two_shares() if full else make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, [])
    found = replay(scenario.topology, scenario.trace)
    comparison = compare(found, replay(scenario.topology, scenario.trace, label="again"))
    for frame, (_, columns) in FRAMES.items():
        owner = comparison if frame.startswith("Comparison") else found
        assert frame_of(owner, frame).schema == {column.name: column.dtype for column in columns}, frame
    for frame in (comparison.teams, comparison.queue):
        assert frame.schema == comparison.shares.schema


def test_the_page_has_the_columns_as_they_are_defined():
    between = PAGE.partition("<!-- columns -->\n")[2].partition("<!-- end of columns -->")[0]
    assert between.strip() == "\n".join(column_tables()).strip(), (
        "run python -m policy_engine.library.page docs/library.md"
    )


def test_every_column_has_a_meaning_or_says_it_by_its_name():
    silent = {column.name for _, columns in FRAMES.values() for column in columns if not column.meaning}
    assert silent <= {"submitted_at", "team", "instance_hours"}


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_frames_say_what_the_outcome_for_programs_says(seed: int):
    scenario = random_scenario(seed)
    found = replay(
        scenario.topology,
        scenario.trace,
        events=scenario.events,
        until=None if scenario.until is None else scenario.until / 1000,
    )
    document = outcome_document(found.outcome)
    assert found.document() == document
    submitted = found.jobs.filter(pl.col("status") != "SUBMITTED")
    same = ["id", "share", "status", "submitted_at", "first_scheduled_at", "finished_at", "wait_seconds", "preemptions"]
    for name in [*same, "lost_seconds", "reason"]:
        assert submitted[name].to_list() == [job[name] for job in document["jobs"]], name
    for name in ("at", "victim", "victim_share", "claimant", "claimant_share", "kind", "lost_seconds"):
        assert found.preemptions[name].to_list() == [one[name] for one in document["preemptions"]], name
    held = [{one["unit"]: one["instances"] for one in row} for row in found.preemptions["capacity"].to_list()]
    assert held == [one["capacity"] for one in document["preemptions"]]
    attempts = sorted(attempt["scheduled_at"] for job in document["jobs"] for attempt in job["attempts"])
    assert sorted(found.attempts["scheduled_at"].to_list()) == attempts
    for frame, rows in ((found.shares, document["shares"]), (found.teams, document["teams"])):
        for name in ("jobs", "preempted_jobs", "lost_instance_hours", "borrowed_instance_hours", "utilization"):
            assert frame[name].to_list() == [pytest.approx(row[name], abs=1e-6) for row in rows], name
        waits = [row["wait_seconds"]["p95"] for row in rows]
        assert frame["wait_p95_seconds"].to_list() == waits
    assert found.queue["limit_instance_hours"][0] == pytest.approx(
        document["queue"]["capacity_instance_hours"], abs=1e-6
    )


@pytest.mark.parametrize("seconds", [700.0, HOUR, 1e9])
def test_intervals_come_to_the_hours_of_each_share_and_keep_its_peaks(seconds: float):
    found = replay(two_shares().topology, two_shares().trace)
    intervals = found.usage_every(seconds)
    end = found.outcome.ended_at / 1000
    lasts = pl.min_horizontal(pl.lit(seconds), pl.lit(end) - pl.col("at"))
    for name in ("used", "borrowed", "idle", "pending"):
        hours = intervals.group_by("share", maintain_order=True).agg((pl.col(name) * lasts).sum() / HOUR)
        assert hours[name].to_list() == pytest.approx(found.shares[f"{name}_instance_hours"].to_list())
    peaks = intervals.group_by("share", maintain_order=True).agg(pl.col("most_used", "most_pending").max())
    exact = found.usage.group_by("share", maintain_order=True).agg(pl.col("used", "pending").max())
    assert peaks.rows() == exact.rows()


def test_an_interval_of_no_time_is_refused():
    with pytest.raises(ValueError, match="a millisecond at least"):
        replay(two_shares().topology, two_shares().trace).usage_every(0)


def test_costs_by_share_come_to_the_queue_s(now: Replay):
    used = now.costs.filter(pl.col("kind") == "used")
    assert used["cost"].sum() == pytest.approx(now.document()["queue"]["cost"]["used"])
    unpriced = replay(two_shares().topology, two_shares().trace).costs
    assert unpriced["cost"].null_count() == len(unpriced)
    assert unpriced["instance_hours"].null_count() == 0


def test_expectations_are_judged_also_relative_to_a_baseline():
    scenario = two_shares()
    bounds = {"queue": Expectations(preemptions="<= baseline * 1"), "lender": Expectations(wait_max="1s")}
    topology = scenario.topology.model_copy(update={"expectations": bounds})
    alone = replay(topology, scenario.trace)
    assert alone.expectations["held"].to_list() == [None, False]
    assert not alone.passed
    baseline = replay(scenario.topology, scenario.trace, label="before")
    judged = replay(topology, scenario.trace, baseline=baseline)
    assert judged.expectations["held"].to_list() == [True, False]
    assert judged.expectations["job"].to_list()[1] == "claims"
    assert compare(baseline, alone).proposed.expectations.rows() == judged.expectations.rows()


def test_comparing_says_what_the_command_says():
    topologies = [EXAMPLES / "changes" / f"{name}.yaml" for name in ("now", "next")]
    trace, moved = EXAMPLES / "traces" / "training.csv", {"research-old": "research"}
    jobs = read_trace(str(trace))
    comparison = compare(
        *(
            replay(read_topology(path), jobs, label=path.name, moved=moved if "next" in path.name else None)
            for path in topologies
        )
    )
    printed = CliRunner().invoke(
        main, ["compare", *map(str, topologies), str(trace), "--move", "research-old=research"]
    )
    assert f"{comparison}\n" == printed.stdout
    (change,) = comparison.changes
    assert change.resources
    (document,) = comparison.document()["comparisons"]
    assert document["proposed"]["label"] == "next.yaml"
    assert set(comparison.jobs["effect"]) == {"gains", "loses", "same"}
    assert comparison.passed


def test_two_replays_of_one_name_cannot_be_compared(now: Replay):
    with pytest.raises(ValueError, match="both replays are called 'now'; name them"):
        compare(now, now)


def test_reports_print_as_on_the_command_line(now: Replay):
    arguments = [str(EXAMPLES / "changes" / "now.yaml"), str(EXAMPLES / "traces" / "training.csv")]
    prices = ["--prices", str(EXAMPLES / "prices" / "made-up.yaml")]
    printed = CliRunner().invoke(main, ["replay", *arguments, *prices])
    assert f"{now}\n" == printed.stdout
    job = now.preemptions["victim"][0]
    explained = CliRunner().invoke(main, ["explain", *arguments, job, "--replays", "2"])
    assert f"{explain(now, job, most_replays=2)}\n" == explained.stdout
    assert repr(now) == "<Replay of 420 jobs on now: 48 preemptions>"


def test_a_job_is_explained_and_one_that_is_not_there_named_with_those_that_may_be_meant():
    found = replay(two_shares().topology, two_shares().trace)
    explanation = explain(found, "borrows", most_replays=0)
    assert explanation.document()["job"]["id"] == "borrows"
    assert repr(explanation) == "<Explanation of 'borrows'>"
    assert found.reasons([0])[0].startswith("borrows of borrower was preempted")
    with pytest.raises(LookupError, match=r"no job 'borows'; did you mean 'borrows'\?"):
        explain(found, "borows")


def test_assumptions_depart_from_the_topology_s_or_replace_them():
    topology = two_shares(assumptions={"stop_seconds": 60}).topology
    trace = two_shares().trace
    changed = replay(topology, trace, assumptions={"victim_order": "oldest"})
    assert (changed.outcome.assumptions.victim_order, changed.outcome.assumptions.stop_seconds) == ("oldest", 60_000)
    assert replay(topology, trace, assumptions=Assumptions()).outcome.assumptions == Assumptions()
    with pytest.raises(ValueError, match="victim_ordr"):
        replay(topology, trace, assumptions={"victim_ordr": "oldest"})


@pytest.mark.parametrize("until", [HOUR, 3600.0, "1h", timedelta(hours=1)])
def test_a_replay_can_be_stopped_at_a_time(until: float | str | timedelta):
    scenario = two_shares()
    assert replay(scenario.topology, scenario.trace, until=until).jobs["status"].to_list()[-1] == "SUBMITTED"


def test_times_become_dates_where_it_is_known_when_the_trace_starts():
    scenario = two_shares()
    with pytest.raises(ValueError, match="starts_at="):
        replay(scenario.topology, scenario.trace).dated(pl.DataFrame({"at": [0.0]}))
    for start in (datetime(2026, 3, 2, 11, 30), datetime(2026, 3, 2, 11, 30, tzinfo=UTC)):
        found = replay(scenario.topology, scenario.trace, starts_at=start)
        dated = found.dated(found.jobs)
        assert dated["submitted_at"][1] == datetime(2026, 3, 2, 11, 40, tzinfo=UTC)
        assert dated["wait_seconds"].dtype == pl.Float64
    with pytest.raises(ValueError, match="has dates of its own"):
        replay(scenario.topology, found.outcome.trace, starts_at=datetime(2026, 3, 2, tzinfo=UTC))


def test_jobs_of_shares_that_are_not_there_are_errors_unless_moved_or_left_out():
    scenario = two_shares()
    fewer = make_scenario({G5: 4}, {"borrower": share({G5: 2}, LEND_AND_BORROW)}, []).topology
    with pytest.raises(InputError, match='unknown share "lender": 2 jobs'):
        replay(fewer, scenario.trace)
    assert len(replay(fewer, scenario.trace, moved={"lender": "borrower"}).jobs) == 3
    left = replay(fewer, scenario.trace, leave_out_unknown_shares=True)
    assert (len(left.jobs), left.left_out) == (1, {"lender": 2})
    with pytest.raises(ValueError, match="cannot be moved to 'nobody'"):
        replay(fewer, scenario.trace, moved={"lender": "nobody"})


def test_a_topology_that_a_rule_refuses_is_not_replayed(tmp_path: Path):
    wrong = tmp_path / "wrong.yaml"
    text = (EXAMPLES / "notebook.yaml").read_text(encoding="utf-8")
    wrong.write_text(text.replace("capacity: {ml.g5.xlarge: 1}", "capacity: {ml.p5.48xlarge: 1}", 1), encoding="utf-8")
    findings = validate(wrong)
    errors = [finding for finding in findings if finding.severity == "error"]
    assert errors
    assert errors[0].position is not None
    with pytest.raises(InputError) as raised:
        replay(read_topology(wrong), two_shares().trace)
    assert {finding.id for finding in raised.value.findings} == {finding.id for finding in errors}


def test_topologies_come_from_templates_too(tmp_path: Path):
    template = EXAMPLES / "templates" / "training.yaml"
    topology = read_topology(template)
    assert isinstance(topology, Topology)
    assert validate(template) == ()
    assert validate(topology) == ()
    with pytest.raises(InputError, match="no queue 'other'"):
        read_topology(template, queue="other")
    empty = tmp_path / "empty.yaml"
    empty.write_text("Resources: {}\n", encoding="utf-8")
    with pytest.raises(InputError, match="0 queues"):
        read_topology(empty)


def test_control_events_are_replayed_and_checked():
    topology = read_topology(EXAMPLES / "ml-training.yaml")
    trace = read_trace(str(EXAMPLES / "traces" / "ml-training.csv"))
    events = read_events(str(EXAMPLES / "traces" / "ml-training-events.csv"), trace=trace, topology=topology)
    without, found = (replay(topology, trace, events=given, until="1d") for given in ((), events))
    assert events
    assert found.jobs.rows() != without.jobs.rows()
    with pytest.raises(InputError, match="event 1, job: "):
        replay(two_shares().topology, two_shares().trace, events=events)
