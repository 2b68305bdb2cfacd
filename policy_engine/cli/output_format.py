"""The option that says in which form a command prints its result."""

from collections.abc import Callable

import click
from click.decorators import FC


def text_or_json(help_text: str, *, for_people: str = "text") -> Callable[[FC], FC]:
    """`--format`: a form for people, which is the default, or json for programs. The parameter is `output_format`."""
    return click.option(
        "output_format",
        "--format",
        type=click.Choice([for_people, "json"]),
        default=for_people,
        show_default=True,
        help=help_text,
    )
