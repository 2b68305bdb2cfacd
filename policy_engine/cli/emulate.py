"""`batch-quota emulate`: AWS Batch with quota management on this machine, for any AWS client."""

import ipaddress
import signal
import sys
from contextlib import suppress
from threading import Event

import click

from policy_engine.assumptions import Assumptions
from policy_engine.cli.assume import assume_option, with_assumed
from policy_engine.cli.failures import UNUSABLE
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
"""


def _milliseconds(_context: click.Context, _option: click.Parameter, text: str) -> int:
    """Read `90`, `5m` or `1h30m`; a number is of seconds."""
    try:
        return parse_milliseconds(float(text) if text.replace(".", "", 1).isdecimal() else text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


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
@assume_option
def command(*, port: int, host: str, speed: float, runtime: int, assumed: tuple[str, ...]) -> None:
    """Serve until interrupted."""
    assumptions = with_assumed(Assumptions(), assumed, training_instance_types())
    try:
        from policy_engine.emulator.clock import RunningClock
        from policy_engine.emulator.server import serving
        from policy_engine.emulator.settings import Settings
    except ImportError as error:
        click.echo(f"error: {error}; the emulator comes with `pip install 'batch-quota[emulator]'`", err=True)
        sys.exit(UNUSABLE)
    _compile()
    settings = Settings(clock=RunningClock(speed), assumptions=assumptions, default_runtime=runtime)
    try:
        with serving(settings, host, port) as bound:
            ended = _end_asked_for()
            _announce(host, bound)
            ended.wait()
    except OSError as error:
        click.echo(f"error: cannot listen at {host}:{port}: {error.strerror or error}; --port names another", err=True)
        sys.exit(UNUSABLE)


def _compile() -> None:
    """Compile the scheduler if that is still to be done on this machine, and say so: a call should not take so long."""
    from policy_engine.scheduler.machine_code import cache_directory, is_kept, kernel

    if not is_kept():
        click.echo(f"compiling the scheduler, which takes a minute or so; kept in {cache_directory()}", err=True)
        with ending_at_once():
            kernel()


def _announce(host: str, port: int) -> None:
    shown = "localhost" if host == _LOOPBACK else host
    click.echo(f"AWS_ENDPOINT_URL=http://{shown}:{port}")
    sys.stdout.flush()
    if not _is_loopback(host):
        click.echo(f"warning: everybody who can reach {host} can use it", err=True)
    click.echo("serving; Ctrl-C ends it, and forgets everything", err=True)


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
