from topology_fragments import G5, found, share, share_path, shares

RULE = "QM107"
WHY = (
    "counts in NUM_INSTANCES, which adds up instances of all types; quota management has a limit for each instance type"
)


def test_instance_types_are_allowed():
    assert found(RULE, {"capacity": {G5: 4}}) == []


def test_it_is_reported_wherever_it_is_written():
    fragment = {"capacity": {"NUM_INSTANCES": 4, G5: 1}} | shares(
        counted=share("RESERVE", 4, "NUM_INSTANCES"), production=share("RESERVE", 1, largest_job={"NUM_INSTANCES": 1})
    )
    assert found(RULE, fragment) == [
        (("capacity", "NUM_INSTANCES"), f"the environment {WHY}"),
        (share_path("counted", "capacity", "NUM_INSTANCES"), f"share 'counted' {WHY}"),
        (share_path("production", "largest_job", "NUM_INSTANCES"), f"the largest job of share 'production' {WHY}"),
    ]


def test_it_is_not_reported_as_an_unknown_instance_type_too():
    assert found("QM108", {"capacity": {"NUM_INSTANCES": 4}}) == []
