"""Topologies from files: as they are written, or as the queues of CloudFormation templates."""

from collections.abc import Mapping
from os import PathLike

from policy_engine.diagnostics import Finding, InputError, Severity, described
from policy_engine.rules import check
from policy_engine.rules.template_checking import check_queue
from policy_engine.template import TemplateQueue, read_template
from policy_engine.topology import Topology, TopologyDocument, parse_topology
from policy_engine.topology.document.dialect import TEMPLATE
from policy_engine.topology.document.opening import content_of
from policy_engine.topology.reading_errors import ReadingError

_MARK_OF_TEMPLATES = b"Resources"


def read_topology(
    path: str | PathLike[str], *, parameters: Mapping[str, str] | None = None, queue: str | None = None
) -> Topology:
    """Read a topology from a YAML or JSON file, or a quota-managed queue from a CloudFormation template.

    A topology in Python alone is `Topology.model_validate({...})`.

    :param path: The file; `-` is standard input.
    :param parameters: Values of a template's parameters. Others have their defaults.
    :param queue: Which queue of a template that has several.
    :raises InputError: With everything that is wrong with the file, each at its line and column.
    """
    return _read(path, parameters, queue).topology


def validate(
    topology: Topology | str | PathLike[str],
    *,
    parameters: Mapping[str, str] | None = None,
    queue: str | None = None,
) -> tuple[Finding, ...]:
    """What the rules find in a topology or a template, as `batch-quota validate` prints it.

    :param topology: Its file, or a topology in memory, whose findings have no positions.
    :param parameters: As for `read_topology`.
    :param queue: As for `read_topology`.
    :returns: Findings by position, then by id. Those of severity `error` would fail a deployment.
    :raises InputError: If a file cannot be read.
    """
    if isinstance(topology, Topology):
        return tuple(check(topology))
    read = _read(topology, parameters, queue)
    if isinstance(read, TemplateQueue):
        return tuple(read.located(finding) for finding in check_queue(read))
    return tuple(check(read.topology, read.sources))


def _read(
    path: str | PathLike[str], parameters: Mapping[str, str] | None, queue: str | None
) -> TopologyDocument | TemplateQueue:
    content, file = content_of(path, TEMPLATE, noun="topology")
    if _MARK_OF_TEMPLATES in content:
        from policy_engine.template.document import template_in

        document = template_in(content, file)
        if document is not None:
            reading = read_template(document, parameters=parameters)
            return _one(reading.queues, reading.findings, queue, file)
    return parse_topology(content, file)


def _one(
    queues: tuple[TemplateQueue, ...], problems: tuple[Finding, ...], name: str | None, file: str
) -> TemplateQueue:
    named = [queue for queue in queues if name in {None, queue.name}]
    if len(named) == 1:
        return named[0]
    if not named and any(problem.severity is Severity.ERROR for problem in problems):
        raise InputError(problems)
    names = ", ".join(queue.name for queue in queues) or "none"
    wanted = f"no queue {described(name)}" if name is not None else f"{len(queues)} queues"
    message = f"{file}: the template has {wanted}, and one is wanted"
    raise InputError([Finding(ReadingError.NO_QUEUE.value, Severity.ERROR, message, f"name one by queue=: {names}")])
