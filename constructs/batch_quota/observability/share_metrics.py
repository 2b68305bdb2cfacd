"""A small function that publishes what each quota share uses, borrows and lends: AWS has no such metrics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from batch_quota.observability.notifications import let_logs_use
from batch_quota.validation import require, whole_number_problems

NAMESPACE = "BatchQuota"
_HANDLER = Path(__file__).with_name("share_metrics_handler")
_NETWORK_INTERFACES = "service-role/AWSLambdaENIManagementAccess"
_PACKS_WITH_VPC_RULE = ("HIPAA.Security", "NIST.800.53.R5", "PCI.DSS.321")
_PACKS_WITH_DLQ_RULE = ("HIPAA.Security", "NIST.800.53.R5")


@dataclass(frozen=True, kw_only=True, slots=True)
class ShareMetricsOptions:
    """How the function runs that publishes the metrics of quota shares."""

    namespace: str = NAMESPACE
    """CloudWatch namespace of the metrics."""

    period: Duration | None = None
    """Between two runs, in whole minutes; 5 minutes if left out."""

    log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH
    """How long the log group keeps the lines that the metrics are made from. The metrics themselves stay 15 months."""

    reserved_concurrency: int | None = 1
    """Of the account's concurrency. None reserves nothing, for accounts whose quota is too small to reserve from."""

    runtime: lambda_.Runtime | None = None
    """A Python runtime; Python 3.14 if left out. The function is tested on Python 3.11 and newer."""

    layers: Sequence[lambda_.ILayerVersion] = ()
    """Such as one with a newer boto3 than the runtime's."""

    vpc: ec2.IVpc | None = None
    """A VPC to run in. It must reach AWS Batch and CloudWatch Logs, by interface endpoints or NAT. None is no VPC."""

    vpc_subnets: ec2.SubnetSelection | None = None
    """Where in the VPC; its private subnets if left out."""


class ShareMetrics(Construct):
    """A scheduled Lambda function with all it needs, and no right but to read one queue and to write its own log.

    By queue, share and instance type: CapacityUsage, CapacityBorrowed, CapacityLent (in instances). By queue and share,
    and by queue alone: FrontJobAge (in seconds). A run that fails is not tried again: the next one follows soon, and
    would publish twice otherwise.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        job_queue_arn: str,
        encryption_key: kms.IKey,
        options: ShareMetricsOptions | None = None,
    ) -> None:
        """Make the function, its role, its log group and its schedule.

        :param job_queue_arn: ARN of the queue whose shares it reads.
        :param encryption_key: Encrypts the log group. The policy of a key that is imported must let CloudWatch Logs
            use it.
        :param options: The defaults if left out.
        :raises ValueError: With every problem of the options.
        """
        options = options or ShareMetricsOptions()
        minutes = 5 if options.period is None else options.period.to_minutes(integral=False)
        require(scope, id_, _problems(options, minutes))
        super().__init__(scope, id_)
        self._namespace = options.namespace
        self._period_seconds = round(minutes * 60)
        let_logs_use(encryption_key)
        self._log_group = logs.LogGroup(
            self,
            "Log",
            encryption_key=encryption_key,
            retention=options.log_retention,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self._role = self._make_role(job_queue_arn, options.vpc)
        self._function = lambda_.Function(
            self,
            "Function",
            description="Publishes the metrics of the quota shares of an AWS Batch job queue",
            runtime=options.runtime or lambda_.Runtime.PYTHON_3_14,
            code=_code(),
            handler="handler.handler",
            # By its ARN, so that the CDK does not have the function depend on it a second time: cfn-lint W3005.
            role=iam.Role.from_role_arn(self, "RoleByArn", self._role.role_arn),
            environment={"JOB_QUEUE_ARN": job_queue_arn, "METRIC_NAMESPACE": options.namespace},
            timeout=Duration.seconds(30),
            memory_size=256,
            log_group=self._log_group,
            layers=list(options.layers),
            reserved_concurrent_executions=options.reserved_concurrency,
            retry_attempts=0,
            max_event_age=Duration.seconds(max(60, self._period_seconds)),
            vpc=options.vpc,
            vpc_subnets=options.vpc_subnets,
        )
        self._schedule = events.Rule(
            self,
            "Schedule",
            description="Runs the function that publishes the metrics of quota shares",
            schedule=events.Schedule.expression(_rate(round(minutes))),
            targets=[targets.LambdaFunction(self._function)],
        )
        Validations.of(self._function).acknowledge(*_acknowledged(options))

    def _make_role(self, job_queue_arn: str, vpc: ec2.IVpc | None) -> iam.Role:
        """A role that may read one queue, and write to one log group. `Arn` of a log group covers its streams.

        Of a function in a VPC, Lambda uses the role to make network interfaces.
        """
        allowed = {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": ["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"],
                    "Resource": job_queue_arn,
                },
                {
                    "Effect": "Allow",
                    "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
                    "Resource": self._log_group.log_group_arn,
                },
            ],
        }
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            description="Reads one AWS Batch job queue and writes one log group",
            document=iam.PolicyDocument.from_json(allowed),
        )
        policies: list[iam.IManagedPolicy] = [policy]
        if vpc is not None:
            policies.append(iam.ManagedPolicy.from_aws_managed_policy_name(_NETWORK_INTERFACES))
        role = iam.Role(
            self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"), managed_policies=policies
        )
        if vpc is not None:
            Validations.of(role).acknowledge(
                Acknowledgment(
                    id=f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{_NETWORK_INTERFACES}]",
                    reason="Lambda needs it to place the function in the VPC. AWS keeps it to network interfaces, "
                    "which have no names before they are made, so that no policy could be narrower.",
                )
            )
        return role

    @property
    def namespace(self) -> str:
        """CloudWatch namespace of the metrics."""
        return self._namespace

    @property
    def period_seconds(self) -> int:
        """Seconds between two runs."""
        return self._period_seconds

    @property
    def function(self) -> lambda_.Function:
        """The function."""
        return self._function

    @cached_property
    def function_name(self) -> str:
        """Name of the function."""
        return self._function.function_name

    @property
    def role(self) -> iam.Role:
        """What the function may do."""
        return self._role

    @property
    def log_group(self) -> logs.LogGroup:
        """Where the function writes the metrics to, and its errors."""
        return self._log_group

    @property
    def schedule(self) -> events.Rule:
        """The rule that runs the function."""
        return self._schedule


def _code() -> lambda_.Code:
    """The handler, alone in its folder but for what Python leaves there.

    Its hash is of its bytes alone: equal in every version of the CDK, which would also keep a cache of hashes at home.
    """
    digest = sha256((_HANDLER / "handler.py").read_bytes()).hexdigest()
    return lambda_.Code.from_asset(str(_HANDLER), exclude=["__pycache__"], asset_hash=digest)


def _rate(minutes: int) -> str:
    return "rate(1 minute)" if minutes == 1 else f"rate({minutes} minutes)"


def _problems(options: ShareMetricsOptions, minutes: float) -> Iterator[str]:
    yield from whole_number_problems(
        "period: minutes", int(minutes) if minutes == int(minutes) else minutes, lowest=1, highest=60
    )
    if options.reserved_concurrency is not None:
        yield from whole_number_problems("reserved_concurrency", options.reserved_concurrency, lowest=1)
    if not options.namespace or options.namespace.startswith("AWS/"):
        yield f"namespace: expected one of your own, not {options.namespace!r}"
    if options.vpc_subnets is not None and options.vpc is None:
        yield "vpc_subnets: there is no vpc that they could be in"


def _acknowledged(options: ShareMetricsOptions) -> Iterator[Acknowledgment]:
    """What cdk-nag's packs would have of any function, and this one does better without."""
    for pack in _PACKS_WITH_DLQ_RULE:
        yield Acknowledgment(
            id=f"{pack}-LambdaDLQ",
            reason="The event is a tick of a clock. Nothing would be done with it later: the next tick replaces it, "
            "and the alarm on share metrics tells of runs that fail or do not happen.",
        )
    if options.reserved_concurrency is None:
        for pack in _PACKS_WITH_DLQ_RULE:
            yield Acknowledgment(
                id=f"{pack}-LambdaConcurrency",
                reason="Its schedule starts one run a period, and each ends within 30 seconds: it takes one at a time.",
            )
    if options.vpc is None:
        for pack in _PACKS_WITH_VPC_RULE:
            yield Acknowledgment(
                id=f"{pack}-LambdaInsideVPC",
                reason="The function takes no connections and calls no address but the AWS Batch API, over TLS. There "
                "is nothing in a VPC for it to reach or to be shielded by; the option vpc places it in one.",
            )
