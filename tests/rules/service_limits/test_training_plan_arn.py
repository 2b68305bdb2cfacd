import pytest
from topology_fragments import findings_of, found

RULE = "QM121"


def of(arn: str) -> dict[str, object]:
    plan = {"count": 4, "training_plan": arn, "from": "2026-03-02T11:30:00Z", "until": "2026-04-01T11:30:00Z"}
    return {"capacity": {"ml.p5.48xlarge": [2, plan]}}


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring",
        "arn:aws-us-gov:sagemaker:us-gov-west-1:111122223333:training-plan/a-1",
    ],
)
def test_arns_of_training_plans_are_allowed(arn: str):
    assert found(RULE, of(arn)) == []


@pytest.mark.parametrize(
    "arn",
    [
        "spring",
        "",
        "arn:aws:sagemaker:us-east-1:111122223333:training-job/spring",
        "arn:aws:sagemaker:us-east-1:1111:training-plan/spring",
        "arn:aws:sagemaker:us-east-1:111122223333:training-plan/",
        "arn:aws:sagemaker:us-east-1:111122223333:training-plan/*",
        "arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring\n",
    ],
)
def test_anything_else_is_reported_where_it_stands(arn: str):
    (finding,) = findings_of(RULE, of(arn))
    assert finding.path == ("capacity", "ml.p5.48xlarge", 1, "training_plan")
    assert "is not the ARN of a training plan" in finding.message
