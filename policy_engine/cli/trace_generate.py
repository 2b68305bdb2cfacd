"""`batch-quota trace generate`: a seeded synthetic trace for a topology."""

import click

from policy_engine.cli import trace_output
from policy_engine.cli.failures import unusable_input
from policy_engine.cli.share_loads import with_changes
from policy_engine.topology import read_topology
from policy_engine.trace import read_trace
from policy_engine.trace.generation import Arrivals, TraceSpec, expected_jobs, generate, shares_of

_MOST_JOBS = 100_000_000


_HELP = """\
Generate a synthetic trace of jobs for the shares of TOPOLOGY.

Each share gets the jobs that keep a fraction of its own capacity busy. Time 0 is a Monday, 00:00.

\b
Keys of --share, with their defaults:
  load=0.7        mean demand as a fraction of the share's capacity
  median=20m      median runtime
  sigma=1.2       spread: standard deviation of the runtimes' logarithm
  longest=5d      longest runtime
  size=1          instances of a job: 1|2, or with weights 1:9|2:1
  priority=0      the same for priorities: 100|500
  retries=N       preemption retries; unlimited if left out
  checkpoint=10m  or on_stop; none if left out
  fails=0         fraction of jobs that fail by themselves

\b
Examples:
  batch-quota trace generate examples/ml-training.yaml -o week.csv
  batch-quota trace generate examples/ml-training.yaml --days 2 --seed 7 \\
      --share '*:load=0.9' --share 'search-prod:median=2h,size=1|2'
  batch-quota trace generate examples/ml-training.yaml --jobs 1000000 \\
      -o million.parquet
"""


@click.command("generate", no_args_is_help=True, help=_HELP, short_help="Generate a synthetic trace for a topology.")
@click.argument("topology", type=click.Path(allow_dash=True))
@trace_output.options
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same bytes."
)
@click.option(
    "--days", type=click.FloatRange(0, 3650, min_open=True), default=7.0, show_default=True, help="Days of submissions."
)
@click.option(
    "--jobs",
    type=click.IntRange(1, _MOST_JOBS),
    metavar="N",
    help="Number of jobs in all; loads are then relative. [default: what the loads make]",
)
@click.option(
    "--arrivals",
    type=click.Choice([kind.value for kind in Arrivals]),
    default=Arrivals.DIURNAL.value,
    show_default=True,
    help="diurnal: busy by day, quiet by night and at weekends; poisson: alike at all times.",
)
@click.option(
    "share_texts",
    "--share",
    metavar="SHARE:KEY=VALUE,…",
    multiple=True,
    help="The jobs of a share; * is all shares. Keys above.",
)
@click.option(
    "runtimes_from",
    "--runtimes-from",
    type=click.Path(),
    metavar="TRACE",
    help="Sample runtimes from this native trace.",
)
def command(
    *,
    topology: str,
    output: str,
    output_format: str | None,
    force: bool,
    seed: int,
    days: float,
    jobs: int | None,
    arrivals: str,
    share_texts: tuple[str, ...],
    runtimes_from: str | None,
) -> None:
    """Generate."""
    with unusable_input():
        loads = with_changes(shares_of(read_topology(topology).topology), share_texts)
        runtimes = None if runtimes_from is None else read_trace(runtimes_from).runtime
        spec = TraceSpec(shares=loads, days=days, arrivals=Arrivals(arrivals), jobs=jobs, runtimes=runtimes)
        if (expected := expected_jobs(spec)) > _MOST_JOBS:
            raise click.UsageError(f"these loads make {expected:,} jobs; at most {_MOST_JOBS:,} are possible")
        try:
            trace = generate(spec, seed)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        trace_output.put(trace, output, output_format, force=force)
