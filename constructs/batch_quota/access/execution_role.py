"""The role that a team's training jobs run as."""

from collections.abc import Iterable, Iterator, Sequence

from aws_cdk import Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from batch_quota.access.statements import SAGEMAKER, Statement
from batch_quota.acknowledgements import acknowledge_wildcards

_LOG_GROUP = "/aws/sagemaker/TrainingJobs"
_NAMESPACE = "/aws/sagemaker/TrainingJobs"
_OBJECTS_REASON = "Jobs choose the keys of what they read and write. The bucket is exactly one that was passed in."
_LOGS_REASON = (
    "SageMaker makes a log stream for each training job, whose name Batch makes up. The log group is exactly its own."
)
_NO_RESOURCE_REASON = (
    "PutMetricData and GetAuthorizationToken take no resource (service authorization reference). Metrics are limited "
    "to SageMaker's namespace by the condition."
)


class TrainingExecutionRole(iam.Role):
    """A SageMaker execution role for training jobs, which only training jobs of this account and Region can get.

    It may write SageMaker's logs and metrics of training jobs, and use the buckets, keys and image repositories that
    are passed in; nothing else. Its permissions are in a managed policy. They follow "CreateTrainingJob API: Execution
    Role Permissions" and "Cross-service confused deputy prevention" in the SageMaker AI developer guide.

    Jobs in a VPC need more: add it to the role.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        input_buckets: Sequence[s3.IBucket] = (),
        output_buckets: Sequence[s3.IBucket] = (),
        encryption_keys: Sequence[kms.IKey] = (),
        volume_encryption_keys: Sequence[kms.IKey] = (),
        repositories: Sequence[ecr.IRepository] = (),
        role_name: str | None = None,
    ) -> None:
        """Make an execution role.

        :param input_buckets: Buckets whose objects jobs may read, with the keys that the CDK knows to encrypt them.
        :param output_buckets: Buckets whose objects jobs may read and write: models, checkpoints. Their keys likewise.
        :param encryption_keys: Further keys that encrypt the objects, such as those of imported buckets. A key of
            another account has to allow the role too.
        :param volume_encryption_keys: Keys for the volumes of training instances (`VolumeKmsKeyId`).
        :param repositories: Image repositories that jobs may pull from.
        :param role_name: CloudFormation makes one up if left out.
        """
        stack = Stack.of(scope)
        training_jobs = stack.format_arn(service="sagemaker", resource="training-job", resource_name="*")
        super().__init__(
            scope,
            id_,
            role_name=role_name,
            assumed_by=iam.ServicePrincipal(SAGEMAKER, conditions={"ArnLike": {"aws:SourceArn": training_jobs}}),
            description="Runs SageMaker training jobs",
        )
        log_group = f"{stack.format_arn(service='logs', resource='log-group')}:{_LOG_GROUP}"
        objects = {bucket.arn_for_objects("*"): _OBJECTS_REASON for bucket in (*input_buckets, *output_buckets)}
        statements = [
            *_observing(log_group),
            *_buckets([*input_buckets, *output_buckets], output_buckets),
            *_keys(
                _arns_of_keys(input_buckets),
                [*_arns_of_keys(output_buckets), *(key.key_arn for key in encryption_keys)],
                [key.key_arn for key in volume_encryption_keys],
            ),
            *_images([repository.repository_arn for repository in repositories]),
        ]
        policy = iam.ManagedPolicy(
            self,
            "Permissions",
            description="What SageMaker training jobs may use",
            roles=[self],
            statements=[
                iam.PolicyStatement(
                    actions=statement.actions, resources=statement.resources, conditions=statement.conditions
                )
                for statement in statements
            ],
        )
        acknowledge_wildcards(policy, {f"{log_group}:*": _LOGS_REASON, "*": _NO_RESOURCE_REASON} | objects)


def _observing(log_group: str) -> Iterator[Statement]:
    yield Statement(
        ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
        [log_group, f"{log_group}:*"],
    )
    yield Statement(["cloudwatch:PutMetricData"], ["*"], {"StringEquals": {"cloudwatch:namespace": _NAMESPACE}})


def _buckets(readable: Sequence[s3.IBucket], writable: Sequence[s3.IBucket]) -> Iterator[Statement]:
    if readable:
        yield Statement(["s3:ListBucket"], _once(bucket.bucket_arn for bucket in readable))
        yield Statement(["s3:GetObject"], _once(bucket.arn_for_objects("*") for bucket in readable))
    if writable:
        yield Statement(["s3:PutObject"], _once(bucket.arn_for_objects("*") for bucket in writable))


def _arns_of_keys(buckets: Sequence[s3.IBucket]) -> list[str]:
    keys = [bucket.encryption_key for bucket in buckets]
    return [key.key_arn for key in keys if key is not None]


def _keys(readable: Sequence[str], writable: Sequence[str], volume_keys: Sequence[str]) -> Iterator[Statement]:
    only_readable = _once(arn for arn in readable if arn not in writable)
    if only_readable:
        yield Statement(["kms:Decrypt"], only_readable)
    if writable:
        yield Statement(["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"], _once(writable))
    if volume_keys:
        yield Statement(["kms:CreateGrant"], _once(volume_keys), {"Bool": {"kms:GrantIsForAWSResource": "true"}})


def _images(repository_arns: Sequence[str]) -> Iterator[Statement]:
    if repository_arns:
        yield Statement(
            ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"], repository_arns
        )
        yield Statement(["ecr:GetAuthorizationToken"], ["*"])


def _once(arns: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(arns))
