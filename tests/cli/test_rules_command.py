"""`batch-quota rules` as a user runs it: the list, a page, JSON, unknown ids."""

import json
import re
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli.rules import command
from policy_engine.rules import Rule, registry
from policy_engine.rules.documentation import HEADINGS, documentation

RULES = list(registry().values())
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(command, arguments, prog_name="batch-quota rules", env=environment)


def test_the_list_has_a_line_of_at_most_80_columns_for_each_rule_in_the_order_of_the_ids():
    result = run()
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert head == "ID     SEVERITY  WHAT IT FINDS"
    assert lines == [f"{rule.id}  {rule.severity:8}  {documentation(rule).title}" for rule in RULES]
    assert max(map(len, lines)) <= 80


def test_a_rule_is_printed_without_the_marks_of_markdown():
    result = run("QM307")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "QM307  Borrow limit of less than one instance\n"
        "\n"
        "warning; can be suppressed with a reason\n"
        "\n"
        "What it checks\n"
        "  That a share's `borrow_limit`, a percentage of its own limit for each instance\n"
        "  type, is at least one instance of each.\n"
    )
    assert "    teams:\n      search:\n        shares:\n" in result.stdout
    assert "##" not in result.stdout
    assert "```" not in result.stdout


@each_rule
def test_every_rule_is_printed_whole_within_80_columns_but_for_links(rule: Rule):
    text = run(rule.id).stdout
    assert [line for line in text.splitlines() if len(line) > 80 and "<https://" not in line] == []
    assert [line for line in text.splitlines() if line in HEADINGS] == list(HEADINGS)
    for heading in ("Example", "Use instead"):
        for line in documentation(rule).code(heading).splitlines():
            assert f"    {line}" in text.splitlines()
    said = re.sub(r"\[([^]]+)\]\(([^)]+)\)", r"\1 <\2>", documentation(rule).text)
    marks = re.compile(r"^(##|```yaml|```)", re.MULTILINE)
    assert " ".join(marks.sub("", said).split()) in " ".join(text.split())


def test_a_narrow_terminal_gets_narrow_text():
    lines = run("QM307", COLUMNS="50").stdout.splitlines()
    assert (
        max(len(line) for line in lines if line.startswith("  ") and not line.startswith("   ") and "<" not in line)
        <= 50
    )


def test_several_rules_are_printed_in_the_order_asked_for_each_once_in_any_case():
    titles = [documentation(registry()[rule_id]).title for rule_id in ("QM301", "QM101")]
    text = run("qm301", "QM101", "QM301").stdout
    assert [line for line in text.splitlines() if line.startswith("QM")] == [
        f"QM301  {titles[0]}",
        f"QM101  {titles[1]}",
    ]


@pytest.mark.parametrize(("arguments", "ids"), [([], list(registry())), (["QM310", "QM101"], ["QM310", "QM101"])])
def test_json_has_all_that_a_rule_says_of_itself(arguments: list[str], ids: list[str]):
    result = run("--format", "json", *arguments)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["version"] == 1
    assert [rule["id"] for rule in document["rules"]] == ids
    for rule in document["rules"]:
        assert list(rule) == [
            "id",
            "severity",
            "title",
            "can_be_suppressed",
            "what_it_checks",
            "why_it_matters",
            "example",
            "use_instead",
            "references",
        ]
        of_topologies = rule["id"] not in SUPPRESSION_RULES and not rule["id"].startswith(("QM4", "QM6"))
        assert rule["can_be_suppressed"] == (rule["severity"] != "error" and of_topologies)


SUPPRESSION_RULES = {"QM211", "QM212", "QM213"}


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["QM3010"], "there is no rule 'QM3010'; did you mean 'QM310'?"),
        (["borrowing"], "there is no rule 'BORROWING'; `batch-quota rules` lists them"),
        (["QM003"], "QM003 is no rule, but an error in reading a topology; docs/reading-errors.md explains it"),
        (["QM501"], "QM501 is no rule, but a finding of validation in synth; docs/policy-validation.md explains it"),
        (["QM101", "Q314", "x"], "there is no rule 'Q314'; did you mean 'QM314'?"),
    ],
)
@pytest.mark.parametrize("output_format", ["text", "json"])
def test_an_unknown_id_ends_with_status_2_and_what_was_meant(ids: list[str], message: str, output_format: str):
    result = run("--format", output_format, *ids)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


def test_all_unknown_ids_are_named_at_once():
    stderr = run("QM998", "QM999").stderr
    assert "'QM998'" in stderr
    assert "'QM999'" in stderr


def test_the_examples_of_the_help_run_as_they_are_printed():
    text = run("--help").stdout
    examples = re.findall(r"^  +batch-quota rules(.*)$", text, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        assert run(*shlex.split(example)).exit_code == 0


def test_it_does_not_import_what_only_other_commands_need():
    heavy = {"numpy", "polars", "numba", "boto3", "botocore", "aws_cdk", "jsii", "moto", "rich"}
    program = f"""
import sys
from click.testing import CliRunner
from policy_engine.cli import main
assert CliRunner().invoke(main, ["rules", "QM301"]).exit_code == 0
print(sorted({heavy!r} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
