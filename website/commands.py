"""The page on all commands, from the parser of `batch-quota`: what `--help` says, as Markdown."""

import re
from collections.abc import Iterator
from html import escape
from inspect import cleandoc

import click

from policy_engine.cli import main

_KEPT = "\b"
"""Click's mark of a paragraph whose lines stay as they are."""
_EXAMPLES = "Examples:"
_SPECIAL = re.compile(r"([\\`*_{}\[\]#|])")
_INTRODUCTION = """# Commands

Made from the parser of `batch-quota`, which says the same by `--help`. Results go to standard output, everything else
to standard error. The exit status is 0 if all is well, 1 for findings or a failed gate, 2 for unusable input.
"""


def commands_page() -> str:
    """The page: a section for each command, and within a group for each of its commands."""
    context = click.Context(main, info_name="batch-quota", **main.context_settings)
    return "\n".join([_INTRODUCTION, *_sections(main, context, level=2)])


def _sections(group: click.Group, context: click.Context, level: int) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        within = click.Context(command, info_name=name, parent=context)
        yield f"{'#' * level} {within.command_path}\n"
        yield from _about(command, within)
        if isinstance(command, click.Group):
            yield from _sections(command, within, level + 1)


def _about(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    for paragraph in re.split(r"\n\s*\n", cleandoc(command.help or "")):
        yield from _paragraph(paragraph)
    options = [parameter for parameter in command.get_params(context) if isinstance(parameter, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context)) is not None]
    yield "| option | meaning |\n| --- | --- |"
    yield from (f"| `{written}` | {_escaped(meaning)} |" for written, meaning in records)
    yield ""


def _paragraph(text: str) -> Iterator[str]:
    if not text.startswith(_KEPT):
        yield f"{_escaped(text)}\n"
        return
    title, *lines = text.removeprefix(_KEPT).strip("\n").splitlines()
    yield f"{_escaped(title)}\n"
    yield "\n".join(
        ["```sh" if title == _EXAMPLES else "```text", *(line.removeprefix("  ") for line in lines), "```\n"]
    )


def _escaped(text: str) -> str:
    """As Markdown says it, but for what is code already."""
    code = re.split(r"(`[^`]+`)", " ".join(text.split()))
    code[::2] = [_SPECIAL.sub(r"\\\1", escape(part, quote=False)) for part in code[::2]]
    return "".join(code)
