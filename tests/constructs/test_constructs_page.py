"""docs/constructs.md and the README: what a newcomer copies runs."""

import re
import shutil
from pathlib import Path

import pytest
from aws_cdk.assertions import Template

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs" / "constructs.md").read_text(encoding="utf-8")
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_app_of_the_page_makes_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copy(CHECKOUT / "examples" / "ml-training.yaml", tmp_path / "topology.yaml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CDK_OUTDIR", str(tmp_path / "cdk.out"))
    (app,) = blocks(PAGE, "python")
    made: dict[str, object] = {}
    exec(compile(app, "app.py", "exec"), made)  # noqa: S102 (what the page tells people to run)
    template = Template.from_stack(made["stack"])
    for type_, count in {"Batch::QuotaShare": 7, "CloudWatch::Alarm": 10, "SNS::Topic": 1, "KMS::Key": 1}.items():
        template.resource_count_is(f"AWS::{type_}", count)


def test_the_readme_shows_the_same_app_and_the_same_way_to_install():
    assert blocks(README, "python") == blocks(PAGE, "python")
    assert blocks(PAGE, "sh")[0] in blocks(README, "sh")
