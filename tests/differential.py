"""An outcome of the replay in the oracle's words, so that the two can be compared field by field."""

import oracle
from scenarios import Scenario

from policy_engine.scheduler import NEVER, AttemptOutcome, JobStatus, Outcome, PreemptionKind, Reason, replay


def _time(value: int) -> int | None:
    return None if value == NEVER else int(value)


def in_oracle_words(outcome: Outcome) -> oracle.OracleOutcome:
    """Jobs with their attempts, dispatches and preemptions, as the oracle records them."""
    ids = outcome.trace.job_id.to_list()
    attempts: list[list[oracle.AttemptRecord]] = [[] for _ in ids]
    columns = outcome.attempts
    for row, job in enumerate(columns.job.tolist()):
        attempts[job].append(
            oracle.AttemptRecord(
                scheduled_at=int(columns.scheduled_at[row]),
                running_at=_time(columns.running_at[row]),
                stopped_at=_time(columns.stopped_at[row]),
                outcome=AttemptOutcome(columns.outcome[row]),
            )
        )
    jobs = outcome.jobs
    made = outcome.preemptions
    return oracle.OracleOutcome(
        jobs=tuple(
            oracle.JobRecord(
                id=ids[job],
                status=JobStatus(jobs.status[job]),
                reason=Reason(jobs.reason[job]),
                first_scheduled_at=_time(jobs.first_scheduled_at[job]),
                finished_at=_time(jobs.finished_at[job]),
                preemptions=int(jobs.preemptions[job]),
                lost=int(jobs.lost[job]),
                attempts=tuple(attempts[job]),
            )
            for job in range(len(ids))
        ),
        dispatches=tuple(
            (int(at), ids[job]) for at, job in zip(columns.scheduled_at.tolist(), columns.job.tolist(), strict=True)
        ),
        preemptions=tuple(
            oracle.PreemptionRecord(
                at=int(made.at[row]),
                victim=ids[made.victim[row]],
                claimant=ids[made.claimant[row]],
                kind=PreemptionKind(made.kind[row]),
                lost=int(made.lost[row]),
            )
            for row in range(len(made.at))
        ),
    )


def both(scenario: Scenario, *, use_compiled: bool = False) -> tuple[oracle.OracleOutcome, oracle.OracleOutcome]:
    """The replay's outcome and the oracle's, for one scenario."""
    outcome = replay(
        scenario.topology,
        scenario.trace,
        events=scenario.events,
        until=scenario.until,
        use_compiled=use_compiled,
    )
    return in_oracle_words(outcome), oracle.replay(
        scenario.topology, scenario.trace, scenario.events, until=scenario.until
    )
