import re
from pathlib import Path

import pytest

from policy_engine.rules import check
from policy_engine.topology import Metric, Topology, parse_topology

PAGE = (Path(__file__).parents[2] / "docs" / "topology.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
TOPOLOGIES = [text for language, text in BLOCKS if language == "yaml" and "teams:" in text]
SUPPRESSIONS = [text for language, text in BLOCKS if language == "yaml" and text.startswith("suppressions:")]


def test_the_main_example_has_no_findings():
    document = parse_topology(TOPOLOGIES[0])
    assert check(document.topology, document.sources) == []


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_every_example_is_read(text: str):
    assert parse_topology(text).topology.teams


def test_the_suppression_is_read_beside_the_main_example():
    assert parse_topology(TOPOLOGIES[0] + SUPPRESSIONS[0]).topology.suppressions[0].rule == "QM308"


def test_the_python_example_makes_a_topology():
    (program,) = (text for language, text in BLOCKS if language == "python")
    names: dict[str, object] = {}
    exec(program, names)  # noqa: S102
    assert isinstance(names["topology"], Topology)


def test_every_metric_is_in_the_table():
    assert all(f"`{metric}`" in PAGE for metric in Metric)
