"""What a topology lets each of its teams do, as statements say it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from batch_quota.access.granting import queue_arns
from batch_quota.access.options import AccessOptions
from batch_quota.access.statements import (
    QueueArns,
    ShareTerms,
    Statement,
    operate_statements,
    pass_role_statements,
    submit_statements,
    view_statements,
)
from batch_quota.interfaces import IQuotaShare, ISageMakerTrainingQueue
from policy_engine.topology import Team, Topology


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamTerms:
    """A team: whom it names, its shares, and the roles that its jobs may run as."""

    name: str
    team: Team
    queue: QueueArns
    shares: Sequence[ShareTerms]
    execution_role_arns: Sequence[str]
    job_tag: str

    def submit(self, queue: QueueArns, shares: Sequence[ShareTerms]) -> list[Statement]:
        """Submit to some of the team's shares, and pass the team's execution roles."""
        return [*submit_statements(queue, shares, self.job_tag), *pass_role_statements(self.execution_role_arns)]

    def operate(self, queue: QueueArns, shares: Sequence[ShareTerms]) -> list[Statement]:
        """Change the priority of jobs of some of the team's shares, and terminate them."""
        return list(operate_statements(queue, shares))

    def view(self, queue: QueueArns, shares: Sequence[ShareTerms]) -> list[Statement]:
        """Read the queue, some of the team's shares, and jobs."""
        return list(view_statements(queue, shares))


def team_terms(
    topology: Topology,
    job_queue: ISageMakerTrainingQueue,
    quota_shares: Mapping[str, IQuotaShare],
    options: AccessOptions,
) -> dict[str, TeamTerms]:
    """The terms of each team that has shares, by its name. Nothing depends on the order of the topology's file."""
    queue = queue_arns(job_queue)
    return {
        name: TeamTerms(
            name=name,
            team=team,
            queue=queue,
            shares=[
                ShareTerms(
                    quota_share_arn=quota_shares[share].quota_share_arn,
                    job_tag_value=quota_shares[share].job_tag_value,
                    max_priority=team.shares[share].max_priority,
                )
                for share in sorted(team.shares)
            ],
            execution_role_arns=[
                *sorted(set(team.execution_roles)),
                *(role.role_arn for role in options.execution_roles.get(name, ())),
            ],
            job_tag=options.job_tag,
        )
        for name, team in sorted(topology.teams.items())
        if team.shares
    }
