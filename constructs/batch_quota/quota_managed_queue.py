"""A whole team topology as resources: scheduling policy, service environment, job queue and quota shares."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from os import PathLike
from types import MappingProxyType

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from constructs import Construct

from batch_quota.access.granting import grant
from batch_quota.access.options import AccessOptions
from batch_quota.access.statements import JobTag
from batch_quota.access.team_terms import TeamTerms, team_terms
from batch_quota.access.topology_access import TopologyAccess
from batch_quota.observability.queue_observability import ObservabilityOptions, QueueObservability
from batch_quota.quota_share import QuotaShare
from batch_quota.scheduling_policy import QuotaShareSchedulingPolicy
from batch_quota.service_environment import ServiceEnvironment
from batch_quota.training_plans import put_out_training_plans
from batch_quota.training_queue import RunnableTimeLimit, SageMakerTrainingQueue
from batch_quota.validation import choice_problems, require
from policy_engine.diagnostics import Finding, Severity
from policy_engine.rules import check
from policy_engine.template.cloud_assembly import TOPOLOGY_METADATA
from policy_engine.topology import OwnedShare, Topology, TopologyDocument
from policy_engine.topology.suggestions import did_you_mean
from policy_engine.topology.tags import queue_tags, quota_share_tags

_EVERYTHING = ObservabilityOptions()
_FROM_TOPOLOGY = AccessOptions()


class QuotaManagedQueue(Construct):
    """All resources of a team topology.

    Logical ids depend on the construct's own path and on share names alone; those of a team's policies on the team's
    name. Moving a share to another team, renaming a team, or writing the file in another order changes no more of the
    shares than their tags.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        topology: Topology,
        observability: ObservabilityOptions | None = _EVERYTHING,
        access: AccessOptions | None = _FROM_TOPOLOGY,
        removal_policy: RemovalPolicy | None = None,
        share_removal_policy: RemovalPolicy | None = None,
    ) -> None:
        """Make the resources of a topology.

        :param topology: Whose resources and names. `read_topology` of `policy_engine.topology` reads it from a file.
        :param observability: What watches the queue: all of it by default, nothing if None.
        :param access: How the principals that the topology names get access. None makes no policies for them.
        :param removal_policy: What becomes of policy, environment, queue and shares when they are removed, replaced, or
            the stack is deleted. If left out they are deleted, and all their jobs are terminated.
        :param share_removal_policy: The same for the shares alone. What `removal_policy` says if left out.
        :raises ValueError: With every error that the rules of the policy engine find in it. Warnings do not count.
        """
        require(scope, id_, _type_problems(topology, observability, access))
        findings = check(topology)
        require(scope, id_, _errors(findings), _access_problems(topology, access))
        super().__init__(scope, id_)
        self.node.add_metadata(TOPOLOGY_METADATA, topology.model_dump_json(by_alias=True))
        self._topology = topology
        queue = topology.queue
        self._share_removal_policy = share_removal_policy or removal_policy
        self._scheduling_policy = QuotaShareSchedulingPolicy(
            self,
            "SchedulingPolicy",
            scheduling_policy_name=topology.scheduling_policy_name,
            tags=queue.tags,
            removal_policy=removal_policy,
        )
        self._service_environment = ServiceEnvironment(
            self,
            "ServiceEnvironment",
            service_environment_name=topology.service_environment_name,
            capacity_limits=_in_order(topology.capacity),
            tags=queue.tags,
            removal_policy=removal_policy,
        )
        self._queue = SageMakerTrainingQueue(
            self,
            "Queue",
            job_queue_name=topology.queue_name,
            service_environment=self._service_environment,
            scheduling_policy=self._scheduling_policy,
            priority=queue.priority,
            time_limits=[
                RunnableTimeLimit(reason=limit.reason, max_time=Duration.millis(limit.after))
                for limit in sorted(queue.time_limits, key=lambda limit: limit.reason)
            ],
            tags=queue_tags(topology),
            removal_policy=removal_policy,
        )
        shares = Construct(self, "Shares")
        self._quota_shares = {
            owned.name: self._make_share(shares, owned)
            for owned in sorted(topology.quota_shares(), key=lambda owned: owned.name)
        }
        put_out_training_plans(self, topology)
        self._team_terms = team_terms(topology, self._queue, self._quota_shares, access or _FROM_TOPOLOGY)
        self._access = (
            None
            if access is None
            else TopologyAccess(
                self,
                "Access",
                topology_name=topology.name,
                teams=self._team_terms,
                options=access,
                findings=findings,
            )
        )
        self._observability = (
            None
            if observability is None
            else QueueObservability(self, "Observability", job_queue=self._queue, options=observability)
        )

    def _make_share(self, scope: Construct, owned: OwnedShare) -> QuotaShare:
        share = owned.share
        return QuotaShare(
            scope,
            owned.name,
            job_queue=self._queue,
            quota_share_name=owned.name,
            capacity_limits=_in_order(share.capacity),
            strategy=share.strategy,
            borrow_limit=share.borrow_limit,
            in_share_preemption=share.in_share_preemption,
            state=share.state,
            tags=quota_share_tags(self._topology, owned),
            removal_policy=self._share_removal_policy,
        )

    @property
    def topology(self) -> Topology:
        """What the resources were made from."""
        return self._topology

    @property
    def scheduling_policy(self) -> QuotaShareSchedulingPolicy:
        """The scheduling policy."""
        return self._scheduling_policy

    @property
    def service_environment(self) -> ServiceEnvironment:
        """The service environment."""
        return self._service_environment

    @property
    def queue(self) -> SageMakerTrainingQueue:
        """The job queue."""
        return self._queue

    @property
    def quota_shares(self) -> Mapping[str, QuotaShare]:
        """The quota shares by name."""
        return MappingProxyType(self._quota_shares)

    @property
    def observability(self) -> QueueObservability | None:
        """What watches the queue, if it is not turned off."""
        return self._observability

    @property
    def access(self) -> TopologyAccess | None:
        """The policies of the topology's teams, if they are not turned off."""
        return self._access

    def grant_submit(self, grantee: iam.IGrantable, *, team: str) -> iam.Grant:
        """Let a principal submit jobs to a team's shares, up to their highest priorities, with its execution roles.

        :param grantee: The principal, of any kind that the CDK knows.
        :param team: The team's name in the topology.
        :raises ValueError: If the topology has no such team with shares.
        """
        terms = self._terms_of(team)
        return grant(self, grantee, terms.submit(terms.queue, terms.shares))

    def grant_operate(self, grantee: iam.IGrantable, *, team: str) -> iam.Grant:
        """Let a principal change the priority of a team's jobs, up to their shares' highest, and terminate them.

        :param grantee: The principal, of any kind that the CDK knows.
        :param team: The team's name in the topology.
        :raises ValueError: If the topology has no such team with shares.
        """
        terms = self._terms_of(team)
        return grant(self, grantee, terms.operate(terms.queue, terms.shares))

    def grant_view(self, grantee: iam.IGrantable, *, team: str) -> iam.Grant:
        """Let a principal read the queue, a team's shares, and jobs.

        :param grantee: The principal, of any kind that the CDK knows.
        :param team: The team's name in the topology.
        :raises ValueError: If the topology has no such team with shares.
        """
        terms = self._terms_of(team)
        return grant(self, grantee, terms.view(terms.queue, terms.shares))

    def _terms_of(self, team: str) -> TeamTerms:
        require(self, "", _team_problem("team", team, self._team_terms))
        return self._team_terms[team]


def _errors(findings: Iterable[Finding]) -> Iterator[str]:
    """What the rules call an error, as `QM106 teams.search.shares.search-prod.capacity: …`."""
    for finding in findings:
        if finding.severity is Severity.ERROR:
            yield f"{finding.id} {'.'.join(map(str, finding.path))}: {finding.message}; {finding.help}"


def _type_problems(topology: object, observability: object, access: object) -> Iterator[str]:
    """Nothing that was given can be judged before it is of its type. What people try first is named."""
    if isinstance(topology, TopologyDocument):
        yield "topology: expected a Topology, not a TopologyDocument: read_topology(PATH).topology"
    elif isinstance(topology, str | PathLike):
        yield f"topology: expected a Topology, not a path: read_topology({str(topology)!r}).topology"
    elif not isinstance(topology, Topology):
        yield f"topology: expected a Topology, not {type(topology).__name__}: Topology.model_validate(…) makes one"
    for prop, given, wanted in (
        ("observability", observability, ObservabilityOptions),
        ("access", access, AccessOptions),
    ):
        if given is not None and not isinstance(given, wanted):
            yield f"{prop}: expected {wanted.__name__} or None, not {given!r}"


def _access_problems(topology: Topology, access: AccessOptions | None) -> Iterator[str]:
    if access is None:
        return
    yield from choice_problems("access: job_tag", access.job_tag, JobTag)
    for team in access.execution_roles:
        yield from _team_problem("access: execution_roles", team, topology.teams)


def _team_problem(prop: str, team: str, teams: Collection[str]) -> Iterator[str]:
    if team not in teams:
        hint = did_you_mean(team, teams, f"teams with shares: {', '.join(teams)}")
        yield f"{prop}: the topology has no team {team!r} with shares; {hint}"


def _in_order(capacity: Mapping[str, int]) -> dict[str, int]:
    """By instance type, so that the order in the topology file never shows as a change of the template."""
    return dict(sorted(capacity.items()))
