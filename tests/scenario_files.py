"""Named scenarios: small Markdown files that say what the replay must do, step by step. See tests/scenarios/README.md.

A file's parts go through the project's own readers: the topology as YAML, the tables of jobs and events as CSV.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from oracle import AttemptRecord, JobRecord, OracleOutcome
from ruamel.yaml import YAML
from scenarios import Scenario

from policy_engine.assumptions import Assumptions
from policy_engine.durations import parse_milliseconds
from policy_engine.scheduler import AttemptOutcome
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.topology import Topology
from policy_engine.topology.reading import parse_topology
from policy_engine.trace import ControlEvent, FileFormat, JobTrace, read_events, read_trace

FOLDER = Path(__file__).parent / "scenarios"

_EXPECTED = re.compile(r"## Expected(?P<only> preemptions)?(?: under (?P<under>.+?))?(?: until (?P<until>[0-9.a-z]+))?")
_STEP = re.compile(r"(?P<at>[0-9.]+s|end) (?P<what>[A-Z_]+) (?P<job>\S+)(?P<rest>.*)")
_ENDINGS = ("STOPPED", "NO_CAPACITY", "SUCCEEDED", "FAILED")
_RANKS = {**dict.fromkeys(_ENDINGS, 0), "PREEMPT": 1, "DISPATCH": 2, "RUNNING": 3, "RUNNABLE": 3, "SUBMITTED": 3}
"""Within one instant steps of one rank are compared as a sequence, steps of different ranks stand in any order."""


class ScenarioFileError(Exception):
    """A scenario file does not have the form that the README describes."""


@dataclass(frozen=True)
class Expectation:
    """One replay of a scenario, and the steps that it must show."""

    title: str
    scenario: Scenario
    steps: tuple[str, ...]
    preemptions_only: bool

    def steps_in(self, outcome: OracleOutcome) -> list[str]:
        """What happened in a replay, as far as this expectation looks at it."""
        steps = steps_of(outcome)
        return [step for step in steps if " PREEMPT " in step] if self.preemptions_only else steps


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario as its file tells it."""

    path: Path
    name: str
    why: str
    expectations: tuple[Expectation, ...]


def scenario_paths() -> list[Path]:
    """All scenario files, by path."""
    return sorted(path for path in FOLDER.rglob("*.md") if path.name != "README.md")


def headings(path: Path) -> list[str]:
    """The heading of each expectation of a file, without reading the rest."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("## Expected")]


def read_scenario_file(path: Path) -> ScenarioFile:
    """Read a scenario file. Raises ScenarioFileError, or InputError for a part that the project's readers refuse."""
    try:
        return _Reader(path).read()
    except ScenarioFileError as error:
        raise ScenarioFileError(f"{path}: {error}") from error


class _Reader:
    """Reads the parts of one file in their order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = path.read_text(encoding="utf-8").splitlines()
        self._at = 0

    def read(self) -> ScenarioFile:
        name = self._title()
        why = self._paragraphs()
        topology = parse_topology("\n".join(self._fenced("yaml")), str(self._path)).topology
        shares = {owned.name for owned in topology.quota_shares()}
        trace = read_trace(_csv(self._table()), format=FileFormat.CSV, shares=shares)
        events: tuple[ControlEvent, ...] = ()
        if self._peek().startswith("|"):
            events = read_events(_csv(self._table()), format=FileFormat.CSV, trace=trace, topology=topology)
        expectations = tuple(self._expectations(topology, trace, events))
        titles = [expectation.title for expectation in expectations]
        if not titles:
            raise ScenarioFileError("there is no `## Expected`")
        if len(set(titles)) < len(titles):
            raise ScenarioFileError("the same replay is expected twice")
        return ScenarioFile(self._path, name, why, expectations)

    def _title(self) -> str:
        line = self._next()
        if not line.startswith("# "):
            raise ScenarioFileError("the first line must be the scenario's name, as a sentence behind `# `")
        return line.removeprefix("# ")

    def _paragraphs(self) -> str:
        text = []
        while not self._peek().startswith(("```", "|", "#")):
            text.append(self._next())
        if not text:
            raise ScenarioFileError("say why below the name")
        return " ".join(text)

    def _fenced(self, language: str) -> list[str]:
        opening = self._next()
        if opening != f"```{language}":
            raise ScenarioFileError(f"expected a block of {language}, not {opening!r}")
        start = self._at
        while self._at < len(self._lines) and self._lines[self._at] != "```":
            self._at += 1
        if self._at == len(self._lines):
            raise ScenarioFileError(f"the block of {language} is not closed")
        self._at += 1
        return self._lines[start : self._at - 1]

    def _table(self) -> list[list[str]]:
        rows = []
        self._peek()
        while self._at < len(self._lines) and self._lines[self._at].startswith("|"):
            rows.append([cell.strip() for cell in self._lines[self._at].strip().strip("|").split("|")])
            self._at += 1
        if len(rows) < 3 or not all(set(cell) <= {"-", ":"} for cell in rows[1]):
            raise ScenarioFileError("expected a table: a header, a line of dashes, and rows")
        return [rows[0], *rows[2:]]

    def _expectations(
        self, topology: Topology, trace: JobTrace, events: Sequence[ControlEvent]
    ) -> Iterator[Expectation]:
        while heading := self._peek():
            match = _EXPECTED.fullmatch(heading)
            if match is None:
                raise ScenarioFileError(f"expected `## Expected…`, not {heading!r}")
            self._next()
            changed = topology
            if match["under"]:
                changes = YAML(typ="safe").load("{" + match["under"] + "}")
                assumptions: Assumptions = topology.assumptions.replaced(changes)
                changed = topology.model_copy(update={"assumptions": assumptions})
            until = parse_milliseconds(match["until"]) if match["until"] else None
            if not self._peek().startswith("```"):
                self._paragraphs()
            steps = tuple(line for line in self._fenced("text") if line)
            yield Expectation(heading, Scenario(changed, trace, tuple(events), until), steps, bool(match["only"]))

    def _peek(self) -> str:
        """The next line that is not empty, or nothing at the end."""
        while self._at < len(self._lines) and not self._lines[self._at].strip():
            self._at += 1
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _next(self) -> str:
        line = self._peek()
        if not line:
            raise ScenarioFileError("the file ends too early")
        self._at += 1
        return line


def _csv(table: list[list[str]]) -> io.BytesIO:
    text = io.StringIO()
    csv.writer(text).writerows(table)
    return io.BytesIO(text.getvalue().encode())


def steps_of(outcome: OracleOutcome) -> list[str]:
    """What happened, in the words of the scenario files, in the order in which they are compared."""
    lines = [step for job in outcome.jobs for step in _steps_of_job(job)]
    for preemption in outcome.preemptions:
        by = f"BY {preemption.claimant} {preemption.kind.name} lost {_seconds(preemption.lost)}"
        lines.append(f"{_seconds(preemption.at)} PREEMPT {preemption.victim} {by}")
    lines += [f"{_seconds(at)} DISPATCH {job}" for at, job in outcome.dispatches]
    return in_order(lines)


def in_order(steps: Sequence[str]) -> list[str]:
    """Steps by time and, within one instant, endings, preemptions, dispatches and the rest, each in a fixed order.

    Preemptions and dispatches of one instant keep the order in which they are given; the others stand by job.
    """

    def key(step: str) -> tuple[float, int, str]:
        match = _STEP.fullmatch(step)
        if match is None or match["what"] not in _RANKS:
            raise ScenarioFileError(f"expected a step such as `10s DISPATCH job`, not {step!r}")
        time = float("inf") if match["at"] == "end" else float(match["at"].removesuffix("s"))
        rank = _RANKS[match["what"]]
        return time, rank, "" if match["what"] in {"PREEMPT", "DISPATCH"} else f"{match['job']} {match['what']}"

    return sorted(steps, key=key)


def _steps_of_job(job: JobRecord) -> Iterator[str]:
    for attempt in job.attempts:
        yield from _steps_of_attempt(job.id, attempt)
    text = f": {STATUS_REASON[job.reason]}" if job.reason else ""
    at = "end" if job.finished_at is None else _seconds(job.finished_at)
    yield f"{at} {job.status.name} {job.id}{text}"


def _steps_of_attempt(job: str, attempt: AttemptRecord) -> Iterator[str]:
    if attempt.running_at is not None and attempt.running_at != attempt.scheduled_at:
        yield f"{_seconds(attempt.running_at)} RUNNING {job}"
    if attempt.outcome is AttemptOutcome.PREEMPTED and attempt.stopped_at is not None:
        yield f"{_seconds(attempt.stopped_at)} STOPPED {job}"
    if attempt.outcome is AttemptOutcome.NO_CAPACITY and attempt.stopped_at is not None:
        yield f"{_seconds(attempt.stopped_at)} NO_CAPACITY {job}"


def _seconds(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds}s" if rest == 0 else f"{seconds}.{rest:03d}".rstrip("0") + "s"
