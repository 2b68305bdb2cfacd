"""The rules of quota shares as a SimPy model: one process a job, interrupted when it is preempted."""

from collections.abc import Generator

import simpy

from benchmarks.by_hand import Quotas, Workload
from policy_engine.topology import Topology

Steps = Generator[simpy.Event, None, None]


def replay_with_simpy(topology: Topology, units: tuple[str, ...], jobs: Workload) -> Quotas:
    """Replay until the last job has ended."""
    env = simpy.Environment()
    started: dict[int, simpy.Event] = {}
    processes: dict[int, simpy.Process] = {}

    def start(job: int) -> None:
        started[job].succeed()

    def stop(job: int) -> None:
        started[job] = env.event()
        processes[job].interrupt()

    quotas = Quotas(topology, units, jobs, start, stop)

    def run(job: int) -> Steps:
        while True:
            try:
                yield started[job]
                yield env.timeout(jobs.runtime[job])
            except simpy.Interrupt:
                continue
            break
        del started[job], processes[job]
        quotas.end(job, int(env.now))

    def submit() -> Steps:
        for job, time in enumerate(jobs.submitted_at):
            if time > env.now:
                yield env.timeout(time - env.now)
            started[job] = env.event()
            processes[job] = env.process(run(job))
            quotas.submit(job, time)

    env.process(submit())
    env.run()
    return quotas
