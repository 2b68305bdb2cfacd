"""Names of resources as they go into the template."""

from aws_cdk import Resource

from batch_quota.validation import is_token


def known(name: str | None) -> str | None:
    """The name that was given, if it is plain text; None if CloudFormation or the CDK makes it."""
    return None if name is None or is_token(name) else name


def rendered(resource: Resource, name: str | None) -> str:
    """What the template says. Of a plain name jsii is not asked: it would cost a round trip to Node."""
    return known(name) or resource._physical_name
