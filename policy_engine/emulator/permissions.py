"""SimulatePrincipalPolicy, which the SageMaker Python SDK asks before it submits, and moto does not have.

The emulator judges no IAM policies: it allows every call, and so it says.
"""

from typing import cast

from moto.core.responses import ActionResult
from moto.iam.responses import IamResponse


def simulate_principal_policy(self: IamResponse) -> ActionResult:
    """Answer that every action is allowed on every resource."""
    actions = cast("list[str]", self._get_param("ActionNames", []))
    resources = cast("list[str]", self._get_param("ResourceArns", ["*"]))
    results = [
        {"EvalActionName": action, "EvalResourceName": resource, "EvalDecision": "allowed", "MatchedStatements": []}
        for action in actions
        for resource in resources
    ]
    return ActionResult({"EvaluationResults": results, "IsTruncated": False})
