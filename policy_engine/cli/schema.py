"""`batch-quota schema`: print a JSON Schema."""

import json
from importlib.resources import files

import click


@click.command("schema")
@click.argument("document", type=click.Choice(["topology", "outcome", "comparison", "explanation"]), default="topology")
def command(document: str) -> None:
    """Print the JSON Schema of a topology (the default), or of what `replay`, `compare` or `explain` print.

    \b
    Examples:
      batch-quota schema > topology.schema.json
      batch-quota schema outcome
      batch-quota schema comparison
      batch-quota schema explanation
    """  # noqa: D301 (click takes \\b as: keep these lines as they are)
    click.echo(_topology() if document == "topology" else _result(document))


def _topology() -> str:
    from policy_engine.topology.schema import topology_schema

    return json.dumps(topology_schema(), indent=2)


def _result(document: str) -> str:
    return files("policy_engine.report").joinpath(f"{document}.schema.json").read_text(encoding="utf-8").rstrip()
