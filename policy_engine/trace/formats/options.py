"""What a user chooses for a conversion: how sizes, teams and classes become needs, shares and priorities."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl


class TimeUnit(StrEnum):
    """The unit of a source's times."""

    MILLISECONDS = "ms"
    SECONDS = "s"
    MINUTES = "m"
    HOURS = "h"

    @property
    def seconds(self) -> float:
        """Length of the unit in seconds."""
        return {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}[self.value]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Instance types by what one instance holds, ascending: 1 GPU is one ml.g5.xlarge, 2 to 4 one ml.g5.12xlarge.

    A size goes to the first type that holds it; one that none holds, to as many of the largest as it takes.
    """

    steps: tuple[tuple[int, str], ...]

    def instance_type(self, size: pl.Expr) -> pl.Expr:
        """The instance type for each size."""
        expression = pl.lit(self.steps[-1][1])
        for holds, type_ in reversed(self.steps[:-1]):
            expression = pl.when(size <= holds).then(pl.lit(type_)).otherwise(expression)
        return expression

    def instance_count(self, size: pl.Expr) -> pl.Expr:
        """The number of instances for each size."""
        return (size / self.steps[-1][0]).ceil().cast(pl.Int64)


GPUS = Sizes(((1, "ml.g5.xlarge"), (4, "ml.g5.12xlarge"), (8, "ml.g5.48xlarge")))
"""GPUs of the ml.g5 family."""
CPUS = Sizes(((4, "ml.m5.xlarge"), (16, "ml.m5.4xlarge"), (48, "ml.m5.12xlarge"), (96, "ml.m5.24xlarge")))
"""vCPUs of the ml.m5 family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Choices for a conversion. Each format uses those that its `options` names; None is the format's default."""

    gpus: Sizes = GPUS
    cpus: Sizes = CPUS
    share: str | None = None
    """One share for all jobs."""
    spread: int | None = None
    """Number of shares to deal jobs out to, in order of the source's rows."""
    share_by: str | None = None
    """The source column that names the team."""
    share_of: Mapping[str, str] = field(default_factory=dict)
    """Share of each team; `*` is any other team."""
    share_prefix: str = ""
    """Put before the team's name where `share_of` has nothing."""
    priority_of: Mapping[str, int] | None = None
    """Priority of each class; `*` is any other class."""
    type_of: Mapping[str, str] = field(default_factory=dict)
    """Instance type of each GPU model; `*` is any other model."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Source column of each native one."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Value of a native column for all jobs."""
    unit: TimeUnit | None = None
    unix: bool = False
    """Whether submission times count from 1970."""
