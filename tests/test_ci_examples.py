"""examples/ci and the pre-commit hook: they are what they claim to be, ask for no more than they need, and run."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs

import pytest
from check_jsonschema.cli import main as check_jsonschema
from click.testing import CliRunner
from pre_commit.clientlib import load_manifest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / "examples" / "ci" / "github-actions.yml"
GITLAB = ROOT / "examples" / "ci" / "gitlab-ci.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
BIN = Path(sys.executable).parent
MARK = "<!-- batch-quota -->"
NEXT = ROOT / "examples" / "changes" / "next.yaml"
JOBS = "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds\n"
TRACE = f"{JOBS}s1,search,0,ml.g5.xlarge,6,600\ns2,search,0,ml.g5.xlarge,6,600\nr1,research,0,ml.g5.xlarge,6,60\n"
APP = """\
from aws_cdk import App, Stack
from batch_quota import QuotaManagedQueue
from policy_engine.topology import read_topology

app = App()
QuotaManagedQueue(Stack(app, "training"), "Quota", topology=read_topology("topology.yaml").topology)
app.synth()
"""
REPORTS_COMMENT = "## base.yaml → topology.yaml\n"


def read(path: Path) -> dict[str, dict[str, object]]:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def github_script(job: str, name: str) -> str:
    """The script of a step, by the start of its name."""
    (found,) = [step["run"] for step in read(GITHUB)["jobs"][job]["steps"] if step.get("name", "").startswith(name)]
    return found


def gitlab_script(job: str) -> str:
    return "\n".join(read(GITLAB)[job]["script"])


def bash(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script as GitHub and GitLab do."""
    path = f"{folder / 'bin'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


# What they are


@pytest.mark.parametrize(("path", "schema"), [(GITHUB, "vendor.github-workflows"), (GITLAB, "vendor.gitlab-ci")])
def test_each_pipeline_is_one_by_its_schema(path: Path, schema: str):
    result = CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, str(path)])
    assert result.exit_code == 0, result.output


def test_the_workflow_has_no_weakness_that_is_known():
    done = subprocess.run(
        [BIN / "zizmor", "--offline", "--pedantic", "--no-progress", GITHUB],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_who_may_write_runs_no_code_of_the_repository():
    workflow = read(GITHUB)
    assert workflow["permissions"] == {}
    writing = {
        name: [step.get("uses", "").partition("@")[0] for step in job["steps"]]
        for name, job in workflow["jobs"].items()
        if "write" in job["permissions"].values()
    }
    assert writing == {
        "code-scanning": ["actions/download-artifact", "github/codeql-action/upload-sarif"],
        "comment": ["actions/download-artifact", ""],
    }
    assert "batch-quota " not in github_script("comment", "Comment").replace(MARK, "")
    assert read(GITLAB)["comment"]["variables"] == {"GIT_STRATEGY": "none"}


def test_actions_are_pinned_to_commits():
    used = re.findall(r"uses: (\S+)", GITHUB.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each) for each in used)


def test_both_do_the_same():
    commands = [
        set(re.findall(r"(batch-quota (?:validate|diff|compare|replay)|cdk synth|diff -u)", path.read_text("utf-8")))
        for path in (GITHUB, GITLAB)
    ]
    assert commands[0] == commands[1]
    assert len(commands[0]) == 6


# What they do


@pytest.fixture
def comparison(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "what-if.md").write_text(REPORTS_COMMENT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("there", "method"), [("", "POST"), ("7\n12", "PATCH")])
def test_github_has_one_comment_which_is_replaced(comparison: Path, there: str, method: str):
    gh = comparison / "bin" / "gh"
    gh.write_text(f'#!/bin/sh\necho "$@" >> calls\ncase "$*" in *--jq*) printf "{there}";; esac\n')
    gh.chmod(0o755)
    done = bash(github_script("comment", "Comment"), comparison, NUMBER="5", GITHUB_REPOSITORY="o/r", GH_TOKEN="")
    assert done.returncode == 0, done.stderr
    asked, written = (comparison / "calls").read_text().splitlines()
    assert asked.startswith("api --paginate repos/o/r/issues/5/comments --jq ")
    where = "repos/o/r/issues/comments/12" if there else "repos/o/r/issues/5/comments"
    assert written == f"api --method {method} {where} --field body=@comment.md --silent"
    assert (comparison / "comment.md").read_text(encoding="utf-8") == f"{MARK}\n{REPORTS_COMMENT}"


@pytest.fixture
def gitlab() -> Iterator[HTTPServer]:
    class Notes(BaseHTTPRequestHandler):
        notes: list[dict[str, object]] = []  # noqa: RUF012
        written: list[tuple[str, str, str]] = []  # noqa: RUF012

        def _answer(self) -> None:
            assert self.headers["PRIVATE-TOKEN"] == MARK
            length = int(self.headers.get("Content-Length", 0))
            if length:
                body = parse_qs(self.rfile.read(length).decode())["body"][0]
                self.written.append((self.command, self.path, body))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(self.notes).encode())

        do_GET = do_POST = do_PUT = _answer  # noqa: N815

        def log_message(self, *_arguments: object) -> None:
            """Be silent."""

    with HTTPServer(("127.0.0.1", 0), Notes) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("notes", "call"),
    [
        ([], ("POST", "/projects/3/merge_requests/5/notes")),
        ([{"id": 8, "body": f"see {MARK}"}, {"id": 9, "body": MARK}], ("PUT", "/projects/3/merge_requests/5/notes/9")),
    ],
)
def test_gitlab_has_one_comment_which_is_replaced(
    comparison: Path, gitlab: HTTPServer, notes: list[Mapping[str, object]], call: tuple[str, str]
):
    handler = gitlab.RequestHandlerClass
    handler.notes, handler.written = notes, []
    done = bash(
        gitlab_script("comment"),
        comparison,
        CI_API_V4_URL=f"http://127.0.0.1:{gitlab.server_port}",
        CI_PROJECT_ID="3",
        CI_MERGE_REQUEST_IID="5",
        QUOTA_COMMENT_TOKEN=MARK,
        no_proxy="127.0.0.1",
    )
    assert done.returncode == 0, done.stderr
    assert handler.written == [(*call, f"{MARK}\n{REPORTS_COMMENT}")]


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout of a pull request, whose branch is that of main so far."""
    origin, folder = tmp_path / "origin", tmp_path / "checkout"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch=main")
    (origin / "traces").mkdir()
    (origin / "traces" / "last-month.csv").write_text(TRACE)
    (origin / "topology.yaml").write_text(NEXT.read_text("utf-8"), encoding="utf-8")
    (origin / "app.py").write_text(APP)
    (origin / "cdk.json").write_text('{"app": "python app.py", "versionReporting": false}')
    (origin / ".gitignore").write_text("cdk.out\nreports\n")
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "-m", "main")
    git(tmp_path, "clone", "--quiet", str(origin), str(folder))
    (folder / "reports").mkdir()
    return folder


VARIABLES = {"TOPOLOGY": "topology.yaml", "TRACE": "traces/last-month.csv"}
WHAT_IF = {
    "github": (lambda: github_script("check", "Replay"), {"BASE": "main"}),
    "gitlab": (lambda: gitlab_script("what-if"), {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}),
}


def propose(repository: Path, more: str) -> None:
    text = NEXT.read_text("utf-8").replace("borrow_limit: 100", "borrow_limit: 150")
    (repository / "topology.yaml").write_text(f"{text}\n{more}\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("host", WHAT_IF)
def test_a_change_is_compared_with_its_target_and_stopped_if_it_breaks_what_is_expected(repository: Path, host: str):
    script, environment = WHAT_IF[host]
    propose(repository, "")
    done = bash(script(), repository, **VARIABLES, **environment)
    assert done.returncode == 0, done.stderr
    (summary,) = (repository / "reports").glob("*what-if.md")
    assert summary.read_text(encoding="utf-8").startswith("## base.yaml → topology.yaml")
    assert "borrow limit 100 % -&gt; 150 %" in summary.read_text(encoding="utf-8")
    shutil.rmtree(repository / "reports")
    (repository / "reports").mkdir()
    propose(repository, "expectations: {search: {wait_max: 1m}}")
    done = bash(script(), repository, **VARIABLES, **environment)
    assert done.returncode == 1
    assert "❌ **1 expectation: 1 broken**" in summary.read_text(encoding="utf-8")
    if host == "github":
        assert "::error file=topology.yaml,line=" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("host", WHAT_IF)
def test_on_main_itself_and_for_a_new_topology_the_trace_is_replayed(repository: Path, host: str):
    script, environment = WHAT_IF[host]
    for given in ({}, {**environment, "TOPOLOGY": "new.yaml"}):
        shutil.copy(repository / "topology.yaml", repository / "new.yaml")
        done = bash(script(), repository, **{**VARIABLES, **dict.fromkeys(environment, ""), **given})
        assert done.returncode == 0, done.stderr
        (summary,) = (repository / "reports").glob("*what-if.md")
        assert summary.read_text(encoding="utf-8").startswith("## training: 3 jobs")
        shutil.rmtree(repository / "reports")
        (repository / "reports").mkdir()


@pytest.mark.slow
def test_templates_that_differ_from_those_that_were_reviewed_stop_the_pipeline(repository: Path):
    synth, hold = (github_script("check", step) for step in ("Synthesize", "Hold"))
    gitlab_synth, gitlab_hold = read(GITLAB)["synth"]["script"]
    assert gitlab_synth == synth
    done = bash(synth, repository)
    assert done.returncode == 0, done.stderr
    assert [bash(script, repository).returncode for script in (hold, gitlab_hold)] == [2, 1]
    (repository / "snapshots").mkdir()
    (template,) = (repository / "cdk.out").glob("*.template.json")
    shutil.copy(template, repository / "snapshots")
    assert [bash(script, repository).returncode for script in (hold, gitlab_hold)] == [0, 0]
    template.write_text(template.read_text().replace("training", "other"))
    assert [bash(script, repository).returncode for script in (hold, gitlab_hold)] == [1, 1]


@pytest.mark.slow
def test_the_topology_is_validated_and_summed_up(repository: Path):
    done = bash(github_script("check", "Validate"), repository, **VARIABLES)
    assert done.returncode == 0, done.stderr
    summed = bash(github_script("check", "Summarize"), repository, GITHUB_STEP_SUMMARY=str(repository / "summary"))
    assert summed.returncode == 0
    assert (repository / "summary").read_text().startswith("## Batch Quota: 1 topology: no findings")
    (repository / "reports" / "validate.sarif").unlink()
    assert bash(gitlab_script("validate"), repository, **VARIABLES).returncode == 0
    assert (repository / "reports" / "validate.xml").exists()


# The pre-commit hook


def test_the_hook_is_one_and_takes_files_that_are_named_like_topologies():
    (hook,) = load_manifest(HOOKS)
    assert hook["entry"] == "batch-quota validate"
    taken = [
        path
        for path in ("topology.yaml", "infra/topology.yml", "topologies/ml/training.json", "my-topology.yaml", "app.py")
        if re.search(hook["files"], path)
    ]
    assert taken == ["topology.yaml", "infra/topology.yml", "topologies/ml/training.json"]


@pytest.mark.slow
def test_pre_commit_runs_the_hook(repository: Path, tmp_path: Path):
    """In an environment that pre-commit makes for this repository; what it needs is taken from ours, not fetched."""
    (packages,) = {path for path in map(Path, sys.path) if path.name == "site-packages"}
    environment = {
        **os.environ,
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PYTHONPATH": str(packages),
    }
    hook = [BIN / "pre-commit", "try-repo", ROOT, "batch-quota-validate", "--verbose", "--files", "topology.yaml"]
    good = subprocess.run(hook, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout + good.stderr
    assert "1 topology: no findings" in good.stdout
    (repository / "topology.yaml").write_text("name: t\n")
    bad = subprocess.run(hook, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert bad.returncode == 1
    assert "error QM004" in bad.stdout
