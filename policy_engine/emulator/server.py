"""The emulator as a server, for clients in any process and language."""

import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from unittest.mock import patch
from wsgiref.types import WSGIApplication

from moto import backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from policy_engine.emulator.clock import RunningClock
from policy_engine.emulator.extension import announce, quota_management
from policy_engine.emulator.faults import Outage
from policy_engine.emulator.settings import Settings
from policy_engine.emulator.state.recording import kept_in
from policy_engine.emulator.ticking import ticking

_POLL_SECONDS = 0.05
"""How soon the server notices that it is to end."""


class AddressError(Exception):
    """The address cannot be listened at."""


@contextmanager
def serving(
    settings: Settings,
    clock: RunningClock,
    host: str,
    port: int,
    *,
    state: Path | None = None,
    outages: Sequence[Outage] = (),
    note: Callable[[str], None] = lambda _text: None,
) -> Iterator[int]:
    """All of moto, with quota management, at this address; port 0 is any that is free. Yields the port.

    `clock` is that of the settings. `state` is the file that calls are kept in. The times of `outages` count from the
    start of the server. `note` is told what a user should know. Raises AddressError, OSError if the file cannot be had,
    InputError if it cannot be used.
    """
    _check_address(host, port)
    # A line for each request hides what matters; moto's own errors still come through.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    application: WSGIApplication = DomainDispatcherApplication(create_backend_app)
    modules = tuple(backends.list_of_moto_modules())
    with ExitStack() as stack:
        # moto lists its folders at each request, to see which service it is for.
        stack.enter_context(patch.object(backends, "list_of_moto_modules", lambda: modules))
        tell = partial(announce, stack.enter_context(quota_management(settings)))
        if state is not None:
            kept = kept_in(state, application, settings, clock, outages=outages, note=note, announce=tell)
            application = stack.enter_context(kept)
        else:
            for each in outages:
                now = clock.now()
                settings.outages.add(Outage(unit=each.unit, since=now + each.since, until=now + each.until))
        stack.enter_context(ticking(settings, tell))
        server = make_server(host, port, application, threaded=True, request_handler=MotoRequestHandler)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": _POLL_SECONDS}, daemon=True)
        thread.start()
        try:
            yield server.port
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _check_address(host: str, port: int) -> None:
    """Bind the address and let it go: werkzeug's server would end the process for one that it cannot have."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        raise AddressError(error.strerror or str(error)) from error
