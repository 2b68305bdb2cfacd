"""`batch-quota assumptions`: what a replay assumes where AWS is silent."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from policy_engine.assumptions import Assumptions
from policy_engine.cli import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["assumptions", *arguments])


def test_every_switch_is_there_with_its_default_and_what_aws_says():
    result = run()
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    for name, description, _, switch in Assumptions.switches():
        assert f"{name}:" in words
        for text in (description, switch.disclosed, switch.unknown, switch.alternatives, switch.reason):
            assert text in words
    assert "\nstop_seconds: 2m\n" in result.stdout
    assert "\nstartup_seconds: 0s\n" in result.stdout


def test_it_fits_80_columns():
    assert max(map(len, run().stdout.splitlines())) <= 80


def test_one_switch_can_be_asked_for():
    assert run("idle_fifo").stdout == (
        "idle_fifo: submitted\n"
        "  The time by which idle capacity is handed to borrowers.\n"
        "  can be    submitted, runnable_since\n"
        "  AWS says  Idle capacity goes to borrowing shares first in, first out.\n"
        "  unknown   First in by which time.\n"
        "  reason    Submission time is what first in, first out means in the other Batch\n"
        "            queues.\n"
    )


def test_programs_get_json_with_durations_in_seconds():
    document = json.loads(run("--format", "json").stdout)
    assert document["version"] == 1
    switches = {switch["name"]: switch for switch in document["switches"]}
    assert list(switches) == list(Assumptions.model_fields)
    assert switches["stop_seconds"]["default"] == 120
    assert set(switches["stop_seconds"]) == {
        "name",
        "default",
        "description",
        "disclosed",
        "unknown",
        "alternatives",
        "reason",
    }


@pytest.mark.parametrize(
    ("name", "hint"), [("victim_ordr", "did you mean 'victim_order'?"), ("colour", "there are victim_order, head_of")]
)
def test_a_switch_that_is_none_is_refused_with_those_that_are(name: str, hint: str):
    result = run(name)
    assert result.exit_code == 2
    assert f"there is no switch '{name}'; {hint}" in " ".join(result.stderr.split())


def test_nothing_heavy_is_imported():
    script = (
        "import sys; from policy_engine.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, "assumptions"], capture_output=True, text=True, check=True)
    assert not set(done.stderr.split()) & {"numpy", "polars", "numba", "boto3", "botocore", "aws_cdk", "rich"}
