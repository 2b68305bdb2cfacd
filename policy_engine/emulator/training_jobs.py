"""The SageMaker training jobs of dispatched service jobs, in moto's SageMaker.

Which status is which: "Service job status" in the AWS Batch user guide, which maps SageMaker's to AWS Batch's.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moto.sagemaker.models import FakeTrainingJob, sagemaker_backends

from policy_engine.emulator.schedule import Attempt, ServiceJobStatus
from policy_engine.scheduler import AttemptOutcome

_SECONDARY = {
    ServiceJobStatus.SCHEDULED: "Pending",
    ServiceJobStatus.STARTING: "Downloading",
    ServiceJobStatus.RUNNING: "Training",
}
_ENDED = {
    AttemptOutcome.SUCCEEDED: ("Completed", "Completed"),
    AttemptOutcome.FAILED: ("Failed", "Failed"),
    AttemptOutcome.NO_CAPACITY: ("Failed", "Failed"),
    AttemptOutcome.PREEMPTED: ("Stopped", "Stopped"),
    AttemptOutcome.TERMINATED: ("Stopped", "Stopped"),
    AttemptOutcome.TIMED_OUT: ("Stopped", "Stopped"),
}
_OPTIONAL = {
    "VpcConfig": "vpc_config",
    "CheckpointConfig": "checkpoint_config",
    "DebugHookConfig": "debug_hook_config",
    "TensorBoardOutputConfig": "tensor_board_output_config",
    "ExperimentConfig": "experiment_config",
}
_NO_CAPACITY = "CapacityError: Simulated: SageMaker had no instances of this type."
"""AWS Batch takes a failure that begins like this for a lack of capacity (user guide, "Service job retries")."""


class ServiceTrainingJob(FakeTrainingJob):
    """A training job that has not ended as soon as it is there, as moto's have."""

    failure_reason: str | None
    """Attributes are members of DescribeTrainingJob."""

    def is_at(self, attempt: Attempt, status: ServiceJobStatus, at: int) -> None:
        """Show it as it is after a step of its service job, at a moment in ms since 1970."""
        self.creation_time = _moment(attempt.scheduled_at)
        self.last_modified_time = _moment(at)
        begun, ended = attempt.running_at, attempt.stopped_at
        self.training_start_time = None if begun is None else _moment(begun)  # type: ignore[assignment] # moto has one
        self.training_end_time = None if ended is None else _moment(ended)  # type: ignore[assignment]
        if ended is None:
            self.training_job_status, self.secondary_status = "InProgress", _SECONDARY[status]
        else:
            self.training_job_status, self.secondary_status = _ENDED[attempt.outcome]
        self.failure_reason = _NO_CAPACITY if attempt.outcome is AttemptOutcome.NO_CAPACITY else None
        transitions = self.secondary_status_transitions
        if transitions and transitions[-1]["Status"] != self.secondary_status:
            transitions[-1]["EndTime"] = _moment(at)
        if not transitions or transitions[-1]["Status"] != self.secondary_status:
            transitions.append({"Status": self.secondary_status, "StartTime": _moment(at)})


def show(
    *,
    account_id: str,
    region_name: str,
    name: str,
    request: Mapping[str, Any],
    attempt: Attempt,
    status: ServiceJobStatus,
    at: int,
) -> None:
    """Show an attempt's training job as it is after a step of its service job, at a moment in ms since 1970."""
    jobs: dict[str, FakeTrainingJob] = sagemaker_backends[account_id][region_name].training_jobs
    job = jobs.get(name)
    if not isinstance(job, ServiceTrainingJob):
        job = jobs[name] = _made(account_id, region_name, name, request)
    job.is_at(attempt, status, at)


def _made(account_id: str, region_name: str, name: str, request: Mapping[str, Any]) -> ServiceTrainingJob:
    job = ServiceTrainingJob(
        account_id=account_id,
        region_name=region_name,
        training_job_name=name,
        hyper_parameters=request.get("HyperParameters", {}),
        algorithm_specification=dict(request.get("AlgorithmSpecification", {})),
        role_arn=request.get("RoleArn", ""),
        input_data_config=request.get("InputDataConfig", []),
        output_data_config={"S3OutputPath": "", **request.get("OutputDataConfig", {})},
        resource_config=request["ResourceConfig"],
        vpc_config=request.get("VpcConfig", {}),
        stopping_condition=request.get("StoppingCondition", {}),
        tags=request.get("Tags", []),
        enable_network_isolation=request.get("EnableNetworkIsolation", False),
        enable_inter_container_traffic_encryption=request.get("EnableInterContainerTrafficEncryption", False),
        enable_managed_spot_training=request.get("EnableManagedSpotTraining", False),
        checkpoint_config=request.get("CheckpointConfig", {}),
        debug_hook_config=request.get("DebugHookConfig", {}),
        debug_rule_configurations=request.get("DebugRuleConfigurations", []),
        tensor_board_output_config=request.get("TensorBoardOutputConfig", {}),
        experiment_config=request.get("ExperimentConfig", {}),
    )
    job.secondary_status_transitions = []
    for member, attribute in _OPTIONAL.items():
        if member not in request:
            setattr(job, attribute, None)  # clients take an empty one for one that lacks what it needs
    job.final_metric_data_list = []
    return job


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC).replace(tzinfo=None)
