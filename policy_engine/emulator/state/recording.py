"""Keeps the calls of a server in its state file, and makes them again when a server starts with one."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

import time_machine
from werkzeug.test import run_wsgi_app

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.emulator.clock import RunningClock
from policy_engine.emulator.faults import Outage
from policy_engine.emulator.identifiers import identifiers_from
from policy_engine.emulator.settings import Settings
from policy_engine.emulator.state.entries import FORMAT, VERSION, Call, Header, Shortage, Started, body_fields
from policy_engine.emulator.state.journal import Journal, Kept, opened
from policy_engine.emulator.state.requests import Environ, header_names_of, kept_of, made_again, only_reads, take_body

THROTTLED = 429
_HALF_WRITTEN = "a half-written last line is dropped: nobody had an answer to that call"


@contextmanager
def kept_in(
    path: Path,
    application: WSGIApplication,
    settings: Settings,
    clock: RunningClock,
    *,
    outages: Sequence[Outage],
    note: Callable[[str], None],
    announce: Callable[[], None],
) -> Iterator[WSGIApplication]:
    """An application whose calls are kept in a file, after those that the file has. `clock` is that of the settings.

    `announce` tells others what has happened by itself. It is called before each call that is kept, so that the call
    finds the same when it is made again. `outages` begin with this server, and count from 0 instead of 1970. `note` is
    told what a user should know. Raises InputError and OSError.
    """
    with opened(path, _header(settings)) as (journal, kept):
        if kept.cut_off:
            note(f"{path}: {_HALF_WRITTEN}")
        throttle = settings.throttle
        with throttle.suspended() if throttle else nullcontext():
            calls = sum(isinstance(entry, Call) for entry in kept.entries)
            if calls:
                note(f"making {calls:,} calls of {path} again")
            _restore(path, kept, application, settings, clock, announce=announce)
        journal.add(_begin(kept, settings, clock, outages))
        yield Recorder(application, journal, settings, note, announce)


class Recorder:
    """A WSGI application: another one, one call at a time, whose calls are on the disk before they are answered."""

    def __init__(
        self,
        application: WSGIApplication,
        journal: Journal,
        settings: Settings,
        note: Callable[[str], None],
        announce: Callable[[], None],
    ) -> None:
        self._application = application
        self._announce = announce
        self._note = note
        self._journal = journal
        self._settings = settings
        self._failure: OSError | None = None

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        content = take_body(environ)
        with self._settings.lock, self._settings.clock.held():
            if self._failure is not None:
                return _refused(self._journal.path, self._failure, start_response)
            if only_reads(environ, content):
                return _passed_on(_answer(self._application, environ), start_response)
            kept, names, at, seed = kept_of(environ), header_names_of(environ), _wall_time(), secrets.randbits(63)
            status = 500
            self._announce()
            try:
                with identifiers_from(seed):
                    answer = _answer(self._application, environ)
                status = _code(answer)
            finally:
                body, binary = body_fields(content)
                call = Call(
                    at=at,
                    now=self._settings.clock.now(),
                    seed=seed,
                    request=kept,
                    header_names=names,
                    body=body,
                    binary=binary,
                    status=status,
                )
                if status != THROTTLED:
                    self._keep(call)
            if self._failure is not None:
                return _refused(self._journal.path, self._failure, start_response)
            return _passed_on(answer, start_response)

    def _keep(self, call: Call) -> None:
        try:
            self._journal.add(call)
        except OSError as error:
            # What this process remembers is more than the file has: it must not go on.
            self._failure = error
            self._note(_failure_text(self._journal.path, error))


_Answer = tuple[Iterable[bytes], str, Any]
"""Body, status line and headers."""


def _answer(application: WSGIApplication, environ: Environ) -> _Answer:
    return run_wsgi_app(application, environ, buffered=True)


def _code(answer: _Answer) -> int:
    return int(answer[1].split(" ", 1)[0])


def _passed_on(answer: _Answer, start_response: StartResponse) -> Iterable[bytes]:
    body, status, headers = answer
    start_response(status, list(headers))
    return body


def _refused(path: Path, error: OSError, start_response: StartResponse) -> Iterable[bytes]:
    start_response("503 Service Unavailable", [("Content-Type", "text/plain; charset=utf-8")])
    return [_failure_text(path, error).encode()]


def _failure_text(path: Path, error: OSError) -> str:
    return f"{path}: the state cannot be kept: {error.strerror or error}; no more calls are answered: start again"


def _wall_time() -> int:
    return time.time_ns() // 1_000_000


def _header(settings: Settings) -> Header:
    return Header(
        format=FORMAT,
        version=VERSION,
        made_with={name: version(name) for name in ("batch-quota", "moto")},
        assumptions=settings.assumptions.model_dump(mode="json"),
        default_runtime=settings.default_runtime,
        settling=settings.settling,
    )


def _restore(
    path: Path,
    kept: Kept,
    application: WSGIApplication,
    settings: Settings,
    clock: RunningClock,
    *,
    announce: Callable[[], None],
) -> None:
    """Make all calls again, each at its own time."""
    with time_machine.travel(0, tick=True) as traveller:
        for line, entry in enumerate(kept.entries, start=2):
            if isinstance(entry, Started):
                for shortage in entry.outages:
                    settings.outages.add(Outage(unit=shortage.unit, since=shortage.since, until=shortage.until))
                continue
            traveller.move_to(entry.at / 1000)
            with clock.held(entry.now):
                announce()
                with identifiers_from(entry.seed):
                    status = _status(application, made_again(entry))
            if status != entry.status:
                raise InputError([_another_answer(path, line, entry, status, kept.header)])


def _status(application: WSGIApplication, environ: Environ) -> int:
    try:
        return _code(_answer(application, environ))
    except Exception:  # noqa: BLE001 (what moto raises, its server answers with 500)
        return 500


def _another_answer(path: Path, line: int, call: Call, status: int, header: Header) -> Finding:
    made_with = " and ".join(f"{name} {number}" for name, number in header.made_with.items())
    return Finding(
        "emulator-state",
        Severity.ERROR,
        f"{call.request['REQUEST_METHOD']} {call.request['PATH_INFO']} was answered with status {call.status}, and is "
        f"now with {status}: the state would not be what it was",
        help=f"it was kept with {made_with}; use these, or name another file",
        position=Position(file=str(path), line=line, column=1),
    )


def _begin(kept: Kept, settings: Settings, clock: RunningClock, outages: Sequence[Outage]) -> Started:
    """The clock goes on as if the server had never ended: what was shown stays shown."""
    at, now = _wall_time(), clock.now()
    starts = [entry for entry in kept.entries if isinstance(entry, Started)]
    if starts:
        last = starts[-1]
        latest = max(entry.now for entry in kept.entries)
        now = max(latest + 1, last.now + int((at - last.at) * last.speed))
        clock.go_on_from(now)
    begun = [Outage(unit=each.unit, since=now + each.since, until=now + each.until) for each in outages]
    for outage in begun:
        settings.outages.add(outage)
    return Started(
        at=at,
        now=now,
        speed=clock.speed,
        outages=tuple(Shortage(unit=each.unit, since=each.since, until=each.until) for each in begun),
    )
