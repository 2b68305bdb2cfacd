"""Any table at all: the user says which of its columns is which."""

import polars as pl

from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.topology.suggestions import did_you_mean
from policy_engine.trace import columns as c
from policy_engine.trace.formats.draft import (
    Draft,
    mapped,
    put_needs,
    put_priority,
    put_runtime,
    put_share,
    put_submission,
    scaled,
)
from policy_engine.trace.formats.format import SHARE_OPTIONS, ForeignFormat
from policy_engine.trace.formats.options import Options, TimeUnit
from policy_engine.trace.tables import Table

GPU_COUNT, CPU_COUNT = "gpus", "cpus"
TARGETS = (*c.ALL, GPU_COUNT, CPU_COUNT)
"""What a source column can be mapped to: the native columns, and sizes that become instances."""


def _draft(source: Table, options: Options) -> Draft:
    targets = {column: column for column in TARGETS if column in source.columns and column not in options.constants}
    targets |= options.columns
    _check_targets(source, [*options.columns, *options.constants])
    draft = Draft(source, tuple(dict.fromkeys(targets.values())))
    unit = options.unit or TimeUnit.SECONDS
    for target, origin in targets.items():
        values = draft.read(origin)
        match target:
            case c.SHARE:
                put_share(draft, options, draft.read_text(origin), origin)
            case c.SUBMITTED_AT:
                put_submission(draft, values, origin, unit, unix=options.unix)
            case c.RUNTIME:
                put_runtime(draft, values, origin, unit)
            case c.PRIORITY if options.priority_of is not None:
                put_priority(draft, origin, options.priority_of)
            case c.INSTANCE_TYPE:
                types = mapped(draft, draft.read_text(origin), options.type_of, "", "--type-of")
                draft.put(target, types, origin)
            case "gpus" | "cpus":
                put_needs(draft, values, origin, options.gpus if target == GPU_COUNT else options.cpus)
            case c.CHECKPOINT | c.ATTEMPT:
                draft.put(target, scaled(values, unit), origin)
            case _:
                draft.put(target, values, origin)
    for target, value in options.constants.items():
        _put_constant(draft, target, value, options)
    if c.SHARE not in draft.columns and (options.share is not None or options.spread is not None):
        put_share(draft, options, None)
    return draft


def _put_constant(draft: Draft, target: str, value: str, options: Options) -> None:
    if target in {GPU_COUNT, CPU_COUNT}:
        size = pl.Series([value]).new_from_index(0, len(draft))
        put_needs(draft, size, "", options.gpus if target == GPU_COUNT else options.cpus)
    else:
        draft.put_all(target, value)


def _check_targets(source: Table, targets: list[str]) -> None:
    findings = []
    for target in dict.fromkeys(targets):
        if target not in TARGETS:
            help_ = did_you_mean(target, TARGETS, f"a trace has {', '.join(TARGETS)}")
            message = f"a trace has no column {target}"
            findings.append(Finding("TR045", Severity.ERROR, message, help_, position=source.position(0, None)))
        if targets.count(target) > 1:
            message = f"the column {target} is given both a source column and a value"
            findings.append(Finding("TR045", Severity.ERROR, message, position=source.position(0, None)))
    if findings:
        raise InputError(findings)


FORMAT = ForeignFormat(
    "columns",
    "any CSV, JSON Lines or Parquet, with --map COLUMN=SOURCE",
    SHARE_OPTIONS | {"gpus", "cpus", "unit", "unix", "priority_of", "type_of", "columns", "constants"},
    _draft,
)
