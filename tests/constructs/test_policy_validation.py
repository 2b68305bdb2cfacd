"""The policy engine at synthesis: what it finds in which constructs, what is acknowledged, what a trace shows."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Acknowledgment, App, CfnParameter, Environment, NestedStack, Stack, Stage, Validations
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

from batch_quota import (
    QuotaManagedQueue,
    QuotaPolicyValidation,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    SageMakerTrainingQueue,
    ServiceEnvironment,
    Topology,
    TraceReplay,
)

Json = dict[str, Any]
CHECKOUT = Path(__file__).parents[2]
G5 = "ml.g5.xlarge"
TIME_LIMITS = [
    {"reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", "after": "1h"},
    {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "after": "1h"},
]
TRACE = """\
job_id,share,submitted_at,instance_type,instance_count,runtime_seconds
first,search,0,ml.g5.xlarge,4,7200
second,search,60,ml.g5.xlarge,4,60
"""


def topology(**changes: object) -> Topology:
    """A topology in which no rule finds anything: two shares that lend to each other."""
    data: Json = {
        "name": "training",
        "capacity": {G5: 8},
        "queue": {"time_limits": TIME_LIMITS},
        "teams": {
            "search": {"shares": {"search": {"capacity": {G5: 4}, "strategy": "LEND"}}},
            "research": {"shares": {"research": {"capacity": {G5: 4}, "strategy": "LEND_AND_BORROW"}}},
        },
    }
    return Topology.model_validate(data | changes)


@pytest.fixture
def validated(tmp_path: Path) -> Callable[..., App]:
    """An app with the plugin, and with nothing else that checks."""

    def make(plugin: QuotaPolicyValidation | None = None, **context: object) -> App:
        app = App(
            outdir=str(tmp_path / "cdk.out"),
            context={"@aws-cdk/core:annotationsInValidationReport": False, **context},
            builtin_cloud_formation_validation=False,
        )
        Validations.of(app).add_plugins(plugin or QuotaPolicyValidation())
        return app

    return make


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return str(path)


def report(app: App) -> Json:
    """What the plugin reports when the app is synthesized, whether that fails or not."""
    try:
        app.synth()
    except RuntimeError as error:
        assert "ValidationFailed" in str(error)  # noqa: PT017 (what is reported is looked at by the caller)
    reports = json.loads(Path(app.outdir, "validation-report.json").read_text())["pluginReports"]
    return next((each for each in reports if each["pluginName"] == "BatchQuota"), {"violations": []})


def found(app: App) -> list[tuple[str, str, str, str]]:
    """Id, severity, construct path and property of each finding."""
    return [
        (
            violation["ruleName"],
            violation["severity"],
            place["constructPath"],
            place["cloudFormationResource"]["propertyPaths"][0],
        )
        for violation in report(app)["violations"]
        for place in violation["violatingConstructs"]
    ]


def quota(scope: Construct, made_from: Topology) -> QuotaManagedQueue:
    return QuotaManagedQueue(scope, "Quota", topology=made_from, observability=None, access=None)


def raw_share(scope: Construct, id_: str, queue: str, **properties: object) -> batch.CfnQuotaShare:
    """A quota share by the L1 construct."""
    defaults: Json = {
        "quota_share_name": id_.lower(),
        "job_queue": queue,
        "capacity_limits": [batch.CfnQuotaShare.QuotaShareCapacityLimitProperty(capacity_unit=G5, max_capacity=4)],
        "resource_sharing_configuration": batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty(
            strategy="RESERVE"
        ),
        "preemption_configuration": batch.CfnQuotaShare.QuotaSharePreemptionConfigurationProperty(
            in_share_preemption="DISABLED"
        ),
    }
    return batch.CfnQuotaShare(scope, id_, **(defaults | properties))


def raw_queue(scope: Construct, **properties: object) -> batch.CfnJobQueue:
    """A queue with its environment and its policy by L1 constructs."""
    environment = batch.CfnServiceEnvironment(
        scope,
        "Environment",
        service_environment_type="SAGEMAKER_TRAINING",
        capacity_limits=[batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=G5, max_capacity=8)],
    )
    policy = batch.CfnSchedulingPolicy(
        scope,
        "Policy",
        quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(idle_resource_assignment_strategy="FIFO"),
    )
    defaults: Json = {
        "job_queue_type": "SAGEMAKER_TRAINING",
        "priority": 1,
        "scheduling_policy_arn": policy.attr_arn,
        "service_environment_order": [
            batch.CfnJobQueue.ServiceEnvironmentOrderProperty(
                order=1, service_environment=environment.attr_service_environment_arn
            )
        ],
        "job_state_time_limit_actions": [
            batch.CfnJobQueue.JobStateTimeLimitActionProperty(
                action="TERMINATE", max_time_seconds=3600, reason=limit["reason"], state="RUNNABLE"
            )
            for limit in TIME_LIMITS
        ],
    }
    return batch.CfnJobQueue(scope, "Queue", **(defaults | properties))


def test_a_wildcard_that_lets_a_principal_submit_to_every_share_is_found_and_acknowledged(
    validated: Callable[..., App],
):
    app = validated()
    stack = Stack(app, "Stack")
    made = quota(stack, topology())
    anyone, platform = (
        iam.Role(stack, name, assumed_by=iam.ServicePrincipal("codebuild.amazonaws.com"))
        for name in ("Any", "Platform")
    )
    for role in (anyone, platform):
        iam.Grant.add_to_principal(
            grantee=role, actions=["batch:SubmitServiceJob"], resource_arns=[f"{made.queue.job_queue_arn}/*"]
        )
    made.grant_submit(anyone, team="search")
    Validations.of(platform).acknowledge(Acknowledgment(id="BatchQuota::QM601", reason="it submits for every team"))
    (finding,) = found(app)
    assert finding == (
        "QM601",
        "warning",
        "Stack/Any/DefaultPolicy/Resource",
        "Properties.PolicyDocument.Statement.0.Resource",
    )


def test_names_that_an_account_and_region_cannot_have_twice_fail_the_synthesis(validated: Callable[..., App]):
    app = validated()
    stack = Stack(app, "Stack")
    for id_ in ("One", "Two"):
        QuotaManagedQueue(stack, id_, topology=topology(), observability=None, access=None)
    assert {each for each in found(app) if each[0] == "QM005"} == {
        ("QM005", "error", "Stack/Two/Queue/Resource", "Properties.JobQueueName"),
        ("QM005", "error", "Stack/Two/SchedulingPolicy/Resource", "Properties.Name"),
        ("QM005", "error", "Stack/Two/ServiceEnvironment/Resource", "Properties.ServiceEnvironmentName"),
    }


def test_an_app_without_findings_is_synthesized_and_reports_nothing(validated: Callable[..., App]):
    app = validated()
    quota(Stack(app, "Stack"), topology())
    assert report(app)["violations"] == []


def test_an_app_without_any_queue_has_nothing_to_report(validated: Callable[..., App]):
    app = validated()
    Stack(app, "Stack")
    assert report(app)["violations"] == []


def test_a_warning_is_reported_once_at_the_construct_and_the_property_and_does_not_fail(validated: Callable[..., App]):
    app = validated()
    quota(Stack(app, "Stack"), topology(capacity={G5: 12}))
    app.synth()
    assert found(app) == [
        (
            "QM301",
            "warning",
            "Stack/Quota/ServiceEnvironment/Resource",
            "Properties.CapacityLimits.0.MaxCapacity",
        )
    ]
    (violation,) = report(app)["violations"]
    assert violation["description"].startswith("4 of 12 ml.g5.xlarge are in no share's limit")
    assert violation["suggestedFix"]


def test_what_one_rule_says_alike_of_several_queues_is_one_finding(validated: Callable[..., App]):
    app = validated()
    for name in ("a", "b"):
        quota(Stack(app, name), topology(name=name, queue={}))
    (violation,) = report(app)["violations"]
    assert violation["ruleName"] == "QM311"
    assert [place["constructPath"] for place in violation["violatingConstructs"]] == [
        "a/Quota/Queue/Resource",
        "b/Quota/Queue/Resource",
    ]


def test_an_error_in_l1_constructs_fails_the_synthesis(validated: Callable[..., App]):
    app = validated()
    stack = Stack(app, "Stack")
    queue = raw_queue(stack, priority=1001)
    raw_share(stack, "A", queue.attr_job_queue_arn)
    raw_share(stack, "B", queue.ref)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert found(app) == [("QM110", "error", "Stack/Queue", "Properties.Priority")]


def test_an_escape_hatch_that_breaks_what_a_topology_says_is_found(validated: Callable[..., App]):
    app = validated()
    made = quota(Stack(app, "Stack"), topology())
    share = made.quota_shares["search"].node.default_child
    assert isinstance(share, batch.CfnQuotaShare)
    share.add_property_override("CapacityLimits.0.CapacityUnit", "ml.g5.mega")
    assert ("QM108", "error", "Stack/Quota/Shares/search/Resource", "Properties.CapacityLimits.0.MaxCapacity") in found(
        app
    )


def test_an_included_template_is_judged(validated: Callable[..., App]):
    app = validated()
    stack = Stack(app, "Stack")
    file = CHECKOUT / "examples" / "templates" / "training.yaml"
    included = CfnInclude(stack, "Included", template_file=str(file), parameters={"Instances": 6})
    assert found(app) == [("QM302", "warning", "Stack/Included/Environment", "Properties.CapacityLimits.0.MaxCapacity")]
    assert included.get_resource("Queue") is not None


def test_what_only_deployment_decides_is_a_warning_at_the_property(validated: Callable[..., App]):
    app = validated()
    stack = Stack(app, "Stack")
    limit = CfnParameter(stack, "Limit", type="Number")
    queue = raw_queue(stack)
    environment = stack.node.find_child("Environment")
    assert isinstance(environment, batch.CfnServiceEnvironment)
    environment.add_property_override("CapacityLimits.0.MaxCapacity", limit.value_as_number)
    raw_share(stack, "A", queue.ref)
    raw_share(stack, "B", "made-elsewhere")
    app.synth()
    assert found(app) == [
        ("QM011", "warning", "Stack/Environment", "Properties.CapacityLimits.0.MaxCapacity"),
        ("QM012", "warning", "Stack/B", "Properties.JobQueue"),
    ]


def test_a_queue_and_its_shares_are_judged_together_across_stacks_stages_and_nested_stacks(
    validated: Callable[..., App],
):
    app = validated()
    environment = Environment(account="111122223333", region="eu-west-1")
    stage = Stage(app, "Production", env=environment)
    platform, teams = Stack(stage, "Platform"), Stack(stage, "Teams")
    training = SageMakerTrainingQueue(
        platform,
        "Queue",
        service_environment=ServiceEnvironment(platform, "Environment", capacity_limits={G5: 8}),
        scheduling_policy=QuotaShareSchedulingPolicy(platform, "Policy"),
    )
    for scope, name in ((platform, "a"), (teams, "b"), (NestedStack(platform, "Nested"), "c")):
        QuotaShare(
            scope, "Share", job_queue=training, quota_share_name=name, capacity_limits={G5: 4}, strategy="RESERVE"
        )
    violations = {violation["ruleName"]: violation for violation in report(app)["violations"]}
    assert "add up to 12" in violations["QM303"]["description"]
    assert set(violations) == {"QM303", "QM311"}


def test_findings_are_acknowledged_with_a_reason_at_the_construct_or_above_it(validated: Callable[..., App]):
    app = validated()
    made = quota(Stack(app, "Stack"), topology(capacity={G5: 12}, queue={}))
    Validations.of(made.service_environment).acknowledge(
        Acknowledgment(id="BatchQuota::QM301", reason="bought ahead of need")
    )
    Validations.of(app).acknowledge(Acknowledgment(id="BatchQuota::QM311", reason="a job watches them"))
    app.synth()
    said = report(app)
    assert said["violations"] == []
    assert [
        (each["ruleName"], each["reason"], each.get("acknowledgedAt")) for each in said["suppressedViolations"]
    ] == [
        ("QM301", "bought ahead of need", "Stack/Quota/ServiceEnvironment"),
        ("QM311", "a job watches them", None),
    ]


def test_an_acknowledged_error_does_not_fail_the_synthesis(validated: Callable[..., App]):
    app = validated()
    stack = Stack(app, "Stack")
    raw_share(stack, "A", raw_queue(stack, priority=1001).ref)
    Validations.of(stack).acknowledge(Acknowledgment(id="BatchQuota::QM110", reason="AWS raised the limit for us"))
    Validations.of(stack).acknowledge(Acknowledgment(id="BatchQuota::QM301", reason="more shares come"))
    app.synth()
    assert report(app)["violations"] == []


def test_the_suppressions_of_a_topology_count_in_synth(validated: Callable[..., App]):
    app = validated()
    suppressions = [{"rule": "QM301", "at": G5, "reason": "bought ahead of need"}]
    quota(Stack(app, "Stack"), topology(capacity={G5: 12}, suppressions=suppressions))
    assert report(app)["violations"] == []


def test_stacks_of_one_topology_name_have_their_own_suppressions(validated: Callable[..., App]):
    app = validated()
    suppressions = [{"rule": "QM301", "reason": "bought ahead of need"}]
    quota(Stack(app, "eu"), topology(capacity={G5: 12}, suppressions=suppressions))
    quota(Stack(app, "us"), topology(capacity={G5: 12}))
    assert [path for _, _, path, _ in found(app)] == ["us/Quota/ServiceEnvironment/Resource"]


EXPECTED = {"search": {"wait_p95": "5m"}, "queue": {"preemptions": 0}}


def test_a_broken_expectation_of_a_topology_fails_the_synthesis_at_its_share(validated: Callable[..., App], trace: str):
    app = validated(**{"batch-quota:trace": trace})
    quota(Stack(app, "Stack"), topology(expectations=EXPECTED))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    (violation,) = report(app)["violations"]
    assert (violation["ruleName"], violation["severity"]) == ("QM501", "error")
    assert "breaks the expectation search wait_p95 <= 5m: 1h59m" in violation["description"]
    assert [place["constructPath"] for place in violation["violatingConstructs"]] == [
        "Stack/Quota/Shares/search/Resource"
    ]


def test_expectations_that_hold_are_not_reported(validated: Callable[..., App], trace: str):
    app = validated(**{"batch-quota:trace": {"training": trace}})
    quota(Stack(app, "Stack"), topology(expectations={"search": {"wait_p95": "3h"}}))
    assert report(app)["violations"] == []


def test_a_broken_expectation_can_be_acknowledged(validated: Callable[..., App], trace: str):
    app = validated(**{"batch-quota:trace": trace})
    made = quota(Stack(app, "Stack"), topology(expectations=EXPECTED))
    Validations.of(made.quota_shares["search"]).acknowledge(
        Acknowledgment(id="BatchQuota::QM501", reason="nightly jobs may wait")
    )
    app.synth()
    assert report(app)["violations"] == []


def test_a_queue_that_was_made_from_no_topology_gets_expectations_from_the_plugin(
    validated: Callable[..., App], trace: str
):
    replays = TraceReplay(trace=trace, expectations={"search": {"wait_max": "10m"}})
    app = validated(QuotaPolicyValidation(replays=replays))
    stack = Stack(app, "Stack")
    queue = raw_queue(stack)
    raw_share(stack, "Search", queue.ref)
    raw_share(stack, "Research", queue.ref)
    assert ("QM501", "error", "Stack/Search", "Properties") in found(app)


def test_assumptions_of_a_replay_change_its_outcome(validated: Callable[..., App], trace: str):
    expectations = {"search": {"wait_max": "2h"}}
    late = TraceReplay(trace=trace, expectations=expectations, assumptions={"startup_seconds": {"default": "10m"}})
    app = validated(QuotaPolicyValidation(replays={"training": late}))
    quota(Stack(app, "Stack"), topology())
    assert [id_ for id_, *_ in found(app)] == ["QM501"]


def test_an_expectation_is_relative_to_a_baseline_and_is_told_if_there_is_none(
    validated: Callable[..., App], trace: str, tmp_path: Path
):
    before = tmp_path / "before.json"
    before.write_text(topology(name="before", capacity={G5: 16}).model_dump_json(by_alias=True, exclude_none=True))
    same = topology(expectations={"search": {"wait_max": "<= baseline"}, "queue": {"cost": "<= baseline + 20"}})
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"currency: USD\nregion: us-east-1\ndate: 2026-11-30\nprices: {{{G5}: 2}}\n")
    ids = []
    for given in ({}, {"baseline": str(before), "prices": str(prices)}):
        app = validated(QuotaPolicyValidation(replays=TraceReplay(trace=trace, **given)))
        quota(Stack(app, "Stack"), same)
        ids.append([(id_, severity) for id_, severity, *_ in found(app)])
    assert ids == [[("QM502", "warning"), ("QM502", "warning")], []]
    context = {"batch-quota:trace": trace, "batch-quota:baseline": str(before), "batch-quota:prices": str(prices)}
    app = validated(**context)
    quota(Stack(app, "Stack"), same)
    assert found(app) == []


def test_control_events_are_replayed_too(validated: Callable[..., App], trace: str, tmp_path: Path):
    events = tmp_path / "events.csv"
    events.write_text("at,event,job\n120,terminate,first\n")
    app = validated(**{"batch-quota:trace": trace, "batch-quota:events": str(events)})
    quota(Stack(app, "Stack"), topology(expectations=EXPECTED))
    assert report(app)["violations"] == []


def test_a_trace_that_cannot_be_read_fails_the_synthesis_with_the_line(validated: Callable[..., App], tmp_path: Path):
    path = tmp_path / "trace.csv"
    path.write_text(TRACE.replace("first,search", "first,serach"))
    app = validated(**{"batch-quota:trace": str(path)})
    quota(Stack(app, "Stack"), topology(expectations=EXPECTED))
    (violation,) = report(app)["violations"]
    assert violation["severity"] == "error"
    assert f"{path}:2:" in violation["description"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"other": "t.csv"}, "a trace is given for 'other'; the app's quota-managed queues are: training"),
        ("t.csv", "the trace t.csv is given, and nothing is expected of it: add expectations"),
    ],
)
def test_a_trace_that_checks_nothing_is_no_gate_and_fails_the_synthesis(
    validated: Callable[..., App], given: object, said: str
):
    app = validated(**{"batch-quota:trace": given})
    quota(Stack(app, "Stack"), topology())
    (violation,) = report(app)["violations"]
    assert (violation["ruleName"], violation["severity"], violation["description"]) == ("QM502", "error", said)
    assert violation["violatingConstructs"][0]["constructPath"] == "Stack/Quota/Queue/Resource"


def test_a_trace_for_an_app_without_queues_fails_the_synthesis(validated: Callable[..., App]):
    app = validated(**{"batch-quota:trace": "t.csv"})
    Stack(app, "Stack")
    (violation,) = report(app)["violations"]
    assert violation["description"].endswith("the app's quota-managed queues are: none")
    assert violation["violatingConstructs"][0]["constructPath"] == "Stack"


def test_expectations_that_are_none_are_told(validated: Callable[..., App], trace: str):
    wrong = TraceReplay(trace=trace, expectations={"search": {"wait": "5m"}, "nobody": {"preemptions": 0}})
    app = validated(QuotaPolicyValidation(replays=wrong))
    quota(Stack(app, "Stack"), topology())
    (violation,) = report(app)["violations"]
    assert violation["ruleName"] == "QM502"
    assert "expectations.search.wait" in violation["description"]


def test_an_engine_that_fails_fails_the_synthesis_instead_of_being_passed_over(
    validated: Callable[..., App], monkeypatch: pytest.MonkeyPatch
):
    def fail(_queue: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr("batch_quota.policy_validation.plugin.check_queue", fail)
    app = validated()
    quota(Stack(app, "Stack"), topology())
    (violation,) = report(app)["violations"]
    assert (violation["ruleName"], violation["severity"]) == ("QM503", "error")
    assert violation["description"].endswith("nothing is known to be right: RuntimeError: out of order")


def test_without_a_trace_nothing_is_replayed(validated: Callable[..., App]):
    app = validated()
    quota(Stack(app, "Stack"), topology(expectations={"search": {"wait_p95": "0s"}}))
    assert report(app)["violations"] == []


def test_a_template_with_an_error_is_not_replayed(validated: Callable[..., App], trace: str):
    app = validated(QuotaPolicyValidation(replays=TraceReplay(trace=trace, expectations=EXPECTED)))
    stack = Stack(app, "Stack")
    raw_share(stack, "Search", raw_queue(stack, priority=1001).ref)
    assert "QM501" not in [id_ for id_, *_ in found(app)]


def test_the_plugin_says_what_it_is():
    plugin = QuotaPolicyValidation()
    assert plugin.name == "BatchQuota"
    assert plugin.version.count(".") == 2
    assert {"QM101", "QM304", "QM501", "QM502"} <= set(plugin.rule_ids)
    assert "QM401" not in plugin.rule_ids


@pytest.fixture
def program(tmp_path: Path, trace: str) -> Path:
    """Somebody's own app in a file, whose expectation is broken."""
    path = tmp_path / "own.py"
    made_from = topology(expectations=EXPECTED).model_dump_json()
    path.write_text(
        f"""
from aws_cdk import App, Stack, Validations
from batch_quota import QuotaManagedQueue, QuotaPolicyValidation, Topology, TraceReplay

app = App(outdir={str(tmp_path / "out")!r}, builtin_cloud_formation_validation=False)
Validations.of(app).add_plugins(QuotaPolicyValidation(replays=TraceReplay(trace={trace!r})))
stack = Stack(app, "Stack")
topology = Topology.model_validate_json({made_from!r})
QuotaManagedQueue(stack, "Quota", topology=topology, observability=None, access=None)
app.synth()
"""
    )
    return path


def test_a_broken_expectation_ends_the_program_with_a_status_and_says_what_broke(program: Path):
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert done.returncode != 0
    assert "ERROR" in done.stderr
    assert "breaks the expectation search wait_p95 <= 5m" in done.stderr
    assert "Acknowledge with 'BatchQuota::QM501'" in done.stderr


def test_the_python_of_the_page_runs():
    page = (CHECKOUT / "docs" / "policy-validation.md").read_text()
    names: dict[str, object] = {}
    for code in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(compile(code, "policy-validation.md", "exec"), names)  # noqa: S102 (our own page)
        names["construct"] = names["app"]
    assert isinstance(names["replay"], TraceReplay)
