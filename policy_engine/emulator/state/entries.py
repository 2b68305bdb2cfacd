"""The lines of a state file: one header, then when servers started, and the calls that they answered."""

import base64
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

FORMAT = "batch-quota emulator state"
VERSION = 1


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Header(_Entry):
    """The first line: what the past depends on beside the calls. Durations in ms."""

    format: Literal["batch-quota emulator state"]
    version: Literal[1]
    made_with: dict[str, str]
    """Versions of packages."""
    assumptions: dict[str, JsonValue]
    default_runtime: int
    settling: int


class Shortage(_Entry):
    """An outage: SageMaker lacks a unit. Times in ms of the emulator since 1970-01-01 UTC."""

    unit: str
    since: int
    until: int


class Started(_Entry):
    """A server started: how its clock runs from then on, and which outages it was told of."""

    kind: Literal["started"] = "started"
    at: int
    """ms since 1970-01-01 UTC."""
    now: int
    """The emulator's, which is ahead where it runs faster than time."""
    speed: Annotated[float, Field(gt=0)]
    outages: tuple[Shortage, ...] = ()


class Call(_Entry):
    """A call that was answered."""

    kind: Literal["call"] = "call"
    at: int
    """ms since 1970-01-01 UTC."""
    now: int
    """The emulator's."""
    seed: int
    """Of the random identifiers that it was answered with."""
    request: dict[str, str]
    """What WSGI has of the request: method, path, query, headers. Without signature and session token."""
    header_names: dict[str, str] = Field(default_factory=dict)
    """Names of headers, where WSGI would lose how they are written."""
    body: str
    """Text, or base64 if `binary`."""
    binary: bool = False
    status: int

    @property
    def content(self) -> bytes:
        """The body as it was sent."""
        return base64.b64decode(self.body) if self.binary else self.body.encode()


def body_fields(content: bytes) -> tuple[str, bool]:
    """`body` and `binary` for a body."""
    try:
        return content.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(content).decode(), True


Entry = Annotated[Started | Call, Field(discriminator="kind")]
ENTRY: TypeAdapter[Started | Call] = TypeAdapter(Entry)
