"""The constructs in apps as people build them: stages, pipelines, several stacks, aspects, escape hatches, policies."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsii
import pytest
from aws_cdk import (
    App,
    Aspects,
    BootstraplessSynthesizer,
    CfnDeletionPolicy,
    CfnResource,
    DefaultStackSynthesizer,
    Environment,
    IAspect,
    NestedStack,
    PermissionsBoundary,
    Stack,
    Stage,
    Tags,
    pipelines,
)
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from aws_cdk.assertions import Match, Template
from cdk_scenarios import EVERYTHING, LARGEST, THREE_STRATEGIES
from constructs import Construct, IConstruct

from batch_quota import (
    ObservabilityOptions,
    QuotaManagedQueue,
    QuotaShare,
    ResourceSharingStrategy,
    SageMakerTrainingQueue,
    Topology,
)

Json = dict[str, Any]
ACCOUNTS = {"development": "111122223333", "production": "444455556666"}
REGIONS = ("eu-west-1", "us-east-1")


def topology(name: str = "training", **changes: object) -> Topology:
    return Topology.model_validate({**THREE_STRATEGIES, "name": name, **changes})


def unwatched(scope: Construct) -> QuotaManagedQueue:
    return QuotaManagedQueue(scope, "Quota", topology=topology(), observability=None)


def everything(scope: Construct) -> QuotaManagedQueue:
    return QuotaManagedQueue(scope, "Quota", topology=Topology.model_validate(EVERYTHING))


class TrainingStage(Stage):
    """What is deployed to one account and Region."""

    def __init__(self, scope: Construct, id_: str, *, env: Environment) -> None:
        super().__init__(scope, id_, env=env)
        QuotaManagedQueue(Stack(self, "training"), "Quota", topology=topology())


# --- Several topologies, stages, accounts and Regions ---


def test_topologies_of_an_app_are_stacks_that_know_nothing_of_each_other(app: App):
    for name in ("research", "production"):
        QuotaManagedQueue(Stack(app, name), "Quota", topology=topology(name))
    assembly = app.synth()
    for name, other in (("research", "production"), ("production", "research")):
        artifact = assembly.get_stack_by_name(name)
        assert [each.id for each in artifact.dependencies if not each.id.endswith(".assets")] == []
        assert f"{other}-queue" not in json.dumps(artifact.template)


def test_stages_make_the_same_template_for_every_account_and_region(app: App):
    for stage, account in ACCOUNTS.items():
        for region in REGIONS:
            TrainingStage(app, f"{stage}-{region}", env=Environment(account=account, region=region))
    assembly = app.synth()
    stacks = [nested.nested_assembly.stacks[0] for nested in assembly.nested_assemblies]
    assert {(stack.environment.account, stack.environment.region) for stack in stacks} == {
        (account, region) for account in ACCOUNTS.values() for region in REGIONS
    }
    batch_resources = {
        json.dumps([each for each in stack.template["Resources"].values() if each["Type"].startswith("AWS::Batch::")])
        for stack in stacks
    }
    assert len(batch_resources) == 1


def test_a_pipeline_deploys_a_stage_and_publishes_the_code_of_the_share_metrics(app: App):
    stack = Stack(app, "Pipeline", env=Environment(account=ACCOUNTS["development"], region="us-east-1"))
    pipeline = pipelines.CodePipeline(
        stack,
        "Pipeline",
        synth=pipelines.ShellStep(
            "Synth",
            input=pipelines.CodePipelineSource.connection(
                "example/training", "main", connection_arn="arn:aws:codeconnections:us-east-1:111122223333:connection/a"
            ),
            commands=["cdk synth"],
        ),
        cross_account_keys=True,
    )
    env = Environment(account=ACCOUNTS["production"], region="eu-west-1")
    pipeline.add_stage(TrainingStage(app, "Production", env=env))
    template = Template.from_stack(stack)
    (made,) = template.find_resources("AWS::CodePipeline::Pipeline").values()
    stages = {each["Name"]: [action["Name"] for action in each["Actions"]] for each in made["Properties"]["Stages"]}
    assert stages["Production"] == ["Prepare", "Deploy"]
    assert len(stages["Assets"]) == 1


def test_a_nested_stack_has_it_all(app: App):
    parent = Stack(app, "Parent")
    nested = NestedStack(parent, "Nested")
    everything(nested)
    types = Counter(each["Type"] for each in Template.from_stack(nested).to_json()["Resources"].values())
    assert types["AWS::Batch::QuotaShare"] == 4
    assert types["AWS::CloudWatch::Alarm"] == 10


# --- From stack to stack ---


def test_another_stack_of_the_account_takes_attributes_and_waits_for_the_queue(app: App):
    quota = unwatched(Stack(app, "Queue"))
    reader = Stack(app, "Reader")
    ssm.StringParameter(reader, "Name", string_value=quota.queue.job_queue_name)
    ssm.StringParameter(reader, "Share", string_value=quota.quota_shares["medium"].quota_share_arn)
    assembly = app.synth()
    assert "Queue" in [each.id for each in assembly.get_stack_by_name("Reader").dependencies]
    imported = json.dumps(assembly.get_stack_by_name("Reader").template)
    assert imported.count("Fn::ImportValue") + imported.count("Fn::GetStackOutput") == 2


def test_a_stack_of_another_region_takes_the_names_that_the_topology_gives(stack_in: Callable[[str, str], Stack]):
    quota = unwatched(stack_in("Queue", "eu-west-1"))
    reader = stack_in("Reader", "us-east-1")
    ssm.StringParameter(reader, "Queue", string_value=quota.queue.job_queue_arn)
    ssm.StringParameter(reader, "Share", string_value=quota.quota_shares["medium"].quota_share_arn)
    values = [
        each["Properties"]["Value"]
        for each in Template.from_stack(reader).find_resources("AWS::SSM::Parameter").values()
    ]
    queue = ":batch:eu-west-1:111122223333:job-queue/training-queue"
    assert [_joined(value) for value in values] == [f"arn:aws{queue}", f"arn:aws{queue}/quota-share/medium"]


def test_a_role_of_another_stack_is_granted_access_in_its_own_stack(app: App):
    quota = unwatched(Stack(app, "Queue"))
    elsewhere = Stack(app, "Elsewhere")
    role = iam.Role(elsewhere, "Role", assumed_by=iam.ServicePrincipal("codebuild.amazonaws.com"))
    quota.grant_submit(role, team="ml")
    Template.from_stack(elsewhere).resource_count_is("AWS::IAM::Policy", 1)
    Template.from_stack(Stack.of(quota)).resource_count_is("AWS::IAM::Policy", 0)


def test_a_share_joins_the_queue_of_another_stack(app: App):
    quota = unwatched(Stack(app, "Queue"))
    team = Stack(app, "Team")
    QuotaShare(
        team,
        "Share",
        job_queue=quota.queue,
        quota_share_name="another",
        capacity_limits={"ml.g5.xlarge": 1},
        strategy=ResourceSharingStrategy.LEND,
    )
    assert "Queue" in [each.id for each in app.synth().get_stack_by_name("Team").dependencies]


def test_what_another_app_made_is_referred_to_by_its_arn(stack: Stack, properties: Callable[[Stack, str], Json]):
    arn = "arn:aws:batch:eu-west-1:111122223333:job-queue/theirs"
    queue = SageMakerTrainingQueue.from_job_queue_arn(stack, "Theirs", arn)
    QuotaShare(
        stack,
        "Share",
        job_queue=queue,
        quota_share_name="ours",
        capacity_limits={"ml.g5.xlarge": 1},
        strategy=ResourceSharingStrategy.RESERVE,
    )
    assert properties(stack, "QuotaShare")["JobQueue"] == arn


# --- Escape hatches ---


def test_every_part_leads_to_its_l1_construct(stack: Stack):
    quota = everything(stack)
    parts: dict[IConstruct, type] = {
        quota.scheduling_policy: batch.CfnSchedulingPolicy,
        quota.service_environment: batch.CfnServiceEnvironment,
        quota.queue: batch.CfnJobQueue,
        **dict.fromkeys(quota.quota_shares.values(), batch.CfnQuotaShare),
    }
    for part, class_ in parts.items():
        assert isinstance(part.node.default_child, class_)


def test_an_override_of_an_l1_is_in_the_template(stack: Stack, synthesized: Callable[[Stack], Json]):
    quota = everything(stack)
    share = quota.quota_shares["research"].node.default_child
    assert isinstance(share, batch.CfnQuotaShare)
    share.add_property_override("ResourceSharingConfiguration.Strategy", "RESERVE")
    share.cfn_options.deletion_policy = CfnDeletionPolicy.RETAIN
    assert quota.access is not None
    (policy,) = quota.access.teams["search"].policies["operate"]
    policy.add_property_override("Path", "/training/")
    assert quota.observability is not None
    assert quota.observability.dashboard is not None
    dashboard = quota.observability.dashboard.node.default_child
    assert isinstance(dashboard, CfnResource)
    dashboard.add_property_override("DashboardName", "ours")
    template = Template.from_json(synthesized(stack))
    template.has_resource(
        "AWS::Batch::QuotaShare",
        {
            "DeletionPolicy": "Retain",
            "Properties": {"QuotaShareName": "research", "ResourceSharingConfiguration": {"Strategy": "RESERVE"}},
        },
    )
    template.has_resource_properties("AWS::IAM::ManagedPolicy", {"Path": "/training/"})
    template.has_resource_properties("AWS::CloudWatch::Dashboard", {"DashboardName": "ours"})


# --- Aspects, tags, permissions boundaries, synthesizers ---


@jsii.implements(IAspect)
class _Disable:
    """Turns every quota share off, as somebody might do before maintenance."""

    def visit(self, node: IConstruct) -> None:
        if isinstance(node, batch.CfnQuotaShare):
            node.state = "DISABLED"


def test_an_aspect_sees_the_resources_and_may_change_them(app: App):
    quota = unwatched(Stack(app, "Stack"))
    Aspects.of(quota).add(_Disable())
    template = Template.from_stack(Stack.of(quota))
    template.resource_properties_count_is("AWS::Batch::QuotaShare", {"State": "DISABLED"}, 3)


def test_tags_of_an_app_reach_what_takes_tags_beside_those_of_the_topology(app: App):
    Tags.of(app).add("cost-center", "0000")
    Tags.of(app).add("platform", "training", exclude_resource_types=["AWS::Batch::JobQueue"])
    stack = Stack(app, "Stack")
    everything(stack)
    template = Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::Batch::QuotaShare",
        {"QuotaShareName": "search-background", "Tags": {"platform": "training", "batch-quota:team": "search"}},
    )
    template.has_resource_properties(
        "AWS::Batch::JobQueue", {"Tags": {"platform": Match.absent(), "owner": "ml-platform"}}
    )
    for type_ in ("AWS::SNS::Topic", "AWS::KMS::Key", "AWS::Lambda::Function", "AWS::CloudWatch::Alarm"):
        template.all_resources_properties(type_, {"Tags": Match.array_with([{"Key": "platform", "Value": "training"}])})


@pytest.mark.parametrize("by", ["stage", "context"])
def test_a_permissions_boundary_reaches_every_role(tmp_path: Path, by: str):
    boundary = PermissionsBoundary.from_name("boundary")
    context = {"@aws-cdk/core:permissionsBoundary": {"name": "boundary"}} if by == "context" else {}
    app = App(outdir=str(tmp_path), context=context, builtin_cloud_formation_validation=False)
    stage = Stage(app, "Stage", permissions_boundary=boundary if by == "stage" else None)
    stack = Stack(stage, "Stack")
    everything(stack)
    roles = Template.from_stack(stack).find_resources("AWS::IAM::Role").values()
    assert roles
    for role in roles:
        assert "policy/boundary" in json.dumps(role["Properties"]["PermissionsBoundary"])


def test_a_synthesizer_of_ones_own_says_where_the_functions_code_is(app: App):
    synthesizer = DefaultStackSynthesizer(
        qualifier="ours", file_assets_bucket_name="our-assets", generate_bootstrap_version_rule=False
    )
    stack = Stack(app, "Stack", synthesizer=synthesizer)
    everything(stack)
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::Lambda::Function", {"Code": {"S3Bucket": "our-assets"}})
    assert "Parameters" not in template.to_json()


def test_without_share_metrics_no_bootstrapping_is_needed(app: App):
    stack = Stack(app, "Stack", synthesizer=BootstraplessSynthesizer())
    QuotaManagedQueue(stack, "Quota", topology=topology(), observability=ObservabilityOptions(share_metrics=None))
    template = Template.from_stack(stack).to_json()
    assert template.keys() == {"Resources"}
    assert "cdk-hnb659fds" not in json.dumps(template)


# --- What it costs ---


def test_the_largest_queue_costs_few_round_trips_to_node(monkeypatch: pytest.MonkeyPatch, stack: Stack):
    """Each call of jsii is one. Its 46 resources take one each, and so does each construct around them.

    `make bench` measures the time against bare L1 constructs.
    """
    calls: list[str] = []
    process = type(jsii.kernel.provider._process)
    send = process.send

    def counting(self: object, request: object, response_type: object) -> object:
        calls.append(type(request).__name__)
        return send(self, request, response_type)

    monkeypatch.setattr(process, "send", counting)
    QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(LARGEST))
    monkeypatch.undo()
    assert len(Template.from_stack(stack).to_json()["Resources"]) == 46
    assert 46 <= len(calls) <= 165, Counter(calls)


def _joined(value: object) -> str:
    match value:
        case {"Fn::Join": ["", list(parts)]}:
            return "".join("aws" if part == {"Ref": "AWS::Partition"} else str(part) for part in parts)
    return str(value)
