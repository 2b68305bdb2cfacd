"""Reading quota-managed queues back from CloudFormation templates.

A template carries what AWS needs to know, and less than a topology. What is lost on the way back:

- `submitters`, `max_priority`, `largest_job`, `expectations`, `assumptions`, `suppressions`, teams without shares and
  training plans: a template has none of them.
- Teams come back by the tag `batch-quota:team`; shares without it are of the team `no-team`. A team's tags come back as
  tags of each of its shares. Tags whose value only deployment decides are left out.
- `borrow_limit: -1` and no `borrow_limit` are one thing, and come back as none. The order of shares and of instance
  types is the template's.
- The name comes back if the queue, the service environment and the policy are named as a topology names them.
  Otherwise the queue's name, or its logical id, is the topology's name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike

from policy_engine.diagnostics import Finding
from policy_engine.template.building import topology_of
from policy_engine.template.clashes import name_clashes
from policy_engine.template.declared import completed
from policy_engine.template.document import TemplateDocument, open_template
from policy_engine.template.nodes import Json
from policy_engine.template.parts import part_problems
from policy_engine.template.places import Places
from policy_engine.template.problems import TemplateProblem
from policy_engine.template.queues import Linking, QueueResources
from policy_engine.template.resources import Place, TemplateResource, loops_in, resources_of
from policy_engine.template.statements import AccessStatement, statements_of
from policy_engine.template.together import TemplateInput, Together
from policy_engine.topology.model import Topology
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import Path, SourceMap

_ALONE = ""
"""The name of a template that is read by itself."""


@dataclass(frozen=True, slots=True)
class TemplateQueue:
    """A quota-managed queue of a template, as a topology."""

    topology: Topology
    sources: SourceMap
    """Positions in the template's file by the topology's paths. Empty for a template that was no file."""
    resources: QueueResources
    _places: Places

    @property
    def name(self) -> str:
        """The queue's name, or its logical id if the template does not name it."""
        return self.resources.queue.name or self.resources.queue.id.logical_id

    def place(self, path: Path) -> Place:
        """Where in which template a part of the topology stands, or the nearest part around it."""
        return self._places.nearest(path)

    def located(self, finding: Finding) -> Finding:
        """A finding about the topology as one about the template, with the template's path."""
        return replace(finding, path=self.place(finding.path).path)

    def with_declared(self, declared: Topology) -> "TemplateQueue":
        """The same queue, with what a template cannot carry taken from the topology that it was made from.

        Where the two differ in what a template carries, the template is right: it is what will be deployed.
        """
        return replace(self, topology=completed(self.topology, declared))


@dataclass(frozen=True, slots=True)
class TemplateReading:
    """What is read from templates: the queues that are known, and what stands in the way of others."""

    queues: tuple[TemplateQueue, ...]
    problems: tuple[TemplateProblem, ...]
    unmanaged: tuple[TemplateResource, ...]
    """SageMaker Training queues without quota management."""
    sources: SourceMap
    statements: tuple[AccessStatement, ...]
    """What IAM policies in the templates allow. None without a quota-managed queue, which they could be about."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The problems as findings, by position."""
        return tuple(sorted((problem.finding(self.sources) for problem in self.problems), key=_by_position))


def read_template(
    template: str | PathLike[str] | TemplateDocument | Mapping[str, Json],
    *,
    parameters: Mapping[str, str] | None = None,
) -> TemplateReading:
    """Read the quota-managed queues of a CloudFormation template.

    :param template: A path (`-` is standard input), or the template itself. Intrinsic functions may have their long or
        their short form.
    :param parameters: Values of the template's parameters. Others have their defaults.
    :raises InputError: With everything that is wrong with the file, by position. What stands in the way of reading a
        single queue is in the result instead.
    """
    if isinstance(template, str | PathLike):
        template = open_template(template)
    document = template if isinstance(template, TemplateDocument) else TemplateDocument(template, SourceMap())
    together = Together({_ALONE: TemplateInput(document.data)}, {_ALONE: dict(parameters or {})})
    return _read(together, document.sources)


def read_templates(templates: Mapping[str, TemplateInput]) -> TemplateReading:
    """Read the quota-managed queues of templates that belong together, such as those of one CDK app.

    Their queues, shares and environments may be spread over them: by exports, by outputs, by nested stacks, or by name
    within one account and Region. Keys name the templates in the places of the result.
    """
    return _read(Together(templates, {}), SourceMap())


def _read(together: Together, sources: SourceMap) -> TemplateReading:
    resources = [resource for scope in together.scopes.values() for resource in resources_of(scope)]
    linking = Linking(resources, {name: together.account(name) for name in together.scopes})
    queues: list[TemplateQueue] = []
    problems = [_loop(place) for scope in together.scopes.values() for place in loops_in(scope)]
    problems += name_clashes(resources, {name: together.surely_same_account(name) for name in together.scopes})
    managed = list(linking.queues())
    problems += part_problems(managed)
    for found in managed:
        topology, places, of_queue = topology_of(found, sources)
        problems += of_queue
        if topology is not None:
            queues.append(TemplateQueue(topology, places.as_sources(), found, places))
    statements = tuple(statements_of(together.scopes)) if managed else ()
    return TemplateReading(tuple(queues), (*problems, *linking.problems), tuple(linking.unmanaged), sources, statements)


def _loop(place: Place) -> TemplateProblem:
    message = "Fn::ForEach makes resources of quota management that are known only at deployment"
    mend = "judge the template that `aws cloudformation get-template --template-stage Processed` prints"
    return TemplateProblem(ReadingError.UNKNOWN_UNTIL_DEPLOYMENT, message, mend, place)


def _by_position(finding: Finding) -> tuple[int, int]:
    return (finding.position.line, finding.position.column) if finding.position else (0, 0)
