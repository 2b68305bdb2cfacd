"""What the emulator reads out of a SageMaker training request: what it needs, and how it is told to behave.

A request does not say how long its job will run. The emulator is told in the request itself: by a hyperparameter, an
environment variable or a tag, so that the same request runs on AWS, where they mean nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from policy_engine.durations import parse_milliseconds
from policy_engine.trace import NONE, ON_STOP

RUNTIME = "BATCH_QUOTA_RUNTIME"
"""Names what a job runs, as a duration."""
CHECKPOINT = "BATCH_QUOTA_CHECKPOINT"
"""Names how often a job saves its work, as a duration, or `on_stop`."""
FAILS = "BATCH_QUOTA_FAILS"
"""`true` for a job that fails at its end."""
MOST_INSTANCES = 1_000_000

_Count = Annotated[int, Field(ge=1, le=MOST_INSTANCES)]
_Type = Annotated[str, Field(min_length=1, max_length=128)]


class TrainingRequestError(Exception):
    """A payload that the emulator cannot run, with what is wrong in it."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _InstanceGroup(_Model):
    InstanceType: _Type
    InstanceCount: _Count


class _ResourceConfig(_Model):
    InstanceType: _Type | None = None
    InstanceCount: _Count | None = None
    InstanceGroups: Annotated[list[_InstanceGroup], Field(max_length=5)] | None = None


class _StoppingCondition(_Model):
    MaxRuntimeInSeconds: Annotated[int, Field(ge=1)] | None = None


class _Tag(_Model):
    Key: str
    Value: str


class _Request(_Model):
    TrainingJobName: Annotated[str, Field(min_length=1)] = "job"
    ResourceConfig: _ResourceConfig
    StoppingCondition: _StoppingCondition = _StoppingCondition()
    HyperParameters: dict[str, str] = Field(default_factory=dict)
    Environment: dict[str, str] = Field(default_factory=dict)
    Tags: list[_Tag] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """A training request as the emulator sees it. Times in ms."""

    name: str
    need: Mapping[str, int]
    """Whole instances of each type."""
    runtime: int | None
    checkpoint: int
    """ms between checkpoints, NONE, or ON_STOP."""
    fails: bool
    max_runtime: int | None
    """What SageMaker lets the job run, if the request says it."""


def read_training_request(payload: str, job_tags: Mapping[str, str]) -> TrainingRequest:
    """Read a payload. A hyperparameter counts before an environment variable, a tag of the job, a tag of the request.

    Raises TrainingRequestError.
    """
    try:
        request = _Request.model_validate(json.loads(payload))
    except json.JSONDecodeError as error:
        raise TrainingRequestError(f"it is not JSON: {error}") from error
    except ValidationError as error:
        raise TrainingRequestError(
            "; ".join(_problem(list(each["loc"]), each["msg"]) for each in error.errors())
        ) from error
    told = {tag.Key: tag.Value for tag in request.Tags} | dict(job_tags) | request.Environment | request.HyperParameters
    limit = request.StoppingCondition.MaxRuntimeInSeconds
    return TrainingRequest(
        name=request.TrainingJobName,
        need=_need(request.ResourceConfig),
        runtime=_duration(told, RUNTIME),
        checkpoint=_checkpoint(told),
        fails=_fails(told),
        max_runtime=None if limit is None else limit * 1000,
    )


def _need(config: _ResourceConfig) -> dict[str, int]:
    if config.InstanceGroups:
        need: dict[str, int] = {}
        for group in config.InstanceGroups:
            need[group.InstanceType] = need.get(group.InstanceType, 0) + group.InstanceCount
        return need
    if config.InstanceType is None or config.InstanceCount is None:
        raise TrainingRequestError("ResourceConfig needs InstanceType and InstanceCount, or InstanceGroups")
    return {config.InstanceType: config.InstanceCount}


def _duration(told: Mapping[str, str], name: str) -> int | None:
    if name not in told:
        return None
    text = told[name]
    try:
        return parse_milliseconds(float(text) if text.replace(".", "", 1).isdecimal() else text)
    except ValueError as error:
        raise TrainingRequestError(f"{name}: {error}") from error


def _checkpoint(told: Mapping[str, str]) -> int:
    if told.get(CHECKPOINT) == "on_stop":
        return ON_STOP
    every = _duration(told, CHECKPOINT)
    if every == 0:
        raise TrainingRequestError(f"{CHECKPOINT}: expected more than 0 seconds, or on_stop")
    return NONE if every is None else every


def _fails(told: Mapping[str, str]) -> bool:
    text = told.get(FAILS, "false").lower()
    if text not in {"true", "false"}:
        raise TrainingRequestError(f"{FAILS}: expected true or false, not {text!r}")
    return text == "true"


def _problem(place: list[int | str], message: str) -> str:
    where = ".".join(map(str, place)) or "the request"
    return f"{where}: {message[:1].lower()}{message[1:]}"
