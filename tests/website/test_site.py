"""The site of `make docs`: all pages are there, links lead on, and nothing comes from elsewhere."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

import policy_engine
from policy_engine.cli import main
from website.assemble import ASSETS, WEBSITE, exported, pages

CHECKOUT = Path(__file__).parents[2]
CONFIG = YAML().load(CHECKOUT / "mkdocs.yml")
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""Attributes whose addresses a browser asks for without being told to."""


@pytest.fixture(scope="module")
def assembled() -> dict[str, str]:
    return pages()


def places(navigation: object) -> Iterator[str]:
    """The pages of a navigation."""
    if isinstance(navigation, str):
        yield navigation
    for entry in navigation if isinstance(navigation, list) else []:
        yield from places(next(iter(entry.values())) if isinstance(entry, dict) else entry)


def test_the_navigation_leads_to_every_page_of_the_guide_and_the_reference(assembled: dict[str, str]):
    guide = {place for place in assembled if re.fullmatch(r"(docs|reference)/[^/]+\.md|[^/]+\.md", place)}
    listed = list(places(CONFIG["nav"]))
    assert guide - set(listed) == set(), "name them under nav in mkdocs.yml"
    assert set(listed) - {"docs/rules/README.md", "docs/rules/suppressing.md"} <= guide
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(assembled)


def test_every_link_leads_to_a_page_of_the_site(assembled: dict[str, str]):
    astray = []
    for place, text in assembled.items():
        if place.startswith("source/"):
            continue
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s#]+)", prose):
            target = os.path.normpath(Path(place).parent / link)
            if "://" not in link and target not in {*assembled, *ASSETS}:
                astray.append((place, link))
    assert astray == []


def test_files_and_folders_that_are_linked_to_are_pages_with_what_they_hold(assembled: dict[str, str]):
    assert (
        "class" in assembled["source/examples/cdk/access.py.md"]
        or "Stack" in assembled["source/examples/cdk/access.py.md"]
    )
    assert "- `access.py`\n" in assembled["source/examples/cdk.md"]
    assert "(../source/examples/notebook.yaml.md)" in assembled["docs/explaining.md"]


def test_the_reference_has_what_the_packages_export(assembled: dict[str, str]):
    assert exported("policy_engine") == sorted(policy_engine.__all__)
    blocks = re.findall(r"^::: batch_quota\.(\w+)$", assembled["reference/batch_quota.md"], re.MULTILINE)
    source = (CHECKOUT / "constructs" / "batch_quota" / "__init__.py").read_text(encoding="utf-8")
    declared = set(re.findall(r'^    "(\w+)",$', source, re.MULTILINE))
    assert {"QuotaManagedQueue", "QuotaShare", "QuotaPolicyValidation"} <= set(blocks) < declared


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


def test_the_page_on_commands_has_every_command_with_every_option_as_its_help_says_it(assembled: dict[str, str]):
    page = assembled["reference/commands.md"]
    sections = re.split(r"^##+ (.+)\n", page, flags=re.MULTILINE)
    by_command = dict(zip(sections[1::2], sections[2::2], strict=True))
    known = dict(commands(main, "batch-quota"))
    assert set(by_command) == set(known)
    for path, command in known.items():
        written = by_command[path]
        options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
        assert [option.opts[-1] for option in options if option.opts[-1] not in written] == [], path
        for line in re.findall(r"^  (batch-quota .+)$", command.help or "", re.MULTILINE):
            assert f"\n{line}\n" in written, path


def test_the_picture_on_the_first_page_says_what_the_readme_s_diagram_says(assembled: dict[str, str]):
    assert "```mermaid" not in assembled["README.md"]
    assert "](overview.svg)" in assembled["README.md"]
    (diagram,) = re.findall(r"```mermaid\n(.*?)```", (CHECKOUT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    nodes = set(re.findall(r"(\w+)[\[({]+", diagram)) | {"flowchart"}
    said = set(re.findall(r"[A-Za-z]{3,}", diagram.replace("<br>", " "))) - nodes
    drawn = re.sub(r"<[^>]+>", " ", (WEBSITE / "overview.svg").read_text(encoding="utf-8"))
    assert len(said) >= 25
    assert said - set(re.findall(r"[A-Za-z]{3,}", drawn)) == set()


class Loads(HTMLParser):
    """What a page has a browser load from elsewhere, and whether it has a diagram, which a script would draw."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        address = values.get(LOADED.get(tag, ""), "") or ""
        if "//" in address and not (tag == "link" and values.get("rel") in {"canonical", "prev", "next"}):
            self.foreign.append(address)
        if "mermaid" in (values.get("class") or "").split():
            self.foreign.append("mermaid")


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_its_pages_load_nothing_from_elsewhere(assembled: dict[str, str]):
    make = shutil.which("make")
    assert make is not None
    # What it would install is there already: the tests run on it.
    done = subprocess.run(
        [make, "docs", "INSTALLED_DOCS="],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    site = CHECKOUT / ".cache" / "site"
    for place in assembled:
        built = re.sub(r"README\.md$", "index.md", place).removesuffix(".md")
        assert (site / f"{built}.html").exists(), place
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert loads.foreign == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet
    reference = (site / "reference" / "policy_engine.html").read_text(encoding="utf-8")
    assert {"policy_engine.Replay.usage_every", "policy_engine.compare"} <= set(re.findall(r'id="([\w.]+)"', reference))
