import pytest
from topology_fragments import G5, P5, findings_of, found, share, share_path, shares

RULE = "QM309"
LIMIT_EXCEEDED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
ENVIRONMENT = (
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the job queue cannot "
    "meet the capacity requirement of the job."
)
LIMITS = f"{LIMIT_EXCEEDED} - Job requirements exceed quota share capacity limits."
BORROW_LIMITS = f"{LIMIT_EXCEEDED} - Job requirements exceed quota share capacity limits and borrow limits."
BORROWABLE = f"{LIMIT_EXCEEDED} - Job requires borrowing that exceeds all configured borrowable capacity."


def of(need: dict[str, int], strategy: str, own: int, *, there: int = 100, **others: dict[str, object]):
    others.setdefault("lender", share("LEND", 4))
    return {"capacity": {G5: there}} | shares(big=share(strategy, own, largest_job=need), **others)


@pytest.mark.parametrize(
    "fragment",
    [
        of({G5: 4}, "RESERVE", 4),
        of({G5: 4}, "LEND", 4),
        of({G5: 8}, "LEND_AND_BORROW", 4),
        shares(big=share("LEND_AND_BORROW", 2, borrow_limit=100, largest_job={G5: 4}), lender=share("LEND", 2)),
        of({G5: 1}, "RESERVE", 4, there=1),
    ],
    ids=["within RESERVE", "within LEND", "by borrowing all", "up to its borrow limit", "as large as the environment"],
)
def test_a_job_that_can_run_is_allowed(fragment: dict[str, object]):
    assert found(RULE, fragment) == []


@pytest.mark.parametrize(
    ("fragment", "why", "mend"),
    [
        pytest.param(
            of({G5: 12}, "LEND", 12, there=10),
            f"it needs 12 ml.g5.xlarge, but the environment has 10. AWS would show: {ENVIRONMENT}",
            "raise the environment's capacity to 12 ml.g5.xlarge, or make the job smaller",
            id="AWS's example: 12 of an environment's 10",
        ),
        pytest.param(
            of({G5: 5}, "RESERVE", 4),
            f"it needs 5 ml.g5.xlarge, but the share has 4 and does not borrow. AWS would show: {LIMITS}",
            "raise the share's limit to 5 ml.g5.xlarge, or make the job smaller",
            id="AWS's example: 5 of a share's 4",
        ),
        pytest.param(
            shares(big=share("LEND_AND_BORROW", 2, borrow_limit=100, largest_job={G5: 5}), lender=share("LEND", 8)),
            f"it needs 5 ml.g5.xlarge, but the share has 2 and may borrow 2 (100 %). AWS would show: {BORROW_LIMITS}",
            "write borrow_limit: 150, or raise the share's limit to 5 ml.g5.xlarge, or make the job smaller",
            id="AWS's example: 5 with a limit of 2 and 100 %",
        ),
        pytest.param(
            {"capacity": {G5: 12}}
            | shares(
                big=share("LEND_AND_BORROW", 4, borrow_limit=200, largest_job={G5: 10}),
                other=share("LEND_AND_BORROW", 4, borrow_limit=200),
            ),
            f"it needs 10 ml.g5.xlarge, but the share has 4, and the other shares lend 4. AWS would show: {BORROWABLE}",
            "raise the share's limit to 6 ml.g5.xlarge, or let other shares lend 6, or make the job smaller",
            id="AWS's example: 10 where two shares have 4 each",
        ),
        pytest.param(
            of({G5: 9}, "LEND_AND_BORROW", 4, reserved=share("RESERVE", 50)),
            f"it needs 9 ml.g5.xlarge, but the share has 4, and the other shares lend 4. AWS would show: {BORROWABLE}",
            "raise the share's limit to 5 ml.g5.xlarge, or let other shares lend 5, or make the job smaller",
            id="what RESERVE shares have is not lent",
        ),
    ],
)
def test_a_job_that_cannot_is_reported_with_the_numbers_and_the_text_of_aws(
    fragment: dict[str, object], why: str, mend: str
):
    (finding,) = findings_of(RULE, fragment)
    assert finding.path == share_path("big", "largest_job", G5)
    assert finding.message == f"the largest job of share 'big' can never run: {why}"
    assert finding.help == mend


def test_a_type_that_the_share_has_no_limit_for_cannot_be_borrowed():
    (finding,) = findings_of(
        RULE, shares(big=share("LEND_AND_BORROW", 4, largest_job={G5: 1, P5: 1}), lender=share("LEND", 4, P5))
    )
    assert finding.path == share_path("big", "largest_job", P5)
    assert "the share has no limit for it, so it borrows none" in finding.message
    assert finding.help == "give the share a limit for ml.p5.48xlarge, or make the job smaller"


def test_of_several_failed_tests_the_first_in_the_order_of_aws_is_shown():
    (finding,) = findings_of(RULE, of({P5: 1, G5: 5}, "RESERVE", 4))
    assert finding.path == share_path("big", "largest_job", P5)
    assert ENVIRONMENT in finding.message


def test_a_type_that_does_not_exist_is_another_rules():
    assert found(RULE, of({"g5.xlarge": 5}, "RESERVE", 4)) == []
