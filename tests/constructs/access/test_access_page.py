"""docs/access.md says what the constructs make."""

import json
import re
from pathlib import Path

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from iam_decisions import principals

from batch_quota import QuotaManagedQueue
from policy_engine.rules import check
from policy_engine.topology import Topology, parse_topology

CHECKOUT = Path(__file__).parents[3]
PAGE = (CHECKOUT / "docs" / "access.md").read_text(encoding="utf-8")
EXAMPLE = (CHECKOUT / "examples" / "cdk" / "access.py").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def topology() -> Topology:
    (text,) = (text for language, text in BLOCKS if language == "yaml")
    return parse_topology(text).topology


def test_nothing_is_wrong_with_the_topology_of_the_page(topology: Topology):
    assert {finding.id for finding in check(topology)} <= {"QM305", "QM311"}  # it lends, and says nothing of the queue


def test_the_statements_are_those_of_the_policies(stack: Stack, topology: Topology):
    QuotaManagedQueue(stack, "Quota", topology=topology, observability=None)
    attached = principals(Template.from_stack(stack).to_json())
    submit, operate, view = (json.loads(text) for language, text in BLOCKS if language == "json")
    told = {
        "search-data-science": [submit, view],
        "search-on-call": [submit, operate, view],
        "finance": [view],
    }
    assert {
        name: sorted((document["Statement"] for document in documents), key=str) for name, documents in attached.items()
    } == {name: sorted(statements, key=str) for name, statements in told.items()}


@pytest.mark.parametrize("acknowledged", [True, False])
def test_the_acknowledgements_of_the_page_are_those_that_a_grant_needs(
    app: App,
    stack: Stack,
    topology: Topology,
    acknowledged: bool,  # noqa: FBT001 (a table)
):
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    retraining = iam.Role(stack, "Retraining", assumed_by=iam.AccountRootPrincipal())
    quota = QuotaManagedQueue(stack, "Quota", topology=topology, observability=None, access=None)
    quota.grant_submit(retraining, team="search")
    quota.grant_view(retraining, team="search")
    (program,) = (text for language, text in BLOCKS if language == "python")
    if acknowledged:
        exec(compile(program, "access.md", "exec"), {"retraining": retraining})  # noqa: S102 (our own page)
        app.synth()
    else:
        with pytest.raises(RuntimeError, match="ValidationFailed"):
            app.synth()


@pytest.mark.parametrize("method", ["grant_submit", "grant_operate", "grant_view"])
def test_the_example_uses_every_grant(method: str):
    assert f".{method}(" in EXAMPLE
    assert f"`{method}`" in PAGE
