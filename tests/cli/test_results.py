"""`--format`, `--report`, `-o` and `--force` of the commands that judge something, and their exit status."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft4Validator
from lxml import etree

from policy_engine.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCHEMAS = ROOT / "tests" / "schemas"
SARIF = Draft4Validator(json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text(encoding="utf-8")))
JUNIT = etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd"))
NEXT = (EXAMPLES / "changes" / "next.yaml").read_text(encoding="utf-8")
JOBS = "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds\n"
TRACE = f"{JOBS}s1,search,0,ml.g5.xlarge,6,600\ns2,search,0,ml.g5.xlarge,6,600\nr1,research,0,ml.g5.xlarge,6,60\n"
EXPECTED = "expectations: {search: {wait_max: 1m}, queue: {never_ran: 0}}"
TOPOLOGIES = {
    "good.yaml": NEXT,
    "broken.yaml": f"{NEXT}\n{EXPECTED}\n",
    "open.yaml": f"{NEXT}\nexpectations: {{search: {{wait_max: <= baseline}}}}\n",
    "wrong.yaml": NEXT.replace("capacity: {ml.g5.xlarge: 12}", "capacity: {ml.g5.xlarge: 12, ml.g5: 1}"),
    "unreadable.yaml": NEXT.replace("strategy: LEND}", "strategy: LENT}"),
    "warned.yaml": NEXT.replace("borrow_limit: 100", "borrow_limit: 0"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TOPOLOGIES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "trace.csv").write_text(TRACE)
    (tmp_path / "bad.csv").write_text(TRACE.replace("r1,research", "r1,resaerch"))
    (tmp_path / ".git").mkdir()  # places are told from a repository's root, and this folder may be in another one
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(text: str) -> Result:
    return CliRunner().invoke(main, text.split())


def sarif(path: Path) -> list[dict[str, object]]:
    document = json.loads(path.read_text())
    assert [error.message for error in SARIF.iter_errors(document)] == []
    return document["runs"][0]["results"]


# Exit status: 0 clean, 1 findings or a failed gate, 2 unusable input


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("validate good.yaml", 0),
        ("validate warned.yaml", 0),
        ("validate --strict warned.yaml", 1),
        ("validate good.yaml wrong.yaml", 1),
        ("validate wrong.yaml unreadable.yaml", 2),
        ("validate none.yaml", 2),
        ("replay good.yaml trace.csv", 0),
        ("replay open.yaml trace.csv", 0),
        ("replay open.yaml trace.csv --baseline good.yaml", 0),
        ("replay broken.yaml trace.csv", 1),
        ("replay wrong.yaml trace.csv", 1),
        ("replay unreadable.yaml trace.csv", 2),
        ("replay good.yaml bad.csv", 2),
        ("replay good.yaml none.csv", 2),
        ("replay good.yaml trace.csv --format xml", 2),
        ("replay good.yaml trace.csv --assume stop_second=1", 2),
        ("compare good.yaml warned.yaml trace.csv", 0),
        ("compare broken.yaml good.yaml trace.csv", 0),
        ("compare good.yaml broken.yaml trace.csv", 1),
        ("compare good.yaml warned.yaml broken.yaml trace.csv", 1),
        ("compare good.yaml wrong.yaml trace.csv", 1),
        ("compare good.yaml unreadable.yaml trace.csv", 2),
        ("compare good.yaml trace.csv", 2),
        ("diff good.yaml good.yaml", 0),
        ("diff good.yaml unreadable.yaml", 2),
        ("explain good.yaml trace.csv s2", 0),
        ("explain wrong.yaml trace.csv s2", 1),
        ("explain good.yaml trace.csv s3", 2),
        ("trace describe trace.csv", 0),
        ("trace describe none.csv", 2),
        ("rules QM101", 0),
        ("rules QM999", 2),
        ("nonsense", 2),
    ],
)
def test_the_exit_status_is_as_documented(command: str, status: int):
    result = run(command)
    assert result.exit_code == status, result.output
    assert isinstance(result.exception, SystemExit | None)
    assert "Traceback" not in result.output


# Several forms at once


@pytest.mark.parametrize(
    ("command", "rule", "place"),
    [
        ("validate wrong.yaml", "QM108", ("wrong.yaml", 5)),
        ("replay broken.yaml trace.csv", "QM501", ("broken.yaml", 20)),
        ("compare good.yaml broken.yaml trace.csv", "QM501", ("broken.yaml", 20)),
    ],
)
def test_one_run_writes_all_forms(folder: Path, command: str, rule: str, place: tuple[str, int]):
    reports = {"sarif": "q.sarif", "junit": "q.xml", "markdown": "q.md", "github": "q.txt", "json": "q.json"}
    result = run(f"{command} {' '.join(f'--report {form}={file}' for form, file in reports.items())}")
    assert result.exit_code == 1
    found = [each for each in sarif(folder / "q.sarif") if each["level"] == "error"]
    assert {each["ruleId"] for each in found} == {rule}
    physical = found[0]["locations"][0]["physicalLocation"]
    assert (physical["artifactLocation"]["uri"], physical["region"]["startLine"]) == place
    annotation = (folder / "q.txt").read_text()
    assert annotation.startswith(f"::error file={place[0]},line={place[1]},")
    root = etree.parse(folder / "q.xml").getroot()
    JUNIT.assertValid(root)
    assert int(root.get("failures")) >= 1
    assert json.loads((folder / "q.json").read_text())["version"] == 1
    assert (folder / "q.md").read_text().startswith("## ")
    assert result.stdout
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [".git", *TOPOLOGIES, "trace.csv", "bad.csv", *reports.values()]
    )


def test_a_broken_expectation_says_what_broke_it(folder: Path):
    run("replay broken.yaml trace.csv --report junit=q.xml --report sarif=q.sarif")
    said = "trace.csv breaks the expectation search wait_max <= 1m: 10m00s; 1 of 2 jobs waited longer; s2 waited 10m00s"
    assert sarif(folder / "q.sarif")[0]["message"]["text"].startswith(said)
    (suite,) = etree.parse(folder / "q.xml").getroot()
    cases = {case.get("name"): [each.get("message") for each in case] for case in suite}
    assert cases == {
        "trace.csv is replayed": [],
        "search wait_max <= 1m": [said],
        "queue never_ran <= 0": [],
    }


def test_an_expectation_without_a_baseline_is_skipped_in_junit(folder: Path):
    run("replay open.yaml trace.csv --report junit=q.xml")
    (skipped,) = etree.parse(folder / "q.xml").getroot().iter("skipped")
    assert skipped.get("message") == "no baseline is given"


def test_markdown_of_a_replay_has_expectations_and_figures_by_share():
    text = run("replay broken.yaml trace.csv --format markdown").stdout
    assert text.startswith("## training: 3 jobs, ")
    assert "❌ **2 expectations: 1 broken**" in text
    assert "| search | 2 | 0 | 0s | 10m00s | 10m00s |" in text
    assert "| queue | 3 |" in text


@pytest.mark.parametrize(
    ("command", "status", "rule"),
    [
        ("replay unreadable.yaml trace.csv", 2, "QM003"),
        ("replay good.yaml bad.csv", 2, "TR013"),
        ("replay wrong.yaml trace.csv", 1, "QM108"),
        ("compare good.yaml unreadable.yaml trace.csv", 2, "QM003"),
        ("compare wrong.yaml good.yaml trace.csv", 1, "QM108"),
        ("validate unreadable.yaml", 2, "QM003"),
    ],
)
def test_what_makes_an_input_unusable_is_in_the_reports_too(folder: Path, command: str, status: int, rule: str):
    result = run(f"{command} --report sarif=q.sarif --report junit=q.xml --report json=q.json --report github=-")
    assert result.exit_code == status
    found = sarif(folder / "q.sarif")
    assert rule in {each["ruleId"] for each in found}
    assert all(each["locations"] for each in found)
    root = etree.parse(folder / "q.xml").getroot()
    JUNIT.assertValid(root)
    assert int(root.get("errors")) + int(root.get("failures")) >= 1
    assert "::error file=" in result.stdout
    assert (folder / "q.json").exists() is command.startswith("validate")


def test_the_name_of_a_job_is_no_command_to_githubs_runner(folder: Path, monkeypatch: pytest.MonkeyPatch):
    hostile = TRACE.replace("s2,", "::add-mask::e,").replace("r1,", "##[error]r1,")
    (folder / "trace.csv").write_text(hostile.replace("\n##", "\n  ##"))
    command = "compare good.yaml trace.csv --under startup_seconds.default=1m --jobs 3"
    at_home = run(command).stdout
    assert "\n::add-mask::e" in at_home
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = run(f"{command} --format table --report github=-")
    assert "add-mask" in result.stdout
    assert not [line for line in result.stdout.splitlines() if line.lstrip().startswith("::add-mask") or "##[" in line]


# Files


@pytest.mark.parametrize("command", ["validate good.yaml", "replay good.yaml trace.csv"])
def test_nothing_is_written_over_a_file_unless_asked_and_then_nothing_else_either(folder: Path, command: str):
    (folder / "q.sarif").write_text("mine")
    refused = run(f"{command} --report junit=q.xml --report sarif=q.sarif")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "q.sarif exists already; --force overwrites it" in refused.stderr
    assert ((folder / "q.sarif").read_text(), (folder / "q.xml").exists()) == ("mine", False)
    assert run(f"{command} --report junit=q.xml --report sarif=q.sarif --force").exit_code == 0
    assert sarif(folder / "q.sarif") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--report xml=q.xml", "there is no format 'xml'; there are"),
        ("--report sarif", "expected FORMAT=FILE"),
        ("--report sarif=a --report sarif=b", "sarif is given twice"),
        ("--report sarif=q --report junit=q", "q is to be written twice"),
        ("--report sarif=none/q.sarif", "none/"),
    ],
)
def test_reports_that_make_no_sense_are_refused_before_anything_is_done(options: str, message: str):
    result = run(f"replay good.yaml trace.csv {options}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_the_result_itself_can_be_a_file(folder: Path):
    result = run("validate warned.yaml -o findings.txt")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (folder / "findings.txt").read_text().startswith("warned.yaml:")
