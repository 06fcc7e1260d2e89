"""Words of one ideograph before a particle, and what stands in a compound, are found on every face of searching."""

import pytest

import callsheet

SAID = (
    "私の傘は玄関の棚にあります。",
    "予備の鍵を青い箱に入れた。",
    "我的伞放在门口",
    "Die Gänsefütterung ist um acht.",
    "今日はどこへ行きますか",
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("傘はどこ？", 0),
        ("鍵は", 1),
        ("鍵はどこですか？", 1),
        ("伞呢", 2),
        ("Gänse Fütterung", 3),
        ("Fütterung", 3),
        ("Fuetterung der Gänse", 3),
    ],
)
def test_what_is_asked_for_comes_first(query: str, found: int) -> None:
    with callsheet.open(":memory:") as runtime:
        talk = runtime.conversation("shed")
        for at, text in enumerate(SAID):
            runtime.knowledge.add(f"note {at}", text, title="Shed")
            runtime.remember("mia", text)
            talk.record({"role": "user", "content": text})
            talk.record({"role": "assistant", "content": "!"})
        assert talk.search(query)[0].snippet == SAID[found]
        assert runtime.memories("mia", query)[0].value == SAID[found]
        assert runtime.knowledge.search(query)[0].text == SAID[found]
