"""`batch-quota emulate` as a process of its own, for tests that talk to it as any client does."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "batch-quota")
PATIENCE = 60
"""Seconds after which a test that waits for the server gives up."""


@contextmanager
def emulate(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The endpoint and the process of an emulator at a free port. It is killed at the end, if it has not ended."""
    process = subprocess.Popen(
        [COMMAND, "emulate", "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        name, _, endpoint = process.stdout.readline().strip().partition("=")
        assert name == "AWS_ENDPOINT_URL"
        yield endpoint, process
    finally:
        process.kill()
        process.communicate()
