"""Which models take their thoughts back only behind what they had them behind, and messages without thoughts."""

import pytest

from callsheet.assemble.standins import EMPTY
from callsheet.wire.anthropic.binding import binds, has_thoughts, without_thoughts

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
SEALED = {"type": "redacted_thinking", "data": "d"}
TEXT = {"type": "text", "text": "Yes."}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-5-5", True),
        ("claude-opus-5.5", True),
        ("claude-5.5-opus", True),
        ("claude-sonnet-5-5-20260801", True),
        ("claude-haiku-5-5@20260801", True),
        ("us.anthropic.claude-opus-5-5-v1:0", True),
        ("claude-fable-5-1", True),
        ("claude-mythos-5-2", True),
        ("claude-opus-6", True),
        ("anthropic/claude-opus-6-1", True),
        ("claude-opus-5", False),
        ("claude-opus-5-20260401", False),
        ("claude-fable-5", False),
        ("claude-sonnet-4-5-20250929", False),
        ("claude-sonnet-4-20250514", False),
        ("claude-opus-4-8", False),
        ("claude-3-5-sonnet-20241022", False),
        ("claude-2.1", False),
        ("gpt-5.5", False),
    ],
)
def test_the_models_are_those_that_the_service_names_and_later_ones(model: str, expected: bool) -> None:
    assert binds(model) == expected


def test_thoughts_are_left_out_up_to_a_message() -> None:
    user: dict[str, object] = {"role": "user", "content": "And?"}
    messages: list[dict[str, object]] = [
        user,
        {"role": "assistant", "content": [THOUGHT, TEXT, SEALED]},
        {"role": "assistant", "content": [SEALED]},
        {"role": "assistant", "content": [THOUGHT, TEXT]},
    ]
    assert without_thoughts(messages, 3) == [
        user,
        {"role": "assistant", "content": [TEXT]},
        {"role": "assistant", "content": [{"type": "text", "text": EMPTY}]},
        messages[3],
    ]
    assert without_thoughts(messages, 0) == messages
    assert has_thoughts(messages)
    assert not has_thoughts(without_thoughts(messages, 4))
    assert not has_thoughts("no messages")
