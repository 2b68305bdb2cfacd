import pytest
from topology_fragments import G5, P5, findings_of, found, share, shares

RULE = "QM301"


@pytest.mark.parametrize("there", [1, 3, 4])
def test_limits_that_add_up_to_the_capacity_or_to_more_are_allowed(there: int):
    fragment = {"capacity": {G5: there}} | shares(a=share("RESERVE", 1), b=share("LEND", 3))
    assert found(RULE, fragment) == []


def test_what_is_left_is_reported_with_its_number_for_each_type():
    fragment = {"capacity": {G5: 16, P5: 5}} | shares(a=share("RESERVE", 8), b=share("LEND", 4), c=share("LEND", 4, P5))
    assert found(RULE, fragment) == [
        (("capacity", G5), "4 of 16 ml.g5.xlarge are in no share's limit, so nobody can use them"),
        (("capacity", P5), "1 of 5 ml.p5.48xlarge are in no share's limit, so nobody can use them"),
    ]
    assert findings_of(RULE, fragment)[0].help == (
        "raise the shares' limits by 4 in all, or lower the environment's to 12"
    )


def test_a_type_that_no_share_has_is_stranded_as_a_whole():
    (finding,) = findings_of(RULE, {"capacity": {G5: 4, P5: 2}} | shares(a=share("RESERVE", 4)))
    assert finding.message == "2 of 2 ml.p5.48xlarge are in no share's limit, so nobody can use them"
    assert finding.help == "raise the shares' limits by 2 in all, or take it out of the environment"


@pytest.mark.parametrize("count", [0, -4])
def test_a_limit_that_makes_no_sense_counts_as_none(count: int):
    ((_, message),) = found(RULE, {"capacity": {G5: 4}} | shares(a=share("RESERVE", count)))
    assert message.startswith("4 of 4 ml.g5.xlarge")


def test_capacity_that_is_no_instance_type_is_left_to_the_rule_for_that():
    assert found(RULE, {"capacity": {"NUM_INSTANCES": 4}} | shares(a=share("RESERVE", 4))) == []
