"""The reference pages say what the code says."""

import importlib.util
import re
import sys
from types import ModuleType

import pytest

import callsheet
from tests.project.source import ROOT

TOOL = ROOT / "tools" / "build_reference.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_reference", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Newer Pythons write some signatures otherwise; the pages are made with the oldest one.
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the pages are made with Python 3.11")
def test_the_generated_pages_are_up_to_date(tool: ModuleType) -> None:
    stale = [path.name for path, text in tool.pages().items() if path.read_text(encoding="utf-8") != text]

    assert stale == [], "run: python tools/build_reference.py"


def test_what_methods_return_is_described_with_its_fields(tool: ModuleType) -> None:
    page = tool.api_page()
    for name in ("Knowledge", "Passage", "Document", "KeptMemory", "Gauge", "Compaction", "Worked", "Forgotten"):
        assert f"\n### `{name}`\n" in page
    for name in ("Uncompacted", "Explained", "WhyNot", "Trace", "Embedder", "Summariser", "Pruner"):
        assert f"\n### `{name}`\n" in page
    assert "\n- `outcome: Outcome`" in page


def test_arguments_of_any_number_have_their_star(tool: ModuleType) -> None:
    page = tool.api_page()
    for shown in ("pin(*references: ", "unpin(*references: "):
        assert f"\n{shown}" in page
    for each in ("forget", "offer_skills"):
        (signature,) = re.findall(rf"(?m)^{each}\([^`]*?\) ->", page)
        assert signature.count("*") == 1


def test_every_public_name_has_a_place_on_the_page(tool: ModuleType) -> None:
    shown = [name for names in tool._GROUPS.values() for name in names]

    assert sorted(shown) == sorted(callsheet.__all__)
