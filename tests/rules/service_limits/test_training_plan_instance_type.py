from topology_fragments import findings_of, found

from policy_engine.topology.instance_types import training_instance_types, training_plan_instance_types

RULE = "QM122"


def of(unit: str) -> dict[str, object]:
    plan = {
        "count": 4,
        "training_plan": "arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring",
        "from": "2026-03-02T11:30:00Z",
        "until": "2026-04-01T11:30:00Z",
    }
    return {"capacity": {unit: plan}}


def test_types_that_plans_cover_are_allowed():
    assert {"ml.p5.48xlarge", "ml.trn2.48xlarge"} <= set(training_plan_instance_types())
    assert all(found(RULE, of(unit)) == [] for unit in training_plan_instance_types())


def test_types_on_demand_need_no_plan():
    assert found(RULE, {"capacity": {"ml.g5.xlarge": 4}}) == []


def test_other_types_are_reported_with_those_that_plans_cover():
    (finding,) = findings_of(RULE, of("ml.g5.48xlarge"))
    assert finding.path == ("capacity", "ml.g5.48xlarge")
    assert finding.message == "training plans are not known to cover ml.g5.48xlarge"
    assert "ml.p5.48xlarge" in finding.help


def test_most_types_that_plans_cover_are_types_that_sagemaker_trains_on():
    assert len(set(training_plan_instance_types()) & set(training_instance_types())) >= 5
