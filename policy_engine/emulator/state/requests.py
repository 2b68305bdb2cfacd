"""Requests as WSGI has them: what of one is kept, one made again of that, and which of them only read."""

import io
import re
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from moto.core.request import PRESERVED_HEADER_NAMES_ENVIRON_KEY

from policy_engine.emulator.state.entries import Call

Environ = dict[str, Any]
"""A WSGI environment."""

_KEPT = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "RAW_URI", "REQUEST_URI", "SERVER_NAME", "SERVER_PORT")
_CONNECTION = {"HTTP_CONNECTION", "HTTP_COOKIE", "HTTP_X_AMZ_SECURITY_TOKEN", "HTTP_EXPECT"}
_SIGNATURE = re.compile(r"Signature=[^,&\s]*")
_TOKEN = re.compile(r"X-Amz-Security-Token=[^&]*", re.IGNORECASE)
_READING = re.compile(r"(?:Describe|List|Get|BatchGet|Head|Query|Scan|Select)(?:[A-Z]\w*)?")
_READING_PATH = re.compile(r"/v1/(?:describe|list|get)[a-z]+")
"""AWS Batch has its operations in the path, and sends all of them as POST."""


def take_body(environ: Environ) -> bytes:
    """Read the body, and put it back for whoever reads it next."""
    stream = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH") or ""
    content: bytes = stream.read(int(length)) if length.isdecimal() else b""
    if not length and environ.get("wsgi.input_terminated"):
        content = stream.read()
    environ["wsgi.input"] = io.BytesIO(content)
    return content


def kept_of(environ: Environ) -> dict[str, str]:
    """What is kept of a request: what moto looks at, but no signature and no session token."""
    kept = {name: str(environ[name]) for name in _KEPT if name in environ}
    if environ.get("CONTENT_TYPE"):
        kept["CONTENT_TYPE"] = environ["CONTENT_TYPE"]
    kept |= {name: value for name, value in environ.items() if name.startswith("HTTP_") and name not in _CONNECTION}
    for name in ("HTTP_AUTHORIZATION", "QUERY_STRING", "RAW_URI", "REQUEST_URI"):
        if name in kept:
            kept[name] = _TOKEN.sub("X-Amz-Security-Token=", _SIGNATURE.sub("Signature=", kept[name]))
    return kept


def header_names_of(environ: Environ) -> dict[str, str]:
    """Names of headers with underscores in them, such as S3's metadata may have, as moto keeps them."""
    return dict(environ.get(PRESERVED_HEADER_NAMES_ENVIRON_KEY) or {})


def made_again(call: Call) -> Environ:
    """The request of a call."""
    content = call.content
    return {
        **call.request,
        "SCRIPT_NAME": "",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(content)),
        PRESERVED_HEADER_NAMES_ENVIRON_KEY: dict(call.header_names),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(content),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def only_reads(environ: Mapping[str, Any], content: bytes) -> bool:
    """Whether a request changes nothing, as its method or the name of its operation says."""
    operation = _operation(environ, content)
    if operation is not None:
        return _READING.fullmatch(operation) is not None
    if environ["REQUEST_METHOD"] in {"GET", "HEAD", "OPTIONS"}:
        return True
    return _READING_PATH.fullmatch(environ.get("PATH_INFO", "")) is not None


def _operation(environ: Mapping[str, Any], content: bytes) -> str | None:
    """The operation, where a header or a parameter names it."""
    target = environ.get("HTTP_X_AMZ_TARGET")
    if target:
        return str(target).rpartition(".")[2]
    parameters = environ.get("QUERY_STRING", "")
    if str(environ.get("CONTENT_TYPE", "")).startswith("application/x-www-form-urlencoded"):
        parameters = f"{parameters}&{content.decode(errors='replace')}"
    action = parse_qs(parameters).get("Action")
    return action[0] if action else None
