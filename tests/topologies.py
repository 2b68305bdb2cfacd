"""Topologies of every kind that the model allows: sensible ones, and ones with numbers and names that make no sense."""

from typing import Any

from hypothesis import strategies as st

from policy_engine.assumptions import Assumptions, UnallocatedCapacity
from policy_engine.topology import (
    Queue,
    QuotaShare,
    ResourceSharingStrategy,
    ShareState,
    Suppression,
    Team,
    TimeLimit,
    Topology,
)

UNITS = ("ml.g5.xlarge", "ml.g5.48xlarge", "ml.p5.48xlarge")
STRANGE_UNITS = ("NUM_INSTANCES", "g5.xlarge", "", "*", "ml.g5.xlarge ", "\N{GRINNING FACE}")
NAMES = ("a", "b", "A", "a-b", "a_b", "search-prod", "queue")
REASONS = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
)

whole_numbers = st.integers(-(2**31), 2**31 - 1)
quantities = st.one_of(st.integers(1, 12), st.integers(-2, 2), whole_numbers)
names = st.one_of(st.sampled_from(NAMES), st.text(max_size=5))
units = st.sampled_from(UNITS * 3 + STRANGE_UNITS)
capacities = st.dictionaries(units, quantities, max_size=7)
tags = st.dictionaries(st.sampled_from(("aws:x", "owner", "", "&", "\0", "k" * 130)), st.text(max_size=3), max_size=3)
arns = st.sampled_from(
    (
        "arn:aws:iam::111122223333:role/a",
        "arn:aws:iam::444455556666:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_a_0123456789abcdef",
        "arn:aws:sts::111122223333:assumed-role/a/b",
        "arn:aws:iam:::user",
        "arn::::",
        "*",
        "111122223333",
        "",
    )
)


@st.composite
def quota_shares(draw: st.DrawFn) -> QuotaShare:
    """A quota share with any numbers."""
    return QuotaShare(
        capacity=draw(capacities),
        strategy=draw(st.sampled_from(ResourceSharingStrategy)),
        borrow_limit=draw(st.none() | st.sampled_from((-1, 0, 50, 100, 200)) | whole_numbers),
        in_share_preemption=draw(st.booleans()),
        max_priority=draw(st.none() | st.integers(-1, 1) | whole_numbers),
        largest_job=draw(st.none() | capacities),
        state=draw(st.sampled_from(ShareState)),
        tags=draw(tags),
    )


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Any topology that the model allows. At least one team; expectations apart, which no rule looks at."""
    shares = st.dictionaries(names, quota_shares(), max_size=3)
    some_arns = st.lists(arns, max_size=3).map(tuple)
    teams = st.builds(
        Team,
        shares=shares,
        submitters=some_arns,
        operators=some_arns,
        viewers=some_arns,
        execution_roles=some_arns,
        tags=tags,
    )
    limits = st.builds(
        TimeLimit,
        reason=st.one_of(st.sampled_from(REASONS), st.text(max_size=8)),
        after=st.integers(0, 10**8).map(lambda milliseconds: milliseconds / 1000),
    )
    suppressions = st.builds(
        Suppression,
        rule=st.one_of(st.integers(100, 320).map("QM{}".format), st.text(max_size=6)),
        reason=st.just("known"),
        at=st.none() | names | units,
    )
    seconds: dict[str, Any] = {"startup_seconds": draw(st.dictionaries(units | st.just("default"), st.integers(0, 9)))}
    return Topology(
        name=draw(names),
        capacity=draw(capacities),
        queue=Queue(
            priority=draw(whole_numbers),
            time_limits=draw(st.lists(limits, max_size=4).map(tuple)),
            tags=draw(tags),
        ),
        teams=draw(st.dictionaries(names, teams, min_size=1, max_size=3)),
        assumptions=Assumptions(unallocated_capacity=draw(st.sampled_from(UnallocatedCapacity)), **seconds),
        suppressions=draw(st.lists(suppressions, max_size=3).map(tuple)),
    )
