"""Alibaba's openb trace (gpu-v2023): one CSV row a pod, with GPUs of given models.

An instance is one GPU: a fraction of one counts as a whole one. Its type is the GPU model: the first that the pod
accepts, `any` if it names none. The share is the pod's QoS class. A pod runs from when it was scheduled to when it
was deleted. Pods that need no GPU, and those that were never scheduled, are left out. A pod whose phase is Failed
fails at its end.
"""

from policy_engine.trace import columns as c
from policy_engine.trace.formats.draft import Draft, mapped, put_priority, put_runtime, put_share, put_submission
from policy_engine.trace.formats.format import SHARE_OPTIONS, ForeignFormat
from policy_engine.trace.formats.options import Options, TimeUnit
from policy_engine.trace.tables import Table

ANY_MODEL = "any"
_NEEDED = (
    *("name", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase"),
    *("creation_time", "deletion_time", "scheduled_time"),
)


def _draft(source: Table, options: Options) -> Draft:
    draft = Draft(source, _NEEDED)
    draft.leave_out(draft.read_number("num_gpu") == 0, "pods that need no GPU")
    draft.leave_out(draft.read("scheduled_time").is_null(), "pods that were never scheduled")
    draft.put(c.JOB_ID, draft.read("name"), "name")
    put_share(draft, options, draft.read_text("qos"), "qos")
    unit = options.unit or TimeUnit.SECONDS
    put_submission(draft, draft.read("creation_time"), "creation_time", unit, unix=options.unix)
    put_runtime(draft, draft.read_number("deletion_time") - draft.read_number("scheduled_time"), "deletion_time", unit)
    models = draft.read_text("gpu_spec").str.split("|").list.first().fill_null(ANY_MODEL)
    draft.put(c.INSTANCE_TYPE, mapped(draft, models, options.type_of, "", "--type-of"), "gpu_spec")
    gpus = draft.read_number("num_gpu") * (draft.read_number("gpu_milli") / 1000).ceil()
    draft.put(c.INSTANCE_COUNT, gpus, "num_gpu")
    draft.put(c.FAILS, draft.read_text("pod_phase") == "Failed", "pod_phase")
    if options.priority_of is not None:
        put_priority(draft, "qos", options.priority_of)
    _note_models(draft)
    return draft


def _note_models(draft: Draft) -> None:
    models = [name for name in draft.column(c.INSTANCE_TYPE).unique(maintain_order=True) if not name.startswith("ml.")]
    if models:
        help_ = "--type-of MODEL=INSTANCE_TYPE names a model's instance type; '*' is any other model"
        draft.note(f"instance types are GPU models: {', '.join(models)}", help_)


FORMAT = ForeignFormat(
    "openb",
    "Alibaba gpu-v2023 pods: name, num_gpu, gpu_spec, qos, …",
    SHARE_OPTIONS | {"unit", "unix", "priority_of", "type_of"},
    _draft,
)
