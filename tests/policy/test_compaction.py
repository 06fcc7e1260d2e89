"""When a policy set lets older history become episodes: what it may say, and how it reads."""

import pytest
from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.policy.described import text
from callsheet.policy.document import parse
from callsheet.policy.sets import BALANCED, BUILT_IN, REPLAY
from callsheet.policy.settings import Compaction
from tests.policy.writing import dump


def said(compaction: str) -> Compaction:
    return parse(f"name: ours\nversion: '1'\ncompaction: {compaction}\n").compaction


def test_what_a_set_leaves_out_it_has_from_the_one_that_it_extends() -> None:
    assert said("{turns: 40}") == replace(BALANCED.compaction, turns=40)
    assert said("{tokens: 20000, share: never}") == replace(BALANCED.compaction, tokens=20_000, share=None)


@pytest.mark.parametrize("marks", [Compaction(), Compaction(share=None), Compaction(turns=40, tokens=9, share=0.5)])
def test_a_set_that_is_written_out_reads_as_it_was(marks: Compaction) -> None:
    ours = replace(BALANCED, name="ours", compaction=marks)
    assert parse(dump(ours)) == ours


@pytest.mark.parametrize(
    "wrong", ["5", "{turns: 0}", "{share: 2}", "{other: 1}", "{tokens: soon}", "{least: -1}", "{episodes: 101}"]
)
def test_what_cannot_be_is_refused_with_its_place(wrong: str) -> None:
    with pytest.raises(PolicyError, match="compaction"):
        said(wrong)


def test_only_replay_never_compacts_by_itself() -> None:
    assert [name for name, policy in BUILT_IN.items() if not policy.compaction.by_itself] == [REPLAY.name]


def test_it_is_told_in_words() -> None:
    ours = replace(BALANCED, name="ours", compaction=Compaction(turns=40, tokens=20_000, share=0.5, episodes=3))
    line = "Older history beyond 40 turns or 20,000 tokens or 50% of the budget becomes an episode by itself; "
    assert f"{line}a request shows at most 3." in text(ours)
    assert "becomes an episode when asked for" in text(REPLAY)
