"""YAML 1.2 and JSON text as data, with the position of every key and value.

The text is read by YAML 1.2's core schema: `NO`, `on` and `yes` are texts, `0o17` is a number. Anchors, aliases and
merge keys (`<<`) work. What readers disagree about (a number with leading zeros, a number as a key) is refused.
"""

from policy_engine.topology.document.building import Data, Document, read_document

__all__ = ["Data", "Document", "read_document"]
