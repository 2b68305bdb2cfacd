"""The jobs that preemptions cost most, for people, within 80 columns."""

from collections.abc import Iterator

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from policy_engine.amounts import in_hours, printable
from policy_engine.report.tables import amounts_table, more, section
from policy_engine.scheduler import JobStatus, Outcome

_SHOWN = 5


def losses_section(outcome: Outcome) -> Iterator[RenderableType]:
    """The jobs that lost most instance-hours of work, in that order; of equals the one that was submitted first."""
    lost = outcome.jobs.lost * outcome.instances_of_job
    losers = int(np.count_nonzero(lost))
    if not losers:
        return
    table = amounts_table("job", "of share", "at the end", "stopped", "lost h", named=2)
    for job in np.argsort(-lost, kind="stable")[: min(_SHOWN, losers)].tolist():
        table.add_row(
            Text(printable(str(outcome.trace.job_id[job]))),
            Text(printable(outcome.share_names[outcome.share_of_job[job]])),
            JobStatus(outcome.jobs.status[job]).name,
            f"{int(outcome.jobs.preemptions[job]):,}",
            in_hours(int(lost[job])),
        )
    yield from section("Jobs that lost most", table)
    yield from more(losers - _SHOWN, "job")
    yield Text("`batch-quota explain` tells why, and what would have prevented it.")
