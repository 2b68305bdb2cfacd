"""Puts together what the site of `make docs` is built from: `python -m website.assemble FOLDER`.

Pages stand where they stand in the checkout, so that their links lead on:

- README.md, CONTRIBUTING.md, CHANGELOG.md, docs/ and examples/ are pages at the same relative places.
- A file or folder that a page links to, and that is no page, becomes one in `source/`: its text, or what it holds.
- Reference pages name what the packages export, and the command line's parser.

The tool that builds the site sees plain Markdown, and can be exchanged.
"""

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from website.commands import commands_page

CHECKOUT = Path(__file__).parents[1]
WEBSITE = Path(__file__).parent
ASSETS = ("stylesheets/extra.css", "overview.svg")
_ROOT_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_PAGE_FOLDERS = ("docs", "examples")
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
_CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_DIAGRAM = re.compile(r"^```mermaid\n.*?^```$", re.MULTILINE | re.DOTALL)
_DRAWN = "![What Batch Quota does: a topology is validated, replayed and deployed](overview.svg)"
"""For the README's diagram, which GitHub draws by itself, and a site only by a script from elsewhere."""
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".csv": "text", ".mjs": "javascript"}
_LARGEST_SHOWN = 40_000
"""Characters of a file; of a longer one the start is shown."""
_REFERENCES = {
    "policy_engine": (
        "",
        "What `from policy_engine import …` gives. [The guide](../docs/library.md) shows it at work, and has the "
        "columns of its data frames.",
    ),
    "batch_quota": (
        "constructs",
        "What `from batch_quota import …` gives: the [constructs](../docs/constructs.md) and what they take.",
    ),
}
"""The packages whose exports are documented: the folder that each is in, and what its page begins with."""


def assemble(target: Path) -> None:
    """Write everything into a folder, in place of what is there."""
    shutil.rmtree(target, ignore_errors=True)
    for place, text in pages().items():
        path = target / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for asset in ASSETS:
        (target / asset).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(WEBSITE / asset, target / asset)


def pages() -> dict[str, str]:
    """The text of each page by its place."""
    texts = {path.relative_to(CHECKOUT).as_posix(): path.read_text(encoding="utf-8") for path in _page_files()}
    linked = dict.fromkeys(target for place, text in texts.items() for target in _linked(text, place))
    return {
        **{place: _with_links(_DIAGRAM.sub(_DRAWN, text), place) for place, text in texts.items()},
        **{_source_page(target): _source(CHECKOUT / target) for target in linked},
        "reference/commands.md": commands_page(),
        **{f"reference/{package}.md": _exports(package) for package in _REFERENCES},
    }


def _page_files() -> Iterator[Path]:
    yield from (CHECKOUT / name for name in _ROOT_PAGES)
    for folder in _PAGE_FOLDERS:
        yield from sorted((CHECKOUT / folder).rglob("*.md"))


def _linked(text: str, place: str) -> Iterator[str]:
    """What of the checkout a page links to that is no page."""
    for link in _LINK.findall(_CODE.sub("", text)):
        target = _target(link, place)
        if target is not None:
            yield target


def _with_links(text: str, place: str) -> str:
    """The page with links to pages in place of those to files and folders."""
    folder = PurePosixPath(place).parent.as_posix()

    def led(link: re.Match[str]) -> str:
        target = _target(link[1], place)
        return link[1] if target is None else relpath(_source_page(target), folder)

    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(led, part) for part in parts[::2]]
    return "".join(parts)


def _target(link: str, place: str) -> str | None:
    """The place in the checkout that a link of a page leads to, if there is something that is no page."""
    if "://" in link or link.endswith(".md"):
        return None
    target = normpath(PurePosixPath(place).parent / link)
    return target if (CHECKOUT / target).exists() else None


def _source_page(target: str) -> str:
    return f"source/{target}.md"


def _source(path: Path) -> str:
    """A page with what a file says, or what a folder holds."""
    title = f"# {path.relative_to(CHECKOUT).as_posix()}\n\n"
    if path.is_dir():
        entries = (entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))
        return title + "".join(sorted(f"- `{entry.name}{'/' * entry.is_dir()}`\n" for entry in entries))
    text = path.read_text(encoding="utf-8")
    if len(text) > _LARGEST_SHOWN:
        text = f"{text[:_LARGEST_SHOWN]}\n… and {len(text) - _LARGEST_SHOWN:,} characters more"
    return f"{title}````{_LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n"


def _exports(package: str) -> str:
    _, says = _REFERENCES[package]
    blocks = "".join(f"::: {package}.{name}\n\n" for name in exported(package))
    return f"# {package}\n\n{says}\n\n{blocks}"


def exported(package: str) -> list[str]:
    """The public names that a package imports from its own modules, in alphabetical order. Nothing is imported."""
    tree = ast.parse((CHECKOUT / _REFERENCES[package][0] / package / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports if (node.module or "").startswith(package) for alias in node.names}
    return sorted(names)


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
