"""The MIX2 workload of Chronus (SoCC'21), drawn from Philly: jobs of three classes, with strict, soft or no deadlines.

Its times are read as minutes: submissions end at 20,151, which is two weeks. Jobs of 0 GPUs are left out.
"""

from types import MappingProxyType

from policy_engine.trace import columns as c
from policy_engine.trace.formats.draft import Draft, put_needs, put_priority, put_runtime, put_share, put_submission
from policy_engine.trace.formats.format import SHARE_OPTIONS, ForeignFormat
from policy_engine.trace.formats.options import Options, TimeUnit
from policy_engine.trace.tables import Table

PRIORITIES = MappingProxyType({"strict": 200, "soft": 100, "best": 0})
"""Jobs with a strict deadline before those with a soft one, before best effort."""


def _draft(source: Table, options: Options) -> Draft:
    draft = Draft(source, ("job_id", "user", "num_gpu", "submit_time", "duration", "job_type"))
    draft.leave_out(draft.read_number("num_gpu") == 0, "jobs that need no GPU")
    draft.put(c.JOB_ID, draft.read("job_id"), "job_id")
    put_share(draft, options, draft.read_text("user"), "user")
    unit = options.unit or TimeUnit.MINUTES
    put_submission(draft, draft.read("submit_time"), "submit_time", unit, unix=options.unix)
    put_runtime(draft, draft.read("duration"), "duration", unit)
    put_needs(draft, draft.read("num_gpu"), "num_gpu", options.gpus)
    put_priority(
        draft, "job_type", PRIORITIES if options.priority_of is None else {**PRIORITIES, **options.priority_of}
    )
    return draft


FORMAT = ForeignFormat(
    "philly-mix2",
    "Chronus MIX2: job_id, user, num_gpu, submit_time, …",
    SHARE_OPTIONS | {"gpus", "unit", "unix", "priority_of"},
    _draft,
)
