"""Whether a needed value stands in a request, and whether with something of what surrounded it."""

import pytest

from callsheet.evaluate.evidence import Evidence
from callsheet.evaluate.messages import Call, Message
from callsheet.evaluate.presence import Presence
from tests.evaluate.conversations import call, calls, order_desk, result, says, trajectory, user


def standing(source: str, value: str, *blocks: str) -> tuple[bool, bool]:
    """Whether the value, which one tool result gave, stands in the request, and whether in place."""
    talk = trajectory(user("u"), calls(call("a", "find")), result("a", source), says(value))
    evidence = Evidence(talk)
    presence = Presence(talk, evidence)
    request = presence.blocks(Message(role="user", content=block) for block in blocks)
    (need,) = evidence.needs[3]
    holding = presence.holding(need.value, request)
    return bool(holding), presence.in_place(need.value, holding)


JSON = '{"order": {"order_id": "W-48213", "lines": [["SKU-77"]]}, "W-99999": {"note": 1}}'
TEXT = "The parcel number of Mrs Lund reads W-48213 since last week."


@pytest.mark.parametrize(
    ("source", "value", "blocks", "expected"),
    [
        (JSON, "W-48213", ["nothing"], (False, False)),
        (JSON, "W-48213", ["W-48213"], (True, False)),
        (JSON, "W-48213", ["ORDER_ID: W-48213"], (True, True)),
        (JSON, "W-48213", ["order_id", "W-48213"], (True, False)),
        (JSON, "W-48213", ["order_id W-482137"], (False, False)),
        (JSON, "SKU-77", ["lines: SKU-77"], (True, True)),
        # The value is itself a key of the outermost object: nothing surrounds it.
        (JSON, "W-99999", ["W-99999"], (True, True)),
        (TEXT, "W-48213", ["W-48213"], (True, False)),
        (TEXT, "W-48213", ["W-48213 reads"], (True, False)),
        (TEXT, "W-48213", ["lund: W-48213, last"], (True, True)),
        (TEXT, "W-48213", ["lund reads W-48213"], (True, True)),
        (TEXT, "W-48213", ["since last W-48213"], (True, True)),
        ("parcel W-48213", "W-48213", ["the PARCEL is W-48213"], (True, True)),
        ("W-48213", "W-48213", ["W-48213"], (True, True)),
        ("[1, 2, 12345]", "12345", ["12,345.00"], (True, True)),
    ],
)
def test_a_bare_value_is_present_but_not_in_place(
    source: str, value: str, blocks: list[str], expected: tuple[bool, bool]
) -> None:
    assert standing(source, value, *blocks) == expected


def test_words_beyond_two_on_each_side_do_not_surround_a_value() -> None:
    assert standing(TEXT, "W-48213", "parcel number W-48213") == (True, False)


def test_words_of_two_occurrences_do_not_add_up() -> None:
    source = "alpha beta W-48213 --- " + "x " * 90 + " --- gamma delta W-48213"
    assert standing(source, "W-48213", "alpha W-48213 gamma") == (True, False)
    assert standing(source, "W-48213", "gamma delta W-48213") == (True, True)


def test_a_value_may_stand_in_the_arguments_of_a_call() -> None:
    talk = order_desk()
    evidence = Evidence(talk)
    presence = Presence(talk, evidence)
    need = evidence.needs[9][0]
    asked = Message(role="assistant", calls=(Call(id="x", name="t", arguments='{"order_id": "W-48213"}'),))
    blocks = presence.blocks([asked])
    assert presence.in_place(need.value, presence.holding(need.value, blocks))


def test_the_whole_history_holds_every_need_in_place() -> None:
    talk = order_desk()
    evidence = Evidence(talk)
    presence = Presence(talk, evidence)
    for step, needs in evidence.needs.items():
        blocks = presence.blocks(talk.messages[:step])
        for need in needs:
            assert presence.in_place(need.value, presence.holding(need.value, blocks))
