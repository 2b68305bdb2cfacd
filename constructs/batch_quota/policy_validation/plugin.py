"""The policy engine as a validation plugin of the CDK."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version

import jsii
from aws_cdk import (
    IPolicyValidationContext,
    IPolicyValidationPlugin,
    PolicyValidationPluginReport,
    PolicyValidationStack,
)
from constructs import IConstruct

from batch_quota.policy_validation.ids import ValidationId
from batch_quota.policy_validation.options import TraceReplay, replays_of
from batch_quota.policy_validation.replaying import replay_on
from batch_quota.policy_validation.violations import Violations
from policy_engine.diagnostics import Severity
from policy_engine.rules import AccessRule, TopologyRule, registry
from policy_engine.rules.access_checking import check_access
from policy_engine.rules.template_checking import check_queue
from policy_engine.template import Place, TemplateQueue, read_templates
from policy_engine.template.cloud_assembly import Assembly, StackTemplate, assembly_of

NAME = "BatchQuota"


@jsii.implements(IPolicyValidationPlugin)
class QuotaPolicyValidation:
    """Checks all quota-managed queues of an app at synthesis, whatever construct made them.

    `Validations.of(app).add_plugins(QuotaPolicyValidation())` registers it. Findings name the construct and the
    property. `Validations.of(construct).acknowledge(Acknowledgment(id="BatchQuota::QM304", reason="…"))` accepts one.
    For queues of a `QuotaManagedQueue` the expectations, assumptions and suppressions of its topology count.
    """

    def __init__(self, *, replays: TraceReplay | Mapping[str, TraceReplay] | None = None) -> None:
        """Make the plugin.

        :param replays: Traces to replay: one for the app's only queue, or several by the names of queues or topologies.
            The context keys `batch-quota:trace` and `batch-quota:events` name files instead: a path, or paths by name.
        """
        self._replays = replays

    @property
    def name(self) -> str:
        """What stands before the rules' ids: `BatchQuota::QM304`."""
        return NAME

    @property
    def version(self) -> str:
        """The version of Batch Quota."""
        return version("batch-quota")

    @property
    def rule_ids(self) -> list[str]:
        """The rules that are evaluated."""
        rules = [id_ for id_, rule in registry().items() if isinstance(rule, TopologyRule | AccessRule)]
        return [*rules, *ValidationId]

    def validate(self, context: IPolicyValidationContext) -> PolicyValidationPluginReport:
        """Judge the templates of an assembly."""
        stacks = context.stack_templates
        violations = Violations({stack.template_path: stack.stack_construct_path for stack in stacks})
        try:
            self._judge(stacks, context.app_construct, violations)
        except Exception as error:  # noqa: BLE001 (the CDK CLI goes on without a word if a plugin fails)
            message = f"the policy engine failed, so nothing is known to be right: {type(error).__name__}: {error}"
            violations.add(ValidationId.NOT_JUDGED, Severity.ERROR, message, "", _anywhere(stacks))
        return PolicyValidationPluginReport(success=not violations.failed, violations=list(violations.reported()))

    def _judge(self, stacks: Sequence[PolicyValidationStack], app: IConstruct, violations: Violations) -> None:
        assembly = assembly_of(StackTemplate(stack.template_path, stack.account_id, stack.region) for stack in stacks)
        reading = read_templates(assembly.templates)
        queues = tuple(_with_declared(queue, assembly) for queue in reading.queues)
        replays = replays_of(self._replays, app)
        problem = replays.problem(queues)
        if problem is not None:
            place = queues[0].place(("queue",)) if queues else _anywhere(stacks)
            violations.add(ValidationId.UNUSABLE_REPLAY, Severity.ERROR, problem, "", place)
        for each in reading.problems:
            violations.add_problem(each)
        for finding, place in check_access(reading):
            violations.add(finding.id, finding.severity, finding.message, finding.help, place)
        for queue in queues:
            findings = check_queue(queue)
            for finding in findings:
                place = queue.place(finding.path)
                violations.add(finding.id, finding.severity, finding.message, finding.help, place)
            given = None if problem is not None else replays.of(queue)
            if given is not None and not any(finding.severity is Severity.ERROR for finding in findings):
                replay_on(queue, given, violations)


def _anywhere(stacks: Sequence[PolicyValidationStack]) -> Place:
    """A place for what is about no resource: the first stack."""
    return Place(stacks[0].template_path, ())


def _with_declared(queue: TemplateQueue, assembly: Assembly) -> TemplateQueue:
    """The queue with the topology that it was made from, which is known by its name within the stack."""
    of_stack = assembly.declared[queue.place(()).template]
    declared = next((topology for topology in of_stack if topology.queue_name == queue.name), None)
    return queue if declared is None else queue.with_declared(declared)
