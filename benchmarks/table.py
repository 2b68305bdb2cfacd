"""Turns results into the tables of docs/performance.md.

`python -m benchmarks.table` takes the newest file of benchmarks/results; `python -m benchmarks.table RUN` first keeps
a run's JSON there under the run's date.
"""

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN = "<!-- Made by `python -m benchmarks.table`. -->\n"
END = "<!-- End of what is made. -->\n"

SIZES = ("10k", "100k", "1M", "10M")
CONTENTION = {
    "10k": "10 k jobs, load 0.9",
    "100k": "100 k jobs, load 0.9",
    "1M": "1 M jobs, load 0.9",
    "10M": "10 M jobs, load 0.9",
    "1M overloaded": "1 M jobs, load 1.02",
    "100k deep": "100 k jobs, load 1.25, four times the capacity",
    "1M deep": "1 M jobs, load 1.25, four times the capacity",
}
MEMORY = {
    "1M": "1 M jobs in memory, load 0.9",
    "1M overloaded": "1 M jobs in memory, load 1.02",
    "10M": "10 M jobs in memory, load 0.9",
    "10M Parquet": "10 M jobs read from Parquet, load 0.9",
}
CALLS = {
    "SubmitServiceJob": "SubmitServiceJob",
    "DescribeServiceJob": "DescribeServiceJob",
    "ListServiceJobs": "ListServiceJobs, the RUNNING ones",
    "ListServiceJobs RUNNABLE": "ListServiceJobs, 100 RUNNABLE ones",
    "UpdateServiceJob": "UpdateServiceJob",
    "TerminateServiceJob": "TerminateServiceJob",
    "GetJobQueueSnapshot": "GetJobQueueSnapshot",
    "20 clients at once": "all of them, by 20 clients at once",
}
"""The measures of the emulator."""
HANDS = {"heapq": "bare heapq loop", "SimPy": "SimPy model"}


class Results:
    """One run's measures."""

    def __init__(self, run: dict[str, Any]) -> None:
        self.run = run
        self._entries = {(entry["measure"], entry["case"]): entry for entry in run["benchmarks"]}

    def entry(self, measure: str, case: str) -> dict[str, Any]:
        """What was recorded of one benchmark."""
        entry: dict[str, Any] = self._entries[measure, case]
        return entry

    def best(self, measure: str, case: str) -> float:
        """Seconds of the fastest round."""
        return float(min(self.entry(measure, case)["seconds"]))

    def call_milliseconds(self, case: str, part: float) -> float:
        """What so great a part of the calls to the emulator took at most."""
        entry = self.entry("emulator", case)
        seconds = sorted(entry.get("calls", entry["seconds"]))
        return float(seconds[int((len(seconds) - 1) * part)]) * 1e3

    def nanoseconds(self, measure: str, case: str) -> float:
        """Of a job, in the fastest round."""
        return self.best(measure, case) / int(self.entry(measure, case)["jobs"]) * 1e9

    def ratio(self, case: str) -> float:
        """The kernel's cost against the bare loop's on the same trace."""
        return self.best("kernel", case) / self.best("bare loop", case)


def budgets(results: Results) -> Iterator[tuple[str, str, bool]]:
    """Each budget: what it asks, what was measured, whether that meets it."""
    for case in ("1M", "1M overloaded"):
        ratio = results.ratio(case)
        yield f"kernel within 8x of the bare event loop, {CONTENTION[case]}", f"{ratio:.1f}x", ratio <= 8
    costs = [results.nanoseconds("kernel", case) for case in SIZES]
    spread = max(costs) / min(costs)
    yield "cost of a job flat within 1.5x from 10 k to 10 M jobs, kernel", f"{spread:.2f}x", spread <= 1.5
    deep = results.nanoseconds("kernel", "1M deep")
    backlog = results.entry("kernel", "1M deep")["deepest_backlog"]
    for case in ("100k deep", "1M"):
        ratio = deep / results.nanoseconds("kernel", case)
        asks = f"the same with a backlog {backlog:,} deep, against {CONTENTION[case]}"
        yield asks, f"{ratio:.2f}x", ratio <= 1.5
    for case, name in MEMORY.items():
        grown = results.entry("memory", case)["bytes_a_job"]
        yield f"peak under 250 bytes a job, {name}", f"{grown:.0f}", grown < 250
    for case, name in HANDS.items():
        ratio = results.best("philly", case) / results.best("philly", "replay")
        yield f"Philly at least 20x faster than the {name}", f"{ratio:.1f}x", ratio >= 20
    reading = results.best("reading", "Parquet")
    yield "a Parquet trace of 10 M rows read in under 5 s", f"{reading:.2f} s", reading < 5
    validate = results.best("command", "validate")
    yield "`validate` under 0.4 s as a whole process", f"{validate:.2f} s", validate < 0.4
    for form, name in (("csv", "CSV"), ("parquet", "Parquet")):
        command = results.best("command", f"replay {form}")
        yield f"`replay` of Philly from {name} under 2 s once compiled", f"{command:.2f} s", command < 2
    yield from _synthesis_budgets(results)
    ensemble = results.best("ensemble", "2 threads")
    yield "1,000 replays of 10 k jobs under 10 s on 2 threads", f"{ensemble:.1f} s", ensemble < 10
    slowest = max(results.call_milliseconds(case, 0.5) for case in CALLS)
    yield (
        "each call to the emulator under 50 ms at the median, 10,000 jobs in its queue",
        f"{slowest:.0f} ms",
        slowest < 50,
    )


def _synthesis_budgets(results: Results) -> Iterator[tuple[str, str, bool]]:
    entry = results.entry("synthesis", "20 shares, everything on")
    for key, name in (("seconds", "whole process"), ("synthesis_seconds", "synthesis alone")):
        seconds, bare = min(entry[key]), min(entry[f"bare_{key}"])
        asks = f"synthesis of 20 shares, everything on, within 1.5x of bare L1 constructs, {name}"
        yield asks, f"{seconds / bare:.2f}x", seconds <= 1.5 * bare


def page_part(results: Results, name: str) -> str:
    """What the page says of one run."""
    machine = results.run["machine_info"]
    scale = machine["job_scale"]
    commit = results.run["commit"]
    changed = ", with uncommitted changes" if commit["dirty"] else ""
    lines = [
        "## Where and when",
        "",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}; "
        f"{machine['python']}, numba {machine['numba']}, numpy {machine['numpy']}, polars {machine['polars']}, "
        f"SimPy {machine['simpy']}. Commit {commit['id'][:12]}{changed}. "
        f"All rounds: [{name}](../benchmarks/results/{name}).",
        "",
    ]
    if scale != 1:
        lines += [f"**A trial with {scale:g} of the jobs: not what the tables say.**", ""]
    lines += ["## Budgets", ""]
    lines += _table(
        ("budget", "measured", "met"),
        [(asks, measured, "yes" if met else "**no**") for asks, measured, met in budgets(results)],
    )
    lines += ["## Cost of a job", ""]
    lines += _table(
        ("trace", "bare loop", "kernel", "ratio", "whole replay", "deepest backlog", "most running", "preemptions"),
        [_contention_row(results, case, title) for case, title in CONTENTION.items()],
    )
    lines += ["ns a job, fastest round, processor time.", "", "## Philly", ""]
    lines += _table(("", "seconds", "jobs/s", "our replay is faster by", "preemptions"), list(_philly_rows(results)))
    heapq, simpy = results.entry("philly", "heapq"), results.entry("philly", "SimPy")
    lines += [
        f"With `stop_seconds: 0`, as by hand, our replay counts {heapq['preemptions_of_ours']:,} preemptions, and "
        f"starts {heapq['agreeing']:.1%} of the jobs for the last time at the same millisecond as the heapq loop, "
        f"{simpy['agreeing']:.1%} as the SimPy model.",
        "",
        "## Ensembles",
        "",
        f"1,000 replays of 10 k jobs: {results.best('ensemble', '1 threads'):.1f} s on one thread, "
        f"{results.best('ensemble', '2 threads'):.1f} s on two.",
        "",
        "## Emulator",
        "",
    ]
    calls = [
        (name, f"{results.call_milliseconds(case, 0.5):.0f}", f"{results.call_milliseconds(case, 0.95):.0f}")
        for case, name in CALLS.items()
    ]
    lines += _table(("ms a call, 10,000 jobs in the queue", "median", "19 of 20 under"), calls)
    return "\n".join(lines)


def _contention_row(results: Results, case: str, title: str) -> tuple[str, ...]:
    kernel = results.entry("kernel", case)
    return (
        title,
        f"{results.nanoseconds('bare loop', case):.0f}",
        f"{results.nanoseconds('kernel', case):.0f}",
        f"{results.ratio(case):.1f}x",
        f"{results.nanoseconds('replay', case):.0f}",
        f"{kernel['deepest_backlog']:,}",
        f"{kernel['most_running']:,}",
        f"{kernel['preemptions']:,}",
    )


def _philly_rows(results: Results) -> Iterator[tuple[str, ...]]:
    ours = results.best("philly", "replay")
    for case, name in {"replay": "our replay", "kernel": "our kernel alone", **HANDS}.items():
        seconds = results.best("philly", case)
        entry = results.entry("philly", case)
        faster = f"{seconds / ours:.1f}x" if case in HANDS else ""
        yield name, f"{seconds:.3f}", f"{entry['jobs'] / seconds:,.0f}", faster, f"{entry['preemptions']:,}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = ["---", *(["---:"] * (len(heads) - 1))]
    return [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)] + [""]


def main(arguments: Sequence[str]) -> None:
    """Keep a run if one is named, and write the newest kept one into the page."""
    if arguments:
        run = json.loads(Path(arguments[0]).read_text())
        kept = RESULTS / f"{run['datetime'][:10]}.json"
        RESULTS.mkdir(exist_ok=True)
        shutil.copyfile(arguments[0], kept)
    kept = max(RESULTS.glob("*.json"))
    part = page_part(Results(json.loads(kept.read_text())), kept.name)
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{part}\n{END}{after}")
    print(part)


if __name__ == "__main__":
    main(sys.argv[1:])
