"""Which jobs ListServiceJobs shows: by status, or by one filter.

Source: ListServiceJobs in the AWS Batch API reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.models.service_job import ServiceJob
from policy_engine.emulator.schedule import ServiceJobStatus

_WITH_STATUS = {"SHARE_IDENTIFIER", "QUOTA_SHARE_NAME"}
_FILTERS = ("JOB_NAME", "BEFORE_CREATED_AT", "AFTER_CREATED_AT", *sorted(_WITH_STATUS))


@dataclass(frozen=True, slots=True)
class Selection:
    """A status, None for any, and a filter with its values, of which a job must meet one."""

    status: str | None
    filter: str | None
    values: tuple[str, ...]

    def includes(self, job: ServiceJob, status: ServiceJobStatus) -> bool:
        """Whether a job is shown."""
        if self.status is not None and status != self.status:
            return False
        return self.filter is None or any(_meets(job, self.filter, value) for value in self.values)


def read_selection(status: str | None, filters: Sequence[dict[str, Any]] | None) -> Selection:
    """The selection of a request: RUNNING jobs if it says nothing. Raises ClientException."""
    if not filters:
        return Selection(status or "RUNNING", None, ())
    if len(filters) > 1:
        raise ClientException("only one filter can be used at a time")
    name, values = filters[0].get("name"), tuple(filters[0].get("values") or ())
    if name not in _FILTERS or not values:
        raise ClientException(f"a filter needs values and one of the names {' | '.join(_FILTERS)}")
    if name in {"BEFORE_CREATED_AT", "AFTER_CREATED_AT"} and not all(value.isdecimal() for value in values):
        raise ClientException(f"the values of {name} are milliseconds since 1970-01-01 UTC")
    if name not in _WITH_STATUS:
        return Selection(None, name, values)
    return Selection(status or "RUNNING", name, values)


def _meets(job: ServiceJob, name: str, value: str) -> bool:
    if name == "JOB_NAME":
        given, wanted = job.name.lower(), value.lower()
        return given.startswith(wanted[:-1]) if wanted.endswith("*") else given == wanted
    if name == "QUOTA_SHARE_NAME":
        return job.share == value
    if name == "BEFORE_CREATED_AT":
        return job.created_at < int(value)
    return name == "AFTER_CREATED_AT" and job.created_at > int(value)
