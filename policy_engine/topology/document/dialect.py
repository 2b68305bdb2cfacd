"""What kinds of documents differ in: how large they may be, which tags they use, and how strictly they are read."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of document."""

    noun: str
    """What messages call a document of this kind."""
    first_keys: str
    """What an empty file should have at least."""
    max_bytes: int
    max_depth: int
    max_nodes: int
    """Scalars, lists and mappings, once aliases are written out."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags that stand for a mapping with one key, by the key: `!Ref x` for `{Ref: x}`."""
    strict: bool = True
    """Whether scalars that readers disagree about are refused. Otherwise they are texts, and an empty value is null."""


TOPOLOGY = Dialect(
    noun="topology",
    first_keys="name, capacity and teams",
    max_bytes=256 * 1024,  # more than a hundred times the size of a usual topology
    max_depth=32,
    max_nodes=20_000,
)

_FUNCTIONS = (
    "And",
    "Base64",
    "Cidr",
    "Equals",
    "FindInMap",
    "GetAtt",
    "GetAZs",
    "GetStackOutput",
    "If",
    "ImportValue",
    "Join",
    "Length",
    "Not",
    "Or",
    "Select",
    "Split",
    "Sub",
    "ToJsonString",
    "Transform",
)
TEMPLATE = Dialect(
    noun="template",
    first_keys="Resources",
    max_bytes=1024 * 1024,  # of a template's body in S3: "Understand CloudFormation quotas" in its user guide
    max_depth=64,
    max_nodes=400_000,
    tags={"!Ref": "Ref", "!Condition": "Condition"} | {f"!{name}": f"Fn::{name}" for name in _FUNCTIONS},
    strict=False,
)
"""CloudFormation templates, whose functions have a long form and a short one."""
