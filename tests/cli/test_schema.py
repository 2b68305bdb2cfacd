import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from policy_engine.cli import main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("arguments", [["schema"], ["schema", "topology"]])
def test_the_schema_of_a_topology_is_printed_as_it_is_committed(arguments: list[str]):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert result.stdout == (ROOT / "schemas" / "topology.schema.json").read_text()
    assert json.loads(result.stdout)["title"] == "Batch Quota team topology"


def test_an_unknown_document_is_refused_with_the_choices():
    result = CliRunner().invoke(main, ["schema", "trace"])
    assert result.exit_code == 2
    assert "'topology', 'outcome'" in result.stderr
