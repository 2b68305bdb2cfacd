"""The emulator as a server, for clients in any process and language."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer

from policy_engine.emulator.extension import quota_management
from policy_engine.emulator.settings import Settings


@contextmanager
def serving(settings: Settings, host: str, port: int) -> Iterator[int]:
    """All of moto, with quota management, at this address; port 0 is any that is free. Yields the port.

    Raises OSError if the address cannot be had.
    """
    _check_address(host, port)
    # A line for each request hides what matters; moto's own errors still come through.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    with quota_management(settings):
        server = ThreadedMotoServer(host, port, verbose=False)
        server.start()
        try:
            yield server.get_host_and_port()[1]
        finally:
            server.stop()


def _check_address(host: str, port: int) -> None:
    """Bind the address and let it go: moto's server would wait for ever for one that it cannot have."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind(address)
