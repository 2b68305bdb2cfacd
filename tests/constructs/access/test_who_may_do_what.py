"""What the synthesized policies allow, judged by a policy evaluator: a request is allowed if each of its parts is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam
from iam_decisions import ACCOUNT, REGION, Document, Request, allowed, principals

from batch_quota import JOB_TAG, AccessOptions, JobTag, QuotaManagedQueue, QuotaShare, Topology

BATCH = f"arn:aws:batch:{REGION}:{ACCOUNT}"
ROLES = f"arn:aws:iam::{ACCOUNT}:role"
JOB = f"{BATCH}:service-job/0f3c"


def role(name: str) -> str:
    return f"{ROLES}/{name}"


def share(**more: object) -> dict[str, object]:
    return {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND", **more}


TOPOLOGY: dict[str, object] = {
    "name": "ml",
    "capacity": {"ml.g5.xlarge": 5},
    "teams": {
        "search": {
            "submitters": [role("search"), role("aws-reserved/sso.amazonaws.com/AWSReservedSSO_ds_0123456789abcdef")],
            "operators": [role("teams/search-ops")],
            "viewers": [role("finance"), f"arn:aws:iam::{ACCOUNT}:user/auditor"],
            "execution_roles": [role("search-training")],
            "shares": {
                "search-prod": share(),
                "search-background": share(max_priority=500),
                "search-sweeps": share(max_priority=500),
            },
        },
        "vision": {
            "submitters": [role("vision"), "arn:aws:iam::444455556666:role/finance"],
            "operators": [role("vision-ops")],
            "execution_roles": [role("vision-training")],
            "shares": {"vision": share()},
        },
    },
}
OTHER_QUEUE: dict[str, object] = {
    "name": "other",
    "capacity": {"ml.g5.xlarge": 1},
    "teams": {"search": {"submitters": [role("other")], "shares": {"search-prod": share()}}},
}


@dataclass(frozen=True)
class Operation:
    """An API call: everything that AWS authorizes for it."""

    requests: tuple[Request, ...]


def submit(share: str, *, queue: str = "ml-queue", priority: int | None = None, tag: str | None = "") -> Operation:
    """Submit to a share. The tag is the right one unless another one, or none, is given."""
    arn = f"{BATCH}:job-queue/{queue}"
    context: dict[str, str] = {} if priority is None else {"batch:SchedulingPriority": str(priority)}
    if tag is None:
        tagging: tuple[Request, ...] = ()
    else:
        context[f"aws:RequestTag/{JOB_TAG}"] = value = tag or f"{queue}/{share}"
        # AWS documents that a resource's tags may be known while it is made with them; not for which services.
        known = {**context, f"aws:ResourceTag/{JOB_TAG}": value}
        tagging = Request("batch:TagResource", JOB, context), Request("batch:TagResource", JOB, known)
    parts = (arn, f"{arn}/quota-share/{share}", JOB)
    return Operation((*(Request("batch:SubmitServiceJob", part, context) for part in parts), *tagging))


def update(share: str, priority: int, *, queue: str = "ml-queue") -> Operation:
    tags = {f"aws:ResourceTag/{JOB_TAG}": f"{queue}/{share}"}
    return Operation((Request("batch:UpdateServiceJob", JOB, {**tags, "batch:SchedulingPriority": str(priority)}),))


def terminate(share: str | None, *, queue: str = "ml-queue") -> Operation:
    tags = {} if share is None else {f"aws:ResourceTag/{JOB_TAG}": f"{queue}/{share}"}
    return Operation((Request("batch:TerminateServiceJob", JOB, tags),))


def retag(before: str, after: str) -> Operation:
    tags = {f"aws:ResourceTag/{JOB_TAG}": f"ml-queue/{before}", f"aws:RequestTag/{JOB_TAG}": f"ml-queue/{after}"}
    return Operation((Request("batch:TagResource", JOB, tags),))


def pass_role(name: str, service: str = "sagemaker.amazonaws.com") -> Operation:
    return Operation((Request("iam:PassRole", role(name), {"iam:PassedToService": service}),))


def look(share: str, *, queue: str = "ml-queue") -> Operation:
    arn = f"{BATCH}:job-queue/{queue}"
    everywhere = (
        "DescribeJobQueues",
        "DescribeSchedulingPolicies",
        "DescribeServiceEnvironments",
        "DescribeServiceJob",
        "ListServiceJobs",
    )
    return Operation(
        (
            Request("batch:GetJobQueueSnapshot", arn),
            Request("batch:ListQuotaShares", arn),
            Request("batch:DescribeQuotaShare", f"{arn}/quota-share/{share}"),
            *(Request(f"batch:{action}", "*") for action in everywhere),
        )
    )


def do(action: str, resource: str) -> Operation:
    return Operation((Request(action, resource),))


MAY: Mapping[str, Mapping[str, Operation]] = {
    "search": {
        "submit to a share of their team": submit("search-prod"),
        "submit with any priority where the topology names no highest": submit("search-prod", priority=9999),
        "submit with the highest priority of a share": submit("search-background", priority=500),
        "submit without naming a priority": submit("search-background"),
        "pass their team's role to SageMaker": pass_role("search-training"),
        "look at their team's shares": look("search-background"),
    },
    "search-ops": {
        "submit": submit("search-background", priority=500),
        "change a job's priority": update("search-prod", 9999),
        "change a job's priority up to the share's highest": update("search-sweeps", 500),
        "terminate a job of each share": terminate("search-background"),
        "pass their team's role": pass_role("search-training"),
        "look": look("search-prod"),
    },
    "finance": {"look": look("search-prod")},
    "auditor": {"look": look("search-prod")},
    "vision": {"submit to their own share": submit("vision"), "pass their own role": pass_role("vision-training")},
    "other": {"submit to their queue's share of the same name": submit("search-prod", queue="other-queue")},
}
MAY_NOT: Mapping[str, Mapping[str, Operation]] = {
    "search": {
        "submit to another team's share": submit("vision"),
        "submit to another team's share with the tag of their own": submit("vision", tag="ml-queue/search-prod"),
        "submit to their own share with another team's tag": submit("search-prod", tag="ml-queue/vision"),
        "submit without the tag": submit("search-prod", tag=None),
        "submit to another queue's share of the same name": submit("search-prod", queue="other-queue"),
        "submit above a share's highest priority": submit("search-background", priority=501),
        "submit above it with the tag of a share without one": submit(
            "search-background", priority=501, tag="ml-queue/search-prod"
        ),
        "submit to a share that is not there yet": submit("search-prod-2"),
        "change a job's priority": update("search-prod", 1),
        "terminate a job": terminate("search-prod"),
        "make another team's job their own": retag("vision", "search-prod"),
        "make a job one of a share with a higher priority": retag("search-background", "search-prod"),
        "pass another team's role": pass_role("vision-training"),
        "pass any other role": pass_role("admin"),
        "pass their team's role to another service": pass_role("search-training", "lambda.amazonaws.com"),
        "look at another team's share": look("vision"),
        "change their share": do("batch:UpdateQuotaShare", f"{BATCH}:job-queue/ml-queue/quota-share/search-prod"),
        "remove their share": do("batch:DeleteQuotaShare", f"{BATCH}:job-queue/ml-queue/quota-share/search-prod"),
        "make a share": do("batch:CreateQuotaShare", f"{BATCH}:job-queue/ml-queue/quota-share/more"),
        "remove tags": do("batch:UntagResource", JOB),
    },
    "search-ops": {
        "change the priority of another team's job": update("vision", 1),
        "change a job's priority above the share's highest": update("search-background", 501),
        "terminate another team's job": terminate("vision"),
        "terminate a job of another queue's share of the same name": terminate("search-prod", queue="other-queue"),
        "terminate a job without the tag": terminate(None),
        "submit to another team's share": submit("vision"),
        "pass another team's role": pass_role("vision-training"),
    },
    "finance": {
        "submit": submit("search-prod"),
        "submit to the team of another account's role with that name": submit("vision"),
        "change a job's priority": update("search-prod", 1),
        "terminate a job": terminate("search-prod"),
        "pass a role": pass_role("search-training"),
        "look at another team's share": look("vision"),
    },
    "auditor": {"submit": submit("search-prod"), "terminate a job": terminate("search-prod")},
    "vision": {
        "submit to another team's share": submit("search-prod"),
        "pass another team's role": pass_role("search-training"),
    },
    "vision-ops": {"terminate another team's job": terminate("search-prod")},
    "other": {"submit to the share of the same name": submit("search-prod")},
}


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Document]]:
    """The policies of each principal that the topology names, of both queues in one stack."""
    app = App(outdir=str(tmp_path_factory.mktemp("cdk.out")), builtin_cloud_formation_validation=False)
    stack = Stack(app, "Stack")
    for topology in (TOPOLOGY, OTHER_QUEUE):
        made = Topology.model_validate(topology)
        QuotaManagedQueue(stack, made.name, topology=made, observability=None)
    return principals(app.synth().get_stack_by_name("Stack").template)


@pytest.fixture(scope="module")
def decisions(policies: Mapping[str, list[Document]]) -> Mapping[tuple[str, str], bool]:
    """Of each line of the two tables, whether the principal may do it."""
    decided: dict[tuple[str, str], bool] = {}
    for who, documents in policies.items():
        operations = {**MAY.get(who, {}), **MAY_NOT.get(who, {})}
        parts = [(what, request) for what, operation in operations.items() for request in operation.requests]
        for (what, _), answer in zip(parts, allowed(documents, [request for _, request in parts]), strict=True):
            decided[who, what] = decided.get((who, what), True) and answer
    return decided


def cases(table: Mapping[str, Mapping[str, Operation]]) -> pytest.MarkDecorator:
    named = [(f"{who} {what}", who, what) for who, each in table.items() for what in each]
    return pytest.mark.parametrize(("who", "what"), [case[1:] for case in named], ids=[case[0] for case in named])


@cases(MAY)
def test_a_principal_may(decisions: Mapping[tuple[str, str], bool], who: str, what: str):
    assert decisions[who, what] is True


@cases(MAY_NOT)
def test_a_principal_may_not(decisions: Mapping[tuple[str, str], bool], who: str, what: str):
    assert decisions[who, what] is False


def test_only_principals_of_the_stacks_account_that_take_policies_have_some(policies: Mapping[str, list[Document]]):
    assert set(policies) == {"search", "search-ops", "finance", "auditor", "vision", "vision-ops", "other"}


def test_no_arn_of_a_queue_or_share_has_a_wildcard(policies: Mapping[str, list[Document]]):
    arns = [
        arn
        for documents in policies.values()
        for document in documents
        for statement in document["Statement"]
        for arn in ([statement["Resource"]] if isinstance(statement["Resource"], str) else statement["Resource"])
    ]
    assert {arn for arn in arns if "*" in arn} == {"*", f"{BATCH}:service-job/*"}
    assert [arn for arn in arns if ":job-queue/" in arn]


def test_a_wildcard_on_the_queue_would_let_a_team_submit_to_all_shares():
    # Why the queue is named exactly: its shares' ARNs start with its own, and * stands for slashes too.
    careless = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["batch:SubmitServiceJob", "batch:TagResource"],
                "Resource": [f"{BATCH}:job-queue/ml-queue*", f"{BATCH}:service-job/*"],
            }
        ],
    }
    assert all(allowed([careless], submit("vision").requests))


def test_without_the_tag_required_it_may_be_left_out_but_not_be_wrong(tmp_path: Path):
    optional = _policies_of(tmp_path, access=AccessOptions(job_tag=JobTag.OPTIONAL))["search"]
    assert all(allowed(optional, submit("search-prod", tag=None).requests))
    assert all(allowed(optional, submit("search-prod").requests))
    assert not all(allowed(optional, submit("search-prod", tag="ml-queue/vision").requests))
    assert not all(allowed(optional, submit("vision", tag=None).requests))


def test_a_role_of_the_app_may_do_what_it_is_granted_and_no_more(tmp_path: Path):
    app = App(outdir=str(tmp_path / "cdk.out"), builtin_cloud_formation_validation=False)
    stack = Stack(app, "Stack")
    quota = QuotaManagedQueue(
        stack, "Quota", topology=Topology.model_validate(TOPOLOGY), access=None, observability=None
    )
    pipeline, on_call, sweeps, elsewhere = (
        iam.Role(stack, name, role_name=name, assumed_by=iam.AccountRootPrincipal())
        for name in ("Pipeline", "OnCall", "Sweeps", "Elsewhere")
    )
    imported = QuotaShare.from_quota_share_arn(stack, "Other", f"{BATCH}:job-queue/other-queue/quota-share/search-prod")
    grants = [
        quota.grant_submit(pipeline, team="search"),
        quota.queue.grant_operate(on_call),
        quota.quota_shares["search-prod"].grant_submit(sweeps, max_priority=7),
        quota.quota_shares["search-prod"].grant_operate(sweeps, max_priority=7),
        imported.grant_submit(elsewhere),
        imported.grant_operate(elsewhere),
        imported.grant_view(elsewhere),
    ]
    assert all(given.success for given in grants)
    template = app.synth().get_stack_by_name("Stack").template
    policies = {
        template["Resources"][name]["Properties"]["RoleName"]: each for name, each in principals(template).items()
    }
    expected = {
        "Pipeline": [
            (submit("search-background", priority=500), True),
            (pass_role("search-training"), True),
            (submit("search-background", priority=501), False),
            (submit("vision"), False),
            (look("search-prod"), False),
        ],
        "OnCall": [
            (update("vision", 9999), True),
            (terminate("search-prod"), True),
            (terminate("search-prod", queue="other-queue"), False),
            (terminate("search-prod", queue="ml-queue-2"), False),
            (submit("vision"), False),
        ],
        "Sweeps": [
            (submit("search-prod", priority=7), True),
            (update("search-prod", 7), True),
            (terminate("search-prod"), True),
            (submit("search-prod", priority=8), False),
            (update("search-prod", 8), False),
            (submit("search-background"), False),
            (pass_role("search-training"), False),
        ],
        "Elsewhere": [
            (submit("search-prod", queue="other-queue"), True),
            (update("search-prod", 9999, queue="other-queue"), True),
            (look("search-prod", queue="other-queue"), True),
            (submit("search-prod"), False),
            (update("search-prod", 1), False),
        ],
    }
    decided = {
        name: [(operation, all(allowed(policies[name], operation.requests))) for operation, _ in operations]
        for name, operations in expected.items()
    }
    assert decided == expected


def test_the_evaluator_refuses_what_aws_does_not_have():
    with pytest.raises(ValueError, match="batch:SubmitQuotaJob"):
        allowed([], [Request("batch:SubmitQuotaJob", JOB)])
    with pytest.raises(ValueError, match="batch:UpdateServiceJob"):
        allowed([], [Request("batch:UpdateServiceJob", f"{BATCH}:job-queue/ml-queue")])


def _policies_of(folder: Path, access: AccessOptions) -> dict[str, list[Document]]:
    app = App(outdir=str(folder / "cdk.out"), builtin_cloud_formation_validation=False)
    stack = Stack(app, "Stack")
    QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(TOPOLOGY), access=access, observability=None)
    return principals(json.loads(json.dumps(app.synth().get_stack_by_name("Stack").template)))
