"""Cases in which a request must be smaller than its history: each kind of failure in several domains, both providers.

The set is `balanced` unless a case says how much a result may take. What every request must meet is checked by `ask`.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from callsheet import Conversation, Sheet
from callsheet.errors import BudgetTooSmall
from callsheet.graph.enums import Level
from callsheet.graph.nodes import ToolArtifact
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import Narrowing
from callsheet.testing import FixedClock, memory_runtime
from callsheet.wire.formats import tool_name
from callsheet.wire.names import Wire
from callsheet.wire.tokens import counter_for
from callsheet.wire.validate import problems
from tests.cases import histories
from tests.cases.checks import MODELS, texts
from tests.cases.shortened import HUGE, LOGS, OBJECTS, PNG, TABLES, Asked, Objects, Rows, picture, shot
from tests.runtime.replies import openai_reply

PROVIDERS = pytest.mark.parametrize("provider", sorted(MODELS))


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with memory_runtime() as runtime:
        yield runtime.conversation("case")


def ask(
    talk: Conversation, provider: str, budget: int = 100_000, policy: PolicySetDocument | str = "balanced"
) -> Sheet:
    """The next request, with all that must hold of every request."""
    before = talk.history()
    sheets = [talk.assemble(provider=provider, model=MODELS[provider], budget=budget, policy=policy) for _ in range(2)]
    request = sheets[0].request()
    assert not problems(request, Wire(provider))
    assert sheets[0].tokens <= budget
    assert json.loads(json.dumps(request).encode("utf-8")) == request
    assert sheets[0].blocks == sheets[1].blocks
    assert before == talk.history()
    return sheets[0]


def told(talk: Conversation, *values: object) -> str:
    """Record these; the id of the last tool result among them."""
    ids = [id for value in values for id in talk.record(value).ids]
    records, _ = talk.history()
    results = [record.id for record in records if isinstance(record.body, ToolArtifact) and record.id in ids]
    return results[-1] if results else ""


def text(sheet: Sheet) -> str:
    return "\n".join(texts(sheet.messages()))


def level(sheet: Sheet, id: str) -> Level:
    return next((selection.level for selection in sheet.selections if selection.record == id), Level.NONE)


def offered(sheet: Sheet) -> list[str]:
    """The names of the tools on offer."""
    return [tool_name(tool, "tools") for tool in sheet.tools()]


def narrow(limit: int) -> PolicySetDocument:
    """`balanced`, with so many tokens for a long result."""
    return replace(BALANCED, name=f"narrow-{limit}", narrowing=Narrowing(limit=limit))


def joined(talk: Conversation, id: str) -> bytes:
    """A result read in slices, as a program would."""
    found, part = b"", talk.recall(id, bytes=(0, None), limit=60_000)
    while True:
        found += part.bytes
        if part.more is None:
            return found
        part = talk.recall(id, bytes=part.more.bytes, limit=60_000)


# --------------------------------------------------------------------------- DEV-01, DEV-02: pairs

FERRY = ("You book ferry cabins.", "list_sailings", "NH204 07:40; NH212 16:05", "Book the later one.")
QUARRY = ("You plan blasts.", "read_gauge", "pit 3: 12 mm/s; pit 5: 48 mm/s", "Hold the second.")
ORCHARD = ("You pick fruit.", "ripe_rows", "row 9: pears; row 12: quinces", "Pick those.")


@PROVIDERS
@pytest.mark.parametrize("case", [FERRY, QUARRY, ORCHARD], ids=["ferry", "quarry", "orchard"])
def test_dev_01_a_call_and_its_result_stay_or_go_together(
    talk: Conversation, provider: str, case: tuple[str, str, str, str]
) -> None:
    system, tool, result, last = case
    call = {"id": "call_f1", "type": "function", "function": {"name": tool, "arguments": '{"day":"Fri"}'}}
    told(
        talk,
        {"role": "system", "content": system},
        {"role": "user", "content": "What is there on Friday?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_f1", "content": result},
        {"role": "assistant", "content": "There are two."},
        {"role": "user", "content": last},
    )
    least = 0
    refused: list[tuple[int, set[str]]] = []
    for budget in range(40, 1_500, 20):
        try:
            sheet = ask(talk, provider, budget)
        except BudgetTooSmall as problem:
            refused.append((budget, set(problem.sizes)))
            continue
        least = least or budget
        shown = json.dumps(sheet.request())
        assert ("call_f1" in shown) == (shown.count("call_f1") == 2)
        assert system in shown
        *_, message = texts(sheet.messages()[-1])
        assert message == last
    assert 0 < least < 1_400
    # Whatever is larger than the least that fits, fits; a refusal names the parts.
    assert all(budget < least and parts == {"system", "tools", "history"} for budget, parts in refused)


KILNS = ("Check zones 3 and 4.", "zone 3: 1180 C, steady", "zone 4: 1042 C, falling", "sensor {} nominal")
VATS = ("Taste vats 1 and 2.", "vat 1: pH 3.4, calm", "vat 2: pH 4.9, foaming", "bubble {} small")
ROOFS = ("Inspect roofs 7 and 8.", "roof 7: 12 slates loose", "roof 8: 90 slates gone", "slate {} sound")


@PROVIDERS
@pytest.mark.parametrize("case", [KILNS, VATS, ROOFS], ids=["kilns", "vats", "roofs"])
def test_dev_02_with_room_for_one_pair_the_older_one_is_shortened(
    talk: Conversation, provider: str, case: tuple[str, str, str, str]
) -> None:
    question, older, newer, filler = case
    words = " ".join(filler.format(number) for number in range(200))
    told(talk, {"role": "system", "content": "You audit."}, {"role": "user", "content": question})
    for id, result in (("k1", older), ("k2", newer)):
        call = {"id": id, "type": "function", "function": {"name": "read", "arguments": json.dumps({"of": id[-1]})}}
        told(talk, {"role": "assistant", "content": None, "tool_calls": [call]})
        told(talk, {"role": "tool", "tool_call_id": id, "content": f"{result} {words}"})
    whole = ask(talk, provider)
    sheet = ask(talk, provider, whole.tokens * 7 // 10 + 400)
    assert sheet.tokens < whole.tokens
    messages = sheet.messages()
    assert question in text(sheet)
    assert "k2" in json.dumps(messages[-1])
    assert "k2" in json.dumps(messages[-2])
    assert newer in text(sheet)
    assert f"{older} {words}" not in text(sheet)
    assert json.dumps(messages).count('"k1"') in (0, 2)


@PROVIDERS
@pytest.mark.parametrize("case", [KILNS, VATS, ROOFS], ids=["kilns", "vats", "roofs"])
@pytest.mark.parametrize("results", [1, 2])
def test_dev_02_no_excerpt_holds_nothing(
    talk: Conversation, provider: str, case: tuple[str, str, str, str], results: int
) -> None:
    question, older, newer, filler = case
    words = " ".join(filler.format(number) for number in range(200))
    told(talk, {"role": "system", "content": "You audit."}, {"role": "user", "content": question})
    for id, result in (("k1", older), ("k2", newer))[-results:]:
        call = {"id": id, "type": "function", "function": {"name": "read", "arguments": json.dumps({"of": id[-1]})}}
        told(talk, {"role": "assistant", "content": None, "tool_calls": [call]})
        told(talk, {"role": "tool", "tool_call_id": id, "content": f"{result} {words}"})
    tried = 0
    for budget in range(75, 1_200, 25):
        try:
            sheet = ask(talk, provider, budget)
        except BudgetTooSmall:
            continue
        tried += 1
        assert "excerpt: 0 of" not in text(sheet)
        shown = [one for one in sheet.selections if one.level is Level.FOCUS]
        assert all(one.segments for one in shown)
    assert tried > 10


# --------------------------------------------------------------------------- DEV-11: larger than the window


@PROVIDERS
@pytest.mark.parametrize("case", HUGE.values(), ids=HUGE)
def test_dev_11_a_result_larger_than_the_window_is_shown_as_an_excerpt(
    talk: Conversation, provider: str, case: Asked
) -> None:
    id = told(talk, *case.history)
    sheet = ask(talk, provider, 28_000)
    assert Level.FOCUS is level(sheet, id)
    assert case.question in text(sheet)
    assert "recall" in offered(sheet)
    assert re.search(r"excerpt.*?\d", text(sheet))
    content = str(case.content).encode()
    assert hashlib.sha256(joined(talk, id)).digest() == hashlib.sha256(content).digest()
    wanted, found = case.search
    assert found in talk.recall(id, search=wanted).text


# --------------------------------------------------------------------------- DEV-12: pictures


BASE64 = re.compile(r"[A-Za-z0-9+/]{64}")


@PROVIDERS
@pytest.mark.parametrize("shape", ["mcp", "openai", "anthropic"])
@pytest.mark.parametrize(
    ("start", "size"), [(PNG, 225_000), (PNG, 90_000), (b"", 225_000)], ids=["large", "small", "noise"]
)
def test_dev_12_a_picture_is_counted_and_sent_as_a_picture_or_told_of(
    talk: Conversation, provider: str, shape: str, start: bytes, size: int
) -> None:
    raw = start + picture(3, size)
    content = shot("screen of panel 6", raw, "image/png", shape)
    id = told(talk, *Asked(question="What is there?", tool="look", content=content).history)
    sheet = ask(talk, provider, 60_000)
    assert sheet.tokens < 5_000
    assert raw in talk.raw(id)
    assert "screen of panel 6" in text(sheet)
    if start:
        assert 1 == sum(BASE64.search(part) is not None for part in texts(sheet.messages()))
        assert '"image' in json.dumps(sheet.messages())
    else:
        # No provider takes what is no picture; what stands for it tells its type and size.
        assert not BASE64.search(text(sheet))
        assert f"image/png, {size:,} bytes" in text(sheet)


# --------------------------------------------------------------------------- DEV-13: JSON, or plainly not JSON


@PROVIDERS
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("case", OBJECTS.values(), ids=OBJECTS)
def test_dev_13_json_is_whole_or_plainly_an_excerpt(
    talk: Conversation, provider: str, indent: int | None, case: Objects
) -> None:
    content = json.dumps(case.value, indent=indent, ensure_ascii=False)
    id = told(talk, *Asked(question="What is there?", tool="list_all", content=content).history)
    sheet = ask(talk, provider, 3_600, narrow(2_000))
    assert Level.FOCUS is level(sheet, id)
    (shown,) = (part for part in texts(sheet.messages()[-1]) if "shortened" in part)
    assert "not JSON" in shown
    assert all(name in shown for name in case.value)
    assert f"of {case.total}" in shown
    assert id.partition("_")[2][:6] in shown
    assert json.loads(joined(talk, id)) == case.value
    last = talk.recall(id, pointer=f"/{case.items}/{case.total - 1}").bytes
    items = case.value[case.items]
    assert isinstance(items, list)
    assert json.loads(last) == items[-1]


# --------------------------------------------------------------------------- DEV-14: characters stay whole


@PROVIDERS
@pytest.mark.parametrize(
    "piece", ["kiln {} ok \U0001f99c\U0001f525\u2714 ", "bell {} \u0301e\u200d👩\u200d🚒 ", "塩 {} 𠮷野 "]
)
def test_dev_14_whatever_is_cut_is_cut_between_characters(talk: Conversation, provider: str, piece: str) -> None:
    content = "".join(piece.format(number) for number in range(4_000))
    id = told(talk, *Asked(question="How are they?", tool="read", content=content).history)
    for limit in (60, 61, 62, 63, 100, 150, 300, 1_000):
        sheet = ask(talk, provider, 3_000 + 2 * limit, narrow(limit))
        shown = text(sheet)
        assert level(sheet, id) in (Level.FOCUS, Level.GIST)
        assert "\ufffd" not in shown
        assert not any("\ud800" <= character <= "\udfff" for character in shown)
        body = next(part for part in texts(sheet.messages()[-1]) if "recall" in part)
        body = re.sub(r"\n\[shortened[^\n]*\]\Z", "", body)
        pieces = re.split(r"\n|\.\.\.|…|; ", body)
        kept = [part for part in pieces if part.strip() and not re.search(r"[\[(]|^read", part)]
        assert all(part.strip() in content for part in kept)


# --------------------------------------------------------------------------- DEV-15: bytes


@PROVIDERS
@pytest.mark.parametrize(
    ("results", "seen"),
    [
        (histories.RAW, ("pump 3 offline", "pump 4 offline")),
        (
            (b"\x00gate 5 shut\x00\n" * 3, "gate 6 ajar\n".encode("utf-16-le"), b"\xfe\xfegate 7\n"),
            ("gate 5 shut", "gate 7"),
        ),
        (
            (b"\xef\xbb\xbfbuoy 1 lit\n", "b\xf6je 2 t\xe4nd\n".encode("latin-1"), b"\x00\x01\x02"),
            ("buoy 1 lit", "2 t"),
        ),
    ],
    ids=["pumps", "gates", "buoys"],
)
def test_dev_15_bytes_are_kept_shown_and_found(
    talk: Conversation, provider: str, results: tuple[bytes, ...], seen: tuple[str, ...]
) -> None:
    ids = []
    for number, content in enumerate(results):
        call = {"id": f"p{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"n":{number}}}'}}
        told(talk, {"role": "user", "content": "Read."}, {"role": "assistant", "content": None, "tool_calls": [call]})
        ids.append(told(talk, {"role": "tool", "tool_call_id": f"p{number}", "content": content}))
    told(talk, {"role": "user", "content": "And now?"})
    shown = text(ask(talk, provider))
    assert "\0" not in shown
    assert all(words in shown for words in seen)
    assert list(results) == [talk.raw(id) for id in ids]
    assert seen[0] in talk.recall(ids[0], search=seen[0]).text
    assert ids[0] == talk.search(seen[0])[0].reference


# --------------------------------------------------------------------------- DEV-16: rows with their header


@PROVIDERS
@pytest.mark.parametrize("case", TABLES.values(), ids=TABLES)
def test_dev_16_rows_never_stand_without_their_header(talk: Conversation, provider: str, case: Rows) -> None:
    id = told(talk, *Asked(question=case.question, tool="export", content=case.text).history)
    sheet = ask(talk, provider, policy=narrow(1_500))
    (shown,) = (part for part in texts(sheet.messages()[-1]) if "shortened" in part)
    assert f"{len(case.rows):,}" in shown
    assert 1 == shown.count(case.header)
    known = {case.header, *case.rows}
    start = re.compile(re.escape(case.rows[0][:1]) + r"[\w-]*\d{4}")
    lines = [line for line in shown.split("\n") if start.match(line) and re.search(r"[,;\t]", line)]
    assert lines
    assert known.issuperset(lines)
    assert shown.index(case.header) < shown.index(lines[0])
    wanted = re.split(r"[,;\t]", case.wanted)[0]
    found = talk.recall(id, search=wanted).text
    assert case.wanted in found
    assert 1 == found.count(case.header)
    assert found.index(case.header) < found.index(case.wanted)


# --------------------------------------------------------------------------- DEV-17: the end of a log


@PROVIDERS
@pytest.mark.parametrize("case", LOGS.values(), ids=LOGS)
def test_dev_17_the_command_and_the_error_at_the_end_survive(talk: Conversation, provider: str, case: Asked) -> None:
    id = told(talk, *case.history)
    sheet = ask(talk, provider, policy=narrow(800))
    shown = text(sheet)
    assert all(line in shown for line in case.shows)
    original = str(case.content).split("\n")
    places = [original.index(line) for line in shown.split("\n") if line in original]
    assert places == sorted(places)
    assert re.search(r"\d[\d,]* lines? left out", shown)
    # Later, when it is told in a line or two, it still says that it failed.
    talk.record({"role": "assistant", "content": "I see."})
    for number in range(10):
        told(talk, {"role": "user", "content": f"Wait {number}."}, {"role": "assistant", "content": "Waiting."})
    told(talk, {"role": "user", "content": "Well?"})
    told(talk, {"role": "assistant", "content": "Well."}, {"role": "user", "content": "Why?"})
    later = ask(talk, provider, 2_600, narrow(200))
    if level(later, id) is Level.GIST:
        assert re.search(r"(?i)fail|error|fatal|exit", text(later))


# --------------------------------------------------------------------------- DEV-22: what was, and what is

STAGING = ("staging database host is db-oak-2", "staging database moved, host is db-elm-1", "db-oak-2", "db-elm-1")
WARDEN = (
    "the warden of the northern hut is WD-0311",
    "the northern hut has a new warden, WD-0498",
    "WD-0311",
    "WD-0498",
)
BEACON = ("the mast beacon sends on 243.05 MHz", "the mast beacon was changed, it sends on 406.25", "243.05", "406.25")
ASKS = {
    STAGING: "Which staging database host is it?",
    WARDEN: "Who is the warden of the northern hut?",
    BEACON: "On what does the mast beacon send?",
}


@PROVIDERS
@pytest.mark.parametrize("case", [STAGING, WARDEN, BEACON], ids=["staging", "warden", "beacon"])
@pytest.mark.parametrize("between", [2, 40])
def test_dev_22_the_newer_observation_is_in_the_request(
    provider: str, case: tuple[str, str, str, str], between: int
) -> None:
    older, newer, was, now = case
    clock = FixedClock("2026-03-02T08:00:00Z")
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("case")
        for number, (words, at) in enumerate(((older, 0), (newer, 196 * 86_400))):
            clock.advance(at)
            call = {"id": f"o{number}", "type": "function", "function": {"name": "look_up", "arguments": '{"of":"it"}'}}
            told(
                talk, {"role": "user", "content": "Look."}, {"role": "assistant", "content": None, "tool_calls": [call]}
            )
            told(talk, {"role": "tool", "tool_call_id": f"o{number}", "content": words})
            talk.record({"role": "assistant", "content": "Noted."})
            for turn in range(between):
                told(
                    talk, {"role": "user", "content": f"Go on {turn}."}, {"role": "assistant", "content": "Yes. " * 40}
                )
        clock.advance(6 * 3_600)
        told(talk, {"role": "user", "content": ASKS[case]})
        shown = text(ask(talk, provider, 12_000))
        assert now in shown
        if was in shown:
            assert shown.index(was) < shown.index(now)


# --------------------------------------------------------------------------- DEV-33: counting

PHRASES = {
    "ja": (histories.JAPANESE, 0.55, 2.0),
    "zh": ("三号仓库的温度计坏了，请尽快更换。", 0.55, 2.0),
    "ko": ("창고 온도계 세 번째가 고장났습니다. ", 0.55, 2.0),
    "en": ("Thermometer three in the store is broken. ", 0.18, 0.35),
}


@PROVIDERS
@pytest.mark.parametrize("language", PHRASES)
def test_dev_33_estimates_fit_the_language(provider: str, language: str) -> None:
    phrase, least, most = PHRASES[language]
    counter = counter_for(provider, MODELS[provider])
    assert least <= counter.count(phrase * 400) / len(phrase * 400) <= most


@PROVIDERS
@pytest.mark.parametrize("phrase", [histories.JAPANESE, PHRASES["zh"][0], PHRASES["ko"][0]], ids=["ja", "zh", "ko"])
def test_dev_33_a_small_budget_keeps_little_of_a_dense_script_and_never_nothing(
    talk: Conversation, provider: str, phrase: str
) -> None:
    for _ in range(60):
        told(talk, {"role": "user", "content": phrase * 40}, {"role": "assistant", "content": phrase * 10})
    told(talk, {"role": "user", "content": phrase})
    sheet = ask(talk, provider, 4_000)
    assert phrase in text(sheet)
    kept = sum(character in phrase for character in text(sheet) if character > "\u0fff")
    assert 0 < kept <= 7_300
    with pytest.raises(BudgetTooSmall):
        talk.assemble(provider=provider, model=MODELS[provider], budget=16_000, policy="replay")


# --------------------------------------------------------------------------- DEV-34: tools count


@PROVIDERS
@pytest.mark.parametrize(
    "words", ["crate {} of pears ", "reel {} of cable ", "巻 {} の糸 "], ids=["pears", "cable", "thread"]
)
def test_dev_34_with_large_tools_the_history_is_reduced(talk: Conversation, provider: str, words: str) -> None:
    for turn in range(60):
        told(talk, *Asked(question=f"Lot {turn}?", tool="op_1", content=words.format(turn) * 100).history)
        talk.record({"role": "assistant", "content": "Seen."})
    told(talk, {"role": "user", "content": "And all of them?"})
    tools = histories.forty_one()

    def offering(number: int, budget: int) -> Sheet:
        offered = tools[:number]
        return talk.assemble(provider=provider, model=MODELS[provider], policy="balanced", tools=offered, budget=budget)

    large, small = offering(41, 60_000), offering(4, 60_000)
    for sheet in (large, small):
        parts = sheet.record.tokens
        assert sheet.tokens == parts.instructions + parts.tools + parts.memories + parts.window <= 60_000
        assert not problems(sheet.request(), Wire(provider))
    assert large.record.tokens.tools > 20_000 > small.record.tokens.tools
    with pytest.raises(BudgetTooSmall) as caught:
        offering(41, 20_000)
    assert max(caught.value.sizes, key=lambda part: caught.value.sizes[part]) == "tools"


# --------------------------------------------------------------------------- DEV-35: the cached prefix


@PROVIDERS
@pytest.mark.parametrize(
    "words", ["reading {} of 40 ok ", "stitch {} even ", "水位 {} 正常 "], ids=["meter", "loom", "river"]
)
def test_dev_35_what_was_sent_is_the_beginning_of_what_is_sent_next(provider: str, words: str) -> None:
    clock = FixedClock("2026-05-01T09:00:01Z")
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("case")
        told(talk, {"role": "system", "content": "You watch."})
        sheets: list[Sheet] = []
        for turn, wait in enumerate((0, 13, 456 - 240)):
            clock.advance(wait)
            told(talk, {"role": "user", "content": f"Turn {turn}: what is there?"})
            sheets.append(ask(talk, provider))
            call = {"id": f"t{turn}", "type": "function", "function": {"name": "look", "arguments": f'{{"n":{turn}}}'}}
            talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
            content = "".join(words.format(number) for number in range(60))
            told(talk, {"role": "tool", "tool_call_id": f"t{turn}", "content": content})
            sheets.append(ask(talk, provider))
            talk.record({"role": "assistant", "content": "All well."})
        for before, after in itertools.pairwise(sheets):
            assert not after.record.rewritten
            seam = len(before.blocks) - (provider == "anthropic")
            assert before.blocks[1:seam] == after.blocks[1:seam]
        assert "2026" not in text(sheets[-1])


# --------------------------------------------------------------------------- DEV-39: long histories


@PROVIDERS
@pytest.mark.parametrize(
    "words", ["valve {} holds; ", "lamb {} grazes; ", "帆 {} 張 "], ids=["valves", "lambs", "sails"]
)
def test_dev_39_a_late_request_holds_no_more_than_an_early_one(talk: Conversation, provider: str, words: str) -> None:
    """How long it takes is measured by a benchmark; here: how many records are at hand, late compared with early."""
    reads: list[int] = []
    for step in range(110):
        told(talk, *Asked(question=f"Step {step}?", tool="read", content=words.format(step) * 30).history)
        sheet = ask(talk, provider, 9_000) if step % 2 else None
        reads.append(len(talk._session.desk(talk._view).records))
        talk.record(openai_reply("Good."), sheet=sheet)
    early, late = max(reads[30:60]), max(reads[-40:])
    assert late <= 2 * early
