"""Cases about the forms in which things are shown: exact slices, stand-ins, previews, dates, the order of tools."""

import base64
import json
import re
from collections.abc import Iterator, Sequence

import pytest

from callsheet import Conversation, Sheet
from callsheet.assemble import standins
from callsheet.assemble.blocks import Media
from callsheet.derive.narrowing import cut_text
from callsheet.errors import BudgetTooSmall
from callsheet.graph.enums import Level
from callsheet.runtime.recalling import Recalled
from callsheet.testing import FixedClock, memory_runtime
from callsheet.wire.anthropic.parts import media_block
from callsheet.wire.gemini.parts import media_part as gemini_part
from callsheet.wire.media import instead, standin
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat.parts import media_part
from callsheet.wire.openai_responses.parts import media_part as input_part
from callsheet.wire.tokens import counter_for
from callsheet.wire.validate import problems
from tests.cases import histories
from tests.cases.checks import MODELS, texts
from tests.cases.histories import Json
from tests.cases.shortened import LOGS, PNG, TABLES, Asked, Rows, picture, shot
from tests.cases.test_shortening import ask, level, narrow, offered, text, told

PROVIDERS = pytest.mark.parametrize("provider", sorted(MODELS))
DAY = 86_400


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with memory_runtime() as runtime:
        yield runtime.conversation("case")


def answer(sheet_messages: Sequence[object]) -> str:
    """What stands in the last message."""
    return "\n".join(texts(sheet_messages[-1]))


def calling(id: str, tool: str, arguments: str = "{}") -> Json:
    call = {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


# --------------------------------------------------------------------------- DEV-11: slices


def read_on(talk: Conversation, part: Recalled, limit: int) -> list[Recalled]:
    parts = [part]
    while (more := parts[-1].more) is not None:
        parts.append(
            talk.recall(
                part.reference,
                lines=more.lines,
                rows=more.rows,
                bytes=more.bytes,
                characters=more.characters,
                limit=limit,
            )
        )
    return parts


PARTS: dict[str, list[Json]] = {
    "two texts": [{"type": "text", "text": "reed " * 3_000}, {"type": "text", "text": "sedge\n" * 400}],
    "a picture between": [
        {"type": "text", "text": "pond 塘 " * 900},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAoAAAAIICAYAAAAAAAAA"},
        {"type": "text", "text": "\nbank " * 2_000},
    ],
    "unknown blocks": [{"type": "weather", "sky": "grey " * 900}, {"type": "text", "text": "\n\n\n" + "mud " * 999}],
}


@pytest.mark.parametrize("limit", [100, 1_000, 7_777])
@pytest.mark.parametrize("case", PARTS)
def test_dev_11_slices_of_a_result_of_several_parts_joined_are_the_result(
    talk: Conversation, case: str, limit: int
) -> None:
    id = told(talk, *Asked(question="What is there?", tool="look", content=PARTS[case]).history)
    for part in (talk.recall(id, lines=(0, None), limit=limit), talk.recall(id, bytes=(0, None), limit=limit)):
        assert b"".join(one.bytes for one in read_on(talk, part, limit)) == talk.raw(id)


def test_dev_11_slices_of_text_in_another_encoding_joined_are_the_text(talk: Conversation) -> None:
    words = "buoy é 7 " * 800 + "\nlast"
    id = told(talk, *Asked(question="What is there?", tool="look", content=words.encode("utf-16")).history)
    parts = read_on(talk, talk.recall(id, lines=(0, None), limit=500), 500)
    assert len(parts) > 5
    assert b"".join(one.bytes for one in parts).decode() == words


@pytest.mark.parametrize("case", TABLES.values(), ids=TABLES)
def test_dev_11_slices_of_rows_joined_are_the_rows(talk: Conversation, case: Rows) -> None:
    id = told(talk, *Asked(question=case.question, tool="export", content=case.text).history)
    parts = read_on(talk, talk.recall(id, rows=(0, None), limit=200_000), 200_000)
    assert b"".join(one.bytes for one in parts).decode() == case.text.partition("\n")[2]


# --------------------------------------------------------------------------- DEV-12: pictures


@PROVIDERS
@pytest.mark.parametrize("shape", ["mcp", "openai", "anthropic"])
def test_dev_12_what_stands_for_a_picture_tells_type_size_and_reference_and_takes_few_tokens(
    talk: Conversation, provider: str, shape: str
) -> None:
    content = shot("screen of panel 6", picture(3, 30_000), "image/png", shape)
    id = told(talk, *Asked(question="What is there?", tool="look", content=content).history)
    sheet = ask(talk, provider, 60_000)
    reference = id.partition("_")[2][:6]
    assert f"(image/png, 30,000 bytes, not shown; kept as {reference})" in text(sheet)
    assert sheet.record.tokens.window < 120
    assert talk.recall(reference).reference == id


SCREEN = PNG + bytes(30_000)


@PROVIDERS
@pytest.mark.parametrize("shape", ["mcp", "openai", "anthropic"])
@pytest.mark.parametrize("said", ["result", "question"])
def test_dev_12_a_model_without_vision_is_told_of_each_picture(
    talk: Conversation, provider: str, shape: str, said: str
) -> None:
    content = shot("screen of panel 6", SCREEN, "image/png", shape)
    if said == "result":
        id = told(talk, *Asked(question="What is there?", tool="look", content=content).history)
    else:
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(SCREEN).decode()}"}}
        id = talk.record({"role": "user", "content": [{"type": "text", "text": "screen of panel 6"}, url]}).ids[0]

    def made(vision: bool) -> Sheet:
        sheet = talk.assemble(provider=provider, model=MODELS[provider], budget=60_000, vision=vision)
        assert not problems(sheet.request(), Wire(provider))
        return sheet

    for turn in (1, 2):  # the second goes on from the first, or begins anew where the other kind of model is asked
        blind, seeing = made(vision=False), made(vision=True)
        reference = id.partition("_")[2][:6]
        assert f"(image/png, {len(SCREEN):,} bytes, not shown; kept as {reference})" in text(blind)
        assert base64.b64encode(SCREEN).decode()[:64] not in json.dumps(blind.request())
        assert base64.b64encode(SCREEN).decode()[:64] in json.dumps(seeing.request())
        assert blind.record.tokens.window < 150
        assert not blind.record.boundary.vision
        talk.record({"role": "assistant", "content": "A panel."}, sheet=blind if turn == 1 else seeing)
        talk.record({"role": "user", "content": "Which one?"})
    rebuilt = talk.rebuild(blind.id)
    assert (rebuilt.same_selections, rebuilt.same_blocks) == (True, rebuilt.blocks)
    assert talk.raw(id) == b"screen of panel 6" + SCREEN if said == "result" else True


@PROVIDERS
def test_dev_12_a_model_s_own_picture_is_told_of(talk: Conversation, provider: str) -> None:
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" + "A" * 49}}
    told(talk, {"role": "user", "content": "Draw."}, {"role": "assistant", "content": [url]})
    told(talk, {"role": "user", "content": "Again."})
    sheet = ask(talk, provider)
    assert re.search(r"\(image/png, \d+ bytes, not shown; kept as \w+\)", text(sheet))
    assert sheet.record.tokens.window < 120


PDF = b"%PDF-1.7 weights of bells"
MEDIA = {
    "picture": Media(mime="image/png", data=PNG),
    "no picture": Media(mime="image/png", data=b"\0\1\2"),
    "pdf": Media(mime="application/pdf", data=PDF),
    "no pdf": Media(mime="application/pdf", data=b"weights"),
    "sound": Media(mime="audio/wav", data=b"RIFF0000WAVE"),
    "other sound": Media(mime="audio/ogg", data=b"OggS"),
    "text": Media(mime="text/plain", data=b"bells"),
    "blank": Media(mime="text/plain", data=b" "),
    "film": Media(mime="video/mp4", data=b"0000ftyp"),
    "picture by address": Media(mime="image/png", url="https://bells.example/a.png"),
    "picture by plain address": Media(mime="image/png", url="http://bells.example/a.png"),
    "pdf by address": Media(mime="application/pdf", url="https://bells.example/a.pdf"),
    "film by address": Media(mime="video/mp4", url="https://bells.example/a.mp4"),
    "own file": Media(wire="openai", extras=b'{"type":"file","file":{"file_id":"f-1"}}'),
    "own input": Media(wire="openai-responses", extras=b'{"type":"input_file","file_id":"f-1"}'),
    "own input by address": Media(
        wire="openai-responses",
        url="https://bells.example/a",
        extras=b'{"type":"input_file","file_url":"https://bells.example/a"}',
    ),
    "own picture": Media(wire="openai-responses", extras=b'{"type":"input_image","file_id":"f-1"}'),
    "own address": Media(
        wire="gemini",
        mime="video/mp4",
        extras=b'{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}}',
    ),
    "own sound": Media(wire="gemini", mime="audio/flac", data=b"fLaC"),
    "own document": Media(wire="anthropic", extras=b'{"type":"document","source":{"type":"file","file_id":"f-1"}}'),
}


@pytest.mark.parametrize("name", MEDIA)
def test_dev_12_what_is_told_of_is_what_the_format_does_not_send(name: str) -> None:
    media = MEDIA[name]
    shown: dict[Wire, Json] = {
        Wire.OPENAI: {**media_part(media)},
        Wire.OPENAI_RESPONSES: {**input_part(media)},
        Wire.ANTHROPIC: {**media_block(media)},
        Wire.GEMINI: {**gemini_part(media)},
    }
    for wire, part in shown.items():
        assert (instead(media, wire) is None) == (part.get("text") != standin(media)), wire


# --------------------------------------------------------------------------- DEV-14: a beginning and an end


COUNTS = {
    "bytes": lambda text: len(text.encode()),
    "characters": len,
    "tokens": counter_for("openai", MODELS["openai"]).count,
}


@pytest.mark.parametrize("unit", COUNTS)
def test_dev_14_text_cut_to_any_limit_is_a_beginning_and_an_end_within_it(unit: str) -> None:
    value = "".join(f"kiln {number} ok \U0001f99c\U0001f525\u2714 " for number in range(400))
    count = COUNTS[unit]
    for limit in range(1, 401):
        cut = cut_text(value, limit, count)
        assert count(cut) <= limit
        assert json.loads(json.dumps(cut)) == cut
        if cut:
            head, _, tail = re.split(r"(\.\.\.\([\d,]+ characters left out\)\.\.\.)", cut)
            assert value.startswith(head)
            assert value.endswith(tail)


PROSE = {
    "kilns": ("".join(f"kiln {number} ok \U0001f99c\U0001f525\u2714 " for number in range(400)), "How are they?"),
    "walks": (
        "\n\n".join("; ".join([f"On day {n} we went by the mill"] * (n % 9 + 1)) for n in range(90)),
        "What was it like?",
    ),
    "rivers": ("".join(f"第{number}号河的水位正常。" for number in range(1_500)), "都正常吗？"),
}


@PROVIDERS
@pytest.mark.parametrize("case", PROSE)
def test_dev_14_plain_text_is_shortened_to_a_beginning_and_an_end(talk: Conversation, provider: str, case: str) -> None:
    content, question = PROSE[case]
    told(talk, *Asked(question=question, tool="read", content=content).history)
    counter = counter_for(provider, MODELS[provider])
    seen = 0
    for limit in (1, 2, 30, 90, 150, 211, 260, 300, 340, 400, 700):
        sheet = ask(talk, provider, 6_000, narrow(limit))
        (shown,) = (part for part in texts(sheet.messages()[-1]) if "[shortened" in part)
        if not shown.startswith("(excerpt"):  # its gist, where no piece of it fits
            assert content[:8] in shown
            assert counter.count(shown) <= limit
            continue
        body = re.sub(r"\A\(excerpt[^\n]*\n|\n\[shortened[^\n]*\]\Z", "", shown)
        head, _, tail = re.split(r"(?:\A|\n)(\.\.\. \([^\n]*left out[^\n]*\))(?:\n|\Z)", body, maxsplit=1)
        assert "left out" not in tail
        assert content.startswith(head)
        assert content.rstrip().endswith(tail.rstrip())
        assert counter.count(shown) <= limit or not head + tail
        seen += len(head) + len(tail)
    assert seen


# --------------------------------------------------------------------------- DEV-16: the row that is asked for


@PROVIDERS
@pytest.mark.parametrize("stepwise", [False, True])
@pytest.mark.parametrize("case", TABLES.values(), ids=TABLES)
def test_dev_16_the_row_that_the_question_names_is_in_the_preview(
    talk: Conversation, provider: str, case: Rows, stepwise: bool
) -> None:
    question, *rest = Asked(question=case.question, tool="export", content=case.text).history
    told(talk, question)
    if stepwise:
        ask(talk, provider, policy=narrow(1_500))
    id = told(talk, *rest)
    sheet = ask(talk, provider, policy=narrow(1_500))
    shown = answer(sheet.messages()).split("\n")
    assert level(sheet, id) is Level.FOCUS
    assert case.wanted in shown
    assert 1 == shown.count(case.header)
    assert shown.index(case.header) < shown.index(case.wanted)
    assert all(line in {case.header, *case.rows} for line in shown if re.search(r"\d[,;\t]", line) and "(" not in line)


def test_dev_16_a_name_that_stands_everywhere_or_within_another_leads_nowhere(talk: Conversation) -> None:
    rows = [f"K{number:05d}|dye vat DV-{number % 7}00|K{number:05d}99" for number in range(9_000)]
    content = "\n".join(["cloth|vat|lot", *rows])
    told(talk, *Asked(question="Is DV-300 clean, and K04444?", tool="export", content=content).history)
    shown = answer(ask(talk, "openai", policy=narrow(1_500)).messages())
    assert rows[4_444] in shown
    assert rows[4_443] not in shown


# --------------------------------------------------------------------------- DEV-17: a log in very little room


@PROVIDERS
@pytest.mark.parametrize("case", [LOGS["loom"], LOGS["kiln"]], ids=["loom", "kiln"])
def test_dev_17_in_a_line_a_log_tells_its_command_its_error_and_what_is_left_out(
    talk: Conversation, provider: str, case: Asked
) -> None:
    id = told(talk, *case.history)
    told_as: set[Level] = set()
    for budget in (*range(240, 400, 16), 500, 700, 890):
        try:
            sheet = ask(talk, provider, budget, narrow(800))
        except BudgetTooSmall:
            continue
        told_as.add(level(sheet, id))
        if level(sheet, id) is Level.REF:
            continue
        shown = text(sheet)
        assert all(line in shown for line in case.shows)
        left_out = re.search(r"([\d,]+) lines? left out", shown)
        assert left_out
        command, error = shown.index(case.shows[0]), shown.index(case.shows[1])
        assert command < left_out.start() < error
    assert told_as & {Level.GIST, Level.FOCUS}


# --------------------------------------------------------------------------- DEV-22: two observations

OBSERVED = {
    "staging": ('{"host":"db-oak-2","port":5432}', '{"host":"db-elm-1","port":5432}', "oak"),
    "hut": ("the warden of the hut is WD-0311", "the hut has a new warden, WD-0498", "WD-0311"),
    "beacon": ("mast beacon: 243.05 MHz\n" * 3, "mast beacon: 406.25 MHz\n" * 3, "243.05"),
}


@PROVIDERS
@pytest.mark.parametrize("case", OBSERVED)
@pytest.mark.parametrize("between", [0, 9])
def test_dev_22_of_two_observations_the_newer_says_so_with_both_dates(provider: str, case: str, between: int) -> None:
    was, now, stale = OBSERVED[case]
    clock = FixedClock("2026-03-02T08:00:00Z")
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("case")
        for number, content in enumerate((was, now)):
            clock.advance(number * 196 * DAY)
            told(talk, {"role": "user", "content": "Look."}, calling(f"o{number}", "look_up", '{"of":"it"}'))
            told(talk, {"role": "tool", "tool_call_id": f"o{number}", "content": content})
            talk.record({"role": "assistant", "content": "Noted."})
        for turn in range(between):
            told(talk, {"role": "user", "content": f"Go on {turn}."}, {"role": "assistant", "content": "Yes. " * 30})
        clock.advance(6 * 3_600)
        told(talk, {"role": "user", "content": f"Is it {stale} or another?"})
        shown = text(ask(talk, provider, 12_000))
        if stale in shown:
            assert shown.index(stale) < shown.index(standins.newer("2026-09-14", "2026-03-02"))
        else:
            assert "2026-09-14" in shown or not between


def test_dev_22_what_is_brought_back_behind_a_newer_observation_says_that_it_is_older() -> None:
    clock = FixedClock("2026-03-02T08:00:00Z")
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("case")
        for number in range(2):
            told(talk, {"role": "user", "content": f"Look {number}."}, calling(f"o{number}", "look_up"))
            told(talk, {"role": "tool", "tool_call_id": f"o{number}", "content": f"keeper KP-{number}77 on duty"})
            clock.advance(3_600)
        sheet = ask(talk, "openai")
        assert standins.newer("09:00", "08:00") in text(sheet)
        # What was shown first does not change.
        told(talk, {"role": "assistant", "content": "Seen."}, {"role": "user", "content": "And?"})
        again = ask(talk, "openai")
        assert sheet.messages() == again.messages()[: len(sheet.messages())]


def test_dev_22_equal_observations_and_failed_ones_are_not_compared(talk: Conversation) -> None:
    for number, content in enumerate(("on duty: KP-1", "on duty: KP-1")):
        told(talk, {"role": "user", "content": "Look."}, calling(f"o{number}", "look_up"))
        told(talk, {"role": "tool", "tool_call_id": f"o{number}", "content": content})
    assert "newer than" not in text(ask(talk, "openai"))


# --------------------------------------------------------------------------- DEV-34: what fits stands


@PROVIDERS
def test_dev_34_under_a_set_that_keeps_all_that_fits_a_history_that_fits_stands_in_full(
    talk: Conversation, provider: str
) -> None:
    for turn in range(40):
        told(talk, *Asked(question=f"Lot {turn}?", tool="op_1", content=f"crate {turn} of pears " * 130).history)
        talk.record({"role": "assistant", "content": "Seen."})
    told(talk, {"role": "user", "content": "And all of them?"})
    tools = histories.forty_one()
    shown: list[set[Level]] = []
    for number, budget in ((4, 64_000), (41, 64_000)):
        sheet = talk.assemble(
            provider=provider, model=MODELS[provider], policy="faithful", tools=tools[:number], budget=budget
        )
        records, _ = talk.history()
        shown.append({level(sheet, record.id) for record in records})
    assert shown[0] <= {Level.RAW, Level.DENSE}
    assert not shown[1] <= {Level.RAW, Level.DENSE}


# --------------------------------------------------------------------------- DEV-35: tools in any order


def _tools(names: str) -> list[Json]:
    parameters = {"type": "object", "properties": {"of": {"type": "string"}}}
    return [{"type": "function", "function": {"name": name, "parameters": parameters}} for name in names.split()]


@PROVIDERS
@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("moor tide buoy", "tide buoy moor", "buoy flag moor tide"),
        ("bake fold", "fold bake", "prove fold bake"),
        ("x", "x", "w x"),
    ],
)
def test_dev_35_tools_registered_again_in_another_order_are_the_same_bytes(
    talk: Conversation, provider: str, first: str, second: str, third: str
) -> None:
    sheets = []
    for turn, names in enumerate((first, second, third)):
        told(talk, {"role": "user", "content": f"Turn {turn}."})
        sheets.append(talk.assemble(provider=provider, model=MODELS[provider], budget=50_000, tools=_tools(names)))
        talk.record({"role": "assistant", "content": "Well."})
    assert sheets[0].blocks[0] == sheets[1].blocks[0]
    assert not sheets[1].record.rewritten
    added = set(third.split()) - set(first.split())
    assert offered(sheets[2]) == [*first.split(), *added]


# --------------------------------------------------------------------------- how notes and tables are read

COOPS = json.dumps([{"coop": f"C-{n}", "hens": n * 3, "eggs": n % 5} for n in range(12)])


@PROVIDERS
def test_dense_tables_are_explained_once_where_the_first_one_stands(talk: Conversation, provider: str) -> None:
    for number in range(3):
        told(talk, {"role": "user", "content": f"Count {number}."}, calling(f"h{number}", "count", f'{{"n":{number}}}'))
        told(talk, {"role": "tool", "tool_call_id": f"h{number}", "content": COOPS.replace("C-", f"C{number}-")})
    sheet = ask(talk, provider)
    assert 1 == text(sheet).count(standins.LEGEND)
    assert text(sheet).index(standins.LEGEND) < text(sheet).index("[12]{")
    talk.record({"role": "assistant", "content": "Many."})
    told(talk, {"role": "user", "content": "More."})
    assert 1 == text(ask(talk, provider)).count(standins.LEGEND)


@PROVIDERS
@pytest.mark.parametrize("content", ["twelve hens", '{"hens": 12, "eggs": [1, 2]}', "hens|eggs\n1|2\n3|4"])
def test_where_no_table_is_dense_nothing_is_explained(talk: Conversation, provider: str, content: str) -> None:
    told(talk, *Asked(question="How many?", tool="count", content=content).history)
    assert standins.LEGEND not in text(ask(talk, provider))


def test_a_table_that_stands_verbatim_is_not_explained(talk: Conversation) -> None:
    told(talk, *Asked(question="How many?", tool="count", content=COOPS).history)
    assert standins.LEGEND not in text(ask(talk, "openai", policy="replay"))


def test_a_note_says_that_answers_are_left_out_and_how_to_get_what_is_not_there(talk: Conversation) -> None:
    for turn in range(40):
        told(talk, *Asked(question=f"Vat {turn}?", tool="taste", content=f"vat V-{turn:03d} sour " * 60).history)
        talk.record({"role": "assistant", "content": f"Vat {turn} is sour. " * 20})
    told(talk, {"role": "user", "content": "And the first?"})
    note = next(part for part in texts(ask(talk, "openai", 6_000).messages()) if part.startswith(standins.NOTE))
    head = note.partition("\n")[0]
    assert "answers too, is left out" in head
    assert "recall(reference)" in head
    assert "recall(query)" in head


# --------------------------------------------------------------------------- very many calls in one turn


def test_a_thousand_calls_of_one_turn_are_paired_or_refused_with_their_sizes(talk: Conversation) -> None:
    calls = [
        {"id": f"n{number}", "type": "function", "function": {"name": "weigh", "arguments": f'{{"n":{number}}}'}}
        for number in range(1_000)
    ]
    talk.record([{"role": "user", "content": "Weigh them all."}, {"role": "assistant", "tool_calls": calls}])
    talk.record([{"role": "tool", "tool_call_id": f"n{n}", "content": f"{n % 90} kg " * 40} for n in range(1_000)])
    with pytest.raises(BudgetTooSmall) as caught:
        talk.assemble(provider="openai", model=MODELS["openai"], budget=8_000)
    assert max(caught.value.sizes, key=lambda part: caught.value.sizes[part]) == "history"
    fits = ask(talk, "openai", sum(caught.value.sizes.values()))
    assert json.dumps(fits.messages()).count('"tool_call_id"') == 1_000
