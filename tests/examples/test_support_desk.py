"""The shipped recording of the support desk: made by its script, and holding what it is shipped to show."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from examples import support_desk
from examples.support_desk.record import SHIPPED, record
from examples.support_desk.tools.errors import ToolError
from examples.support_desk.toolset import definitions


class Function(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    arguments: str


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    type: str
    function: Function


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: str
    x_at: datetime
    content: str | None
    tool_calls: tuple[Call, ...] = ()
    tool_call_id: str | None = None
    x_status: str | None = None


class Branch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    parent: str
    at: int


class Recording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the shipped file; every key it may have is named here."""

    id: str
    messages: tuple[Message, ...]
    source: str = ""
    user: str = ""
    tools: tuple[dict[str, object], ...] = ()
    branch: Branch | None = None


class Exchange(msgspec.Struct, frozen=True):
    """A call, its result, and the index of the result."""

    at: int
    call: Call
    result: Message


def exchanges(messages: tuple[Message, ...]) -> list[Exchange]:
    """Every call with its result, paired by adjacency: the results follow the message that asked, in its order."""
    paired = []
    for index, message in enumerate(messages):
        for offset, call in enumerate(message.tool_calls, start=1):
            paired.append(Exchange(index + offset, call, messages[index + offset]))
    return paired


@pytest.fixture(scope="module")
def lines() -> tuple[Recording, Recording]:
    main, edited = (msgspec.json.decode(line, type=Recording) for line in SHIPPED.read_bytes().splitlines())
    return main, edited


@pytest.fixture(scope="module")
def main(lines: tuple[Recording, Recording]) -> tuple[Message, ...]:
    return lines[0].messages


# ---------------------------------------------------------------- the file


def test_recording_again_gives_the_shipped_bytes(tmp_path: Path) -> None:
    assert record(tmp_path) == SHIPPED.read_bytes()


def test_the_file_is_small_and_has_the_length_of_a_working_day(lines: tuple[Recording, Recording]) -> None:
    main, edited = lines
    roles = [message.role for message in main.messages]

    assert SHIPPED.stat().st_size < 600_000
    assert roles[0] == "system"
    assert roles.count("user") >= 75
    assert roles.count("tool") >= 110
    assert main.messages[-1].x_at - main.messages[0].x_at > timedelta(hours=8)
    assert main.id == edited.id
    assert len({json.dumps(definition) for definition in main.tools}) == len(definitions())


def test_time_goes_forward_and_has_a_zone(lines: tuple[Recording, Recording]) -> None:
    times = [message.x_at for line in lines for message in line.messages]

    assert times == sorted(times)
    assert all(at.utcoffset() == timedelta() for at in times)


def test_every_call_is_answered_next_to_it_and_no_id_is_used_twice(lines: tuple[Recording, Recording]) -> None:
    pairs = [pair for line in lines for pair in exchanges(line.messages)]
    ids = [pair.call.id for pair in pairs]

    assert all(pair.result.role == "tool" and pair.result.tool_call_id == pair.call.id for pair in pairs)
    assert len(pairs) == sum(message.role == "tool" for line in lines for message in line.messages)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"call_[A-Za-z0-9]{24}", one) for one in ids)
    assert all(pair.result.content for pair in pairs)


def test_every_call_names_a_tool_of_the_first_line_and_has_an_object_for_arguments(
    lines: tuple[Recording, Recording],
) -> None:
    known = {msgspec.convert(definition["function"], dict[str, object])["name"] for definition in lines[0].tools}
    calls = [pair.call for line in lines for pair in exchanges(line.messages)]

    assert {call.function.name for call in calls} <= known
    assert all(isinstance(json.loads(call.function.arguments), dict) for call in calls)
    assert {call.function.name for call in calls} == known


# ---------------------------------------------------------------- what it shows


def test_the_second_branch_edits_a_user_message_of_the_first(lines: tuple[Recording, Recording]) -> None:
    main, edited = lines
    assert edited.branch is not None
    before, after = main.messages[edited.branch.at], edited.messages[0]

    assert (before.role, after.role) == ("user", "user")
    assert before.content != after.content
    assert len(main.messages) - edited.branch.at > 50
    assert set((before.content or "").split()) ^ set((after.content or "").split()) == {"12,", "21,"}


def test_the_edited_branch_meets_what_the_first_branch_has_done_to_the_shop(
    lines: tuple[Recording, Recording],
) -> None:
    main, edited = lines
    assert edited.branch is not None
    inherited = exchanges(main.messages[: edited.branch.at])
    seen = [pair.result.content for pair in inherited if pair.call.function.arguments == '{"order_id":"SO-20711"}']
    fresh = [pair.result.content or "" for pair in exchanges(edited.messages)]

    assert seen
    assert all('"version":1,' in (content or "") for content in seen)
    assert any('"version":2,' in content and "Lindenallee 12" in content for content in fresh)


@pytest.mark.parametrize("name", ["track_parcel", "create_refund"])
def test_a_failed_call_is_repeated_word_for_word_and_succeeds(main: tuple[Message, ...], name: str) -> None:
    same: dict[str, list[str | None]] = {}
    for pair in exchanges(main):
        if pair.call.function.name == name:
            same.setdefault(pair.call.function.arguments, []).append(pair.result.x_status)

    assert any(states[0] == "failed" and None in states for states in same.values())


def test_a_failed_result_is_the_text_of_a_tool_error(main: tuple[Message, ...]) -> None:
    names = {error.__name__ for error in ToolError.__subclasses__()}
    failed = [pair.result.content or "" for pair in exchanges(main) if pair.result.x_status == "failed"]

    assert len(failed) >= 4
    assert all(content.split(": ")[0] in names for content in failed)


def test_stock_is_read_again_after_a_write_and_differs(main: tuple[Message, ...]) -> None:
    reads: dict[str, Exchange] = {}
    writes: dict[str, int] = {}
    changed = []
    for pair in exchanges(main):
        sku = json.loads(pair.call.function.arguments).get("sku")
        if pair.call.function.name == "reserve_stock":
            writes[sku] = pair.at
        elif pair.call.function.name == "check_stock":
            earlier = reads.get(sku)
            if earlier and earlier.result.content != pair.result.content:
                assert earlier.at < writes[sku] < pair.at
                changed.append(sku)
            reads[sku] = pair

    assert len(changed) >= 3


def test_a_repeated_read_can_also_answer_the_same(main: tuple[Message, ...]) -> None:
    answers: dict[tuple[str, str], list[str | None]] = {}
    for pair in exchanges(main):
        key = (pair.call.function.name, pair.call.function.arguments)
        answers.setdefault(key, []).append(pair.result.content)

    assert any(len(contents) > 1 and len(set(contents)) == 1 for contents in answers.values())


def test_two_versions_of_a_policy_give_different_windows(main: tuple[Message, ...]) -> None:
    texts = {
        pair.call.function.arguments: pair.result.content or ""
        for pair in exchanges(main)
        if '"code":"RET-01"' in pair.call.function.arguments
    }

    assert len(texts) == 2
    assert {match for text in texts.values() for match in re.findall(r"\*\*(\d+) days of delivery", text)} == {
        "14",
        "30",
    }


def test_results_come_in_many_shapes(main: tuple[Message, ...]) -> None:
    contents = [pair.result.content or "" for pair in exchanges(main)]

    assert "[]" in contents
    assert any(content.startswith("[{") for content in contents)
    assert any(content.startswith("{") for content in contents)
    assert any(content.startswith("# ") for content in contents)
    assert any("Traceback (most recent call last):" in content for content in contents)
    assert sum(content.startswith("order_id,") and content.count("\n") > 90 for content in contents) >= 2
    assert len({pair.call.function.name for pair in exchanges(main)}) >= 12


def test_customers_are_taken_up_again_much_later(main: tuple[Message, ...]) -> None:
    turns = [message.content or "" for message in main if message.role == "user"]
    apart = {}
    for number in {one for text in turns for one in re.findall(r"\bC-\d{4}\b", text)}:
        mentioned = [turn for turn, text in enumerate(turns) if number in text]
        apart[number] = mentioned[-1] - mentioned[0]

    assert sum(distance > 20 for distance in apart.values()) >= 6


def _values(text: str) -> set[str]:
    """Ids, amounts, dates and the like: words of four characters and more that hold a digit."""
    words = re.findall(r"[A-Za-z0-9_@+-]+(?:[.:][A-Za-z0-9_@+-]+)*", text)
    return {word for word in words if len(word) >= 4 and any(sign.isdigit() for sign in word)}


def _text(message: Message) -> str:
    return " ".join([message.content or "", *(call.function.arguments for call in message.tool_calls)])


def test_the_assistant_uses_many_values_that_stand_only_in_older_results(main: tuple[Message, ...]) -> None:
    """Older: before the last two assistant messages. Only there: no user and no assistant has named it since."""
    where: dict[str, list[int]] = {}
    turns: list[int] = []
    uses = 0
    for index, message in enumerate(main):
        if message.role == "assistant" and len(turns) >= 2:
            for value in _values(_text(message)) & where.keys():
                places = where[value]
                uses += max(places) < turns[-2] and all(main[place].role == "tool" for place in places)
        if message.role == "assistant":
            turns.append(index)
        for value in _values(_text(message)):
            where.setdefault(value, []).append(index)

    assert uses >= 40


def test_refunds_in_the_recording_were_booked_once_each(main: tuple[Message, ...]) -> None:
    booked = [
        json.loads(pair.result.content or "")["refund_id"]
        for pair in exchanges(main)
        if pair.call.function.name == "create_refund" and pair.result.x_status is None
    ]

    assert len(booked) == len(set(booked)) == 5


def test_the_readme_counts_right(lines: tuple[Recording, Recording]) -> None:
    readme = Path(support_desk.__file__).with_name("README.md").read_text(encoding="utf-8")
    counted = [
        ("messages", [len(line.messages) for line in lines]),
        ("user turns", [sum(message.role == "user" for message in line.messages) for line in lines]),
        ("tool calls", [len(exchanges(line.messages)) for line in lines]),
    ]

    for what, (main, edited) in counted:
        assert re.search(rf"^\| {what} \| {main} \| {edited}\b", readme, re.MULTILINE), what
