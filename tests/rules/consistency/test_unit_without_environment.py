from topology_fragments import G5, P5, findings_of, found, share, share_path, shares

RULE = "QM202"


def test_types_of_the_environment_are_allowed():
    assert found(RULE, {"capacity": {G5: 4, P5: 1}} | shares(production=share("RESERVE"))) == []


def test_others_are_reported_at_the_type():
    fragment = {"capacity": {G5: 4}} | shares(mixed={"capacity": {G5: 4, P5: 2}}, large=share("LEND", 1, P5))
    assert found(RULE, fragment) == [
        (share_path("mixed", "capacity", P5), "share 'mixed' has 2 ml.p5.48xlarge, but the environment has none"),
        (share_path("large", "capacity", P5), "share 'large' has 1 ml.p5.48xlarge, but the environment has none"),
    ]
    assert {finding.help for finding in findings_of(RULE, fragment)} == {
        "add 'ml.p5.48xlarge' to the topology's capacity, or take it out of the share"
    }


def test_the_shares_of_a_type_that_the_environment_lacks_are_not_called_too_many_as_well():
    assert found("QM302", {"capacity": {G5: 4}} | shares(a=share("RESERVE"), b=share("LEND", 1, P5))) == []
