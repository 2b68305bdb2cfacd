"""The rules' documentation pages, made from their classes: `python -m policy_engine.rules.pages docs/rules`."""

import sys
from collections.abc import Mapping
from inspect import getdoc
from pathlib import Path

import click

from policy_engine.files import writing
from policy_engine.rules.documentation import documentation
from policy_engine.rules.kinds import AccessRule, ChangeRule, Rule
from policy_engine.rules.registry import SERIES, registry
from policy_engine.rules.suppressing import can_be_suppressed

INDEX = "README.md"
_GENERATED = "<!-- Generated from the rules by `python -m policy_engine.rules.pages docs/rules`. Do not edit. -->"
_INTRODUCTION = f"""{_GENERATED}

# Rules

What `batch-quota validate` and synth check about a topology, and about the policies beside a queue; and what
`batch-quota diff` checks about a change.
`batch-quota rules QM101` prints a page in the terminal.

- An **error** makes the topology unusable: AWS would refuse it, or a part of it could have no effect. A change that is
  an error terminates jobs, or fails.
- A **warning** is a risk: it deploys, and wastes capacity or blocks jobs later. A change that is one may stop jobs.
- An **info** is worth knowing.

Warnings and infos about a topology can be [accepted with a reason](suppressing.md). Each page says what AWS documents,
what was observed in its example code, and what is inferred.
"""


def pages() -> Mapping[str, str]:
    """The text of each page by its file name: the index, and one page a rule."""
    return {INDEX: _index()} | {f"{rule.id}.md": _page(rule) for rule in registry().values()}


def _index() -> str:
    parts = [_INTRODUCTION]
    for start, package in SERIES.items():
        title = package.__name__.rpartition(".")[2].replace("_", " ").capitalize()
        rows = [
            f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {documentation(rule).title} |"
            for rule in registry().values()
            if rule.id.startswith(start)
        ]
        table = "\n".join(["| Rule | Severity | What it finds |", "| --- | --- | --- |", *rows])
        parts.append(f"## {title}\n\n{getdoc(package)}\n\n{table}\n")
    return "\n".join(parts)


def _page(rule: Rule) -> str:
    says = documentation(rule)
    if isinstance(rule, ChangeRule):
        accepted = f"can be [accepted](../change-safety.md#accepting-a-change) with `--accept {rule.id}`"
    elif isinstance(rule, AccessRule):
        accepted = "can be [acknowledged in synth](../policy-validation.md#accepting-a-finding), with a reason"
    else:
        accepted = (
            "can be [accepted with a reason](suppressing.md)" if can_be_suppressed(rule) else "cannot be suppressed"
        )
    head = f"{_GENERATED}\n\n# {rule.id}: {says.title}\n\nSeverity: {rule.severity}; {accepted}.\n\n"
    return f"{head}{says.text}\n"


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False, exists=True))
def command(directory: Path) -> None:
    """Write the index and one page for each rule into DIRECTORY, over those that are there."""
    texts = pages()
    for name, text in texts.items():
        with writing(directory / name, overwrite=True) as file:
            file.write(text.encode())
    stale = sorted(path.name for path in directory.glob("QM*.md") if path.name not in texts)
    click.echo(f"wrote {len(texts)} pages" + (f"; of no rule: {', '.join(stale)}" if stale else ""), err=True)
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    command()
