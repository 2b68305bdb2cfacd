"""Answers to AWS Batch's requests: those of quota management are checked and answered here, the others by moto."""

import json
from typing import Any, cast
from urllib.parse import unquote

from moto.batch.exceptions import ClientException
from moto.batch.responses import BatchResponse
from moto.core.common_types import TYPE_RESPONSE

from policy_engine.emulator.batch.exceptions import AlreadyExistsError, TooManyRequestsError
from policy_engine.emulator.batch.models import QuotaManagementBackend
from policy_engine.emulator.batch.models.job_filters import read_selection
from policy_engine.emulator.batch.models.job_queues import TRAINING
from policy_engine.emulator.batch.validation import check_request


class QuotaManagementResponse(BatchResponse):
    """One method an operation, named as its URL."""

    @property
    def backend(self) -> QuotaManagementBackend:
        """The backend of the request's account and region."""
        return cast("QuotaManagementBackend", self.batch_backend)

    def call_action(self) -> TYPE_RESPONSE:
        """Answer. One call at a time, at one moment: moto's server has a thread for each."""
        emulation = self.backend.emulation
        with emulation.lock, emulation.clock.held():
            return super().call_action()

    def createserviceenvironment(self) -> str:
        request = self._checked("CreateServiceEnvironment")
        environment = self.backend.create_service_environment(
            name=request["serviceEnvironmentName"],
            type_=request["serviceEnvironmentType"],
            state=request.get("state"),
            capacity_limits=request["capacityLimits"],
            tags=request.get("tags"),
        )
        return _answer(serviceEnvironmentName=environment.name, serviceEnvironmentArn=environment.arn)

    def describeserviceenvironments(self) -> str:
        request = self._checked("DescribeServiceEnvironments")
        environments, token = self.backend.describe_service_environments(
            identifiers=request.get("serviceEnvironments"), **_paging(request)
        )
        return _answer(serviceEnvironments=environments, nextToken=token)

    def updateserviceenvironment(self) -> str:
        request = self._checked("UpdateServiceEnvironment")
        environment = self.backend.update_service_environment(
            identifier=request["serviceEnvironment"],
            state=request.get("state"),
            capacity_limits=request.get("capacityLimits"),
        )
        return _answer(serviceEnvironmentName=environment.name, serviceEnvironmentArn=environment.arn)

    def deleteserviceenvironment(self) -> str:
        request = self._checked("DeleteServiceEnvironment")
        self.backend.delete_service_environment(request["serviceEnvironment"])
        return _answer()

    def createschedulingpolicy(self) -> str:
        request = self._checked("CreateSchedulingPolicy")
        if "quotaSharePolicy" not in request:
            return super().createschedulingpolicy()
        policy = self.backend.create_quota_share_policy(
            name=request["name"],
            policy=request["quotaSharePolicy"],
            fairshare=request.get("fairsharePolicy"),
            tags=request.get("tags"),
        )
        return _answer(**policy.to_dict(create=True))

    def listschedulingpolicies(self) -> str:
        request = self._checked("ListSchedulingPolicies")
        arns, token = self.backend.list_scheduling_policy_arns(**_paging(request))
        return _answer(schedulingPolicies=[{"arn": arn} for arn in arns], nextToken=token)

    def updateschedulingpolicy(self) -> str:
        request = self._checked("UpdateSchedulingPolicy")
        self.backend.update_policy(
            arn=request["arn"],
            quota_share=request.get("quotaSharePolicy"),
            fairshare=request.get("fairsharePolicy"),
        )
        return _answer()

    def createjobqueue(self) -> str:
        request = self._checked("CreateJobQueue")
        if request.get("jobQueueType") != TRAINING and "serviceEnvironmentOrder" not in request:
            if self.backend.find_training_queue(request["jobQueueName"]):
                raise AlreadyExistsError
            return super().createjobqueue()
        if "computeEnvironmentOrder" in request:
            raise ClientException("computeEnvironmentOrder and serviceEnvironmentOrder exclude each other")
        queue = self.backend.create_training_queue(
            name=request["jobQueueName"],
            type_=request.get("jobQueueType"),
            state=request.get("state"),
            priority=request["priority"],
            policy_arn=request.get("schedulingPolicyArn"),
            environments=request.get("serviceEnvironmentOrder"),
            time_limits=request.get("jobStateTimeLimitActions"),
            tags=request.get("tags"),
        )
        return _answer(jobQueueName=queue.name, jobQueueArn=queue.arn)

    def describejobqueues(self) -> str:
        request = self._checked("DescribeJobQueues")
        queues, token = self.backend.describe_queues(identifiers=request.get("jobQueues"), **_paging(request))
        return _answer(jobQueues=queues, nextToken=token)

    def updatejobqueue(self) -> str:
        request = self._checked("UpdateJobQueue")
        queue = self.backend.find_training_queue(request["jobQueue"])
        if queue is None:
            return super().updatejobqueue()
        if "computeEnvironmentOrder" in request:
            raise ClientException(f"a job queue of the type {TRAINING} has no computeEnvironmentOrder")
        self.backend.update_training_queue(
            queue,
            state=request.get("state"),
            priority=request.get("priority"),
            policy_arn=request.get("schedulingPolicyArn"),
            environments=request.get("serviceEnvironmentOrder"),
            time_limits=request.get("jobStateTimeLimitActions"),
        )
        return _answer(jobQueueName=queue.name, jobQueueArn=queue.arn)

    def deletejobqueue(self) -> str:
        request = self._checked("DeleteJobQueue")
        queue = self.backend.find_training_queue(request["jobQueue"])
        if queue is None:
            return super().deletejobqueue()
        self.backend.delete_training_queue(queue)
        return _answer()

    def createquotashare(self) -> str:
        request = self._checked("CreateQuotaShare")
        share = self.backend.create_quota_share(
            name=request["quotaShareName"],
            queue_identifier=request["jobQueue"],
            capacity_limits=request["capacityLimits"],
            sharing=request["resourceSharingConfiguration"],
            preemption=request["preemptionConfiguration"],
            state=request.get("state"),
            tags=request.get("tags"),
        )
        return _answer(quotaShareName=share.name, quotaShareArn=share.arn)

    def describequotashare(self) -> str:
        share = self.backend.get_quota_share(self._checked("DescribeQuotaShare")["quotaShareArn"])
        return _answer(**share.describe(), tags=self.backend.list_tags_for_resource(share.arn))

    def updatequotashare(self) -> str:
        request = self._checked("UpdateQuotaShare")
        share = self.backend.update_quota_share(
            arn=request["quotaShareArn"],
            capacity_limits=request.get("capacityLimits"),
            sharing=request.get("resourceSharingConfiguration"),
            preemption=request.get("preemptionConfiguration"),
            state=request.get("state"),
        )
        return _answer(quotaShareName=share.name, quotaShareArn=share.arn)

    def listquotashares(self) -> str:
        request = self._checked("ListQuotaShares")
        shares, token = self.backend.list_quota_shares(queue_identifier=request["jobQueue"], **_paging(request))
        return _answer(quotaShares=shares, nextToken=token)

    def deletequotashare(self) -> str:
        self.backend.delete_quota_share(self._checked("DeleteQuotaShare")["quotaShareArn"])
        return _answer()

    def submitservicejob(self) -> str:
        throttle = self.backend.emulation.throttle
        if throttle is not None and not throttle.admits(self.backend.account_id, self.backend.region_name):
            raise TooManyRequestsError
        job = self.backend.submit_service_job(self._checked("SubmitServiceJob"), len(self._body.encode()))
        return _answer(jobArn=job.arn, jobName=job.name, jobId=job.job_id)

    def describeservicejob(self) -> str:
        return _answer(**self.backend.describe_service_job(self._checked("DescribeServiceJob")["jobId"]))

    def listservicejobs(self) -> str:
        request = self._checked("ListServiceJobs")
        jobs, token = self.backend.list_service_jobs(
            queue_identifier=request.get("jobQueue"),
            selection=read_selection(request.get("jobStatus"), request.get("filters")),
            **_paging(request),
        )
        return _answer(jobSummaryList=jobs, nextToken=token)

    def updateservicejob(self) -> str:
        request = self._checked("UpdateServiceJob")
        job = self.backend.update_service_job(request["jobId"], request["schedulingPriority"])
        return _answer(jobArn=job.arn, jobName=job.name, jobId=job.job_id)

    def terminateservicejob(self) -> str:
        request = self._checked("TerminateServiceJob")
        self.backend.terminate_service_job(request["jobId"], request["reason"])
        return _answer()

    def terminateservicejobs(self) -> str:
        request = self._checked("TerminateServiceJobs")
        successful, errors = self.backend.terminate_service_jobs(request["jobs"], request["reason"])
        return _answer(successful=successful, errors=errors)

    def getjobqueuesnapshot(self) -> str:
        return _answer(**self.backend.get_job_queue_snapshot(self._checked("GetJobQueueSnapshot")["jobQueue"]))

    def tags(self) -> str:
        arn = unquote(self.path).partition("/v1/tags/")[2]
        if self.method == "POST":
            request = self._checked("TagResource", resourceArn=arn)
            self.backend.add_tags(arn, request["tags"])
            return _answer()
        self.backend.check_taggable(arn)
        return super().tags()

    @property
    def _body(self) -> str:
        return cast("str", self.body) or "{}"

    def _checked(self, operation: str, **from_the_path: str) -> dict[str, Any]:
        """The request's parameters. Raises ClientException if they are not as the model says."""
        try:
            parameters = json.loads(self._body)
        except ValueError as error:
            raise ClientException(f"the request is not JSON: {error}") from error
        if not isinstance(parameters, dict):
            raise ClientException("the request is not a JSON object")
        given = {name: value for name, value in parameters.items() if value is not None} | from_the_path
        check_request(operation, given)
        return given


def _paging(request: dict[str, Any]) -> dict[str, Any]:
    return {"max_results": request.get("maxResults"), "token": request.get("nextToken")}


def _answer(**members: object) -> str:
    return json.dumps({name: value for name, value in members.items() if value is not None})
