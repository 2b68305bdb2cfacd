"""What a stack tells submitters of the training plans that back its capacity."""

from pathlib import Path

from aws_cdk import App, Stack
from aws_cdk.assertions import Template

from batch_quota import QuotaManagedQueue, Topology
from policy_engine.template import read_template
from policy_engine.topology import read_topology

EXAMPLE = Path(__file__).parents[2] / "examples" / "training-plan.yaml"
ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring"
TAG = "batch-quota:training-plan:ml.p5.48xlarge"


def synthesized(topology: Topology) -> Template:
    stack = Stack(App(), "Training")
    QuotaManagedQueue(stack, "Quota", topology=topology, observability=None)
    return Template.from_stack(stack)


def example() -> Topology:
    return read_topology(EXAMPLE).topology


def test_an_output_names_the_plan_to_put_into_training_requests():
    (output,) = synthesized(example()).find_outputs("*", {"Value": ARN}).values()
    assert output["Description"] == (
        "For ResourceConfig.TrainingPlanArn of jobs on ml.p5.48xlarge, 2026-03-02T11:30:00Z to 2026-04-01T11:30:00Z"
    )


def test_queue_and_shares_carry_the_plan_as_a_tag_and_environment_and_policy_do_not():
    resources = synthesized(example()).to_json()["Resources"].values()
    tagged = [each["Type"] for each in resources if each.get("Properties", {}).get("Tags", {}).get(TAG) == ARN]
    assert sorted(tagged) == ["AWS::Batch::JobQueue", "AWS::Batch::QuotaShare", "AWS::Batch::QuotaShare"]


def test_the_environments_capacity_is_the_most_that_is_there_at_once():
    synthesized(example()).has_resource_properties(
        "AWS::Batch::ServiceEnvironment",
        {"CapacityLimits": [{"CapacityUnit": "ml.p5.48xlarge", "MaxCapacity": 6}]},
    )


def test_arns_that_no_tag_has_room_for_are_outputs_alone():
    data = example().model_dump(by_alias=True, mode="json", exclude_unset=True)
    entries = list(data["capacity"]["ml.p5.48xlarge"])
    more = [{**entries[1], "training_plan": f"{ARN}-{'x' * 40}-{number}"} for number in range(3)]
    data["capacity"]["ml.p5.48xlarge"] = [*entries, *more]
    template = synthesized(Topology.model_validate(data))
    assert len(template.find_outputs("*", {})) == 4
    assert TAG not in str(template.to_json())


def test_the_tag_is_no_tag_of_a_topology_that_is_read_back():
    (queue,) = read_template(synthesized(example()).to_json()).queues
    assert TAG not in str(queue.topology.model_dump())
    assert queue.topology.capacity == {"ml.p5.48xlarge": 6}


def test_without_plans_there_are_no_outputs():
    data = example().model_dump(by_alias=True, mode="json", exclude_unset=True)
    data["capacity"] = {"ml.p5.48xlarge": 6}
    data["suppressions"] = []
    assert synthesized(Topology.model_validate(data)).find_outputs("*", {}) == {}
