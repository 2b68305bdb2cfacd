from collections.abc import Callable, Mapping
from typing import Any

import pytest
from aws_cdk import CfnCondition, CfnOutput, CfnParameter, Fn, PhysicalName, Stack, Tags
from aws_cdk import aws_batch as batch

from batch_quota import (
    UNLIMITED,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharingStrategy,
    SageMakerTrainingQueue,
    ServiceEnvironment,
    State,
)

Properties = Callable[[Stack, str], dict[str, Any]]
Synthesized = Callable[[Stack], dict[str, Any]]
QUEUE_ARN = "arn:aws:batch:eu-west-1:111122223333:job-queue/training"
ARN = f"{QUEUE_ARN}/quota-share/search"
ONE_TYPE = {"ml.g5.xlarge": 2}


@pytest.fixture
def queue(stack: Stack) -> SageMakerTrainingQueue:
    return SageMakerTrainingQueue(
        stack,
        "Queue",
        service_environment=ServiceEnvironment(
            stack, "Environment", capacity_limits={"ml.g5.xlarge": 40, "ml.g5.2xlarge": 40}
        ),
        scheduling_policy=QuotaShareSchedulingPolicy(stack, "Policy"),
    )


def test_a_share_takes_its_queue_by_arn_never_by_name(
    stack: Stack, queue: SageMakerTrainingQueue, properties: Properties
):
    QuotaShare(
        stack,
        "Share",
        job_queue=queue,
        quota_share_name="search",
        capacity_limits={"ml.g5.xlarge": 2, "ml.g5.2xlarge": 1},
        strategy=ResourceSharingStrategy.LEND_AND_BORROW,
        borrow_limit=200,
        in_share_preemption=True,
        state=State.DISABLED,
        tags={"cost-center": "4711"},
    )
    assert properties(stack, "QuotaShare") == {
        "QuotaShareName": "search",
        "JobQueue": {"Fn::GetAtt": ["Queue4A7E3555", "JobQueueArn"]},
        "CapacityLimits": [
            {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 2},
            {"CapacityUnit": "ml.g5.2xlarge", "MaxCapacity": 1},
        ],
        "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 200},
        "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
        "State": "DISABLED",
        "Tags": {"cost-center": "4711"},
    }


@pytest.mark.parametrize(
    ("strategy", "borrow_limit", "rendered"),
    [
        ("RESERVE", None, {"Strategy": "RESERVE"}),
        ("LEND", None, {"Strategy": "LEND"}),
        ("LEND_AND_BORROW", 0, {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 0}),
        ("LEND_AND_BORROW", 1, {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 1}),
        ("LEND_AND_BORROW", UNLIMITED, {"Strategy": "LEND_AND_BORROW", "BorrowLimit": -1}),
        ("LEND_AND_BORROW", None, {"Strategy": "LEND_AND_BORROW", "BorrowLimit": -1}),
    ],
)
def test_a_borrow_limit_of_zero_is_not_lost_and_no_limit_is_written_out(
    queue: SageMakerTrainingQueue,
    properties: Properties,
    strategy: str,
    borrow_limit: int | None,
    rendered: Mapping[str, object],
):
    QuotaShare(
        queue.stack,
        "Share",
        job_queue=queue,
        quota_share_name="search",
        capacity_limits=ONE_TYPE,
        strategy=strategy,
        borrow_limit=borrow_limit,
    )
    assert properties(queue.stack, "QuotaShare")["ResourceSharingConfiguration"] == rendered


def test_in_share_preemption_is_off_and_the_share_enabled_unless_asked(
    stack: Stack, queue: SageMakerTrainingQueue, properties: Properties
):
    QuotaShare(stack, "Share", job_queue=queue, quota_share_name="search", capacity_limits=ONE_TYPE, strategy="RESERVE")
    share = properties(stack, "QuotaShare")
    assert (share["PreemptionConfiguration"], share["State"]) == ({"InSharePreemption": "DISABLED"}, "ENABLED")


def test_a_share_takes_tokens_for_everything_that_cloudformation_resolves(
    stack: Stack, queue: SageMakerTrainingQueue, properties: Properties
):
    text = {name: CfnParameter(stack, name).value_as_string for name in ("Name", "Unit", "Strategy", "State", "Tag")}
    number = {name: CfnParameter(stack, name, type="Number").value_as_number for name in ("Limit", "Borrow")}
    production = CfnCondition(stack, "Production", expression=Fn.condition_equals(text["Name"], "prod"))
    QuotaShare(
        stack,
        "Share",
        job_queue=queue,
        quota_share_name=text["Name"],
        capacity_limits={text["Unit"]: number["Limit"]},
        strategy=text["Strategy"],
        borrow_limit=number["Borrow"],
        in_share_preemption=Fn.condition_if(production.logical_id, "ENABLED", "DISABLED"),
        state=text["State"],
        tags={"cost-center": text["Tag"]},
    )
    assert properties(stack, "QuotaShare") == {
        "QuotaShareName": {"Ref": "Name"},
        "JobQueue": {"Fn::GetAtt": ["Queue4A7E3555", "JobQueueArn"]},
        "CapacityLimits": [{"CapacityUnit": {"Ref": "Unit"}, "MaxCapacity": {"Ref": "Limit"}}],
        "ResourceSharingConfiguration": {"Strategy": {"Ref": "Strategy"}, "BorrowLimit": {"Ref": "Borrow"}},
        "PreemptionConfiguration": {"InSharePreemption": {"Fn::If": ["Production", "ENABLED", "DISABLED"]}},
        "State": {"Ref": "State"},
        "Tags": {"cost-center": {"Ref": "Tag"}},
    }


def test_the_tag_of_jobs_of_a_share_that_the_cdk_names_when_needed_is_known_at_deployment(
    stack: Stack, queue: SageMakerTrainingQueue
):
    share = QuotaShare(
        stack,
        "Share",
        job_queue=queue,
        quota_share_name=PhysicalName.GENERATE_IF_NEEDED,
        capacity_limits={"ml.g5.xlarge": 1},
        strategy="LEND",
    )
    assert share.job_tag_value.endswith(f"/{share.quota_share_name}")


def test_a_share_takes_the_stacks_tags_too(stack: Stack, queue: SageMakerTrainingQueue, properties: Properties):
    QuotaShare(
        stack,
        "Share",
        job_queue=queue,
        quota_share_name="search",
        capacity_limits=ONE_TYPE,
        strategy="LEND",
        tags={"cost-center": "4711"},
    )
    Tags.of(stack).add("owner", "platform")
    assert properties(stack, "QuotaShare")["Tags"] == {"cost-center": "4711", "owner": "platform"}


def test_a_share_exposes_its_arn_its_name_its_queue_and_its_limits(
    stack: Stack, queue: SageMakerTrainingQueue, synthesized: Synthesized
):
    share = QuotaShare(
        stack, "Share", job_queue=queue, quota_share_name="search", capacity_limits=ONE_TYPE, strategy="LEND"
    )
    CfnOutput(stack, "Arn", value=share.quota_share_arn)
    CfnOutput(stack, "Name", value=share.quota_share_name)
    outputs = synthesized(stack)["Outputs"]
    arn = {"Fn::GetAtt": ["Share94628590", "QuotaShareArn"]}
    assert outputs["Arn"]["Value"] == arn
    assert outputs["Name"]["Value"] == {"Fn::Select": [3, {"Fn::Split": ["/", arn]}]}
    assert (share.job_queue, share.capacity_limits) == (queue, ONE_TYPE)
    assert dict(queue.quota_shares) == {"search": share}


def test_a_share_of_another_region_is_named_in_full(stack_in: Callable[[str, str], Stack], synthesized: Synthesized):
    ireland, frankfurt = stack_in("Ireland", "eu-west-1"), stack_in("Frankfurt", "eu-central-1")
    share = QuotaShare(
        ireland,
        "Share",
        job_queue=SageMakerTrainingQueue.from_job_queue_arn(ireland, "Queue", QUEUE_ARN),
        quota_share_name="search",
        capacity_limits=ONE_TYPE,
        strategy="LEND",
    )
    CfnOutput(frankfurt, "Arn", value=share.quota_share_arn)
    assert synthesized(frankfurt)["Outputs"]["Arn"]["Value"] == {
        "Fn::Join": [
            "",
            [
                "arn:",
                {"Ref": "AWS::Partition"},
                ":batch:eu-west-1:111122223333:job-queue/training/quota-share/search",
            ],
        ]
    }


def test_a_share_stands_for_itself_where_an_l1_takes_a_reference(stack: Stack, queue: SageMakerTrainingQueue):
    share = QuotaShare(
        stack, "Share", job_queue=queue, quota_share_name="search", capacity_limits=ONE_TYPE, strategy="LEND"
    )
    assert stack.resolve(batch.CfnQuotaShare.arn_for_quota_share(share)) == stack.resolve(share.quota_share_arn)


def test_a_share_may_join_a_queue_that_is_made_elsewhere(stack: Stack, properties: Properties):
    queue = SageMakerTrainingQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    QuotaShare(stack, "Share", job_queue=queue, quota_share_name="search", capacity_limits=ONE_TYPE, strategy="RESERVE")
    assert properties(stack, "QuotaShare")["JobQueue"] == QUEUE_ARN


def test_an_imported_share_has_its_name_at_the_end_of_its_arn(stack: Stack):
    share = QuotaShare.from_quota_share_arn(stack, "Share", ARN)
    assert (share.quota_share_arn, share.quota_share_name) == (ARN, "search")


def test_a_share_is_imported_by_queue_and_name_too(stack: Stack):
    queue = SageMakerTrainingQueue.from_job_queue_arn(stack, "Queue", QUEUE_ARN)
    share = QuotaShare.from_quota_share_attributes(stack, "Share", job_queue=queue, quota_share_name="search")
    assert (share.quota_share_arn, share.quota_share_name) == (ARN, "search")


def test_names_that_are_given_for_an_imported_share_stay_plain_text(stack: Stack):
    queue = SageMakerTrainingQueue.from_job_queue_name(stack, "Queue", "training")
    share = QuotaShare.from_quota_share_attributes(stack, "Share", job_queue=queue, quota_share_name="search")
    assert (share.quota_share_name, share.job_tag_value) == ("search", "training/search")


@pytest.mark.parametrize("arn", ["search", QUEUE_ARN, f"{ARN}/more", ARN.replace("eu-west-1", "")])
def test_an_arn_of_something_else_is_refused(stack: Stack, arn: str):
    with pytest.raises(ValueError, match="Stack/Share") as refusal:
        QuotaShare.from_quota_share_arn(stack, "Share", arn)
    assert "expected arn:PARTITION:batch:REGION:ACCOUNT:job-queue/NAME/quota-share/NAME" in str(refusal.value)


def test_all_problems_of_a_share_are_told_at_once_with_its_path(stack: Stack, queue: SageMakerTrainingQueue):
    with pytest.raises(ValueError, match="Stack/Share") as refusal:
        QuotaShare(
            stack,
            "Share",
            job_queue=queue,
            quota_share_name="search prod",
            capacity_limits={"ml.g5.xlarge": 0, "ml.p5.48xlarge": 1},
            strategy="BORROW",
            borrow_limit=-2,
            in_share_preemption="no",  # type: ignore[arg-type]
            state="PAUSED",
        )
    assert str(refusal.value).splitlines() == [
        "Stack/Share is not valid:",
        "  - quota_share_name: expected 1 to 128 letters, digits, hyphens and underscores, not 'search prod'",
        "  - capacity_limits: ml.g5.xlarge: expected a whole number from 1 up, not 0",
        "  - strategy: expected RESERVE, LEND or LEND_AND_BORROW, not 'BORROW'",
        "  - borrow_limit: expected a whole number from -1 up, not -2",
        "  - borrow_limit: only a share with strategy LEND_AND_BORROW may have one, not BORROW",
        "  - in_share_preemption: expected True or False, not 'no'",
        "  - state: expected ENABLED or DISABLED, not 'PAUSED'",
        "  - capacity_limits: ml.p5.48xlarge: Stack/Environment has none, so its jobs would wait for ever",
    ]


@pytest.mark.parametrize("strategy", ["RESERVE", "LEND"])
@pytest.mark.parametrize("borrow_limit", [0, -1, 100])
def test_only_a_borrower_may_have_a_borrow_limit(
    stack: Stack, queue: SageMakerTrainingQueue, strategy: str, borrow_limit: int
):
    with pytest.raises(ValueError, match=f"only a share with strategy LEND_AND_BORROW may have one, not {strategy}"):
        QuotaShare(
            stack,
            "Share",
            job_queue=queue,
            quota_share_name="search",
            capacity_limits=ONE_TYPE,
            strategy=strategy,
            borrow_limit=borrow_limit,
        )


def test_a_queue_has_at_most_twenty_shares_with_names_of_their_own(stack: Stack, queue: SageMakerTrainingQueue):
    for number in range(20):
        QuotaShare(
            stack,
            f"Share{number}",
            job_queue=queue,
            quota_share_name=f"share-{number}",
            capacity_limits=ONE_TYPE,
            strategy="LEND",
        )
    with pytest.raises(ValueError, match="Stack/OneMore") as refusal:
        QuotaShare(
            stack, "OneMore", job_queue=queue, quota_share_name="share-7", capacity_limits=ONE_TYPE, strategy="LEND"
        )
    assert str(refusal.value).splitlines()[1:] == [
        "  - job_queue: Stack/Queue has 20 quota shares already; AWS allows no more",
        "  - quota_share_name: share-7 is a share of Stack/Queue already",
    ]
