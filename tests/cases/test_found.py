"""Cases of search: what is recorded as messages, or as results of a tool, and must be found by words alone."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import pytest

from callsheet import Conversation
from callsheet.testing import memory_runtime

Way = Callable[[Conversation, Sequence[str]], dict[str, str]]


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with memory_runtime() as runtime:
        yield runtime.conversation("case")


def said(talk: Conversation, texts: Sequence[str]) -> dict[str, str]:
    """Each text by the id of the message that says it."""
    return {talk.record({"role": "assistant", "content": text}).ids[-1]: text for text in texts}


def returned(talk: Conversation, texts: Sequence[str]) -> dict[str, str]:
    """Each text by the id of the result that holds it."""
    found: dict[str, str] = {}
    for number, text in enumerate(texts):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read_note", "arguments": "{}"}}
        talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
        found[talk.record({"role": "tool", "tool_call_id": f"c{number}", "content": text}).ids[-1]] = text
    return found


WAYS = pytest.mark.parametrize("way", [said, returned])


def top(talk: Conversation, texts: dict[str, str], query: str, limit: int = 10) -> list[str]:
    return [texts[found.reference] for found in talk.search(query, limit)]


# ------------------------------------------------------------------------------------------ DEV-42

NAMED = {
    "#4471": "ticket #4471: seal worn",
    "kg/h": "feed rate 3 kg/h measured",
    "zone-4.toml": "edit zone-4.toml first",
    "Dry%Loss": "Dry%Loss test failed",
    "LOT=56": "set LOT=56 in press",
    "can't open": "can't open hatch 2",
    "E-17.3(b)": "fault E-17.3(b) on lift",
    "C#": "C++ shim and C# shim differ",
    "pkg::mod::fn_x": "see pkg::mod::fn_x",
}
NOTES = [f"note {i}: routine check of bay {i % 50}, nothing found" for i in range(300)]
PUNCTUATED = [
    "",
    '"',
    "*",
    "NEAR(",
    "a AND",
    "'",
    "%",
    "()",
    "\\",
    "a " * 2_500,
    "--",
    "\0",
    "\ud800",
    ":",
    "^",
    "col:x",
]


@WAYS
def test_dev_42_each_id_is_found_first_and_no_query_fails(talk: Conversation, way: Way) -> None:
    texts = way(talk, [*NOTES, *NAMED.values(), "edit zone-40.toml later"])
    for query, note in NAMED.items():
        assert top(talk, texts, query)[0] == note, query
    found = top(talk, texts, "edit zone-4.toml")
    assert found.index("edit zone-4.toml first") < found.index("edit zone-40.toml later")
    for query in PUNCTUATED:
        found_at_all = talk.search(query)
        assert found_at_all == [] or query.strip(), query
    (found_by, *_) = talk.search("routine check of bay 7")
    assert "words" in found_by.arms


# ------------------------------------------------------------------------------------------ DEV-43

LIGHTHOUSE = {
    "ja": "昨日は灯台の鍵を受付に預けました。",
    "zh": "灯塔的钥匙昨天放在前台了。",
    "ko": "등대 열쇠는 어제 접수처에 맡겼습니다.",
    "en": "The lighthouse key is at the front desk.",
}
_THINGS = {
    "ja": ("朝の会議は{}時に始まります。", "倉庫{}の窓が開いています。", "{}番の船は午後に出ます。"),
    "zh": ("早上的会议{}点开始。", "{}号仓库的窗户开着。", "{}号船下午出发。"),
    "ko": ("아침 회의는 {}시에 시작합니다.", "창고 {}의 창문이 열려 있습니다.", "{}번 배는 오후에 떠납니다."),
    "en": ("The morning meeting begins at {}.", "The window of store {} is open.", "Boat {} leaves in the afternoon."),
}
OTHERS = [sentence.format(number) for number in range(17) for each in _THINGS.values() for sentence in each][:200]


@WAYS
@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("灯台", "ja"),
        ("鍵", "ja"),
        ("钥匙", "zh"),
        ("灯塔", "zh"),
        ("열쇠", "ko"),
        ("등대 열쇠", "ko"),
        ("접수처", "ko"),
        ("lighthouse key", "en"),
    ],
)
def test_dev_43_text_without_spaces_is_found_by_any_word_in_it(
    talk: Conversation, way: Way, query: str, language: str
) -> None:
    texts = way(talk, [*OTHERS[:100], *LIGHTHOUSE.values(), *OTHERS[100:]])
    assert LIGHTHOUSE[language] in top(talk, texts, query)[:3]


# ------------------------------------------------------------------------------------------ DEV-44

COMPOUNDS = (
    "Der Wärmepumpenwartungsvertrag läuft im März aus.",
    "Die Straßenbeleuchtung am Mühlengässchen ist defekt.",
    "Größe des Lagerraums: 42 m².",
    "Der Kündigungsfrist-Brief ging an Frau Özdemir-Strauß.",
)
_PLACES = ("Keller", "Garten", "Hof", "Flur", "Dach")
_STATES = ("wurde gestern gestrichen", "bleibt heute geschlossen", "ist frisch gekehrt", "hat neue Lampen")
FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
SENTENCES = [f"Der {place} von Haus {number} {state}." for number in range(5) for place in _PLACES for state in _STATES]


@WAYS
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("Wartungsvertrag Wärmepumpe", 0),
        ("Waermepumpenwartungsvertrag", 0),
        ("Strassenbeleuchtung", 1),
        ("STRASSENBELEUCHTUNG", 1),
        ("Groesse Lagerraum", 2),
        ("kündigungsfrist", 3),
        ("Oezdemir", 3),
        ("Strauss", 3),
    ],
)
def test_dev_44_umlauts_and_parts_of_compounds(
    talk: Conversation,
    way: Way,
    query: str,
    number: int,
    form: Literal["NFC", "NFD"],
) -> None:
    stored = [unicodedata.normalize(form, text) for text in COMPOUNDS]
    texts = way(talk, [*SENTENCES[:50], *stored, *SENTENCES[50:]])
    assert all(stored[number] in top(talk, texts, unicodedata.normalize(one, query))[:3] for one in FORMS)
    reference = next(id for id, text in texts.items() if text == stored[number])
    assert talk.recall(reference).bytes.decode() == stored[number]


# ------------------------------------------------------------------------------------------ DEV-47

SAME = (
    "The east gate opens at six.",
    "East gate: opens 6:00.",
    "Gate east opens at 6 in the morning.",
    "At six the east gate is opened.",
    "East gate opening time is 6 a.m.",
    "The gate in the east opens at six o'clock.",
    "6:00 the east gate opens.",
    "They open the east gate at six.",
    "Opening of the east gate: six.",
    "East gate opens at six sharp.",
    "The east gate, it opens at six.",
    "Gate (east) opens 06:00.",
)
OTHER = (
    "East gate keys hang in the mill.",
    "Lorries must not use the east gate on Sundays.",
    "The east gate alarm code is with Tove.",
)


@WAYS
def test_dev_47_many_wordings_of_one_fact_leave_room_for_the_others(talk: Conversation, way: Way) -> None:
    texts = way(talk, [*SAME[:6], OTHER[0], *SAME[6:], *OTHER[1:]])
    found = top(talk, texts, "everything about the east gate", 4)
    assert set(OTHER) < set(found)
    assert sum(text in SAME for text in found) == 1
    assert set(OTHER) < set(top(talk, texts, "everything about the east gate", 20))
