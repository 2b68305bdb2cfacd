"""Microsoft's Philly trace (Jeon et al., ATC'19) in its reduced form: one CSV row a job."""

from policy_engine.trace import columns as c
from policy_engine.trace.formats.draft import Draft, put_needs, put_runtime, put_share, put_submission
from policy_engine.trace.formats.format import SHARE_OPTIONS, ForeignFormat
from policy_engine.trace.formats.options import Options, TimeUnit
from policy_engine.trace.tables import Table


def _draft(source: Table, options: Options) -> Draft:
    draft = Draft(source, ("job_id", "submit_s", "duration_s", "gpus", "team"))
    draft.put(c.JOB_ID, draft.read("job_id"), "job_id")
    put_share(draft, options, draft.read_text("team"), "team")
    unit = options.unit or TimeUnit.SECONDS
    put_submission(draft, draft.read("submit_s"), "submit_s", unit, unix=options.unix)
    put_runtime(draft, draft.read("duration_s"), "duration_s", unit)
    put_needs(draft, draft.read("gpus"), "gpus", options.gpus)
    return draft


FORMAT = ForeignFormat(
    "philly",
    "Microsoft Philly: job_id, submit_s, duration_s, gpus, team",
    SHARE_OPTIONS | {"gpus", "unit", "unix"},
    _draft,
)
