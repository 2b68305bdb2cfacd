"""Explaining one job of a replay."""

from dataclasses import dataclass

from policy_engine.diagnostics import described
from policy_engine.explanation import JobLife, Preventions, explain_job, find_preventions
from policy_engine.explanation.finding_jobs import job_row, similar_jobs
from policy_engine.explanation.prevention import MOST_REPLAYS
from policy_engine.library.replaying import Replay
from policy_engine.report import explanation_document


@dataclass(frozen=True, eq=False)
class Explanation:
    """What became of one job, why, and what would have prevented it. `print(explanation)` tells it."""

    life: JobLife
    """Its waits and attempts in order."""
    preventions: Preventions | None
    """Changes that were tried; None if none was to be."""

    def document(self) -> dict[str, object]:
        """What `batch-quota explain --format json` prints, as Python data."""
        return explanation_document(self.life, self.preventions)

    def __str__(self) -> str:
        """The text of `batch-quota explain`."""
        from policy_engine.report.explanation_text import explanation_text

        return explanation_text(self.life, self.preventions, color=False)

    def __repr__(self) -> str:
        return f"<Explanation of {self.life.name!r}>"


def explain(replay: Replay, job: str, *, most_replays: int = MOST_REPLAYS) -> Explanation:
    """Tell one job's life in order, and look for single changes that would have prevented its waits and preemptions.

    :param job: Its id.
    :param most_replays: Try at most so many changes, each by a replay; 0 tries none.
    :raises LookupError: If there is no such job; it names ids that may have been meant.
    """
    row = job_row(replay.outcome.trace, job)
    if row is None:
        similar = similar_jobs(replay.outcome.trace, job)
        meant = f"; did you mean {' or '.join(map(described, similar))}?" if similar else ""
        raise LookupError(f"there is no job {described(job)}{meant}")
    life = explain_job(replay.outcome, row)
    until = replay.outcome.ended_at if replay.outcome.stopped_early else None
    preventions = find_preventions(life, most_replays=most_replays, until=until) if most_replays else None
    return Explanation(life, preventions)
