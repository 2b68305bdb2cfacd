"""What a command is about: a topology, written as one, or as the resources of a CloudFormation template."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from click.decorators import FC

from policy_engine.cli.pairs import pair_option
from policy_engine.diagnostics import Finding, InputError, Position, Severity, described
from policy_engine.topology import SourceMap, Topology, parse_topology
from policy_engine.topology.document.dialect import TEMPLATE
from policy_engine.topology.document.opening import content_of
from policy_engine.topology.reading_errors import ReadingError

if TYPE_CHECKING:
    from policy_engine.change import QueueSetup
    from policy_engine.template import TemplateQueue, TemplateResource

_MARK_OF_TEMPLATES = b"Resources"

parameter_option: Callable[[FC], FC] = pair_option(
    "--parameter", "parameters", "NAME=VALUE", "Value of a template's parameter, instead of its default."
)
queue_option: Callable[[FC], FC] = click.option(
    "queue_name", "--queue", metavar="NAME", help="Which queue of a template that has several."
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A topology, and where each part of it stands in its file."""

    topology: Topology
    sources: SourceMap
    queue: "TemplateQueue | None" = None
    """The queue of a template that it was read from."""

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.topology.queue_name if self.queue is None else self.queue.name

    def findings(self) -> list[Finding]:
        """What the rules find. The paths of findings in a template are the template's."""
        if self.queue is None:
            from policy_engine.rules import check

            return check(self.topology, self.sources)
        from policy_engine.rules.template_checking import check_queue

        return [self.queue.located(finding) for finding in check_queue(self.queue)]

    def setup(self) -> "QueueSetup":
        """The resources that it makes, or is made from."""
        from policy_engine.change import setup_of_queue, setup_of_topology

        if self.queue is not None:
            return setup_of_queue(self.queue)
        return setup_of_topology(self.topology, self.sources)


@dataclass(frozen=True, slots=True)
class Subjects:
    """All that is in a file."""

    subjects: tuple[Subject, ...]
    problems: tuple[Finding, ...]
    """What stands in the way of reading queues of a template, and what is taken to be so."""
    is_template: bool
    unmanaged: "tuple[TemplateResource, ...]" = ()
    """SageMaker Training queues of a template without quota management."""
    access: tuple[Finding, ...] = ()
    """What the rules find in the IAM policies of a template."""


def read_subjects(path: str, parameters: Mapping[str, str]) -> Subjects:
    """Read a topology, or the queues of a template: what it is shows in the file. `-` is standard input.

    Raises InputError if it is neither, or cannot be read.
    """
    content, file = content_of(path, TEMPLATE, noun="topology")
    if _MARK_OF_TEMPLATES in content:
        from policy_engine.rules.access_checking import check_access
        from policy_engine.template import read_template
        from policy_engine.template.document import template_in

        document = template_in(content, file)
        if document is not None:
            reading = read_template(document, parameters=parameters)
            queues = tuple(Subject(queue.topology, queue.sources, queue) for queue in reading.queues)
            problems = reading.findings or _nothing_in(queues, file)
            access = tuple(finding for finding, _ in check_access(reading))
            return Subjects(queues, problems, is_template=True, unmanaged=reading.unmanaged, access=access)
    read = parse_topology(content, file)
    return Subjects((Subject(read.topology, read.sources),), (), is_template=False)


def read_subject(
    path: str, parameters: Mapping[str, str], queue_name: str | None, note: Callable[[Finding], None]
) -> Subject:
    """The one topology in a file, or the queue of a template with this name.

    Calls `note` with warnings about the reading. Raises InputError if it is not known which one is meant, or if it
    cannot be read.
    """
    read = read_subjects(path, parameters)
    named = [each for each in read.subjects if queue_name in {None, each.name}]
    if len(named) == 1:
        for problem in read.problems:
            note(problem)
        return named[0]
    if any(problem.severity is Severity.ERROR for problem in read.problems) and not named:
        raise InputError(read.problems)
    raise no_such_queue(path, queue_name, read.subjects)


def no_such_queue(path: str, queue_name: str | None, subjects: Sequence[Subject]) -> InputError:
    """What to raise if it is not known which queue of a file is meant."""
    names = [each.name for each in subjects]
    if queue_name is not None:
        message = f"there is no queue {described(queue_name)}"
    else:
        message = f"there are {len(names)} queues" if names else "there is no queue"
    mend = f"name one with --queue: {', '.join(names)}" if names else ""
    return InputError([Finding(ReadingError.NO_QUEUE.value, Severity.ERROR, message, mend, (), Position(path, 1, 1))])


def _nothing_in(queues: tuple[Subject, ...], file: str) -> tuple[Finding, ...]:
    if queues:
        return ()
    message = "the template has no quota-managed queue: there is nothing to check"
    return (Finding(ReadingError.NO_QUEUE.value, Severity.INFO, message, "", (), Position(file, 1, 1)),)
