"""What all pages have in common."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
DOCS = CHECKOUT / "docs"
PAGES = sorted([*CHECKOUT.glob("*.md"), *DOCS.rglob("*.md"), *(CHECKOUT / "examples").rglob("*.md")])


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def broken(page: Path, link: str) -> bool:
    path, _, fragment = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return True
    headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE) if fragment else []
    return bool(fragment) and fragment not in {anchor(heading) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(CHECKOUT).as_posix())
def test_links_lead_somewhere(page: Path):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in link]
    assert [link for link in links if broken(page, link)] == []


def test_the_contents_list_every_page():
    contents = (DOCS / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"]({page})" not in contents} == set()
