"""Templates that were not made by our constructs, read back: functions, parameters, conditions, names, many queues."""

import json
from pathlib import Path
from typing import Any

import pytest

from policy_engine.change import setup_of_queue
from policy_engine.diagnostics import InputError, Severity
from policy_engine.template import NO_TEAM, TemplateQueue, TemplateReading, read_template
from policy_engine.template.document import template_in
from policy_engine.topology import ResourceSharingStrategy

Json = dict[str, Any]
EXAMPLE = Path(__file__).parents[2] / "examples" / "templates" / "training.yaml"
G5 = "ml.g5.xlarge"


def share(name: object = "search", queue: object = None, capacity: object = 4, **properties: object) -> Json:
    return {
        "Type": "AWS::Batch::QuotaShare",
        "Properties": {
            "QuotaShareName": name,
            "JobQueue": {"Ref": "Queue"} if queue is None else queue,
            "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": capacity}],
            "ResourceSharingConfiguration": {"Strategy": "LEND"},
            "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
            **properties,
        },
    }


def resources(**more: object) -> Json:
    """A queue with its policy and its environment, by the logical ids Policy, Environment and Queue; and others."""
    return {
        "Policy": {
            "Type": "AWS::Batch::SchedulingPolicy",
            "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
        },
        "Environment": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {
                "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
                "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 8}],
            },
        },
        "Queue": {
            "Type": "AWS::Batch::JobQueue",
            "Properties": {
                "JobQueueName": "training",
                "JobQueueType": "SAGEMAKER_TRAINING",
                "Priority": 1,
                "SchedulingPolicyArn": {"Ref": "Policy"},
                "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
            },
        },
    } | more


def template(*, sections: Json | None = None, **more: object) -> Json:
    return {"Resources": resources(**more)} | (sections or {})


def the_queue(data: Json, **parameters: str) -> TemplateQueue:
    reading = read_template(data, parameters=parameters)
    assert reading.findings == ()
    (queue,) = reading.queues
    return queue


def limit_of(data: Json, **parameters: str) -> int:
    """The limit of the share `search`."""
    return the_queue(data, **parameters).topology.teams[NO_TEAM].shares["search"].capacity[G5]


def problems(reading: TemplateReading) -> list[tuple[str, str, str]]:
    """Id, logical id and property path of each problem."""
    return [
        (problem.error.value, problem.place.logical_id or "", problem.place.location) for problem in reading.problems
    ]


def test_the_example_template_is_read_as_a_topology():
    (queue,) = read_template(EXAMPLE).queues
    topology = queue.topology
    assert (queue.name, topology.name) == ("training-production", "training-production")
    assert topology.capacity == {G5: 8}
    assert [(owned.team, owned.name, owned.share.strategy) for owned in topology.quota_shares()] == [
        ("search", "search", ResourceSharingStrategy.LEND),
        ("research", "research", ResourceSharingStrategy.LEND_AND_BORROW),
    ]
    assert topology.teams["research"].shares["research"].borrow_limit == 50
    assert topology.teams["research"].shares["research"].in_share_preemption
    assert [(limit.reason, limit.after) for limit in topology.queue.time_limits] == [
        ("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", 3_600_000),
        ("MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", 3_600_000),
    ]


def test_parameters_that_are_given_win_over_defaults_and_decide_conditions():
    (queue,) = read_template(EXAMPLE, parameters={"Stage": "test", "Instances": "12"}).queues
    assert queue.name == "training-test"
    assert queue.topology.capacity == {G5: 12}
    assert queue.topology.teams["research"].shares["research"].borrow_limit == 100


def test_the_parts_of_a_topology_are_located_in_the_file():
    (queue,) = read_template(EXAMPLE).queues
    place = queue.place(("teams", "research", "shares", "research", "borrow_limit"))
    assert (place.logical_id, place.location) == (
        "Research",
        "Properties.ResourceSharingConfiguration.BorrowLimit.Fn::If.1",
    )
    lines = EXAMPLE.read_text().splitlines()
    for path, shown in (
        (("capacity", G5), "- {CapacityUnit: ml.g5.xlarge, MaxCapacity: !Ref Instances}"),
        (("queue", "priority"), "Priority: 1"),
        (("teams", "search", "shares", "search", "strategy"), "ResourceSharingConfiguration: {Strategy: LEND}"),
        (("teams", "search", "shares", "search"), "QuotaShareName: search"),
        (("teams", "search"), "Tags: {batch-quota:team: search}"),
        (("name",), 'JobQueueName: !Join ["-", [training, !Ref Stage]]'),
        (("suppressions", 0), "Queue:"),
    ):
        position = queue.sources.position(path)
        assert position is not None
        assert lines[position.line - 1].strip() == shown


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (4, 4),
        ("4", 4),
        (4.0, 4),
        ({"Ref": "Limit"}, 6),
        ({"Fn::FindInMap": ["Limits", "search", G5]}, 3),
        ({"Fn::FindInMap": ["Limits", {"Ref": "Team"}, G5]}, 3),
        ({"Fn::If": ["Large", 7, 1]}, 7),
        ({"Fn::If": ["Small", 7, 1]}, 1),
        ({"Fn::Select": [1, ["1", "2"]]}, 2),
        ({"Fn::Select": ["1", {"Ref": "Several"}]}, 5),
        ({"Fn::Select": [0, {"Fn::Split": ["/", "9/8"]}]}, 9),
        ({"Fn::Sub": "${Limit}"}, 6),
        ({"Fn::Sub": ["${Tens}${Limit}", {"Tens": 1}]}, 16),
        ({"Fn::Join": ["", ["1", {"Ref": "Limit"}]]}, 16),
    ],
    ids=json.dumps,
)
def test_a_limit_may_be_written_as_any_function_that_is_known_before_deployment(written: object, value: int):
    sections = {
        "Parameters": {
            "Limit": {"Type": "Number", "Default": 6},
            "Several": {"Type": "CommaDelimitedList", "Default": "4, 5"},
            "Team": {"Type": "String", "Default": "search"},
        },
        "Mappings": {"Limits": {"search": {G5: 3}}},
        "Conditions": {
            "Large": {"Fn::Equals": [{"Ref": "Limit"}, "6"]},
            "Small": {"Fn::Not": [{"Condition": "Large"}]},
        },
    }
    assert limit_of(template(sections=sections, Search=share(capacity=written))) == value


@pytest.mark.parametrize(
    ("condition", "made"),
    [
        ({"Fn::Equals": ["a", "a"]}, True),
        ({"Fn::And": [{"Fn::Equals": ["a", "a"]}, {"Fn::Equals": ["a", "b"]}]}, False),
        ({"Fn::Or": [{"Fn::Equals": ["a", "a"]}, {"Fn::Equals": [{"Ref": "AWS::Region"}, "b"]}]}, True),
        ({"Fn::And": [{"Fn::Equals": ["a", "b"]}, {"Fn::Equals": [{"Ref": "AWS::Region"}, "b"]}]}, False),
    ],
)
def test_a_resource_whose_condition_does_not_hold_is_not_there(condition: Json, made: bool):  # noqa: FBT001
    data = template(sections={"Conditions": {"C": condition}}, Search=share() | {"Condition": "C"})
    reading = read_template(data)
    assert reading.findings == ()
    assert [owned.name for owned in reading.queues[0].topology.quota_shares()] == (["search"] if made else [])


def test_a_resource_whose_condition_only_deployment_decides_is_taken_to_be_there_with_a_warning():
    condition = {"Fn::Equals": [{"Ref": "AWS::Region"}, "eu-west-1"]}
    reading = read_template(template(sections={"Conditions": {"C": condition}}, Search=share() | {"Condition": "C"}))
    assert [(finding.id, finding.severity) for finding in reading.findings] == [("QM013", Severity.WARNING)]
    assert [owned.name for owned in reading.queues[0].topology.quota_shares()] == ["search"]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({"Ref": "Limit"}, "the parameter 'Limit' has no default"),
        ({"Ref": "Stored"}, "the parameter 'Stored' is read from the Parameter Store at deployment"),
        ({"Ref": "Limt"}, "the template has no resource and no parameter 'Limt'"),
        ({"Ref": "AWS::AccountId"}, "AWS::AccountId is known only at deployment"),
        ({"Ref": "Other"}, "it comes from the resource 'Other'"),
        ({"Fn::GetAtt": ["Other", "Size"]}, "it comes from the resource 'Other'"),
        ({"Fn::GetAtt": "Missing.Size"}, "the template has no resource 'Missing'"),
        ({"Fn::Sub": "1${Limit}"}, "the parameter 'Limit' has no default"),
        ({"Fn::ImportValue": "limit"}, "'limit' is exported by a stack that is not read here"),
        ({"Fn::If": ["C", 1, 2]}, "whether the condition 'C' holds is known only at deployment"),
        ({"Fn::Length": [1, 2]}, "Fn::Length is known only at deployment"),
        ("{{resolve:ssm:/limit}}", "a dynamic reference is resolved at deployment"),
        ({"Fn::FindInMap": ["No", "such", "map"]}, "the template's mappings have no such value"),
        ({"Fn::Select": [3, ["1", "2"]]}, "Fn::Select asks for item 3 of 2"),
        ({"Fn::Join": ["-"]}, "Fn::Join takes a delimiter and a list"),
    ],
    ids=str,
)
def test_what_only_deployment_decides_is_told_with_the_reason_and_the_property(written: object, why: str):
    sections = {
        "Parameters": {
            "Limit": {"Type": "Number"},
            "Stored": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/limit"},
        }
    }
    reading = read_template(
        template(sections=sections, Search=share(capacity=written), Other={"Type": "Custom::Limit"})
    )
    assert reading.queues == ()
    (finding,) = reading.findings
    assert (finding.id, finding.severity) == ("QM011", Severity.ERROR)
    assert finding.message == f"'MaxCapacity' is not known before deployment: {why}"
    ((_, logical_id, location),) = problems(reading)
    assert (logical_id, location) == ("Search", "Properties.CapacityLimits.0.MaxCapacity")


def test_the_hint_for_a_parameter_says_how_to_give_it():
    sections = {"Parameters": {"Limit": {"Type": "Number"}}}
    data = template(sections=sections, Search=share(capacity={"Ref": "Limit"}))
    assert read_template(data).findings[0].help == "give it with --parameter Limit=VALUE"
    assert limit_of(data, Limit="5") == 5


def test_a_condition_or_an_output_that_refers_to_itself_is_no_endless_loop():
    sections = {
        "Conditions": {"C": {"Fn::Not": [{"Condition": "C"}]}},
        "Outputs": {"O": {"Value": {"Fn::ImportValue": "o"}, "Export": {"Name": "o"}}},
    }
    data = template(sections=sections, Search=share(capacity={"Fn::If": ["C", 1, {"Fn::ImportValue": "o"}]}))
    assert [finding.id for finding in read_template(data).findings] == ["QM011"]
    data = template(sections=sections, Search=share(capacity={"Fn::ImportValue": "o"}))
    assert [finding.id for finding in read_template(data).findings] == ["QM011"]


@pytest.mark.parametrize(
    "queue",
    [
        {"Ref": "Queue"},
        {"Fn::GetAtt": ["Queue", "JobQueueArn"]},
        {"Fn::GetAtt": "Queue.JobQueueArn"},
        {"Fn::Sub": "${Queue}"},
        {"Fn::Sub": "${Queue.JobQueueArn}"},
        {"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::GetAtt": ["Queue", "JobQueueArn"]}]}]},
        "training",
        "arn:aws:batch:eu-west-1:111122223333:job-queue/training",
        {"Fn::Sub": "arn:${AWS::Partition}:batch:${AWS::Region}:${AWS::AccountId}:job-queue/training"},
        {
            "Fn::Join": [
                "",
                ["arn:", {"Ref": "AWS::Partition"}, ":batch:", {"Ref": "AWS::Region"}, ":1:job-queue/training"],
            ]
        },
    ],
    ids=json.dumps,
)
def test_a_share_finds_its_queue_by_reference_by_arn_and_by_name(queue: object):
    topology = the_queue(template(Search=share(queue=queue))).topology
    assert [owned.name for owned in topology.quota_shares()] == ["search"]


def test_a_share_of_a_queue_that_is_made_elsewhere_is_told_as_not_judged():
    reading = read_template({"Resources": {"Search": share(queue="elsewhere")}})
    assert reading.queues == ()
    (finding,) = reading.findings
    assert (finding.id, finding.severity) == ("QM012", Severity.WARNING)
    assert "elsewhere is not made in this template" in finding.message
    assert finding.path == ("Resources", "Search", "Properties", "JobQueue")


def test_a_queue_whose_environment_is_made_elsewhere_cannot_be_judged():
    data = template(Search=share())
    del data["Resources"]["Environment"]
    reading = read_template(data)
    assert reading.queues == ()
    assert problems(reading) == [("QM012", "Queue", "Properties.ServiceEnvironmentOrder")]


def test_every_queue_of_a_template_is_read_with_its_own_shares():
    second = {
        key.replace("Queue", "Other").replace("Policy", "OtherPolicy").replace("Environment", "OtherEnvironment"): value
        for key, value in json.loads(
            json.dumps(resources())
            .replace('"Ref": "Policy"', '"Ref": "OtherPolicy"')
            .replace('"Ref": "Environment"', '"Ref": "OtherEnvironment"')
            .replace("training", "other")
        ).items()
    }
    reading = read_template(
        template(**second, A=share("a"), B=share("b", queue={"Ref": "Other"}), C=share("a", "other"))
    )
    assert {queue.name: sorted(o.name for o in queue.topology.quota_shares()) for queue in reading.queues} == {
        "training": ["a"],
        "other": ["a", "b"],
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"Policy": {"FairsharePolicy": {"ShareDecaySeconds": 60}}},
        {"Queue": {"JobQueueType": "ECS_FARGATE"}},
        {"Queue": {"SchedulingPolicyArn": {"Ref": "AWS::NoValue"}}},
    ],
)
def test_queues_without_quota_management_are_left_out(changes: dict[str, Json]):
    data = template()
    for logical_id, properties in changes.items():
        data["Resources"][logical_id]["Properties"] = {
            **data["Resources"][logical_id]["Properties"],
            **properties,
            **({"QuotaSharePolicy": {"Ref": "AWS::NoValue"}} if logical_id == "Policy" else {}),
        }
    reading = read_template(data)
    assert (reading.queues, reading.findings) == ((), ())


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"Fn::GetAtt": "Fair.Arn"}, [("QM004", "Fair", "")]),
        (None, [("QM004", "Queue", "")]),
        ("arn:aws:batch:eu-west-1:111122223333:scheduling-policy/elsewhere", []),
    ],
)
def test_a_queue_with_shares_is_told_if_its_policy_is_none_for_shares(policy: Json, told: list[tuple[str, str, str]]):
    data = template(Search=share(), Fair={"Type": "AWS::Batch::SchedulingPolicy", "Properties": {}})
    data["Resources"]["Queue"]["Properties"]["SchedulingPolicyArn"] = policy
    reading = read_template(data)
    assert problems(reading) == told
    assert len(reading.queues) == 1


def test_a_service_environment_of_two_queues_is_told():
    data = template(Search=share())
    another = dict(data["Resources"]["Queue"]["Properties"], JobQueueName="another")
    data["Resources"]["Another"] = {"Type": "AWS::Batch::JobQueue", "Properties": another}
    assert problems(read_template(data)) == [("QM003", "Another", "Properties.ServiceEnvironmentOrder")]


def test_shares_without_the_tag_of_a_team_are_of_no_team():
    tagged = share(
        "tagged", Tags={"batch-quota:team": "vision", "cost-center": 4711, "stack": {"Ref": "AWS::StackName"}}
    )
    topology = the_queue(template(A=share("plain"), B=tagged)).topology
    assert list(topology.teams) == [NO_TEAM, "vision"]
    assert topology.teams["vision"].shares["tagged"].tags == {"cost-center": "4711"}


def test_words_that_cloudformation_takes_in_any_case_are_read_in_any_case():
    data = template(
        Search=share(
            ResourceSharingConfiguration={"Strategy": "lend_and_borrow", "BorrowLimit": "-1"},
            PreemptionConfiguration={"InSharePreemption": "Enabled"},
        )
    )
    found = the_queue(data).topology.teams[NO_TEAM].shares["search"]
    assert (found.strategy, found.borrow_limit, found.in_share_preemption) == ("LEND_AND_BORROW", None, True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"CapacityLimits": "many"}, ("QM003", "Properties.CapacityLimits")),
        ({"CapacityLimits": [{"CapacityUnit": G5}]}, ("QM004", "Properties.CapacityLimits.0")),
        (
            {"CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": "many"}]},
            ("QM003", "Properties.CapacityLimits.0.MaxCapacity"),
        ),
        (
            {"CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 1.5}]},
            ("QM003", "Properties.CapacityLimits.0.MaxCapacity"),
        ),
        ({"CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 1}] * 2}, ("QM005", "Properties.CapacityLimits.1")),
        ({"ResourceSharingConfiguration": {}}, ("QM004", "Properties.ResourceSharingConfiguration")),
        (
            {"ResourceSharingConfiguration": {"Strategy": "LENT"}},
            ("QM003", "Properties.ResourceSharingConfiguration.Strategy"),
        ),
        ({"ResourceSharingConfiguration": None}, ("QM004", "Properties")),
        ({"QuotaShareName": None}, ("QM004", "Properties")),
        ({"QuotaShareName": "a b"}, ("QM003", "Properties.QuotaShareName")),
        ({"State": "ON"}, ("QM003", "Properties.State")),
        (
            {"CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 2**40}]},
            ("QM003", "Properties.CapacityLimits.0.MaxCapacity"),
        ),
    ],
    ids=str,
)
def test_what_is_no_quota_share_is_told_with_its_property(changes: Json, expected: tuple[str, str]):
    broken = share(**changes)
    broken["Properties"] = {key: value for key, value in broken["Properties"].items() if value is not None}
    reading = read_template(template(Search=broken))
    assert [(error, location) for error, _, location in problems(reading)][:1] == [expected]
    assert {logical_id for _, logical_id, _ in problems(reading)} == {"Search"}
    assert reading.queues == ()


def test_two_shares_of_one_name_are_told():
    reading = read_template(template(A=share("search"), B=share("search")))
    assert problems(reading) == [("QM005", "B", "")]


@pytest.mark.parametrize("name", ["{{resolve:ssm:/name}}", {"Fn::Sub": "${AWS::StackName}-queue"}, None])
def test_a_queue_whose_name_is_not_known_goes_by_its_logical_id(name: object):
    data = template(Search=share())
    data["Resources"]["Queue"]["Properties"]["JobQueueName"] = name
    assert the_queue(data).topology.name == "Queue"


@pytest.mark.parametrize(
    "data", [{}, {"Resources": {}}, {"Resources": []}, {"Resources": {"A": None, "B": {"Type": 1}}}]
)
def test_a_template_without_any_quota_management_has_no_queues(data: Json):
    reading = read_template(data)
    assert (reading.queues, reading.findings) == ((), ())


def test_yaml_that_only_cloudformation_reads_does_no_harm(tmp_path: Path):
    path = tmp_path / "template.yaml"
    path.write_text(
        EXAMPLE.read_text()
        + """
  Function:
    Type: AWS::Lambda::Function
    Properties:
      Role: !GetAtt Role.Arn
      Timeout: 010
      Empty:
      Code: {ZipFile: !Sub "print('${AWS::Region}')"}
      Accounts: {012345678901: yes, 1: !Base64 x}
      Zones: !GetAZs ""
  Role: {Type: AWS::IAM::Role}
"""
    )
    reading = read_template(path)
    assert (len(reading.queues), reading.findings) == (1, ())


@pytest.mark.parametrize(
    ("text", "id_", "place"),
    [
        ("Resources: {a: [}\n", "QM001", "1:17"),
        ("Resources: {A: !Foo x}\n", "QM009", "1:16"),
        ("Resources: {A: 1, A: 2}\n", "QM005", "1:19"),
        ("", "QM001", "1:1"),
    ],
)
def test_a_file_that_is_no_yaml_or_json_is_refused_with_the_place(tmp_path: Path, text: str, id_: str, place: str):
    path = tmp_path / "t.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_template(path)
    (finding,) = caught.value.findings
    assert finding.position is not None
    assert (finding.id, f"{finding.position.line}:{finding.position.column}") == (id_, place)


@pytest.mark.parametrize(
    ("text", "is_template"),
    [
        ("Resources: {}\n", True),
        ('{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"A": {"Type": "AWS::S3::Bucket"}}}', True),
        ("name: t\ncapacity: {}\nteams: {}\nResources: {}\n", False),
        ("name: t\nqueue: {tags: {Resources: x}}\n", False),
        ("name: t\n", False),
    ],
)
def test_what_a_file_is_shows_in_its_content(text: str, is_template: bool):  # noqa: FBT001
    assert (template_in(text.encode(), "f") is not None) == is_template


def test_a_broken_template_is_reported_as_a_template():
    with pytest.raises(InputError, match="f:4"):
        template_in(b"Resources:\n  A:\n    Type: [AWS::Batch::JobQueue\n", "f")


def test_a_name_that_is_a_number_is_a_text():
    queue = the_queue(template(Search=share(4711)))
    assert [owned.name for owned in queue.topology.quota_shares()] == ["4711"]
    assert list(setup_of_queue(queue).shares) == ["Search"]


def test_resources_that_are_made_in_a_loop_are_told():
    loop: Json = {"Fn::ForEach::Teams": ["Team", ["a", "b"], {"Share${Team}": share({"Ref": "Team"})}]}
    reading = read_template(template(**loop))
    ((finding),) = reading.findings
    assert (finding.id, finding.path) == ("QM011", ("Resources", "Fn::ForEach::Teams"))
    assert "Fn::ForEach makes resources" in finding.message
    others: Json = {"Fn::ForEach::Buckets": ["Name", ["a", "b"], {"Bucket${Name}": {"Type": "AWS::S3::Bucket"}}]}
    assert read_template(template(**others)).findings == ()
