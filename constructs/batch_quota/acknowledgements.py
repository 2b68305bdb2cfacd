"""Wildcards in IAM policies that are meant, said to cdk-nag with the reason. Nothing else is acknowledged with them."""

import json
from collections.abc import Mapping

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct

_RULE = "AwsSolutions-IAM5"


def acknowledge_wildcards(construct: IConstruct, reasons: Mapping[str, str]) -> None:
    """Acknowledge that policies below a construct have these resources, each with a wildcard and a reason.

    Resources may be tokens. cdk-nag names a finding after the resource as the template has it.
    """
    stack = Stack.of(construct)
    Validations.of(construct).acknowledge(
        *(
            Acknowledgment(id=f"{_RULE}[Resource::{_flattened(stack.resolve(resource))}]", reason=reason)
            for resource, reason in reasons.items()
        )
    )


def _flattened(value: object) -> str:
    """A resource in the words of cdk-nag: `arn:<AWS::Partition>:s3:::bucket/*`, `<Bucket83908E77.Arn>/*`.

    What refers to another stack gets its last form at the end of synthesis, so cdk-nag calls it otherwise.
    """
    match value:
        case str():
            return value.replace("${", "<").replace("}", ">")
        case {"Ref": name}:
            return f"<{_flattened(name)}>"
        case {"Fn::GetAtt": [resource, attribute]}:
            return f"<{_flattened(resource)}.{_flattened(attribute)}>"
        case {"Fn::Join": [delimiter, [*parts]]}:
            return str(delimiter).join(map(_flattened, parts))
        case {"Fn::Sub": inner} | {"Fn::ImportValue": inner}:
            return _flattened(inner)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
