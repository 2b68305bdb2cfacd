"""What submitters have to know of training plans: Batch has no link to them, so the jobs must name them."""

from aws_cdk import CfnOutput
from constructs import Construct

from policy_engine.topology import Topology
from policy_engine.topology.instants import format_instant


def put_out_training_plans(scope: Construct, topology: Topology) -> None:
    """An output of the stack for each training plan that backs capacity of the topology, by instance type."""
    made: set[str] = set()
    for entry in topology.capacity_entries():
        if entry.plan is None:
            continue
        name = entry.plan.training_plan.rpartition("/")[2]
        id_ = f"TrainingPlan-{entry.unit}-{name}"
        if id_ not in made:
            made.add(id_)
            window = f"{format_instant(entry.plan.starts_at)} to {format_instant(entry.plan.ends_at)}"
            description = f"For ResourceConfig.TrainingPlanArn of jobs on {entry.unit}, {window}"
            CfnOutput(scope, id_, value=entry.plan.training_plan, description=description)
