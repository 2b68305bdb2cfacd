"""Workloads of OpenDC (Parquet, one row a task), and the SURF trace that it publishes in the same form.

Times are milliseconds, submissions from 1970. Tasks name no team. CPUs become instances.
"""

from policy_engine.trace import columns as c
from policy_engine.trace.formats.draft import Draft, put_needs, put_runtime, put_share, put_submission
from policy_engine.trace.formats.format import SHARE_OPTIONS, ForeignFormat
from policy_engine.trace.formats.options import Options, TimeUnit
from policy_engine.trace.tables import Table


def _draft(source: Table, options: Options) -> Draft:
    draft = Draft(source, ("id", "submission_time", "duration", "cpu_count"))
    draft.put(c.JOB_ID, draft.read("id"), "id")
    put_share(draft, options, None)
    unit = options.unit or TimeUnit.MILLISECONDS
    put_submission(draft, draft.read("submission_time"), "submission_time", unit, unix=True)
    put_runtime(draft, draft.read("duration"), "duration", unit)
    put_needs(draft, draft.read("cpu_count"), "cpu_count", options.cpus)
    return draft


_OPTIONS = SHARE_OPTIONS - {"share_of"} | {"cpus", "unit"}
FORMAT = ForeignFormat("opendc", "OpenDC tasks: id, submission_time, duration, cpu_count", _OPTIONS, _draft)
SURF = ForeignFormat("surf", "SURF's cluster, as OpenDC publishes it: the same columns", _OPTIONS, _draft)
