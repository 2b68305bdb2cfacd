import pytest
from topology_fragments import G5, found, share, shares

from policy_engine.rules import check
from policy_engine.topology import Topology

RULE = "QM207"


def test_a_topology_with_a_share_is_allowed():
    assert found(RULE, shares(production=share("RESERVE"))) == []


@pytest.mark.parametrize("teams", [{}, {"search": {"shares": {}}}, {"a": {"shares": {}}, "b": {"shares": {}}}])
def test_one_without_any_is_reported_once_and_nothing_that_follows_from_it(teams: dict[str, object]):
    fragment = {"capacity": {G5: 4}, "teams": teams}
    assert found(RULE, fragment) == [(("teams",), "the queue has no quota share, so no job can be submitted")]
    assert found("QM208", fragment) == []
    assert found("QM301", fragment) == []


def test_the_smallest_topology_is_told_that_it_lacks_shares():
    topology = Topology(name="empty", capacity={G5: 1}, teams={})
    assert "QM207" in {finding.id for finding in check(topology)}
