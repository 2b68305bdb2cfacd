"""AWS CDK constructs for AWS Batch quota management on Amazon SageMaker Training.

`QuotaManagedQueue` makes everything from a team topology. The others are its parts, one for each resource.
"""

from batch_quota.access.execution_role import TrainingExecutionRole
from batch_quota.access.options import AccessOptions
from batch_quota.access.service_linked_role import BatchSageMakerServiceLinkedRole
from batch_quota.access.statements import JobTag
from batch_quota.access.team_policies import TeamPolicies
from batch_quota.access.topology_access import TopologyAccess
from batch_quota.interfaces import IQuotaShare, ISageMakerTrainingQueue, IServiceEnvironment
from batch_quota.observability import (
    AlarmLevel,
    AlarmOptions,
    DashboardOptions,
    EventOptions,
    EventRule,
    ObservabilityOptions,
    QueueAlarms,
    QueueDashboard,
    QueueEvents,
    QueueObservability,
    ShareMetrics,
    ShareMetricsOptions,
)
from batch_quota.policy_validation import QuotaPolicyValidation, TraceReplay
from batch_quota.quota_managed_queue import QuotaManagedQueue
from batch_quota.quota_share import QuotaShare
from batch_quota.scheduling_policy import IdleResourceAssignmentStrategy, QuotaShareSchedulingPolicy
from batch_quota.service_environment import ServiceEnvironment
from batch_quota.state import State
from batch_quota.training_queue import RunnableReason, RunnableTimeLimit, SageMakerTrainingQueue
from policy_engine.topology import UNLIMITED, ResourceSharingStrategy, Topology
from policy_engine.topology.tags import JOB_TAG, TEAM_TAG

__all__ = [
    "JOB_TAG",
    "TEAM_TAG",
    "UNLIMITED",
    "AccessOptions",
    "AlarmLevel",
    "AlarmOptions",
    "BatchSageMakerServiceLinkedRole",
    "DashboardOptions",
    "EventOptions",
    "EventRule",
    "IQuotaShare",
    "ISageMakerTrainingQueue",
    "IServiceEnvironment",
    "IdleResourceAssignmentStrategy",
    "JobTag",
    "ObservabilityOptions",
    "QueueAlarms",
    "QueueDashboard",
    "QueueEvents",
    "QueueObservability",
    "QuotaManagedQueue",
    "QuotaPolicyValidation",
    "QuotaShare",
    "QuotaShareSchedulingPolicy",
    "ResourceSharingStrategy",
    "RunnableReason",
    "RunnableTimeLimit",
    "SageMakerTrainingQueue",
    "ServiceEnvironment",
    "ShareMetrics",
    "ShareMetricsOptions",
    "State",
    "TeamPolicies",
    "Topology",
    "TopologyAccess",
    "TraceReplay",
    "TrainingExecutionRole",
]
