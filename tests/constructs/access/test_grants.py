"""grant_submit, grant_operate and grant_view: what they write, and what they refuse."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import CfnParameter, Fn, Stack
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Annotations, Match

from batch_quota import (
    JOB_TAG,
    JobTag,
    QuotaManagedQueue,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    SageMakerTrainingQueue,
    ServiceEnvironment,
    Topology,
)

Synthesized = Callable[[Stack], dict[str, Any]]
QUEUE_ARN = "arn:aws:batch:eu-west-1:111122223333:job-queue/training"
SHARE_ARN = f"{QUEUE_ARN}/quota-share/search"
SERVICE_JOBS = "arn:aws:batch:eu-west-1:111122223333:service-job/*"
SSO = "arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_ds_0123456789abcdef"


@pytest.fixture
def stack(stack_in: Callable[[str, str], Stack]) -> Stack:
    """A stack in a Region, so that imported ARNs and those of the stack read alike."""
    return stack_in("Stack", "eu-west-1")


@pytest.fixture
def queue(stack: Stack) -> SageMakerTrainingQueue:
    return SageMakerTrainingQueue(
        stack,
        "Queue",
        job_queue_name="training",
        service_environment=ServiceEnvironment(stack, "Environment", capacity_limits={"ml.g5.xlarge": 2}),
        scheduling_policy=QuotaShareSchedulingPolicy(stack, "Policy"),
    )


@pytest.fixture
def share(stack: Stack, queue: SageMakerTrainingQueue) -> QuotaShare:
    return QuotaShare(
        stack,
        "Share",
        job_queue=queue,
        quota_share_name="search",
        capacity_limits={"ml.g5.xlarge": 2},
        strategy="RESERVE",
    )


@pytest.fixture
def role(stack: Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())


@pytest.fixture
def statements(stack: Stack, synthesized: Synthesized) -> Callable[[], list[dict[str, Any]]]:
    """The statements of the stack's only policy, but for their effects, which are all Allow."""

    def find() -> list[dict[str, Any]]:
        resources = synthesized(stack)["Resources"].values()
        (policy,) = [r for r in resources if r["Type"] in {"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}]
        found = policy["Properties"]["PolicyDocument"]["Statement"]
        assert {statement.pop("Effect") for statement in found} == {"Allow"}
        return list(found)

    return find


Statements = Callable[[], list[dict[str, Any]]]


def service_jobs(statement: dict[str, Any]) -> object:
    """The service jobs' ARN among the resources of a statement, with the partition filled in."""
    resources = statement["Resource"]
    last = resources[-1] if isinstance(resources, list) else resources
    return last if isinstance(last, str) else "".join(part if isinstance(part, str) else "aws" for part in _join(last))


def _join(value: dict[str, Any]) -> list[Any]:
    return list(value["Fn::Join"][1])


def test_to_submit_is_to_submit_to_queue_share_and_job_with_the_shares_tag(
    queue: SageMakerTrainingQueue, share: QuotaShare, role: iam.Role, statements: Statements
):
    assert share.grant_submit(role, max_priority=500).success
    submit, tag = statements()
    of_share = {f"aws:RequestTag/{JOB_TAG}": "training/search"}
    assert submit["Action"] == "batch:SubmitServiceJob"
    assert submit["Resource"][:2] == [
        queue.stack.resolve(queue.job_queue_arn),
        queue.stack.resolve(share.quota_share_arn),
    ]
    assert service_jobs(submit) == service_jobs(tag) == SERVICE_JOBS
    assert submit["Condition"] == {
        "StringEquals": of_share,
        "NumericLessThanEqualsIfExists": {"batch:SchedulingPriority": "500"},
    }
    assert tag["Action"] == "batch:TagResource"
    assert tag["Condition"] == {
        "StringEquals": of_share,
        "StringEqualsIfExists": {f"aws:ResourceTag/{JOB_TAG}": "training/search"},
    }


def test_without_a_highest_priority_any_is_allowed(share: QuotaShare, role: iam.Role, statements: Statements):
    share.grant_submit(role)
    assert list(statements()[0]["Condition"]) == ["StringEquals"]


def test_the_lowest_highest_priority_is_not_lost(share: QuotaShare, role: iam.Role, statements: Statements):
    share.grant_submit(role, max_priority=0)
    assert statements()[0]["Condition"]["NumericLessThanEqualsIfExists"] == {"batch:SchedulingPriority": "0"}


def test_execution_roles_may_be_passed_to_sagemaker_only(
    stack: Stack, share: QuotaShare, role: iam.Role, statements: Statements
):
    arns = [f"arn:aws:iam::111122223333:role/{name}" for name in ("a", "b")]
    roles = [iam.Role.from_role_arn(stack, arn[-1], arn) for arn in arns]
    share.grant_submit(role, execution_roles=roles)
    assert statements()[-1] == {
        "Action": "iam:PassRole",
        "Resource": arns,
        "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
    }


def test_to_operate_is_to_update_and_terminate_jobs_with_the_shares_tag(
    share: QuotaShare, role: iam.Role, statements: Statements
):
    assert share.grant_operate(role, max_priority=500).success
    update, terminate = statements()
    of_share = {f"aws:ResourceTag/{JOB_TAG}": "training/search"}
    assert (update["Action"], terminate["Action"]) == ("batch:UpdateServiceJob", "batch:TerminateServiceJob")
    assert update["Condition"] == {
        "StringEquals": of_share,
        "NumericLessThanEquals": {"batch:SchedulingPriority": "500"},
    }
    assert terminate["Condition"] == {"StringEquals": of_share}
    assert service_jobs(update) == service_jobs(terminate) == SERVICE_JOBS


def test_to_view_is_to_read_the_share_its_queue_and_what_takes_no_resource(
    stack: Stack, queue: SageMakerTrainingQueue, share: QuotaShare, role: iam.Role, statements: Statements
):
    assert share.grant_view(role).success
    assert statements() == [
        {
            "Action": ["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"],
            "Resource": stack.resolve(queue.job_queue_arn),
        },
        {"Action": "batch:DescribeQuotaShare", "Resource": stack.resolve(share.quota_share_arn)},
        {
            "Action": [
                "batch:DescribeJobQueues",
                "batch:DescribeSchedulingPolicies",
                "batch:DescribeServiceEnvironments",
                "batch:DescribeServiceJob",
                "batch:ListServiceJobs",
            ],
            "Resource": "*",
        },
    ]


def test_a_queues_operators_manage_jobs_with_a_tag_of_that_queue(
    queue: SageMakerTrainingQueue, role: iam.Role, statements: Statements
):
    queue.grant_operate(role)
    (statement,) = statements()
    assert statement["Action"] == ["batch:UpdateServiceJob", "batch:TerminateServiceJob"]
    assert statement["Condition"] == {"StringLike": {f"aws:ResourceTag/{JOB_TAG}": "training/*"}}


def test_a_queues_viewers_read_it_without_naming_shares(
    stack: Stack, queue: SageMakerTrainingQueue, role: iam.Role, statements: Statements
):
    queue.grant_view(role)
    assert [statement["Resource"] for statement in statements()] == [stack.resolve(queue.job_queue_arn), "*"]


def test_an_imported_share_grants_by_its_arn(stack: Stack, role: iam.Role, statements: Statements):
    QuotaShare.from_quota_share_arn(stack, "Imported", SHARE_ARN).grant_submit(role)
    submit, _ = statements()
    assert submit["Resource"][:2] == [QUEUE_ARN, SHARE_ARN]
    assert service_jobs(submit) == SERVICE_JOBS
    assert submit["Condition"] == {"StringEquals": {f"aws:RequestTag/{JOB_TAG}": "training/search"}}


def test_a_share_imported_by_queue_and_name_and_an_imported_queue_grant_too(
    stack: Stack, role: iam.Role, statements: Statements
):
    queue = SageMakerTrainingQueue.from_job_queue_arn(stack, "Imported", QUEUE_ARN)
    share = QuotaShare.from_quota_share_attributes(stack, "ImportedShare", job_queue=queue, quota_share_name="search")
    assert (share.job_tag_value, queue.job_tag_prefix) == ("training/search", "training/")
    queue.grant_view(role)
    assert statements()[0]["Resource"] == QUEUE_ARN
    assert share.grant_operate(role).success


def test_a_share_whose_arn_is_a_token_grants_by_parts_of_it(stack: Stack, role: iam.Role, statements: Statements):
    arn = Fn.import_value("ShareArn")
    QuotaShare.from_quota_share_arn(stack, "Imported", arn).grant_submit(role)
    submit, _ = statements()
    value = {"Fn::ImportValue": "ShareArn"}
    queue, share = ({"Fn::Select": [number, {"Fn::Split": ["/", value]}]} for number in (1, 3))
    assert submit["Resource"][:2] == [{"Fn::Select": [0, {"Fn::Split": ["/quota-share/", value]}]}, value]
    assert submit["Condition"]["StringEquals"] == {f"aws:RequestTag/{JOB_TAG}": {"Fn::Join": ["", [queue, "/", share]]}}


def test_the_name_of_a_queue_that_cloudformation_names_is_taken_from_its_arn(
    stack: Stack, role: iam.Role, statements: Statements
):
    queue = SageMakerTrainingQueue(
        stack,
        "Unnamed",
        service_environment=ServiceEnvironment(stack, "Mine", capacity_limits={"ml.g5.xlarge": 2}),
        scheduling_policy=QuotaShareSchedulingPolicy(stack, "MyPolicy"),
    )
    queue.grant_operate(role)
    name = {"Fn::Select": [1, {"Fn::Split": ["/", stack.resolve(queue.job_queue_arn)]}]}
    assert statements()[0]["Condition"] == {
        "StringLike": {f"aws:ResourceTag/{JOB_TAG}": {"Fn::Join": ["", [name, "/*"]]}}
    }


def test_a_priority_may_be_a_parameter(stack: Stack, share: QuotaShare, role: iam.Role, statements: Statements):
    share.grant_operate(role, max_priority=CfnParameter(stack, "Priority", type="Number").value_as_number)
    assert statements()[0]["Condition"]["NumericLessThanEquals"] == {"batch:SchedulingPriority": {"Ref": "Priority"}}


def test_a_managed_policy_is_a_principal_too(stack: Stack, share: QuotaShare, statements: Statements):
    assert share.grant_view(iam.ManagedPolicy(stack, "ManagedPolicy")).success
    assert [statement["Action"] for statement in statements()][1] == "batch:DescribeQuotaShare"


def test_users_groups_and_imported_roles_are_principals_too(stack: Stack, share: QuotaShare, synthesized: Synthesized):
    grantees: list[iam.IGrantable] = [
        iam.User.from_user_name(stack, "User", "alice"),
        iam.Group.from_group_name(stack, "Group", "ds"),
        iam.Role.from_role_arn(stack, "Imported", "arn:aws:iam::111122223333:role/ds"),
    ]
    assert [share.grant_submit(grantee).success for grantee in grantees] == [True] * 3
    attached = [
        {key: value for key, value in resource["Properties"].items() if key in {"Users", "Groups", "Roles"}}
        for resource in synthesized(stack)["Resources"].values()
        if resource["Type"] == "AWS::IAM::Policy"
    ]
    assert attached == [{"Users": ["alice"]}, {"Groups": ["ds"]}, {"Roles": ["ds"]}]


def test_a_role_of_another_account_gets_a_warning_in_place_of_a_policy(
    stack: Stack, share: QuotaShare, synthesized: Synthesized
):
    elsewhere = iam.Role.from_role_arn(stack, "Elsewhere", "arn:aws:iam::444455556666:role/ds")
    assert not share.grant_submit(elsewhere).success
    assert [r for r in synthesized(stack)["Resources"].values() if "IAM" in r["Type"]] == []
    message = "is not of account 111122223333.*Grant to a role of account 111122223333"
    Annotations.from_stack(stack).has_warning("/Stack/Share", Match.string_like_regexp(message))


def test_a_user_and_a_group_of_another_account_are_not_taken_for_those_of_the_same_name_here(
    stack: Stack, share: QuotaShare, synthesized: Synthesized
):
    user = iam.User.from_user_arn(stack, "User", "arn:aws:iam::444455556666:user/ds")
    group = iam.Group.from_group_arn(stack, "Group", "arn:aws:iam::444455556666:group/ds")
    assert [share.grant_view(each).success for each in (user, group)] == [False, False]
    assert [r for r in synthesized(stack)["Resources"].values() if "IAM" in r["Type"]] == []
    for path in ("Stack/User", "Stack/Group"):
        message = f"^{path} of account 444455556666 is not of account 111122223333"
        Annotations.from_stack(stack).has_warning("/Stack/Share", Match.string_like_regexp(message))


def test_nobody_here_is_given_a_share_of_another_account(stack: Stack, role: iam.Role, synthesized: Synthesized):
    elsewhere = SHARE_ARN.replace("111122223333", "444455556666")
    assert not QuotaShare.from_quota_share_arn(stack, "Elsewhere", elsewhere).grant_submit(role).success
    assert [r for r in synthesized(stack)["Resources"].values() if r["Type"] == "AWS::IAM::Policy"] == []
    message = "is not of account 444455556666.*Grant to a role of account 444455556666"
    Annotations.from_stack(stack).has_warning("/Stack/Elsewhere", Match.string_like_regexp(message))


@pytest.mark.parametrize(
    "principal",
    [
        iam.ServicePrincipal("codebuild.amazonaws.com"),
        iam.AccountRootPrincipal(),
        iam.ArnPrincipal("arn:aws:iam::111122223333:role/ds"),
    ],
    ids=lambda principal: type(principal).__name__,
)
def test_a_principal_that_takes_no_policy_gets_a_warning(stack: Stack, share: QuotaShare, principal: iam.PrincipalBase):
    assert not share.grant_submit(principal).success
    message = f"^{type(principal).__name__} takes no policies.*Grant to a role, a user, a group or a managed policy"
    Annotations.from_stack(stack).has_warning("/Stack/Share", Match.string_like_regexp(message))


def test_the_cdk_tells_whose_role_it_does_not_know_what_to_add(stack: Stack, share: QuotaShare):
    share.grant_view(iam.UnknownPrincipal(resource=stack))
    Annotations.from_stack(stack).has_warning(
        "/Stack", Match.string_like_regexp("Add statement to this resource's role")
    )


def test_a_role_of_identity_center_gets_a_warning_with_what_to_do_in_place_of_a_policy(
    stack: Stack, share: QuotaShare, synthesized: Synthesized
):
    given = share.grant_submit(iam.Role.from_role_arn(stack, "Sso", SSO))
    assert not given.success
    assert [r for r in synthesized(stack)["Resources"].values() if "IAM" in r["Type"]] == []
    message = "add that name to the permission set ds as a customer managed policy"
    Annotations.from_stack(stack).has_warning("/Stack/Share", Match.string_like_regexp(message))


def test_all_problems_of_a_grant_are_told_at_once_with_the_shares_path(share: QuotaShare, role: iam.Role):
    with pytest.raises(ValueError, match="Stack/Share is not valid") as refusal:
        share.grant_submit(role, max_priority=10000, job_tag="optional")
    assert str(refusal.value).splitlines()[1:] == [
        "  - max_priority: expected a whole number from 0 to 9999, not 10000",
        "  - job_tag: expected REQUIRED or OPTIONAL, not 'optional'; did you mean 'OPTIONAL'?",
    ]
    with pytest.raises(ValueError, match="expected a whole number from 0 to 9999, not -1"):
        share.grant_operate(role, max_priority=-1)


def test_names_that_make_a_tag_too_long_are_refused(stack: Stack, role: iam.Role):
    long = f"{QUEUE_ARN.replace('training', 'q' * 128)}/quota-share/{'s' * 128}"
    with pytest.raises(ValueError, match="make a tag of 257 characters; AWS allows 256"):
        QuotaShare.from_quota_share_arn(stack, "Long", long).grant_submit(role)


def test_an_optional_tag_may_be_missing(share: QuotaShare, role: iam.Role, statements: Statements):
    share.grant_submit(role, job_tag=JobTag.OPTIONAL)
    assert list(statements()[0]["Condition"]) == ["StringEqualsIfExists"]


def test_a_team_that_the_topology_does_not_have_is_refused_with_the_one_that_was_meant(stack: Stack, role: iam.Role):
    topology = {
        "name": "ml",
        "capacity": {"ml.g5.xlarge": 1},
        "teams": {
            "search": {"shares": {"search": {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND"}}},
            "idle": {"shares": {}},
        },
    }
    quota = QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(topology), observability=None)
    for grant in (quota.grant_submit, quota.grant_operate, quota.grant_view):
        with pytest.raises(ValueError, match="no team 'serch' with shares; did you mean 'search'"):
            grant(role, team="serch")
        with pytest.raises(ValueError, match="no team 'idle' with shares; teams with shares: search"):
            grant(role, team="idle")
