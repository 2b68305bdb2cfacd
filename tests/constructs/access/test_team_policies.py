"""The policies of a topology's teams: which are made, for whom, how they are named, that they fit."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Annotations, Match, Template
from hypothesis import given
from hypothesis import strategies as st
from iam_decisions import Document, principals

from batch_quota import AccessOptions, QuotaManagedQueue, Topology
from batch_quota.access.packing import MAX_MANAGED_POLICY_LENGTH, document, packed
from batch_quota.access.statements import QueueArns, ShareTerms, operate_statements, submit_statements, view_statements

Json = dict[str, Any]
ACCOUNT = "111122223333"
SSO = f"arn:aws:iam::{ACCOUNT}:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_ds_0123456789abcdef"


def role(name: str, account: str = ACCOUNT) -> str:
    return f"arn:aws:iam::{account}:role/{name}"


def share(**more: object) -> Json:
    return {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND", **more}


def of(**teams: Json) -> Topology:
    shares = {name: {"shares": {name: share()}, **team} for name, team in teams.items()}
    return Topology.model_validate({"name": "ml", "capacity": {"ml.g5.xlarge": 9}, "teams": shares})


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Stack]:
    """A stack with the queue of a topology, and nothing that watches it."""
    made = 0

    def make(topology: Topology, *, account: str | None = None, access: AccessOptions | None = None) -> Stack:
        nonlocal made
        made += 1
        app = App(outdir=str(tmp_path / str(made)), builtin_cloud_formation_validation=False)
        stack = Stack(app, "Stack", env=Environment(account=account, region="eu-west-1") if account else None)
        QuotaManagedQueue(stack, "Quota", topology=topology, observability=None, access=access or AccessOptions())
        return stack

    return make


def policies(stack: Stack) -> dict[str, Json]:
    """The managed policies of a stack, by their logical ids without hashes."""
    found = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy")
    return {name[len("QuotaAccess") : -8]: dict(policy["Properties"]) for name, policy in found.items()}


def attached(stack: Stack, key: str = "Roles") -> dict[str, object]:
    return {name: properties.get(key) for name, properties in policies(stack).items()}


def test_submitters_submit_and_look_operators_operate_too_and_viewers_look(make: Callable[..., Stack]):
    team = {"submitters": [role("s")], "operators": [role("teams/o")], "viewers": [role("v")]}
    assert attached(make(of(search=team), account=ACCOUNT)) == {
        "searchSubmit": ["o", "s"],
        "searchOperate": ["o"],
        "searchView": ["o", "s", "v"],
    }


def test_only_policies_that_somebody_needs_are_made(make: Callable[..., Stack]):
    topology = of(looking={"viewers": [role("v")]}, nobody={}, submitting={"submitters": [role("s")]})
    assert sorted(policies(make(topology))) == ["lookingView", "submittingSubmit", "submittingView"]


def test_a_topology_without_principals_makes_none_and_no_conditions(make: Callable[..., Stack]):
    stack = make(of(a={}, b={"execution_roles": [role("training")]}))
    assert policies(stack) == {}
    assert "Conditions" not in Template.from_stack(stack).to_json()


def test_access_may_be_turned_off(stack: Stack):
    quota = QuotaManagedQueue(
        stack, "Quota", topology=of(search={"submitters": [role("s")]}), observability=None, access=None
    )
    assert quota.access is None
    assert policies(stack) == {}


def test_a_team_without_shares_gets_no_policies(make: Callable[..., Stack]):
    topology = of(search={"submitters": [role("s")]}, idle={"submitters": [role("i")], "shares": {}})
    assert sorted(policies(make(topology))) == ["searchSubmit", "searchView"]


def test_users_are_attached_as_users(make: Callable[..., Stack]):
    stack = make(of(search={"viewers": [f"arn:aws:iam::{ACCOUNT}:user/alice", role("v")]}), account=ACCOUNT)
    assert (attached(stack), attached(stack, "Users")) == ({"searchView": ["v"]}, {"searchView": ["alice"]})


def test_a_principal_named_twice_is_attached_once(make: Callable[..., Stack]):
    everywhere = {key: [role("a"), role("a")] for key in ("submitters", "operators", "viewers")}
    assert list(attached(make(of(search=everywhere), account=ACCOUNT)).values()) == [["a"]] * 3


def test_the_order_of_principals_shares_and_teams_changes_not_a_byte(make: Callable[..., Stack]):
    one = {"submitters": [role("a"), role("b")], "execution_roles": [role("x"), role("y")]}
    turned = {key: value[::-1] for key, value in one.items()}
    shares = {"s1": share(max_priority=5), "s2": share(), "s3": share(max_priority=5)}
    before = make(of(search={**one, "shares": shares}, vision={"viewers": [role("v")]}))
    after = make(of(vision={"viewers": [role("v")]}, search={**turned, "shares": dict(reversed(shares.items()))}))
    assert json.dumps(Template.from_stack(before).to_json()) == json.dumps(Template.from_stack(after).to_json())


def test_a_stack_that_knows_its_account_attaches_to_principals_of_that_account_and_warns_of_others(
    make: Callable[..., Stack],
):
    stack = make(of(search={"viewers": [role("here"), role("there", "444455556666")]}), account=ACCOUNT)
    assert attached(stack) == {"searchView": ["here"]}
    message = "arn:aws:iam::444455556666:role/there: not of account 111122223333, where the queue is"
    Annotations.from_stack(stack).has_warning("/Stack/Quota/Access/search", Match.string_like_regexp(message))


def test_a_stack_that_does_not_know_its_account_compares_it_at_deployment(make: Callable[..., Stack]):
    # A role of the same name in the account that it is deployed into is somebody else.
    team = {"viewers": [role("a"), role("b", "444455556666"), role("c")]}
    stack = make(of(search=team, vision={"viewers": [role("a")]}))
    template = Template.from_stack(stack).to_json()
    assert [condition["Fn::Equals"] for condition in template["Conditions"].values()] == [
        [{"Ref": "AWS::AccountId"}, "111122223333"],
        [{"Ref": "AWS::AccountId"}, "444455556666"],
    ]
    assert {name: len(documents) for name, documents in principals(template).items()} == {"a": 2, "c": 1}


def test_a_role_of_identity_center_is_not_attached_but_told_the_policies_for_its_permission_set(
    make: Callable[..., Stack],
):
    stack = make(of(search={"submitters": [SSO]}), account=ACCOUNT)
    assert attached(stack) == {"searchSubmit": None, "searchView": None}
    outputs = Template.from_stack(stack).to_json()["Outputs"]
    assert [output["Description"] for output in outputs.values()] == [
        "Customer managed policy for the permission set ds"
    ] * 2
    name = {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": _logical_id(stack, "searchSubmit")}]}]}
    assert next(output["Value"] for key, output in outputs.items() if "SubmitPolicyName" in key) == name
    Annotations.from_stack(stack).has_warning(
        "/Stack/Quota/Access", Match.string_like_regexp("add the team's policies to the permission set ds")
    )


def test_an_accepted_finding_about_identity_center_is_no_warning(make: Callable[..., Stack]):
    topology = of(search={"submitters": [SSO]})
    accepted = topology.model_copy(
        update={"suppressions": Topology.model_validate({**_plain(topology), "suppressions": [_ACCEPTED]}).suppressions}
    )
    stack = make(accepted, account=ACCOUNT)
    assert Annotations.from_stack(stack).find_warning("*", Match.any_value()) == []
    assert len(Template.from_stack(stack).to_json()["Outputs"]) == 2


def test_policies_have_names_that_are_the_same_in_every_account_if_asked(make: Callable[..., Stack]):
    team = {"operators": [role("o")]}
    named = make(of(search=team), access=AccessOptions(managed_policy_name_prefix="gpu"))
    assert [properties["ManagedPolicyName"] for properties in policies(named).values()] == [
        "gpu-ml-search-submit",
        "gpu-ml-search-operate",
        "gpu-ml-search-view",
    ]
    assert [properties.get("ManagedPolicyName") for properties in policies(make(of(search=team))).values()] == [
        None
    ] * 3


@pytest.mark.parametrize(
    ("prefix", "team"), [("with space", "search"), ("p" * 120, "search"), ("gpu", "search team"), ("gpu", "t" * 120)]
)
def test_a_name_that_iam_would_refuse_is_refused_here(make: Callable[..., Stack], prefix: str, team: str):
    topology = of(**{team: {"viewers": [role("v")], "shares": {"search": share()}}})
    with pytest.raises(ValueError, match="managed_policy_name_prefix: expected names of up to 128 letters"):
        make(topology, access=AccessOptions(managed_policy_name_prefix=prefix))


def test_roles_of_the_app_may_be_passed_beside_those_of_the_topology(stack: Stack):
    made = iam.Role(stack, "Training", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    QuotaManagedQueue(
        stack,
        "Quota",
        topology=of(search={"submitters": [role("s")], "execution_roles": [role("training")]}),
        observability=None,
        access=AccessOptions(execution_roles={"search": [made]}),
    )
    *_, pass_role = policies(stack)["searchSubmit"]["PolicyDocument"]["Statement"]
    assert pass_role["Resource"] == [role("training"), stack.resolve(made.role_arn)]


def test_execution_roles_for_a_team_that_does_not_exist_are_refused(stack: Stack):
    made = iam.Role(stack, "Training", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    with pytest.raises(ValueError, match="access: execution_roles: the topology has no team 'serch'"):
        QuotaManagedQueue(
            stack,
            "Quota",
            topology=of(search={"submitters": [role("s")]}),
            observability=None,
            access=AccessOptions(execution_roles={"serch": [made]}),
        )


def test_the_constructs_tell_their_policies(stack: Stack):
    quota = QuotaManagedQueue(stack, "Quota", topology=of(search={"submitters": [role("s")]}), observability=None)
    assert quota.access is not None
    made = quota.access.teams["search"].policies
    assert {what: len(each) for what, each in made.items()} == {"submit": 1, "operate": 0, "view": 1}
    assert isinstance(made["submit"][0], iam.CfnManagedPolicy)


def test_a_team_of_twenty_shares_with_long_names_gets_several_policies_that_each_fit(make: Callable[..., Stack]):
    shares = {f"{number:02}-{'s' * 120}": share(max_priority=number) for number in range(20)}
    topology = Topology.model_validate(
        {
            "name": "m" * 100,
            "capacity": {"ml.g5.xlarge": 20},
            "teams": {"all": {"operators": [role("o")], "execution_roles": [role("t")], "shares": shares}},
        }
    )
    stack = make(topology)
    documents = principals(Template.from_stack(stack).to_json())["o"]
    assert len(documents) > 3
    assert max(len(json.dumps(each, separators=(",", ":"))) for each in documents) <= MAX_MANAGED_POLICY_LENGTH
    submitted = [
        arn for each in documents for arn in _resources(each, "batch:SubmitServiceJob") if "/quota-share/" in arn
    ]
    assert sorted(arn.rpartition("/")[2] for arn in submitted) == sorted(shares)


names = st.text("abc-_", min_size=1, max_size=128)


@given(
    queue=st.text("q", min_size=1, max_size=114),
    shares=st.lists(
        st.tuples(names, st.none() | st.integers(0, 9999)), min_size=1, max_size=20, unique_by=lambda s: s[0]
    ),
)
@pytest.mark.parametrize(
    "statements_of",
    [lambda queue, shares: submit_statements(queue, shares, "REQUIRED"), operate_statements, view_statements],
    ids=["submit", "operate", "view"],
)
def test_whatever_the_names_every_share_is_in_one_policy_and_every_policy_fits(
    statements_of: Callable[..., Any], queue: str, shares: list[tuple[str, int | None]]
):
    start = "arn:aws-us-gov:batch:us-gov-west-1:111122223333:"
    arns = QueueArns(job_queue_arn=f"{start}job-queue/{queue}", service_jobs_arn=f"{start}service-job/*")
    terms = [
        ShareTerms(
            quota_share_arn=f"{arns.job_queue_arn}/quota-share/{name}",
            job_tag_value=f"{queue}/{name}",
            max_priority=priority,
        )
        for name, priority in shares
    ]
    groups = packed(terms, statements_of)
    assert [share for group in groups for share in group] == terms
    lengths = [len(json.dumps(document(statements_of(arns, group)), separators=(",", ":"))) for group in groups]
    assert max(lengths) <= MAX_MANAGED_POLICY_LENGTH


_ACCEPTED = {"rule": "QM215", "reason": "Named in the permission set."}


def _plain(topology: Topology) -> Json:
    return topology.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def _logical_id(stack: Stack, start: str) -> str:
    found = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy")
    (name,) = [name for name in found if name.startswith(f"QuotaAccess{start}")]
    return name


def _resources(document: Document, action: str) -> Iterable[str]:
    for statement in document["Statement"]:
        if statement["Action"] == action:
            yield from statement["Resource"]
