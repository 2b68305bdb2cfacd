from topology_fragments import G5, findings_of, found, share, shares

RULE = "QM302"


def of(there: int, *limits: dict[str, object]) -> dict[str, object]:
    return {"capacity": {G5: there}} | shares(**{f"share_{index}": each for index, each in enumerate(limits)})


def test_limits_that_add_up_to_the_capacity_or_to_less_are_allowed():
    assert found(RULE, of(8, share("RESERVE", 4), share("LEND", 4))) == []
    assert found(RULE, of(9, share("RESERVE", 4), share("LEND", 4))) == []


def test_more_is_reported_with_the_numbers():
    (finding,) = findings_of(RULE, of(8, share("RESERVE", 6), share("LEND", 4), share("LEND_AND_BORROW", 1)))
    assert finding.path == ("capacity", G5)
    assert finding.message == "the shares' limits add up to 11 ml.g5.xlarge, 3 more than the environment's 8"
    assert finding.help == "lower the shares' limits by 3 in all, or raise the environment's capacity to 11"


def test_reserve_shares_that_alone_are_too_many_are_another_rules():
    assert found(RULE, of(8, share("RESERVE", 9), share("LEND", 4))) == []


def test_a_single_share_can_be_too_much():
    ((_, message),) = found(RULE, of(2, share("LEND", 3)))
    assert message == "the shares' limits add up to 3 ml.g5.xlarge, 1 more than the environment's 2"
