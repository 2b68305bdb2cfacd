"""Resources that cannot both be made, since AWS has one of each name in an account and Region."""

from collections.abc import Iterable, Iterator, Mapping

from policy_engine.diagnostics import described
from policy_engine.template.problems import TemplateProblem, at
from policy_engine.template.resources import ResourceKind, TemplateResource
from policy_engine.topology.reading_errors import ReadingError


def name_clashes(resources: Iterable[TemplateResource], accounts: Mapping[str, str]) -> Iterator[TemplateProblem]:
    """Every resource whose name another one has already. Names of shares are unique in their queue, not here.

    :param accounts: What stands for account and Region of each template, equal for those that surely share them.
    """
    taken: set[tuple[ResourceKind, str, str]] = set()
    for resource in resources:
        name = resource.name
        if resource.kind is ResourceKind.QUOTA_SHARE or name is None or resource.condition is not None:
            continue
        key = (resource.kind, name, accounts[resource.id.template])
        node = resource.get(resource.kind.name_property)
        if key in taken:
            yield TemplateProblem(
                ReadingError.DUPLICATE_KEY,
                f"another {resource.kind.noun} of this account and Region is named {described(name)} already",
                "give it another name; the name of a topology names its queue, environment and policy",
                resource.place if node is None else at(node),
            )
        taken.add(key)
