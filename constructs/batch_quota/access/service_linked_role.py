"""The service-linked role by which AWS Batch runs SageMaker training jobs."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from batch_quota.access.granting import grant
from batch_quota.access.statements import Statement

SERVICE = "sagemaker-queuing.batch.amazonaws.com"
ROLE_NAME = "AWSServiceRoleForAWSBatchWithSagemaker"


class BatchSageMakerServiceLinkedRole(Construct):
    """The account's role `AWSServiceRoleForAWSBatchWithSagemaker`, made before anything needs it.

    An account has one. Batch makes it with the account's first service environment, if whoever makes that may do
    `iam:CreateServiceLinkedRole`, so most stacks need no such construct. Making it where it exists fails; deleting the
    stack deletes the role, which AWS refuses while a service environment is there. Put it into a stack of its own.

    Source: "Using roles for AWS Batch with SageMaker AI" in the AWS Batch user guide.
    """

    def __init__(self, scope: Construct, id_: str) -> None:
        """Make the role. Service environments of the same app need `node.add_dependency` on it."""
        super().__init__(scope, id_)
        iam.CfnServiceLinkedRole(self, "Resource", aws_service_name=SERVICE)

    @staticmethod
    def from_account(scope: Construct, id_: str) -> iam.IRole:
        """Refer to the role of the stack's account. Nobody can change it."""
        return iam.Role.from_role_arn(scope, id_, _role_arn(scope), mutable=False)

    @staticmethod
    def grant_create(scope: Construct, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal make the role, and so the account's first service environment.

        :param scope: Whose account is meant.
        :param grantee: The principal, such as the role that deploys.
        """
        to_make_it = Statement(
            ["iam:CreateServiceLinkedRole"],
            [_role_arn(scope)],
            {"StringEquals": {"iam:AWSServiceName": SERVICE}},
        )
        return grant(scope, grantee, [to_make_it])

    @property
    def role_arn(self) -> str:
        """ARN of the role."""
        return _role_arn(self)


def _role_arn(scope: Construct) -> str:
    return Stack.of(scope).format_arn(
        service="iam", region="", resource="role", resource_name=f"aws-service-role/{SERVICE}/{ROLE_NAME}"
    )
