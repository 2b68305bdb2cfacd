"""`batch-quota trace convert`: any trace as a native one."""

from collections.abc import Mapping
from typing import cast

import click
from click.core import ParameterSource

from policy_engine.cli import trace_output
from policy_engine.cli.failures import note, unusable_input
from policy_engine.cli.pairs import pair_option
from policy_engine.trace.formats import FORMATS, ForeignFormat, Options, Sizes, TimeUnit, convert
from policy_engine.trace.tables import FileFormat

_ALWAYS = frozenset({"source", "foreign", "output", "output_format", "source_format", "force"})
_KINDS = "\n".join(f"  {kind.name:<12} {kind.summary}" for kind in FORMATS.values())
_HELP = f"""\
Convert a trace of another kind, or in another format, to a native trace.

SOURCE is a file, or - for standard input. What is left out is counted on standard error. A row that makes no
valid job is reported with its line, and then nothing is written.

\b
Kinds of trace (--from):
{_KINDS}

\b
Examples:
  batch-quota trace convert examples/traces/ml-training.csv -o trace.parquet
  batch-quota trace convert examples/traces/accounting-export.csv \\
      --map job_id=id --map share=project --map submitted_at=submitted_ms \\
      --map runtime_seconds=elapsed_ms --unit ms --map gpus=gpu_count
  batch-quota trace convert --from philly philly.csv -o philly.parquet \\
      --gpus 1=ml.g5.xlarge --gpus 8=ml.p4d.24xlarge --share-of '*=batch'
"""


@click.command("convert", no_args_is_help=True, help=_HELP, short_help="Convert any trace to a native one.")
@click.argument("source", type=click.Path(allow_dash=True))
@click.option(
    "foreign", "--from", type=click.Choice(list(FORMATS)), default="columns", show_default=True, help="Kind of SOURCE."
)
@trace_output.options
@click.option(
    "source_format",
    "--source-format",
    type=click.Choice(trace_output.FORMATS),
    help="Format of SOURCE, if neither its name nor its first bytes show it.",
)
@pair_option(
    "--gpus",
    "gpus",
    "N=TYPE",
    "Jobs of up to N GPUs take an instance of TYPE; larger ones take several of the largest. "
    "[default: 1=ml.g5.xlarge 4=ml.g5.12xlarge 8=ml.g5.48xlarge]",
)
@pair_option(
    "--cpus",
    "cpus",
    "N=TYPE",
    "The same for CPUs. [default: 4=ml.m5.xlarge 16=ml.m5.4xlarge 48=ml.m5.12xlarge 96=ml.m5.24xlarge]",
)
@click.option("--share", metavar="NAME", help="Put all jobs in one share.")
@click.option("--spread", type=click.IntRange(1, 1000), metavar="N", help="Deal jobs out to N shares in turn.")
@click.option(
    "--share-by",
    type=click.Choice(["queue", "user", "group", "partition"]),
    help="Field that names the team (swf). [default: queue]",
)
@pair_option(
    "--share-of", "share_of", "TEAM=SHARE", "Share of a team; '*' is any other. [default: the team's name]", last=True
)
@click.option(
    "--share-prefix",
    default="",
    metavar="TEXT",
    help="Put before the names of shares that come from teams or --spread.",
)
@pair_option("--priority-of", "priority_of", "CLASS=N", "Priority of a class of jobs; '*' is any other.", last=True)
@pair_option("--type-of", "type_of", "MODEL=TYPE", "Instance type of a GPU model; '*' is any other.", last=True)
@pair_option("--map", "columns", "COLUMN=SOURCE", "Source column of a native one, or of gpus or cpus (columns).")
@pair_option("--set", "constants", "COLUMN=VALUE", "Value of a native column for all jobs (columns).")
@click.option(
    "--unit",
    type=click.Choice([unit.value for unit in TimeUnit]),
    help="Unit of the source's times. [default: the trace's own, or s]",
)
@click.option("--unix", is_flag=True, help="Submission times count from 1970.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    source: str,
    foreign: str,
    output: str,
    output_format: str | None,
    source_format: str | None,
    force: bool,
    **chosen: object,
) -> None:
    """Convert."""
    kind = FORMATS[foreign]
    _refuse_idle_options(ctx, kind)
    with unusable_input():
        trace = convert(
            source, kind, _options(chosen), format=FileFormat(source_format) if source_format else None, note=note
        )
        trace_output.put(trace, output, output_format, force=force)


def _refuse_idle_options(ctx: click.Context, kind: ForeignFormat) -> None:
    """An option that a kind of trace does not use is a misunderstanding."""
    for param in ctx.command.params:
        name = param.name or ""
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in _ALWAYS and name not in kind.options:
            raise click.UsageError(f"{param.opts[0]} means nothing for --from {kind.name}", ctx)


def _options(chosen: Mapping[str, object]) -> Options:
    made = {name: value for name, value in chosen.items() if value is not None}
    for name, flag in (("gpus", "--gpus"), ("cpus", "--cpus")):
        steps = made.pop(name)
        if steps:
            made[name] = _sizes(cast("Mapping[str, str]", steps), flag)
    if "unit" in made:
        made["unit"] = TimeUnit(str(made["unit"]))
    priorities = cast("Mapping[str, str]", made.pop("priority_of"))
    if priorities:
        made["priority_of"] = {name: _whole(text, "--priority-of", 0, 9999) for name, text in priorities.items()}
    return Options(**made)  # type: ignore[arg-type]  # the parameters above are named and typed as its fields


def _sizes(steps: Mapping[str, str], flag: str) -> Sizes:
    return Sizes(tuple(sorted((_whole(size, flag, 1, 1_000_000), type_) for size, type_ in steps.items())))


def _whole(text: str, flag: str, low: int, high: int) -> int:
    if text.isascii() and text.isdecimal() and low <= int(text) <= high:
        return int(text)
    raise click.BadParameter(f"expected a whole number from {low} to {high}, not {text!r}", param_hint=flag)
