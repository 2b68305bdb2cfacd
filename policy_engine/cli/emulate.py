"""`batch-quota emulate`: AWS Batch with quota management on this machine, for any AWS client."""

import ipaddress
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import click

from policy_engine.assumptions import Assumptions
from policy_engine.cli.assume import assume_option, with_assumed
from policy_engine.cli.failures import UNUSABLE, unusable_input
from policy_engine.cli.interruption import ending_at_once
from policy_engine.durations import parse_milliseconds
from policy_engine.topology.instance_types import training_instance_types

_LOOPBACK = "127.0.0.1"

_HELP = """\
Serve AWS as moto emulates it, with quota management in AWS Batch, until Ctrl-C. Its scheduler is that of `replay`.

Prints the variable that makes AWS's own clients use it. Any credentials will do. A training request says how long its
job runs, as a hyperparameter or environment variable BATCH_QUOTA_RUNTIME, such as 10m.

\b
Examples:
  batch-quota emulate --port 5000 --speed 60
  batch-quota emulate --assume stop_seconds=30s --runtime 2m
  batch-quota emulate --state emulator.state --throttle 5
  batch-quota emulate --unavailable ml.p5.48xlarge=30m@10m
"""


def _milliseconds(_context: click.Context, _option: click.Parameter, text: str) -> int:
    """Read `90`, `5m` or `1h30m`; a number is of seconds."""
    try:
        return parse_milliseconds(float(text) if text.replace(".", "", 1).isdecimal() else text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@dataclass(frozen=True, slots=True)
class Shortage:
    """SageMaker lacks a unit for some ms, some ms after the start."""

    unit: str
    duration: int
    after: int


def _shortages(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[Shortage, ...]:
    """Read `ml.p5.48xlarge=30m` and `ml.p5.48xlarge=30m@10m`."""
    return tuple(_shortage(context, option, text) for text in texts)


def _shortage(context: click.Context, option: click.Parameter, text: str) -> Shortage:
    unit, equals, when = text.partition("=")
    duration, _, after = when.partition("@")
    if not unit.startswith("ml.") or not equals:
        raise click.BadParameter(f"expected an instance type and a duration, such as ml.p5.48xlarge=30m, not {text!r}")
    lasts, begins = _milliseconds(context, option, duration), _milliseconds(context, option, after or "0")
    if lasts == 0:
        raise click.BadParameter(f"{text}: expected a duration of more than 0")
    return Shortage(unit, lasts, begins)


@click.command("emulate", help=_HELP)
@click.option("--port", type=click.IntRange(0, 65535), default=5000, show_default=True, help="0: any that is free.")
@click.option("--host", default=_LOOPBACK, show_default=True, help="Address to listen at. Nobody is authenticated.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="How much faster time goes on: 60 makes an hour of a minute.",
)
@click.option(
    "--runtime", callback=_milliseconds, default="5m", show_default=True, help="What jobs run that do not say it."
)
@click.option(
    "--settling",
    callback=_milliseconds,
    default="1s",
    show_default=True,
    help="How long each resource is CREATING, UPDATING or DELETING.",
)
@click.option(
    "--throttle",
    type=click.IntRange(min=1),
    metavar="RATE",
    help="Refuse what is submitted faster, in jobs a second; AWS's rate is 5.",
)
@click.option(
    "--unavailable",
    "shortages",
    multiple=True,
    metavar="TYPE=FOR[@AFTER]",
    callback=_shortages,
    help="SageMaker has no instances of this type for so long, from the start or later on. May be repeated.",
)
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep all calls in this file, and go on from those that it has.",
)
@assume_option
def command(
    *,
    port: int,
    host: str,
    speed: float,
    runtime: int,
    settling: int,
    throttle: int | None,
    shortages: tuple[Shortage, ...],
    state: Path | None,
    assumed: tuple[str, ...],
) -> None:
    """Serve until interrupted."""
    assumptions = with_assumed(Assumptions(), assumed, training_instance_types())
    try:
        from policy_engine.emulator.clock import RunningClock
        from policy_engine.emulator.faults import Outage, Throttle
        from policy_engine.emulator.server import AddressError, serving
        from policy_engine.emulator.settings import Settings
    except ImportError as error:
        click.echo(f"error: {error}; the emulator comes with `pip install 'batch-quota[emulator]'`", err=True)
        sys.exit(UNUSABLE)
    _compile()
    clock = RunningClock(speed)
    settings = Settings(
        clock=clock,
        assumptions=assumptions,
        default_runtime=runtime,
        settling=settling,
        throttle=None if throttle is None else Throttle(throttle, clock.waited),
    )
    outages = [Outage(unit=each.unit, since=each.after, until=each.after + each.duration) for each in shortages]
    try:
        with (
            unusable_input(),
            serving(settings, clock, host, port, state=state, outages=outages, note=_note) as bound,
        ):
            ended = _end_asked_for()
            _announce(host, bound, state)
            ended.wait()
    except AddressError as error:
        click.echo(f"error: cannot listen at {host}:{port}: {error}; --port names another", err=True)
        sys.exit(UNUSABLE)


def _compile() -> None:
    """Compile the scheduler if that is still to be done on this machine, and say so: a call should not take so long."""
    from policy_engine.scheduler.machine_code import cache_directory, is_kept, kernel

    if not is_kept():
        click.echo(f"compiling the scheduler, which takes a minute or so; kept in {cache_directory()}", err=True)
        with ending_at_once():
            kernel()


def _note(text: str) -> None:
    click.echo(f"note: {text}", err=True)


def _announce(host: str, port: int, state: Path | None) -> None:
    shown = "localhost" if host == _LOOPBACK else host
    click.echo(f"AWS_ENDPOINT_URL=http://{shown}:{port}")
    sys.stdout.flush()
    if not _is_loopback(host):
        click.echo(f"warning: everybody who can reach {host} can use it", err=True)
    then = "forgets everything" if state is None else f"{state} has all that it was told"
    click.echo(f"serving; Ctrl-C ends it, and {then}", err=True)


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _end_asked_for() -> Event:
    """Is set by Ctrl-C, and by the signal by which service managers and containers end a process."""
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    return ended
