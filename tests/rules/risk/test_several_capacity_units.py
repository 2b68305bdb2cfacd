from topology_fragments import G5, P5, found, share, share_path, shares

RULE = "QM313"


def test_one_instance_type_a_share_is_allowed():
    assert found(RULE, shares(small=share("RESERVE"), large=share("RESERVE", 2, P5))) == []


def test_several_are_reported_with_their_names():
    message = (
        "share 'mixed' has limits for 2 instance types (ml.g5.xlarge and ml.p5.48xlarge): "
        "a job that waits for one may hold up jobs of the others"
    )
    fragment = shares(mixed={"capacity": {G5: 4, P5: 2}}, small=share("RESERVE"))
    assert found(RULE, fragment) == [(share_path("mixed", "capacity"), message)]


def test_what_is_no_instance_type_does_not_count():
    assert found(RULE, shares(mixed={"capacity": {G5: 4, "NUM_INSTANCES": 4, "g5": 1}})) == []
