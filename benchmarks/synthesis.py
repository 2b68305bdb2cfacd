"""The largest queue that AWS allows, with everything on, synthesized from its topology.

`python -m benchmarks.synthesis FOLDER` writes the cloud assembly there. It prints the seconds from the making of the
app to its assembly. The CDK's own validation of templates is off: it takes longer than all the rest, whatever made the
template.
"""

import sys
import time

from aws_cdk import App, Stack

from batch_quota import QuotaManagedQueue, Topology

NAME = "largest"
SIZES = ("xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge")
STRATEGIES = ("RESERVE", "LEND", "LEND_AND_BORROW", "LEND_AND_BORROW")
TEAMS = 5


def largest_topology() -> Topology:
    """20 quota shares of 5 instance types, in 5 teams that each name who submits, operates and looks, and as what."""
    return Topology.model_validate(
        {
            "name": NAME,
            "capacity": {f"ml.g5.{size}": 40 for size in SIZES},
            "teams": {f"team-{number}": _team(f"team-{number}") for number in range(TEAMS)},
        }
    )


def _team(name: str) -> dict[str, object]:
    role = f"arn:aws:iam::111122223333:role/{name}"
    return {
        "submitters": [f"{role}-submit"],
        "operators": [f"{role}-operate"],
        "viewers": [f"{role}-view"],
        "execution_roles": [f"{role}-jobs"],
        "shares": {
            f"{name}-{number}": {
                "capacity": {f"ml.g5.{size}": 2 for size in SIZES},
                "strategy": strategy,
                "max_priority": 100 * (number + 1),
            }
            for number, strategy in enumerate(STRATEGIES)
        },
    }


def main(folder: str) -> None:
    """Synthesize into a folder, and print how long it took."""
    topology = largest_topology()
    started = time.perf_counter()
    app = App(outdir=folder, analytics_reporting=False, builtin_cloud_formation_validation=False)
    QuotaManagedQueue(Stack(app, NAME), "Quota", topology=topology)
    app.synth()
    print(time.perf_counter() - started)


if __name__ == "__main__":
    main(sys.argv[1])
