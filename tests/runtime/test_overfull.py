"""A long table can be found by a name that its index has no room for."""

import json

import pytest

from callsheet import Conversation
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user


def filled(talk: Conversation, rows: int) -> str:
    talk.record(user("Export the moorings."))
    talk.record(asks(call("e", "export")))
    table = "mooring,berth,depth\n" + "\n".join(f"MR-{n:05},B{n % 40},{n % 13}.5" for n in range(rows))
    exported = talk.record(result("e", table)).ids[0]
    talk.record({"role": "assistant", "content": "Done."})
    for turn in range(30):
        talk.record([user(f"Note {turn}: {'calm ' * 60}"), {"role": "assistant", "content": "Noted. " + "fair " * 60}])
    return exported


@pytest.mark.parametrize("named", ["MR-07777", "mr-03001", "MR-00003"])
def test_the_row_that_is_named_comes_back_with_its_header(named: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        exported = filled(talk, 9_000)
        talk.record(user(f"Which berth has {named}?"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        sent = json.dumps(sheet.request())
        number = int(named[3:])
        assert f"MR-{number:05},B{number % 40},{number % 13}.5" in sent
        assert "mooring,berth,depth" in sent
        assert any(selection.record == exported for selection in sheet.selections)


def test_a_name_that_no_result_holds_brings_nothing_back() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        filled(talk, 9_000)
        talk.record(user("Which berth has MR-99999?"))
        sent = json.dumps(talk.assemble(provider="openai", model="gpt-5.2").request())
        assert "MR-08" not in sent
