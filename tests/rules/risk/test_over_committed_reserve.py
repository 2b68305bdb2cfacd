from topology_fragments import G5, findings_of, found, share, shares

RULE = "QM303"


def test_reservations_within_the_capacity_are_allowed_whatever_the_others_have():
    fragment = {"capacity": {G5: 8}} | shares(a=share("RESERVE", 4), b=share("RESERVE", 4), c=share("LEND", 4))
    assert found(RULE, fragment) == []


def test_more_are_reported_with_the_numbers_of_the_reserve_shares_alone():
    fragment = {"capacity": {G5: 8}} | shares(a=share("RESERVE", 6), b=share("RESERVE", 4), c=share("LEND", 100))
    (finding,) = findings_of(RULE, fragment)
    assert finding.path == ("capacity", G5)
    assert finding.message == ("the RESERVE shares' limits add up to 10 ml.g5.xlarge, 2 more than the environment's 8")
    assert finding.help == "lower them by 2 in all, or raise the environment's capacity to 10"
