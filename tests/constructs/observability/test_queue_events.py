"""Rules on events of AWS Batch. moto's EventBridge says which events they match."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from aws_cdk import Stack
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Match, Template
from moto import mock_aws

from batch_quota import EventOptions, EventRule, QueueEvents

Json = dict[str, Any]

REGION = "us-east-1"
QUEUE = f"arn:aws:batch:{REGION}:111122223333:job-queue/training-queue"
ATTEMPT = {"serviceResourceId": {"name": "TrainingJobArn", "value": "arn:aws:sagemaker:us-east-1:111122223333:job/a"}}
JOB: Json = {
    "attempts": [],
    "createdAt": 1_641_944_200_058,
    "jobName": "train",
    "jobQueue": QUEUE,
    "serviceJobType": "SAGEMAKER_TRAINING",
    "status": "RUNNABLE",
}
CHANGE, BLOCKED = "Batch Service Job State Change", "Batch Service Job Queue Blocked"


@pytest.fixture
def topic(stack: Stack) -> sns.Topic:
    return sns.Topic(stack, "Topic", master_key=kms.Key(stack, "Key"))


@pytest.fixture
def matching(stack: Stack, topic: sns.Topic) -> Iterator[Callable[[str, Json], list[str]]]:
    """The rules, by the ends of their descriptions, that an event matches."""
    QueueEvents(stack, "Events", job_queue_arn=QUEUE, topic=topic)
    rules = Template.from_stack(stack).find_resources("AWS::Events::Rule")
    with mock_aws():
        events, queues = boto3.client("events", region_name=REGION), boto3.client("sqs", region_name=REGION)
        url = {}
        for number, (name, rule) in enumerate(rules.items()):
            url[name] = queues.create_queue(QueueName=f"matched-{number}")["QueueUrl"]
            arn = queues.get_queue_attributes(QueueUrl=url[name], AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
            events.put_rule(Name=name[:64], EventPattern=json.dumps(rule["Properties"]["EventPattern"]))
            events.put_targets(Rule=name[:64], Targets=[{"Id": "queue", "Arn": arn}])

        def match(detail_type: str, detail: Json, source: str = "aws.batch") -> list[str]:
            entry = {"Source": source, "DetailType": detail_type, "Detail": json.dumps(detail)}
            assert events.put_events(Entries=[entry])["FailedEntryCount"] == 0
            matched = [name for name in rules if "Messages" in queues.receive_message(QueueUrl=url[name])]
            return sorted("blocked" if "QueueBlocked" in name else "returned" for name in matched)

        yield match


@pytest.mark.parametrize(
    ("detail_type", "detail", "rules"),
    [
        pytest.param(BLOCKED, JOB | {"statusReason": "MISCONFIGURATION: …"}, ["blocked"], id="a blocked queue"),
        pytest.param(BLOCKED, JOB | {"jobQueue": f"{QUEUE}-2"}, [], id="another queue that is blocked"),
        pytest.param("Batch Job Queue Blocked", JOB, [], id="a blocked queue of container jobs"),
        pytest.param(
            CHANGE,
            JOB | {"latestAttempt": ATTEMPT, "preemptionSummary": {"preemptedAttemptCount": 1}},
            ["returned"],
            id="a preempted job",
        ),
        pytest.param(
            CHANGE,
            JOB | {"preemptionSummary": {"preemptedAttemptCount": 1}},
            ["returned"],
            id="a preempted job without its latest attempt",
        ),
        pytest.param(
            CHANGE,
            JOB | {"latestAttempt": ATTEMPT, "statusReason": "Preempted"},
            ["returned"],
            id="whatever the reason",
        ),
        pytest.param(CHANGE, JOB, [], id="a job that is RUNNABLE for the first time"),
        pytest.param(
            CHANGE,
            JOB
            | {
                "latestAttempt": ATTEMPT,
                "statusReason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Unable to …",
            },
            [],
            id="a job that SageMaker has no instances for",
        ),
        pytest.param(CHANGE, JOB | {"latestAttempt": ATTEMPT, "status": "RUNNING"}, [], id="a job that starts"),
        pytest.param(CHANGE, JOB | {"latestAttempt": ATTEMPT, "status": "FAILED"}, [], id="a job that fails"),
        pytest.param(
            CHANGE,
            JOB | {"latestAttempt": ATTEMPT, "jobQueue": f"{QUEUE}-2"},
            [],
            id="a job of another queue",
        ),
    ],
)
def test_events_that_tell_of_trouble_match(
    matching: Callable[[str, Json], list[str]], detail_type: str, detail: Json, rules: list[str]
):
    assert matching(detail_type, detail) == rules


def test_events_of_another_source_do_not_match(matching: Callable[..., list[str]]):
    assert matching(BLOCKED, JOB, source="my.application") == []


def test_eventbridge_may_publish_and_use_the_key_without_conditions_since_it_fulfils_none(
    stack: Stack, topic: sns.Topic
):
    QueueEvents(stack, "Events", job_queue_arn=QUEUE, topic=topic)
    template = Template.from_stack(stack)
    service = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Condition": Match.absent()}
    for kind, prop, action in (
        ("AWS::SNS::TopicPolicy", "PolicyDocument", "sns:Publish"),
        ("AWS::KMS::Key", "KeyPolicy", ["kms:Decrypt", "kms:GenerateDataKey*"]),
    ):
        statement = Match.object_like({**service, "Action": action})
        template.has_resource_properties(kind, {prop: {"Statement": Match.array_with([statement])}})


def test_targets_that_are_passed_in_take_the_place_of_the_topic(stack: Stack, topic: sns.Topic):
    queue = sqs.Queue(stack, "Queue")
    options = EventOptions(returned_to_runnable=EventRule(targets=[targets.SqsQueue(queue)]))
    made = QueueEvents(stack, "Events", job_queue_arn=QUEUE, topic=topic, options=options)
    assert made.queue_blocked is not None
    assert made.returned_to_runnable is not None
    rules = Template.from_stack(stack).find_resources("AWS::Events::Rule")
    arns = {name: [target["Arn"] for target in rule["Properties"]["Targets"]] for name, rule in rules.items()}
    topic_id, queue_id = (stack.get_logical_id(resource.node.default_child) for resource in (topic, queue))
    assert arns == {
        next(name for name in rules if "QueueBlocked" in name): [{"Ref": topic_id}],
        next(name for name in rules if "Returned" in name): [{"Fn::GetAtt": [queue_id, "Arn"]}],
    }


def test_a_rule_can_be_turned_off(stack: Stack, topic: sns.Topic):
    made = QueueEvents(
        stack, "Events", job_queue_arn=QUEUE, topic=topic, options=EventOptions(returned_to_runnable=None)
    )
    assert list(made.rule_names) == ["queue_blocked"]
    assert made.returned_to_runnable is None
    Template.from_stack(stack).resource_count_is("AWS::Events::Rule", 1)


def test_no_topic_is_needed_if_all_rules_have_targets(stack: Stack):
    to_queue = EventRule(targets=[targets.SqsQueue(sqs.Queue(stack, "Queue"))])
    options = EventOptions(queue_blocked=to_queue, returned_to_runnable=to_queue)
    QueueEvents(stack, "Events", job_queue_arn=QUEUE, options=options)
    Template.from_stack(stack).resource_count_is("AWS::SNS::Topic", 0)


def test_a_rule_without_targets_and_without_a_topic_is_refused(stack: Stack):
    with pytest.raises(ValueError, match="Stack/Events is not valid:\n  - topic: a rule without targets"):
        QueueEvents(stack, "Events", job_queue_arn=QUEUE)
