"""The JSON Schema of a topology, for editors: what may be written where, with a description of every key.

Where AWS's limits are known it is stricter than the model, so that an editor shows them. Instance types that botocore
does not know yet are accepted if they look like one; `batch-quota validate` has the last word.
"""

from types import NoneType
from typing import cast

from policy_engine.assumptions import Assumptions
from policy_engine.topology.instance_types import training_instance_types
from policy_engine.topology.model import Topology
from policy_engine.topology.reading import EXTENSION_PREFIX
from policy_engine.topology.service_limits import (
    MAX_CAPACITY_LIMITS,
    MAX_NAME_LENGTH,
    MAX_TAG_KEY_LENGTH,
    MAX_TAG_VALUE_LENGTH,
    MAX_TAGS,
    NAME_CHARACTERS,
)

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
JsonObject = dict[str, Json]

# What editors support best. The schema uses nothing that later dialects read in another way.
_DIALECT = "http://json-schema.org/draft-07/schema#"
_INSTANCE_TYPE = r"^ml\.[a-z0-9-]+\.[a-z0-9-]+$"
_CAPACITY: JsonObject = {"$ref": "#/$defs/Capacity"}
_ENVIRONMENT_CAPACITY: JsonObject = {"$ref": "#/$defs/EnvironmentCapacity"}
_INSTANCES: JsonObject = {"type": "integer", "minimum": 1}
_ENTRIES: JsonObject = {"$ref": "#/$defs/CapacityEntries"}
_TAGS: JsonObject = {"$ref": "#/$defs/Tags"}
_DROPPED: dict[str, tuple[type, ...]] = {"title": (str,), "default": (list, dict, NoneType)}
_NAME: JsonObject = {"pattern": f"^[{NAME_CHARACTERS}]{{1,{MAX_NAME_LENGTH}}}$"}


def topology_schema() -> JsonObject:
    """The JSON Schema of a topology document."""
    schema = cast("JsonObject", _written_by_hand(Topology.model_json_schema()))
    definitions = cast("JsonObject", schema.pop("$defs"))
    definitions["Capacity"] = _by_instance_type("Whole instances of each SageMaker instance type.", _INSTANCES)
    definitions["EnvironmentCapacity"] = _by_instance_type(
        "Whole instances of each SageMaker instance type: on demand, by training plans, or both.",
        _ENTRIES,
    )
    definitions["CapacityEntries"] = _entries()
    definitions["Tags"] = _tags()
    share, team, queue = (definitions[name] for name in ("QuotaShare", "Team", "Queue"))
    for owner, key, replacement in (
        (schema, "capacity", _ENVIRONMENT_CAPACITY),
        (share, "capacity", _CAPACITY),
        (share, "largest_job", _CAPACITY),
        (share, "tags", _TAGS),
        (team, "tags", _TAGS),
        (queue, "tags", _TAGS),
    ):
        field = _property(owner, key)
        properties = cast("JsonObject", cast("JsonObject", owner)["properties"])
        properties[key] = replacement | {"description": field["description"]}
    _property(schema, "name")["pattern"] = f"^[{NAME_CHARACTERS}]+$"
    _property(team, "shares").update({"propertyNames": _NAME, "minProperties": 1})
    _property(schema, "teams").update({"minProperties": 1})
    for name, default in Assumptions().model_dump(mode="json").items():
        _property(definitions["Assumptions"], name)["default"] = default
    title = {"$schema": _DIALECT, "title": "Batch Quota team topology"}
    return title | schema | {"patternProperties": {f"^{EXTENSION_PREFIX}": True}, "$defs": definitions}


def _by_instance_type(description: str, value: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "description": description,
        "properties": dict.fromkeys(training_instance_types(), value),
        "patternProperties": {_INSTANCE_TYPE: value},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": MAX_CAPACITY_LIMITS,
    }


def _entries() -> JsonObject:
    entry: list[Json] = [_INSTANCES, {"$ref": "#/$defs/TrainingPlanCapacity"}]
    return {
        "description": "Whole instances on demand, a training plan's instances, or a list of such entries.",
        "anyOf": [*entry, {"type": "array", "minItems": 1, "items": {"anyOf": entry}}],
    }


def _tags() -> JsonObject:
    return {
        "type": "object",
        "propertyNames": {"minLength": 1, "maxLength": MAX_TAG_KEY_LENGTH},
        "additionalProperties": {"type": "string", "maxLength": MAX_TAG_VALUE_LENGTH},
        "maxProperties": MAX_TAGS,
    }


def _written_by_hand(schema: Json) -> Json:
    """The schema without generated titles and empty defaults, and without null for what can be left out."""
    if isinstance(schema, list):
        return [_written_by_hand(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    options = schema.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        (option,) = (option for option in options if option != {"type": "null"})
        schema = {key: value for key, value in schema.items() if key != "anyOf"} | cast("JsonObject", option)
    dropped = {key for key in ("title", "default") if isinstance(schema.get(key), _DROPPED[key])}
    return {key: _written_by_hand(value) for key, value in schema.items() if key not in dropped}


def _property(schema: Json, name: str) -> JsonObject:
    properties = cast("JsonObject", cast("JsonObject", schema)["properties"])
    return cast("JsonObject", properties[name])
