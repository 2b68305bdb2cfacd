"""What every rule has to say of itself, and that it is true."""

import re
import sys
from pathlib import Path
from subprocess import run

import pytest
from ruamel.yaml import YAML
from topology_fragments import complete, topology_of

from policy_engine.change import compare, setup_of_queue, setup_of_topology, unmanaged_queue
from policy_engine.diagnostics import Severity
from policy_engine.rules import AccessRule, ChangeRule, Rule, SuppressionRule, check, registry, rule
from policy_engine.rules.access_checking import check_access
from policy_engine.rules.change_checking import check_changes
from policy_engine.rules.documentation import HEADINGS, documentation
from policy_engine.rules.pages import pages
from policy_engine.rules.registry import SERIES
from policy_engine.template import read_template
from policy_engine.template.document import open_template, template_in
from policy_engine.topology import SourceMap, parse_topology
from policy_engine.topology.document import read_document
from policy_engine.topology.document.reporting import Report

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs" / "rules"
RULES = list(registry().values())
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
OTHERS = (ChangeRule, AccessRule)
each_change_rule, each_access_rule, each_topology_rule = (
    pytest.mark.parametrize("rule", rules, ids=lambda rule: rule.id)
    for rules in (
        *([rule for rule in RULES if isinstance(rule, kind)] for kind in OTHERS),
        [rule for rule in RULES if not isinstance(rule, OTHERS)],
    )
)
SOURCE = re.compile(r"\[[^]]+\]\(https://(docs\.aws\.amazon\.com|github\.com/aws)/[^)\s]+\)")


def findings_in(code: str):
    """What all rules find in a snippet, completed and written out as a file."""
    report = Report("snippet.yaml", code)
    document = read_document(report)
    assert document is not None, report.findings
    assert not report.findings
    return check(parse_topology(as_yaml(complete(document.data))).topology)


def changes_in(code: str):
    """What the rules find in a snippet that has a topology, or a template, before and after a change."""
    report = Report("snippet.yaml", code)
    document = read_document(report)
    assert document is not None, report.findings
    assert isinstance(document.data, dict)
    before, after = (setups_of(document.data[side]) for side in ("before", "after"))
    return [each.finding for each in check_changes(compare(before[0], after[0], after[1]))]


def access_in(code: str):
    """What the rules find in policies beside a queue `Queue` with a share `Search`."""
    policies = template_in(code.encode(), "snippet.yaml")
    queue = open_template(REPOSITORY / "examples" / "templates" / "training.yaml")
    assert policies is not None
    share = {"Type": "AWS::Batch::QuotaShare", "Properties": {"JobQueue": {"Ref": "Queue"}}}
    resources = {**queue.data["Resources"], "Search": share, **policies.data["Resources"]}
    return [finding for finding, _ in check_access(read_template({**queue.data, "Resources": resources}))]


def setups_of(fragment: dict):
    """Queues of a topology's fragment or of a template, and queues without quota management."""
    if "Resources" not in fragment:
        return [setup_of_topology(topology_of(fragment), SourceMap())], []
    reading = read_template(fragment)
    assert [finding for finding in reading.findings if finding.severity is Severity.ERROR] == []
    return [setup_of_queue(queue) for queue in reading.queues], [unmanaged_queue(each) for each in reading.unmanaged]


def as_yaml(data: object) -> str:
    from io import StringIO

    stream = StringIO()
    YAML(typ="safe", pure=True).dump(data, stream)
    return stream.getvalue()


@each_rule
def test_the_docstring_has_the_headings_that_all_have(rule: Rule):
    says = documentation(rule)
    assert tuple(says.sections) == HEADINGS
    assert all(section for section in says.sections.values())


@each_rule
def test_the_title_fits_the_table_of_rules(rule: Rule):
    title = documentation(rule).title
    assert title[:1].isupper()
    assert "\n" not in title
    assert len(f"QM101  warning   {title}") <= 80


@each_change_rule
def test_the_example_of_a_change_has_what_the_rule_finds(rule: Rule):
    assert rule.id in {finding.id for finding in changes_in(documentation(rule).code("Example"))}


@each_change_rule
def test_what_to_do_instead_of_a_change_is_not_found_by_the_rule(rule: Rule):
    found = changes_in(documentation(rule).code("Use instead"))
    assert rule.id not in {finding.id for finding in found}
    assert {finding.severity for finding in found} <= {Severity.WARNING, Severity.INFO}


@each_topology_rule
def test_the_example_has_precisely_what_the_rule_finds(rule: Rule):
    assert {finding.id for finding in findings_in(documentation(rule).code("Example"))} == {rule.id}


@each_topology_rule
def test_nothing_is_found_in_what_to_use_instead(rule: Rule):
    assert findings_in(documentation(rule).code("Use instead")) == []


@each_access_rule
def test_the_example_of_a_policy_has_precisely_what_the_rule_finds(rule: Rule):
    assert {finding.id for finding in access_in(documentation(rule).code("Example"))} == {rule.id}


@each_access_rule
def test_nothing_is_found_in_the_policy_to_use_instead(rule: Rule):
    assert access_in(documentation(rule).code("Use instead")) == []


@each_rule
def test_code_fits_the_terminal(rule: Rule):
    for heading in ("Example", "Use instead"):
        assert max(map(len, documentation(rule).code(heading).splitlines())) <= 76


@each_rule
def test_each_reference_says_whether_aws_documents_it_and_where(rule: Rule):
    references = documentation(rule).sections["References"]
    items = [" ".join(item.split()) for item in re.split(r"^- ", references, flags=re.MULTILINE) if item]
    assert items
    for item in items:
        basis, _, text = item.partition(": ")
        assert basis in {"Documented", "Observed", "Inferred", "Ours"}
        assert text.endswith(".")
        assert bool(SOURCE.search(text)) == (basis in {"Documented", "Observed"})


@each_rule
def test_the_file_is_named_after_the_class_and_stands_in_the_series_of_the_id(rule: Rule):
    package, _, module = type(rule).__module__.rpartition(".")
    assert SERIES[rule.id[:3]].__name__ == package
    assert re.sub(r"(?<!^)(?=[A-Z])", "_", type(rule).__name__).lower() == module
    assert re.fullmatch(r"QM[12346][0-9]{2}", rule.id)


def test_each_file_of_the_series_has_one_rule_and_each_rule_its_own_id():
    files = [
        path
        for package in SERIES.values()
        for path in Path(package.__path__[0]).glob("*.py")
        if path.name != "__init__.py"
    ]
    declared = [re.findall(r'^    id = "(QM\d{3})"$', path.read_text(), re.MULTILINE) for path in files]
    assert [len(ids) for ids in declared] == [1] * len(files)
    assert sorted(ids[0] for ids in declared) == list(registry())


def test_ids_of_a_series_have_no_gaps_so_that_a_removed_rule_is_noticed():
    for start in SERIES:
        numbers = [int(rule_id[2:]) for rule_id in registry() if rule_id.startswith(start)]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert numbers[0] % 100 == 1


def test_a_rule_is_known_by_its_id_and_an_unknown_one_is_refused():
    assert rule("QM101").id == "QM101"
    with pytest.raises(KeyError):
        rule("QM999")


def test_findings_about_suppressions_are_no_errors_so_that_an_outdated_one_stops_nobody():
    assert {rule.severity for rule in RULES if isinstance(rule, SuppressionRule)} == {Severity.WARNING}


def test_the_pages_in_the_repository_are_those_of_the_classes():
    written = {path.name: path.read_text() for path in DOCS.glob("*.md") if path.name != "suppressing.md"}
    assert written == dict(pages()), "run python -m policy_engine.rules.pages docs/rules"


def test_the_pages_are_written_into_a_directory_and_one_of_no_rule_is_named(tmp_path: Path):
    (tmp_path / "QM999.md").write_text("left behind")
    command = [sys.executable, "-m", "policy_engine.rules.pages", str(tmp_path)]
    done = run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"wrote {len(pages())} pages; of no rule: QM999.md\n")
    (tmp_path / "QM999.md").unlink()
    assert run(command, capture_output=True, text=True, check=False).returncode == 0
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict(pages())


def test_links_between_the_pages_lead_somewhere():
    for path in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([\w.-]+\.md)\)", path.read_text()):
            assert (DOCS / target).is_file(), f"{path.name} links to {target}"


def test_the_page_on_suppressing_accepts_what_would_be_found():
    (code,) = re.findall(r"^```yaml\n(.*?)^```$", (DOCS / "suppressing.md").read_text(), re.MULTILINE | re.DOTALL)
    assert findings_in(code) == []
    without = code[: code.index("suppressions:")]
    assert [finding.id for finding in findings_in(without)] == ["QM301", "QM302", "QM313"]


def test_the_python_on_the_page_on_suppressing_runs(monkeypatch: pytest.MonkeyPatch):
    (code,) = re.findall(r"^```python\n(.*?)^```$", (DOCS / "suppressing.md").read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(REPOSITORY)
    names: dict[str, object] = {}
    exec(compile(code, "suppressing.md", "exec"), names)  # noqa: S102 (our own page)
    assert names["topology"] != names["document"].topology
