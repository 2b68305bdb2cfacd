import pytest
from topology_fragments import G5, findings_of, found, share, share_path, shares

from policy_engine.topology.instance_types import training_instance_types

RULE = "QM108"


@pytest.mark.parametrize("unit", training_instance_types()[::20])
def test_types_that_sagemaker_trains_on_are_allowed(unit: str):
    assert found(RULE, {"capacity": {unit: 1}}) == []


@pytest.mark.parametrize(
    ("unit", "mend"),
    [
        ("g5.xlarge", "did you mean 'ml.g5.xlarge'?"),
        ("ml.g5.xlrage", "did you mean 'ml.g5.xlarge'?"),
        ("ML.G5.XLARGE", "did you mean 'ml.g5.xlarge'?"),
        ("", "if the type is new, update botocore, which has the list"),
        ("gpu", "if the type is new, update botocore, which has the list"),
    ],
)
def test_others_are_reported_with_what_was_meant(unit: str, mend: str):
    for finding in findings_of(RULE, {"capacity": {unit: 1}}):
        assert finding.message.endswith(f"names {unit!r}, which is no instance type of SageMaker Training")
        assert finding.help == mend


def test_they_are_reported_wherever_they_are_written():
    fragment = {"capacity": {"g5.xlarge": 4}} | shares(production=share("RESERVE", largest_job={"g5": 1}))
    assert [path for path, _ in found(RULE, fragment)] == [
        ("capacity", "g5.xlarge"),
        share_path("production", "largest_job", "g5"),
    ]


def test_a_share_with_a_misspelt_type_is_not_told_that_the_environment_lacks_it():
    fragment = {"capacity": {G5: 4}} | shares(production=share("RESERVE", 4, "ml.g5.xlrage"))
    assert found("QM202", fragment) == []
