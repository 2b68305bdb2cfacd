"""What must hold of every template, whatever the topology and the options: who may do what, encryption, exposure."""

from collections.abc import Iterator
from typing import Any

import pytest
from aws_cdk import App
from cdk_scenarios import SCENARIOS, STACKS

Json = dict[str, Any]
Statement = tuple[str, Json]
"""A statement with the logical id of its resource."""

READING = {
    "batch:DescribeJobQueues",
    "batch:DescribeSchedulingPolicies",
    "batch:DescribeServiceEnvironments",
    "batch:DescribeServiceJob",
    "batch:ListServiceJobs",
}
SERVICES = {
    "cloudwatch.amazonaws.com",
    "events.amazonaws.com",
    "lambda.amazonaws.com",
    "sagemaker.amazonaws.com",
    "logs.${AWS::Region}.${AWS::URLSuffix}",
}
IDENTITY_POLICIES = ("AWS::IAM::ManagedPolicy", "AWS::IAM::Policy")


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Json]:
    app = App(
        outdir=str(tmp_path_factory.mktemp("assembly")),
        analytics_reporting=False,
        builtin_cloud_formation_validation=False,
    )
    for make in SCENARIOS.values():
        make(app)
    assembly = app.synth()
    return {name: dict(assembly.get_stack_by_name(name).template) for name in STACKS}


@pytest.fixture(params=STACKS)
def template(request: pytest.FixtureRequest, templates: dict[str, Json]) -> Json:
    return templates[request.param]


def test_no_statement_allows_an_action_with_a_wildcard_but_on_the_key_itself(template: Json):
    allowed = {
        action
        for type_, statement in statements(template)
        if statement["Effect"] == "Allow" and type_ != "AWS::KMS::Key"
        for action in listed(statement["Action"])
    }
    assert not [action for action in allowed if "*" in action or ":" not in action]


def test_nothing_but_reading_is_allowed_on_all_resources(template: Json):
    for type_, statement in statements(template):
        if type_ in IDENTITY_POLICIES and "*" in listed(statement["Resource"]):
            actions = set(listed(statement["Action"]))
            limited = actions == {"cloudwatch:PutMetricData"} and "Condition" in statement
            assert limited or actions <= READING | {"ecr:GetAuthorizationToken"}


def test_no_statement_names_what_it_does_not_mean(template: Json):
    assert not [
        statement
        for _, statement in statements(template)
        if {"NotAction", "NotResource", "NotPrincipal"} & statement.keys()
    ]


def test_what_is_allowed_on_service_jobs_is_limited_by_their_share(template: Json):
    for type_, statement in statements(template):
        if type_ in IDENTITY_POLICIES and ":service-job/*" in str(statement["Resource"]):
            assert "batch-quota:quota-share" in str(statement["Condition"])


def test_roles_are_passed_one_by_one_and_to_sagemaker_alone(template: Json):
    for _, statement in statements(template):
        if "iam:PassRole" in listed(statement["Action"]):
            assert listed(statement["Action"]) == ["iam:PassRole"]
            assert statement["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
            assert "*" not in str(statement["Resource"])


def test_everybody_who_is_trusted_is_a_service_of_aws_or_the_account_itself(template: Json):
    for _, statement in statements(template):
        for kind, principals in principals_of(statement):
            if statement["Effect"] == "Deny":
                continue
            if kind == "Service":
                assert set(map(text, listed(principals))) <= SERVICES
            else:
                assert kind == "AWS"
                assert text(principals) == "arn:${AWS::Partition}:iam::${AWS::AccountId}:root" or text(
                    principals
                ).endswith(":iam::111122223333:root")


def test_services_that_act_for_many_accounts_are_held_to_this_one_where_they_can_be(template: Json):
    """EventBridge meets no condition (EventBridge user guide), and Lambda asks for none."""
    for _, statement in statements(template):
        for kind, principals in principals_of(statement):
            if kind == "Service" and text(principals) not in {"events.amazonaws.com", "lambda.amazonaws.com"}:
                assert "AWS::AccountId" in str(statement["Condition"]) or "111122223333" in str(statement["Condition"])


def test_topics_and_logs_are_encrypted_by_keys_that_rotate(template: Json):
    for resource in of_type(template, "AWS::KMS::Key"):
        assert resource["EnableKeyRotation"] is True
    for resource in of_type(template, "AWS::SNS::Topic"):
        assert "KmsMasterKeyId" in resource
    for resource in of_type(template, "AWS::Logs::LogGroup"):
        assert "KmsKeyId" in resource
        assert resource["RetentionInDays"] > 0


def test_every_topic_refuses_messages_without_tls(template: Json):
    topics = [name for name, each in template["Resources"].items() if each["Type"] == "AWS::SNS::Topic"]
    refusing = [
        statement["Resource"]["Ref"]
        for type_, statement in statements(template)
        if type_ == "AWS::SNS::TopicPolicy"
        and statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    ]
    assert sorted(refusing) == sorted(topics)


def test_functions_have_no_url_no_secret_and_are_invoked_by_their_schedule_alone(template: Json):
    assert list(of_type(template, "AWS::Lambda::Url")) == []
    for resource in of_type(template, "AWS::Lambda::Function"):
        assert set(resource["Environment"]["Variables"]) == {"JOB_QUEUE_ARN", "METRIC_NAMESPACE"}
    for resource in of_type(template, "AWS::Lambda::Permission"):
        assert resource["Principal"] == "events.amazonaws.com"
        assert "Schedule" in resource["SourceArn"]["Fn::GetAtt"][0]


def test_policies_are_attached_to_nobody_but_whom_the_topology_names(templates: dict[str, Json]):
    attached = {
        name
        for policy in of_type(templates["everything-on"], "AWS::IAM::ManagedPolicy")
        for name in [*texts(policy.get("Roles", [])), *texts(policy.get("Users", [])), *texts(policy.get("Groups", []))]
        if not name.startswith(("AWS::", "ResearchJobs", "QuotaAccessIsAccount"))
    }
    assert attached == {"search-data-science", "search-on-call", "finance"}


def test_nothing_is_asked_of_whoever_deploys(template: Json):
    assert template.get("Parameters", {}).keys() <= {"BootstrapVersion"}


def test_without_access_and_observability_there_is_nothing_but_aws_batch(templates: dict[str, Json]):
    types = {resource["Type"] for resource in templates["everything-off"]["Resources"].values()}
    assert types == {
        "AWS::Batch::SchedulingPolicy",
        "AWS::Batch::ServiceEnvironment",
        "AWS::Batch::JobQueue",
        "AWS::Batch::QuotaShare",
    }


def statements(template: Json) -> Iterator[Statement]:
    """All statements of all policies, with the type of the resource that has them."""
    for resource in template["Resources"].values():
        for key in ("PolicyDocument", "AssumeRolePolicyDocument", "KeyPolicy"):
            for statement in resource["Properties"].get(key, {}).get("Statement", ()):
                yield resource["Type"], statement


def principals_of(statement: Json) -> Iterator[tuple[str, object]]:
    principal = statement.get("Principal", {})
    yield from principal.items() if isinstance(principal, dict) else [("*", principal)]


def of_type(template: Json, type_: str) -> Iterator[Json]:
    yield from (each["Properties"] for each in template["Resources"].values() if each["Type"] == type_)


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def text(value: object) -> str:
    """An ARN or a name as `Fn::Sub` would have it."""
    match value:
        case {"Ref": str(name)}:
            return f"${{{name}}}"
        case {"Fn::Sub": str(given)}:
            return given
        case {"Fn::Join": ["", list(parts)]}:
            return "".join(map(text, parts))
    return str(value)


def texts(value: object) -> Iterator[str]:
    """All texts in a value, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts(each)
