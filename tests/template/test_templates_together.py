"""Templates of one app: what one takes from another by exports, outputs, nested stacks and names; and any JSON."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.template import TemplateInput, TemplateReading, read_template, read_templates

Json = dict[str, Any]
G5 = "ml.g5.xlarge"
FUNCTIONS = (
    "Ref",
    "Fn::GetAtt",
    "Fn::Sub",
    "Fn::Join",
    "Fn::Split",
    "Fn::Select",
    "Fn::If",
    "Fn::FindInMap",
    "Fn::ImportValue",
    "Fn::GetStackOutput",
    "Fn::Equals",
    "Fn::Not",
    "Condition",
    "Fn::Length",
)


def share(name: str, queue: object) -> Json:
    return {
        "Type": "AWS::Batch::QuotaShare",
        "Properties": {
            "QuotaShareName": name,
            "JobQueue": queue,
            "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 4}],
            "ResourceSharingConfiguration": {"Strategy": "LEND"},
        },
    }


def platform(name: str = "training", **sections: object) -> Json:
    """A template with all but shares."""
    queue = {
        "JobQueueName": name,
        "JobQueueType": "SAGEMAKER_TRAINING",
        "SchedulingPolicyArn": {"Fn::GetAtt": ["Policy", "Arn"]},
        "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
    }
    limits = [{"CapacityUnit": G5, "MaxCapacity": 8}]
    return {
        "Resources": {
            "Policy": {"Type": "AWS::Batch::SchedulingPolicy", "Properties": {"QuotaSharePolicy": {}}},
            "Environment": {"Type": "AWS::Batch::ServiceEnvironment", "Properties": {"CapacityLimits": limits}},
            "Queue": {"Type": "AWS::Batch::JobQueue", "Properties": queue},
        },
        **sections,
    }


def shares(reading: TemplateReading) -> dict[str, list[str]]:
    return {
        f"{queue.place(()).template}/{queue.name}": [owned.name for owned in queue.topology.quota_shares()]
        for queue in reading.queues
    }


def test_a_share_finds_a_queue_that_another_stack_exports():
    exported = {"O": {"Value": {"Fn::GetAtt": ["Queue", "JobQueueArn"]}, "Export": {"Name": {"Fn::Sub": "${P}-arn"}}}}
    sections = {"Parameters": {"P": {"Type": "String", "Default": "queue"}}, "Outputs": exported}
    teams = {"Resources": {"Share": share("search", {"Fn::ImportValue": "queue-arn"})}}
    reading = read_templates({"a": TemplateInput(platform(**sections)), "b": TemplateInput(teams)})
    assert reading.findings == ()
    assert shares(reading) == {"a/training": ["search"]}
    (queue,) = reading.queues
    place = queue.place(("teams", "no-team", "shares", "search", "strategy"))
    assert (place.template, place.logical_id) == ("b", "Share")


def test_two_queues_of_one_name_are_told_if_they_surely_share_an_account_and_a_region():
    def named(**first_and_second: TemplateInput) -> list[tuple[str, str]]:
        found = read_templates(first_and_second).problems
        return [(each.error.value, str(each.place)) for each in found]

    here = ("111122223333", "eu-west-1")
    assert named(a=TemplateInput(platform(), "a", *here), b=TemplateInput(platform(), "b", *here)) == [
        ("QM005", "Place(template='b', path=('Resources', 'Queue', 'Properties', 'JobQueueName'))")
    ]
    assert named(a=TemplateInput(platform(), "a", *here), b=TemplateInput(platform("other"), "b", *here)) == []
    there = ("111122223333", "us-east-1")
    assert named(a=TemplateInput(platform(), "a", *here), b=TemplateInput(platform(), "b", *there)) == []
    assert named(a=TemplateInput(platform(), "a"), b=TemplateInput(platform(), "b")) == []
    twice = platform()
    twice["Resources"]["Another"] = twice["Resources"]["Queue"]
    (problem,) = (each for each in read_template(twice).problems if each.error.value == "QM005")
    assert problem.message == "another job queue of this account and Region is named 'training' already"
    twice["Resources"]["Another"] = {**twice["Resources"]["Queue"], "Condition": "OnlyThere"}
    there_only = {"OnlyThere": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    assert [each.error.value for each in read_template({**twice, "Conditions": there_only}).problems] == ["QM013"]


def test_a_share_finds_a_queue_that_is_an_output_of_another_stack():
    outputs = {"Outputs": {"Arn": {"Value": {"Fn::GetAtt": ["Queue", "JobQueueArn"]}}}}
    of_stack = {"Fn::GetStackOutput": {"StackName": "platform", "OutputName": "Arn", "Region": "eu-west-1"}}
    by_part = {"Fn::Select": [1, {"Fn::Split": ["/", of_stack]}]}
    teams = {"Resources": {"A": share("a", of_stack), "B": share("b", by_part)}}
    templates = {"p": TemplateInput(platform(**outputs), "platform"), "t": TemplateInput(teams, "teams")}
    assert shares(read_templates(templates)) == {"p/training": ["a", "b"]}


def test_a_share_in_a_nested_stack_finds_the_queue_that_is_handed_to_it():
    parent = platform()
    parent["Resources"]["Nested"] = {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"Parameters": {"QueueArn": {"Fn::GetAtt": ["Queue", "JobQueueArn"]}}},
    }
    nested = {"Parameters": {"QueueArn": {"Type": "String"}}, "Resources": {"S": share("s", {"Ref": "QueueArn"})}}
    templates = {"parent": TemplateInput(parent, nested={"Nested": "child"}), "child": TemplateInput(nested)}
    assert shares(read_templates(templates)) == {"parent/training": ["s"]}


def test_a_share_beside_a_nested_stack_finds_the_queue_in_it():
    nested = platform(Outputs={"Arn": {"Value": {"Ref": "Queue"}}})
    parent = {
        "Resources": {
            "Nested": {"Type": "AWS::CloudFormation::Stack", "Properties": {}},
            "S": share("s", {"Fn::GetAtt": ["Nested", "Outputs.Arn"]}),
        }
    }
    templates = {"parent": TemplateInput(parent, nested={"Nested": "child"}), "child": TemplateInput(nested)}
    assert shares(read_templates(templates)) == {"child/training": ["s"]}


def test_names_are_those_of_one_account_and_region():
    teams = {"Resources": {"Share": share("search", "training")}}
    templates = {
        "eu": TemplateInput(platform(), account="1", region="eu-west-1"),
        "us": TemplateInput(platform(), account="1", region="us-east-1"),
        "teams-us": TemplateInput(teams, account="1", region="us-east-1"),
    }
    reading = read_templates(templates)
    assert shares(reading) == {"eu/training": [], "us/training": ["search"]}
    elsewhere = read_templates({"eu": templates["eu"], "teams-us": templates["teams-us"]})
    assert [finding.id for finding in elsewhere.findings] == ["QM012"]


def test_account_region_and_stack_name_are_known_where_they_are_given():
    data = platform(name={"Fn::Sub": "${AWS::StackName}-${AWS::Region}"})  # type: ignore[arg-type]
    reading = read_templates({"a": TemplateInput(data, "ml", "111122223333", "eu-west-1")})
    assert [queue.name for queue in reading.queues] == ["ml-eu-west-1"]


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(("Queue", "P"))
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FUNCTIONS) | st.text(max_size=4), inner, max_size=2)
        | st.builds(lambda function, argument: {function: argument}, st.sampled_from(FUNCTIONS), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(anything, anything, anything)
def test_no_value_whatever_breaks_the_reading(value: object, condition: object, properties: object):
    data = platform(Conditions={"C": condition, "D": {"Fn::Not": [condition]}}, Parameters={"P": value})
    data["Resources"]["Share"] = share("search", {"Ref": "Queue"}) | {"Condition": "C"}
    data["Resources"]["Share"]["Properties"]["CapacityLimits"] = value
    data["Resources"]["Other"] = {"Type": "AWS::Batch::QuotaShare", "Properties": properties, "DependsOn": value}
    data["Resources"]["Queue"]["Properties"]["Priority"] = value
    data["Resources"]["Queue"]["Properties"]["Tags"] = properties
    reading = read_template(data)
    assert all(finding.message and finding.path for finding in reading.findings)
    assert read_template(data).findings == reading.findings
