import pytest
from topology_fragments import G5, P5, findings_of, found, share, share_path, shares

RULE = "QM310"


def of(need: dict[str, int], strategy: str = "LEND_AND_BORROW", **more: object) -> dict[str, object]:
    return shares(big=share(strategy, 2, largest_job=need, **more), lender=share("LEND", 4))


@pytest.mark.parametrize("need", [{G5: 1}, {G5: 2}, {G5: 0}, {}])
def test_a_job_within_its_shares_limit_is_allowed(need: dict[str, int]):
    assert found(RULE, of(need)) == []


@pytest.mark.parametrize(("need", "borrowed"), [(3, 1), (6, 4)])
def test_a_larger_one_is_reported_with_what_it_has_to_borrow(need: int, borrowed: int):
    (finding,) = findings_of(RULE, of({G5: need}))
    assert finding.path == share_path("big", "largest_job", G5)
    assert finding.message == (
        f"the largest job of share 'big' has to borrow {borrowed} of its {need} ml.g5.xlarge: "
        "it can be preempted whenever it runs, and for ever"
    )
    assert finding.help == (
        f"raise the share's limit to {need} ml.g5.xlarge, or let it keep checkpoints and set preemption retries"
    )


@pytest.mark.parametrize(
    "fragment",
    [of({G5: 7}), of({G5: 3}, "LEND"), of({G5: 5}, borrow_limit=100), of({G5: 2, P5: 1})],
    ids=["more than is lent", "of a share that does not borrow", "beyond its borrow limit", "of a type it lacks"],
)
def test_one_that_can_never_run_is_another_rules(fragment: dict[str, object]):
    assert found(RULE, fragment) == []
    assert len(found("QM309", fragment)) == 1


def test_each_type_above_its_limit_is_named():
    both = {"capacity": {G5: 2, P5: 2}}
    fragment = shares(
        big=both | {"strategy": "LEND_AND_BORROW", "largest_job": {G5: 3, P5: 4}}, lender=both | {"strategy": "LEND"}
    )
    ((_, message),) = found(RULE, fragment)
    assert "has to borrow 1 of its 3 ml.g5.xlarge and 2 of its 4 ml.p5.48xlarge" in message
