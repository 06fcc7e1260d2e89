"""The documents cannot lie: every example runs, every link leads somewhere, every page is in the navigation."""

import re
from pathlib import Path

import pytest
import yaml

from tests.project.documents import Session, blocks
from tests.project.source import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), ROOT / "benchmarks" / "README.md", *PAGES]

_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")


def _name(document: Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_every_example_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(document=document, folder=tmp_path)

    for block in blocks(document):
        session.run(block)


def test_the_readme_shows_a_working_example_before_line_30() -> None:
    first = next(block for block in blocks(ROOT / "README.md") if block.info == "python")

    assert first.line < 30
    assert "import callsheet" in first.text


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_every_link_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    broken = []
    for found in _LINK.finditer(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        target, _, anchor = found["target"].partition("#")
        if target.startswith(("https:", "http:", "mailto:")):
            continue
        path = (document.parent / target).resolve() if target else document
        if not path.exists() or (anchor and anchor not in _anchors(path)):
            broken.append(found["target"])

    assert broken == []


def _anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_navigation_and_the_other_way_round() -> None:
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]

    assert sorted(_pages(navigation)) == [str(page.relative_to(ROOT / "docs")) for page in PAGES]


def _pages(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    assert isinstance(inner, list) or hasattr(inner, "__iter__")
    return [page for item in inner for page in _pages(item)]


def test_every_make_command_that_is_shown_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    shown = {
        target
        for document in DOCUMENTS
        for block in blocks(document)
        for target in re.findall(r"^(?:\$ )?make ([a-z]+)", block.text, re.MULTILINE)
    }

    assert shown <= targets
    assert {"demo", "test"} <= shown
