"""Two openings of one store: what one of them keeps at hand never hides what the other records or erases."""

from pathlib import Path

import callsheet
from tests.runtime.replies import asks, call, result, user


def exactly(talk: callsheet.Conversation, name: str) -> int:
    return sum(found.exact for found in talk.search(name))


def test_what_another_opening_records_is_found_at_once(tmp_path: Path) -> None:
    with callsheet.open(tmp_path / "s.db") as one, callsheet.open(tmp_path / "s.db") as other:
        here, there = one.conversation("quarry"), other.conversation("quarry")
        here.record([user("Weigh them."), asks(call("a", "weigh")), result("a", "block BLK-40017: 812 kg")])
        assert exactly(here, "BLK-40017") == 1
        assert exactly(here, "BLK-40018") == 0
        for number in range(300):
            there.record(user(f"Next one, please, number {number}."))
            if number % 100 == 50:
                there.record([asks(call(f"b{number}", "weigh")), result(f"b{number}", "block BLK-40018: 760 kg")])
                assert exactly(here, "BLK-40018") == number // 100 + 1
        assert exactly(here, "BLK-40017") == 1


def test_what_one_opening_sends_the_other_has_as_well(tmp_path: Path) -> None:
    with callsheet.open(tmp_path / "s.db") as one, callsheet.open(tmp_path / "s.db") as other:
        here, there = one.conversation("quarry"), other.conversation("quarry")
        here.record(user("Is the north face safe?"))
        sheet = here.assemble(provider="openai", model="gpt-5.2")
        assert there.sheet(sheet.id).blocks == sheet.blocks
        there.record({"role": "assistant", "content": "It is."}, sheet=sheet.id)
        there.record(user("And the south face?"))
        here.assemble(provider="openai", model="gpt-5.2")
