"""The topic that alarms and events go to, and the key that encrypts it and the log of the share metrics."""

from aws_cdk import Fn, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

_ALARMS_OF_THIS_ACCOUNT = {
    "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
    "ArnLike": {
        "aws:SourceArn": {"Fn::Sub": "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*"}
    },
}
_LOG_GROUPS_OF_THIS_ACCOUNT = {
    "ArnLike": {
        "kms:EncryptionContext:aws:logs:arn": {
            "Fn::Sub": "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:*"
        }
    }
}


def make_key(scope: Construct, id_: str) -> kms.Key:
    """A customer managed key that KMS rotates. Neither EventBridge nor CloudWatch can publish with `alias/aws/sns`.

    What it encrypts does not outlive the stack, so the key does not either: KMS deletes it after its waiting period.
    """
    return kms.Key(
        scope,
        id_,
        description="Notifications and share metrics of an AWS Batch quota management queue",
        enable_key_rotation=True,
        removal_policy=RemovalPolicy.DESTROY,
    )


def make_topic(scope: Construct, id_: str, key: kms.IKey) -> sns.Topic:
    """A topic that is encrypted by a key and takes messages over TLS only."""
    return sns.Topic(scope, id_, master_key=key, enforce_ssl=True)


def let_alarms_publish(topic: sns.ITopic) -> None:
    """Let the alarms of this account and Region publish, and use the topic's key for it.

    Has no effect on a topic that is imported: its own policy must allow it.
    """
    topic.grant_publish(iam.ServicePrincipal("cloudwatch.amazonaws.com", conditions=_ALARMS_OF_THIS_ACCOUNT))


def let_logs_use(key: kms.IKey) -> None:
    """Let CloudWatch Logs encrypt the log groups of this account and Region (CloudWatch Logs user guide).

    Has no effect on a key that is imported: its own policy must allow it.
    """
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(Fn.sub("logs.${AWS::Region}.${AWS::URLSuffix}"))],
            actions=["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
            resources=["*"],
            conditions=_LOG_GROUPS_OF_THIS_ACCOUNT,
        )
    )
