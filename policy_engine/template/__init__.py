"""CloudFormation templates: reading the quota-managed queues in them back into topologies."""

from policy_engine.template.building import NO_TEAM
from policy_engine.template.problems import TemplateProblem
from policy_engine.template.queues import QueueResources
from policy_engine.template.reading import TemplateQueue, TemplateReading, read_template, read_templates
from policy_engine.template.resources import Place, ResourceKind, TemplateResource
from policy_engine.template.statements import AccessStatement, ResourcePattern
from policy_engine.template.together import TemplateInput

__all__ = [
    "NO_TEAM",
    "AccessStatement",
    "Place",
    "QueueResources",
    "ResourceKind",
    "ResourcePattern",
    "TemplateInput",
    "TemplateProblem",
    "TemplateQueue",
    "TemplateReading",
    "TemplateResource",
    "read_template",
    "read_templates",
]
