"""All that watches a queue: on by default, each part turned off by itself, clean for the compliance packs."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cdk_nag
import cfnlint.api
import jsii
import pytest
from aws_cdk import Acknowledgment, App, Environment, Stack, Stage, Tags, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Template

from batch_quota import (
    AlarmLevel,
    AlarmOptions,
    EventOptions,
    EventRule,
    ObservabilityOptions,
    QueueObservability,
    QuotaManagedQueue,
    QuotaShareSchedulingPolicy,
    SageMakerTrainingQueue,
    ServiceEnvironment,
    ShareMetricsOptions,
    Topology,
)

Json = dict[str, Any]

TOPOLOGY: Json = {
    "name": "training",
    "capacity": {"ml.g5.xlarge": 8},
    "teams": {
        "search": {"shares": {"search": {"capacity": {"ml.g5.xlarge": 4}, "strategy": "LEND"}}},
        "ads": {"shares": {"ads": {"capacity": {"ml.g5.xlarge": 4}, "strategy": "LEND_AND_BORROW"}}},
    },
}
DASHBOARD, ALARM, RULE = "AWS::CloudWatch::Dashboard", "AWS::CloudWatch::Alarm", "AWS::Events::Rule"
TOPIC, KEY, FUNCTION = "AWS::SNS::Topic", "AWS::KMS::Key", "AWS::Lambda::Function"
PACKS = [
    cdk_nag.AwsSolutionsChecks,
    cdk_nag.HIPAASecurityChecks,
    cdk_nag.NIST80053R5Checks,
    cdk_nag.PCIDSS321Checks,
]


@pytest.fixture
def watched(stack: Stack) -> Callable[..., QuotaManagedQueue]:
    def make(**props: Any) -> QuotaManagedQueue:  # noqa: ANN401 - the props of QuotaManagedQueue
        return QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(TOPOLOGY), **props)

    return make


def test_everything_watches_by_default(stack: Stack, watched: Callable[..., QuotaManagedQueue]):
    quota = watched()
    made = quota.observability
    assert made is not None
    assert None not in (made.topic, made.encryption_key, made.dashboard, made.alarms, made.events, made.share_metrics)
    counts = _counts(stack)
    assert {kind: counts[kind] for kind in (DASHBOARD, ALARM, RULE, TOPIC, KEY, FUNCTION)} == {
        DASHBOARD: 1,
        ALARM: 10,
        RULE: 3,
        TOPIC: 1,
        KEY: 1,
        FUNCTION: 1,
    }


def test_all_of_it_can_be_turned_off(stack: Stack, watched: Callable[..., QuotaManagedQueue]):
    assert watched(observability=None).observability is None
    assert {kind.split("::")[1] for kind in _counts(stack)} == {"Batch"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"dashboard": None}, {ALARM: 10, RULE: 3, TOPIC: 1, KEY: 1, FUNCTION: 1}, id="no dashboard"),
        pytest.param({"alarms": None}, {DASHBOARD: 1, RULE: 3, TOPIC: 1, KEY: 1, FUNCTION: 1}, id="no alarms"),
        pytest.param(
            {"events": None}, {DASHBOARD: 1, ALARM: 7, RULE: 1, TOPIC: 1, KEY: 1, FUNCTION: 1}, id="no events"
        ),
        pytest.param(
            {"share_metrics": None}, {DASHBOARD: 1, ALARM: 7, RULE: 2, TOPIC: 1, KEY: 1}, id="no share metrics"
        ),
        pytest.param(
            {"alarms": None, "events": None},
            {DASHBOARD: 1, RULE: 1, KEY: 1, FUNCTION: 1},
            id="nobody to tell, so no topic, but a key for the log",
        ),
        pytest.param({"alarms": None, "events": None, "share_metrics": None}, {DASHBOARD: 1}, id="the dashboard alone"),
        pytest.param(
            {"dashboard": None, "alarms": None, "events": None, "share_metrics": None}, {}, id="nothing at all"
        ),
    ],
)
def test_each_part_can_be_turned_off(
    stack: Stack, watched: Callable[..., QuotaManagedQueue], options: Json, expected: dict[str, int]
):
    watched(observability=ObservabilityOptions(**options))
    counts = _counts(stack)
    kinds = (DASHBOARD, ALARM, RULE, TOPIC, KEY, FUNCTION)
    assert {kind: counts[kind] for kind in kinds if counts[kind]} == expected


def test_the_topic_is_encrypted_by_a_rotated_key_and_takes_messages_over_tls_only(
    stack: Stack, watched: Callable[..., QuotaManagedQueue]
):
    watched()
    template = Template.from_stack(stack)
    (key_id,) = template.find_resources(KEY)
    template.has_resource_properties(TOPIC, {"KmsMasterKeyId": {"Fn::GetAtt": [key_id, "Arn"]}})
    template.has_resource_properties(KEY, {"EnableKeyRotation": True})
    (policy,) = template.find_resources("AWS::SNS::TopicPolicy").values()
    denied = [s for s in policy["Properties"]["PolicyDocument"]["Statement"] if s["Effect"] == "Deny"]
    assert [(s["Principal"], s["Action"], s["Condition"]) for s in denied] == [
        ("*", "sns:Publish", {"Bool": {"aws:SecureTransport": "false"}})
    ]


def test_only_alarms_and_rules_may_publish_to_the_topic(stack: Stack, watched: Callable[..., QuotaManagedQueue]):
    watched()
    (policy,) = Template.from_stack(stack).find_resources("AWS::SNS::TopicPolicy").values()
    allowed = [s for s in policy["Properties"]["PolicyDocument"]["Statement"] if s["Effect"] == "Allow"]
    assert sorted(s["Principal"]["Service"] for s in allowed) == ["cloudwatch.amazonaws.com", "events.amazonaws.com"]
    assert {s["Action"] for s in allowed} == {"sns:Publish"}


def test_topic_and_key_that_are_passed_in_are_used(stack: Stack, watched: Callable[..., QuotaManagedQueue]):
    key = kms.Key(stack, "OwnKey")
    topic = sns.Topic(stack, "OwnTopic", master_key=key)
    made = watched(observability=ObservabilityOptions(topic=topic, encryption_key=key)).observability
    assert made is not None
    assert made.topic is topic
    assert made.encryption_key is key
    counts = _counts(stack)
    assert (counts[TOPIC], counts[KEY]) == (1, 1)
    template = Template.from_stack(stack)
    (topic_id,) = template.find_resources(TOPIC)
    for alarm in template.find_resources(ALARM).values():
        assert alarm["Properties"]["AlarmActions"] == [{"Ref": topic_id}]


def test_topics_and_keys_of_elsewhere_are_used(stack: Stack, watched: Callable[..., QuotaManagedQueue]):
    arn = "arn:aws:sns:us-east-1:111122223333:alerts"
    key = kms.Key.from_key_arn(stack, "OwnKey", "arn:aws:kms:us-east-1:111122223333:key/0123")
    topic = sns.Topic.from_topic_arn(stack, "OwnTopic", arn)
    watched(observability=ObservabilityOptions(topic=topic, encryption_key=key))
    counts = _counts(stack)
    assert (counts[TOPIC], counts[KEY]) == (0, 0)
    for alarm in Template.from_stack(stack).find_resources(ALARM).values():
        assert alarm["Properties"]["AlarmActions"] == [arn]


def test_queue_names_are_plain_text_in_alarms_if_they_are_known(
    stack: Stack, watched: Callable[..., QuotaManagedQueue]
):
    watched()
    names = [a["Properties"]["AlarmName"] for a in Template.from_stack(stack).find_resources(ALARM).values()]
    assert all(name.startswith("training-queue-") for name in names)


def test_a_queue_without_a_name_of_its_own_is_watched_by_the_name_that_it_gets(stack: Stack):
    queue = SageMakerTrainingQueue(
        stack,
        "Queue",
        service_environment=ServiceEnvironment(stack, "Environment", capacity_limits={"ml.g5.xlarge": 3}),
        scheduling_policy=QuotaShareSchedulingPolicy(stack, "Policy"),
    )
    QueueObservability(stack, "Observability", job_queue=queue)
    arn = {"Fn::GetAtt": [stack.get_logical_id(queue.node.default_child), "JobQueueArn"]}
    name = {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}
    alarms = Template.from_stack(stack).find_resources(ALARM).values()
    dimensions = [a["Properties"]["Dimensions"] for a in alarms if "waiting" in a["Properties"]["AlarmDescription"]]
    measured = [a["Properties"] for a in alarms if a["Properties"].get("Namespace") == "AWS/Batch"]
    assert dimensions == []
    assert measured
    assert all(alarm["Dimensions"] == [{"Name": "JobQueueName", "Value": name}] for alarm in measured)


def test_a_queue_that_is_made_elsewhere_can_be_watched(stack: Stack):
    queue = SageMakerTrainingQueue.from_job_queue_arn(
        stack, "Queue", "arn:aws:batch:us-east-1:111122223333:job-queue/elsewhere"
    )
    made = QueueObservability(stack, "Observability", job_queue=queue)
    assert made.alarms is not None
    template = Template.from_stack(stack)
    names = {a["Properties"]["AlarmName"] for a in template.find_resources(ALARM).values()}
    assert names == {f"elsewhere-{name}" for name in made.alarms.alarms}
    template.has_resource_properties(FUNCTION, {"Environment": {"Variables": {"JOB_QUEUE_ARN": queue.job_queue_arn}}})


def test_two_queues_in_a_stack_are_watched_apart(stack: Stack):
    for name in ("research", "production"):
        topology = Topology.model_validate({**TOPOLOGY, "name": name})
        QuotaManagedQueue(stack, name, topology=topology)
    names = [a["Properties"]["AlarmName"] for a in Template.from_stack(stack).find_resources(ALARM).values()]
    assert len(names) == len(set(names)) == 20


def test_tags_reach_everything_that_takes_them(stack: Stack, watched: Callable[..., QuotaManagedQueue]):
    Tags.of(watched()).add("owner", "platform")
    resources = Template.from_stack(stack).to_json()["Resources"].values()
    untagged = {r["Type"] for r in resources if "platform" not in json.dumps(r["Properties"].get("Tags", []))}
    assert untagged == {
        "AWS::IAM::ManagedPolicy",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::Permission",
        "AWS::SNS::TopicPolicy",
    }


def test_a_permissions_boundary_reaches_the_role(stack: Stack, watched: Callable[..., QuotaManagedQueue]):
    boundary = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "boundary")
    iam.PermissionsBoundary.of(stack).apply(boundary)
    watched()
    (role,) = Template.from_stack(stack).find_resources("AWS::IAM::Role").values()
    assert "policy/boundary" in json.dumps(role["Properties"]["PermissionsBoundary"])


def test_stages_in_several_regions_share_one_asset(app: App):
    for region in ("us-east-1", "eu-west-1"):
        stage = Stage(app, region, env=Environment(account="111122223333", region=region))
        QuotaManagedQueue(Stack(stage, "Stack"), "Quota", topology=Topology.model_validate(TOPOLOGY))
    assembly = Path(app.synth().directory)
    manifests = [json.loads(path.read_text()) for path in assembly.rglob("*.assets.json")]
    functions = [
        key for manifest in manifests for key, file in manifest["files"].items() if file["source"]["packaging"] == "zip"
    ]
    assert len(functions) == 2
    assert len(set(functions)) == 1


@pytest.mark.parametrize("variant", ["everything", "own topics and targets", "no reserved concurrency", "in a VPC"])
def test_compliance_packs_and_cfn_lint_find_nothing(tmp_path: Path, variant: str):
    context = json.loads((Path(__file__).parents[3] / "cdk.json").read_text())["context"]
    app = App(outdir=str(tmp_path), analytics_reporting=False, context=context)
    Validations.of(app).add_plugins(*(pack(app) for pack in PACKS))
    stack = Stack(app, "Stack", env=Environment(account="111122223333", region="us-east-1"))
    QuotaManagedQueue(
        stack, "Quota", topology=Topology.model_validate(TOPOLOGY), observability=_variant(app, stack, variant)
    )
    app.synth()
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert report["pluginReports"] == []
    template = (tmp_path / "Stack.template.json").read_text()
    assert [str(match) for match in cfnlint.api.lint(template, regions=["us-east-1", "us-gov-west-1"])] == []


def test_what_is_acknowledged_is_acknowledged_on_the_function_with_a_reason(watched: Callable[..., QuotaManagedQueue]):
    quota = watched()
    key = Validations.ACKNOWLEDGED_RULES_METADATA_KEY
    acknowledged = {
        construct.node.path: [rule for entry in construct.node.metadata if entry.type == key for rule in entry.data]
        for construct in quota.node.find_all()
        if any(entry.type == key for entry in construct.node.metadata)
    }
    (path,) = acknowledged
    assert path == "Stack/Quota/Observability/ShareMetrics/Function"
    assert sorted(rule.rpartition("::")[2] for rule in acknowledged[path]) == [
        "HIPAA.Security-LambdaDLQ",
        "HIPAA.Security-LambdaInsideVPC",
        "NIST.800.53.R5-LambdaDLQ",
        "NIST.800.53.R5-LambdaInsideVPC",
        "PCI.DSS.321-LambdaInsideVPC",
    ]


def test_observability_costs_few_round_trips_to_node(monkeypatch: pytest.MonkeyPatch, stack: Stack):
    """Each jsii call is one. A bare stack of L1s needs one for each of the 24 resources, at least."""
    shares = {f"share-{number}": {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND"} for number in range(20)}
    topology = Topology.model_validate(
        {**TOPOLOGY, "capacity": {"ml.g5.xlarge": 20}, "teams": {"a": {"shares": shares}}}
    )
    quota = QuotaManagedQueue(stack, "Quota", topology=topology, observability=None)
    process = type(jsii.kernel.provider._process)
    calls: list[str] = []
    send = process.send

    def counting(self: object, request: object, response_type: object) -> object:
        calls.append(type(request).__name__)
        return send(self, request, response_type)

    monkeypatch.setattr(process, "send", counting)
    QueueObservability(stack, "Observability", job_queue=quota.queue)
    assert 24 <= len(calls) <= 60, Counter(calls)


def _variant(app: App, stack: Stack, name: str) -> ObservabilityOptions:
    if name == "own topics and targets":
        key = kms.Key(stack, "Key", enable_key_rotation=True)
        topic = sns.Topic(stack, "Topic", master_key=key, enforce_ssl=True)
        dead = sqs.Queue(stack, "Dead", encryption_master_key=key, enforce_ssl=True)
        queue = sqs.Queue(
            stack,
            "Jobs",
            encryption_master_key=key,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=3),
        )
        acknowledgment = Acknowledgment(id="AwsSolutions-SQS3", reason="It is the dead-letter queue.")
        Validations.of(dead).acknowledge(acknowledgment)
        return ObservabilityOptions(
            topic=topic,
            encryption_key=key,
            alarms=AlarmOptions(topics={AlarmLevel.CRITICAL: sns.Topic(stack, "Pager", master_key=key)}),
            events=EventOptions(returned_to_runnable=EventRule(targets=[targets.SqsQueue(queue)])),
        )
    if name == "no reserved concurrency":
        return ObservabilityOptions(share_metrics=ShareMetricsOptions(reserved_concurrency=None))
    if name == "in a VPC":
        vpc = ec2.Vpc.from_vpc_attributes(
            stack,
            "Vpc",
            vpc_id="vpc-0123456789abcdef0",
            availability_zones=["us-east-1a"],
            private_subnet_ids=["subnet-0123456789abcdef0"],
            private_subnet_route_table_ids=["rtb-0123456789abcdef0"],
        )
        return ObservabilityOptions(share_metrics=ShareMetricsOptions(vpc=vpc))
    return ObservabilityOptions()


def _counts(stack: Stack) -> Counter[str]:
    return Counter(resource["Type"] for resource in Template.from_stack(stack).to_json()["Resources"].values())
