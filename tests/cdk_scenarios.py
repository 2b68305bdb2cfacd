"""Stacks whose whole templates are looked at: by eye, by linters, by compliance packs, and by tests on security."""

from collections.abc import Callable, Mapping
from typing import Any

from aws_cdk import Environment, RemovalPolicy, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from batch_quota import (
    AccessOptions,
    AlarmLevel,
    AlarmOptions,
    ObservabilityOptions,
    QuotaManagedQueue,
    Topology,
    TrainingExecutionRole,
)

Json = dict[str, Any]

ACCOUNT = "111122223333"
SIZES = ("xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge")
_ROLE = f"arn:aws:iam::{ACCOUNT}:role"
_IDENTITY_CENTER = f"{_ROLE}/aws-reserved/sso.amazonaws.com/eu-west-1/AWSReservedSSO_Research_0123456789abcdef"

MINIMAL: Json = {
    "name": "minimal",
    "capacity": {"ml.g5.xlarge": 1},
    "teams": {"only": {"shares": {"only": {"capacity": {"ml.g5.xlarge": 1}, "strategy": "RESERVE"}}}},
}
TIME_LIMITS = [
    {"reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", "after": "30m"},
    {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "after": "1h"},
    {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "after": "12h"},
]
THREE_STRATEGIES: Json = {
    "name": "three-strategies",
    "capacity": {"ml.g5.xlarge": 8, "ml.g5.48xlarge": 2},
    "queue": {"time_limits": TIME_LIMITS},
    "teams": {
        "ml": {
            "shares": {
                "background": {
                    "capacity": {"ml.g5.xlarge": 4},
                    "strategy": "LEND_AND_BORROW",
                    "borrow_limit": 100,
                    "in_share_preemption": True,
                },
                "medium": {"capacity": {"ml.g5.xlarge": 4}, "strategy": "LEND"},
                "production": {"capacity": {"ml.g5.48xlarge": 2}, "strategy": "RESERVE"},
            }
        }
    },
}
LARGEST: Json = {
    "name": "largest",
    "capacity": {f"ml.g5.{size}": 40 for size in SIZES},
    "teams": {
        f"team-{team}": {
            "shares": {
                f"share-{team}-{number}": {
                    "capacity": {f"ml.g5.{size}": 2 for size in SIZES},
                    "strategy": strategy,
                    **({"borrow_limit": 100 * number} if strategy == "LEND_AND_BORROW" else {}),
                }
                for number, strategy in enumerate(["RESERVE", "LEND", "LEND_AND_BORROW", "LEND_AND_BORROW"])
            }
        }
        for team in range(5)
    },
}
EVERYTHING: Json = {
    "name": "everything",
    "capacity": {
        "ml.g5.xlarge": 12,
        "ml.p5.48xlarge": [
            2,
            {
                "count": 4,
                "training_plan": f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:training-plan/spring",
                "from": "2026-03-02T11:30:00Z",
                "until": "2026-04-01T11:30:00Z",
            },
        ],
    },
    "queue": {"priority": 10, "time_limits": TIME_LIMITS, "tags": {"owner": "ml-platform"}},
    "teams": {
        "search": {
            "submitters": [f"{_ROLE}/search-data-science"],
            "operators": [f"{_ROLE}/search-on-call"],
            "viewers": [f"{_ROLE}/finance"],
            "execution_roles": [f"{_ROLE}/search-training"],
            "tags": {"cost-center": "4711"},
            "shares": {
                "search-production": {
                    "capacity": {"ml.p5.48xlarge": 2},
                    "strategy": "RESERVE",
                    "largest_job": {"ml.p5.48xlarge": 2},
                },
                "search-background": {
                    "capacity": {"ml.g5.xlarge": 8},
                    "strategy": "LEND_AND_BORROW",
                    "borrow_limit": 50,
                    "in_share_preemption": True,
                    "max_priority": 500,
                },
            },
        },
        "research": {
            "submitters": [_IDENTITY_CENTER],
            "tags": {"cost-center": "4713"},
            "shares": {
                "research": {"capacity": {"ml.g5.xlarge": 3, "ml.p5.48xlarge": 4}, "strategy": "LEND"},
                "research-archive": {"capacity": {"ml.g5.xlarge": 1}, "strategy": "RESERVE", "state": "DISABLED"},
            },
        },
    },
    "expectations": {"search-production": {"preemptions": 0}},
    "assumptions": {"stop_seconds": 60},
}


def minimal(scope: Construct) -> None:
    """The least that can be said, and what the constructs make of it by default."""
    stack = Stack(scope, "minimal")
    QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(MINIMAL))


def three_strategies(scope: Construct) -> None:
    """Background work that borrows, medium work that lends, production that keeps its own."""
    stack = Stack(scope, "three-strategies")
    QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(THREE_STRATEGIES))


def largest(scope: Construct) -> None:
    """20 shares of 5 instance types."""
    stack = Stack(scope, "largest")
    QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(LARGEST))


def everything_on(scope: Construct) -> None:
    """All that a topology can say and all options, in a stack whose account and Region only deployment knows."""
    stack = Stack(scope, "everything-on")
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    jobs = TrainingExecutionRole(
        stack,
        "ResearchJobs",
        input_buckets=[s3.Bucket.from_bucket_name(stack, "Datasets", "datasets")],
        output_buckets=[s3.Bucket.from_bucket_name(stack, "Models", "models")],
        encryption_keys=[key],
        volume_encryption_keys=[key],
        repositories=[ecr.Repository.from_repository_name(stack, "Images", "images")],
    )
    pager = sns.Topic(stack, "Pager", master_key=key, enforce_ssl=True)
    QuotaManagedQueue(
        stack,
        "Quota",
        topology=Topology.model_validate(EVERYTHING),
        access=AccessOptions(execution_roles={"research": [jobs]}, managed_policy_name_prefix="ml"),
        observability=ObservabilityOptions(alarms=AlarmOptions(topics={AlarmLevel.CRITICAL: pager})),
        removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )


def everything_off(scope: Construct) -> None:
    """The same topology, and nothing but the resources of AWS Batch."""
    stack = Stack(scope, "everything-off")
    QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(EVERYTHING), access=None, observability=None)


def two_regions(scope: Construct) -> None:
    """One topology in two Regions of an account."""
    topology = Topology.model_validate({**THREE_STRATEGIES, "name": "two-regions"})
    for region in ("eu-west-1", "us-east-1"):
        stack = Stack(scope, f"two-regions-{region}", env=Environment(account=ACCOUNT, region=region))
        QuotaManagedQueue(stack, "Quota", topology=topology)


SCENARIOS: Mapping[str, Callable[[Construct], None]] = {
    "minimal": minimal,
    "three-strategies": three_strategies,
    "largest": largest,
    "everything-on": everything_on,
    "everything-off": everything_off,
    "two-regions": two_regions,
}
STACKS = (*(name for name in SCENARIOS if name != "two-regions"), "two-regions-eu-west-1", "two-regions-us-east-1")
