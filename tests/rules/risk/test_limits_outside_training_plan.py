from topology_fragments import findings_of, found, share, shares

RULE = "QM315"
P5 = "ml.p5.48xlarge"


def plan(count: int, ends: str = "2026-04-01T11:30:00Z") -> dict[str, object]:
    arn = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring"
    return {"count": count, "training_plan": arn, "from": "2026-03-02T11:30:00Z", "until": ends}


def of(capacity: object, limit: int) -> dict[str, object]:
    reserved = share("RESERVE") | {"capacity": {P5: limit}}
    return {"capacity": {P5: capacity}} | shares(production=reserved)


def test_limits_that_hold_without_plans_are_allowed():
    assert found(RULE, of([2, plan(4)], 2)) == []
    assert found(RULE, of(6, 6)) == []


def test_limits_that_need_plans_are_reported_with_when_their_instances_go():
    (finding,) = findings_of(RULE, of([2, plan(4), plan(1, "2026-05-01T00:00:00Z")], 6))
    assert finding.path == ("capacity", P5)
    assert finding.message == (
        f"the shares' limits add up to 6 {P5}, of which 2 are there without plans; "
        "instances of plans are taken back from 2026-04-01T11:00:00Z, 2026-04-30T23:30:00Z"
    )
