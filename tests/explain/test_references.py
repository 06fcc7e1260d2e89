"""Whatever a request refers to in short is explained by that reference, of every kind of record."""

import pytest

import callsheet
from callsheet.assemble.forms import reference
from callsheet.explain.absence import Outcome


@pytest.mark.parametrize("short", [False, True])
def test_references_of_what_is_second_hand_are_understood(short: bool) -> None:
    with callsheet.open(":memory:") as runtime:
        talk = runtime.conversation("shed", user="mia")
        kept = runtime.remember("mia", "The shelf of parcels is green", always=True)
        for at in range(6):
            talk.record({"role": "user", "content": f"Never ship parcel P-{at:03} before noon."})
            talk.record({"role": "assistant", "content": f"Understood, parcel {at} waits."})
        made = talk.compact(keep=2)
        talk.record({"role": "user", "content": "What about P-003?"})
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        for id in (made.episodes[0], made.milestones[0], kept.id):
            told = talk.why_not(sheet, reference(id) if short else id)
            assert told.record == id
            assert told.outcome in (Outcome.STANDS, Outcome.SHORTENED)


def test_what_the_request_did_not_see_is_no_bookkeeping() -> None:
    with callsheet.open(":memory:") as runtime:
        talk = runtime.conversation("shed")
        for at in range(6):
            talk.record({"role": "user", "content": f"Never ship parcel P-{at:03} before noon."})
            talk.record({"role": "assistant", "content": f"Understood, parcel {at} waits."})
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        made = talk.compact(keep=2)
        assert talk.why_not(sheet, reference(made.episodes[0])).outcome is Outcome.LATER
