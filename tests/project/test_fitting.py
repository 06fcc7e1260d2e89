"""The tool that fits the table of how likely results are needed says what was counted."""

import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from callsheet.assemble.needed import AGES, SIZES

TOOL = Path(__file__).parents[2] / "tools" / "fit_needed.py"
BINS = len(AGES) + 1


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = spec_from_file_location("fit_needed", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Its dataclasses look up their own module.
    monkeypatch.setitem(sys.modules, "fit_needed", module)
    spec.loader.exec_module(module)
    return module


def tally(tool: Any, uses: int, reached: float, *, seen: int = 100, needed: int = 0, size: int = 0) -> Any:
    """Uses at age 0 to 3; observations of one size."""
    bins = (1, size, 0, 0)
    grown = [0.0, reached, *[0.0] * (BINS - 2)]
    return tool.Tally(
        seen=Counter({bins: seen}), needed=Counter({bins: needed}), uses=Counter({1: uses}), reached=grown
    )


def test_each_source_weighs_the_same_however_large_it_is(tool: Any) -> None:
    table = tool.fit("two@1", [tally(tool, 1_000, 1_000, needed=1), tally(tool, 1, 10, needed=1)])
    assert (0.0, 0.55) == table.uses[:2]
    assert (0.0,) * (BINS - 2) == table.uses[2:]


def test_a_source_that_used_nothing_or_grew_not_so_old_does_not_count(tool: Any) -> None:
    table = tool.fit("one@1", [tally(tool, 5, 10, needed=1), tally(tool, 0, 10), tally(tool, 5, 0.5)])
    assert 0.5 == table.uses[1]


def test_a_size_that_is_needed_more_has_the_larger_factor(tool: Any) -> None:
    table = tool.fit("sized@1", [tally(tool, 1, 10, needed=5), tally(tool, 1, 10, needed=50, size=2)])
    assert len(SIZES) + 1 == len(table.size)
    assert table.size[0] < 1 < table.size[2]
    assert (1.0, 1.0) == (table.size[1], table.size[4])
