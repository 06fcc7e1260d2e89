"""Which conversation a request goes on with: what clients do with their history, case by case."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.nodes import Message
from callsheet.graph.ports import Append
from callsheet.graph.record import Record
from callsheet.recall.tool import NAME as RECALL
from callsheet.serve.proxy.recognising import How
from callsheet.wire.asked import read_request
from callsheet.wire.formats import parse_messages
from callsheet.wire.names import Wire
from tests.serve.proxy.clients import Fields, Service, governs, model, records, result, shows, system, texts, user


@pytest.fixture
def service() -> Service:
    return Service()


def begun(service: Service, **given: Any) -> list[Fields]:
    """A conversation of one turn; what its client holds."""
    return service.turn([user("one")], "first", **given)[1]


def with_calls(service: Service) -> list[Fields]:
    """The same with two calls that wait for their results."""
    held = [*begun(service), user("two")]
    return service.turn(held, model("Let me look. ", ("a", "read", {"path": "x", "n": 1}), ("b", "list", {})))[1]


# ---------------------------------------------------------------------------------------------- going on


def test_a_first_request_begins_a_conversation(service: Service) -> None:
    placed = service.ask([system("be kind"), user("one")])
    assert (placed.how, placed.new, placed.appended) == (How.BEGUN, True, 1)
    assert shows(placed.talk) == [("user", "one")]
    assert governs(placed.talk) == ["be kind"]


def test_a_second_request_goes_on_with_it(service: Service) -> None:
    first, held = service.turn([user("one")], "first")
    second = service.ask([*held, user("two")])
    assert (second.how, second.new, second.appended) == (How.CONTINUED, False, 1)
    assert second.talk.id == first.talk.id
    assert second.talk.branch_id == first.talk.branch_id
    assert texts(second.talk) == ["one", "first", "two"]


def test_what_a_client_asks_is_made_durable_by_its_answer(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def append(appends: Sequence[Append]) -> list[Record]:
        seen.extend(one.durable for one in appends for draft in one.drafts if isinstance(draft.body, Message))
        return real(appends)

    seen: list[bool] = []
    held = begun(service)
    real = service.runtime.ledger.append
    monkeypatch.setattr(service.runtime.ledger, "append", append)
    service.turn([*held, user("two")], "second")
    assert seen == [False, True]


def _echoes() -> dict[str, Callable[[Fields], Fields]]:
    def calls(change: Callable[[Fields], None]) -> Callable[[Fields], Fields]:
        def echo(message: Fields) -> Fields:
            made = [{**call, "function": dict(call["function"])} for call in message["tool_calls"]]
            for call in made:
                change(call)
            return {**message, "tool_calls": made}

        return echo

    def spelled(call: Fields) -> None:
        call["function"]["arguments"] = call["function"]["arguments"].replace(
            '{"path": "x", "n": 1}', '{"n":1.0,"path":"\\u0078"}'
        )

    return {
        "as it was": lambda message: message,
        "without reasoning": lambda message: {key: message[key] for key in ("role", "content", "tool_calls")},
        "stripped": lambda message: {**message, "content": message["content"].strip()},
        "as parts": lambda message: {**message, "content": [{"type": "text", "text": message["content"]}]},
        "in two parts": lambda message: {
            **message,
            "content": [{"type": "text", "text": "Let me "}, {"type": "text", "text": "look.", "cache_control": {}}],
        },
        "arguments in another spelling": calls(spelled),
        "under a name": lambda message: {**message, "name": "helper"},
    }


@pytest.mark.parametrize("echo", _echoes().values(), ids=_echoes())
def test_what_was_answered_may_come_back_in_another_form(service: Service, echo: Callable[[Fields], Fields]) -> None:
    asked = [*begun(service), user("two")]
    placed = service.ask(asked)
    said = {**model("Let me look. ", ("a", "read", {"path": "x", "n": 1}), ("b", "list", {}))}
    service.reply(placed, {**said, "reasoning_content": "hm"})
    again = service.ask([*asked, echo({**said, "reasoning_content": "hm"}), result("a", "A"), result("b", "B")])
    assert again.how is How.CONTINUED
    assert shows(again.talk)[-2:] == [("result", "A", "read"), ("result", "B", "list")]
    assert again.talk.pending() == ()


def test_calls_may_come_back_under_other_ids(service: Service) -> None:
    held = with_calls(service)
    held[-1] = model("Let me look.", ("x1", "read", {"path": "x", "n": 1}), ("x2", "list", {}))
    placed = service.ask([*held, result("x2", "B"), result("x1", "A")])
    assert placed.how is How.CONTINUED
    assert shows(placed.talk)[-2:] == [("result", "B", "list"), ("result", "A", "read")]
    assert placed.talk.pending() == ()


def test_a_turn_of_the_model_may_come_back_as_several_messages(service: Service) -> None:
    held = with_calls(service)
    calls = held.pop()
    split = [model("Let me look."), {**calls, "content": None}, model("")]
    placed = service.ask([*held, *split, result("a", "A"), result("b", "B")])
    assert placed.how is How.CONTINUED


@pytest.mark.parametrize("first", [["a", "b"], ["b", "a"]])
def test_results_may_come_back_in_another_order(service: Service, first: list[str]) -> None:
    held = with_calls(service)
    said = {"a": result("a", "A"), "b": result("b", "B")}
    _, now = service.turn([*held, *(said[id] for id in first)], "done")
    again = service.ask([*held, said["a"], said["b"], now[-1], user("three")])
    assert again.how is How.CONTINUED


def test_results_that_are_exchanged_are_another_history(service: Service) -> None:
    held = with_calls(service)
    _, now = service.turn([*held, result("a", "A"), result("b", "B")], "done")
    again = service.ask([*held, result("a", "B"), result("b", "A"), now[-1], user("three")])
    assert again.how is How.BRANCHED
    assert shows(again.talk)[-4:-2] == [("result", "B", "read"), ("result", "A", "list")]


def test_results_may_come_one_request_after_the_other(service: Service) -> None:
    held = with_calls(service)
    one = service.ask([*held, result("b", "B")])
    assert [call.provider_id for call in one.talk.pending()] == ["a"]
    two = service.ask([*held, result("b", "B"), result("a", "A")])
    assert two.talk.pending() == ()
    assert shows(two.talk)[-2:] == [("result", "B", "list"), ("result", "A", "read")]


def test_calls_may_stay_unanswered(service: Service) -> None:
    held = with_calls(service)
    placed = service.ask([*held, user("never mind")])
    assert (placed.how, placed.appended) == (How.CONTINUED, 1)
    assert len(placed.talk.pending()) == 2
    later = service.ask([*held, user("never mind"), service.reply(placed, "fine"), user("three")])
    assert later.how is How.CONTINUED


def test_two_formats_of_one_credential_are_one_history(service: Service) -> None:
    held = with_calls(service)
    said: list[Fields] = [
        {"role": "user", "content": [{"type": "text", "text": "one"}]},
        {"role": "assistant", "content": "first"},
        {"role": "user", "content": "two"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"n": 1, "path": "x"}},
                {"type": "tool_use", "id": "t2", "name": "list", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "A"},
                {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "B"}]},
                {"type": "text", "text": "and now?"},
            ],
        },
    ]
    assert len(held) == 4
    placed = service.ask(said, wire=Wire.ANTHROPIC, max_tokens=9)
    assert (placed.how, placed.appended) == (How.CONTINUED, 3)
    assert placed.talk.pending() == ()
    assert texts(placed.talk)[-3:] == ["A", "B", "and now?"]


def test_what_the_model_began_for_it_is_part_of_its_answer(service: Service) -> None:
    held = [*begun(service), user("as JSON")]
    placed = service.ask([*held, model("{")])
    service.reply(placed, '"a": 1}')
    again = service.ask([*held, model('{"a": 1}'), user("more")])
    assert again.how is How.CONTINUED
    assert texts(again.talk) == ["one", "first", "as JSON", "{", '"a": 1}', "more"]


def test_what_the_proxy_did_for_an_answer_is_in_no_history_of_its_client(service: Service) -> None:
    held = [*begun(service), user("two")]
    placed = service.ask(held)
    placed.talk.record(model(None, ("r1", RECALL, {"reference": "abc"})))
    placed.talk.record(result("r1", "what was recalled"))
    final = model("Now this.", ("r2", RECALL, {}), ("a", "read", {}), ("b", "list", {}))
    body = {"choices": [{"message": final, "finish_reason": "tool_calls"}]}
    placed.talk.record(body, wire="openai")
    recorded = placed.talk.record(result("r2", "nothing"))
    said = model("Now this.", ("x1", "read", {}), ("x2", "list", {}))
    shown = parse_messages([said], Wire.OPENAI)
    service.recogniser.answered(placed, shown, recorded.ids[-1])
    again = service.ask([*held, said, result("x2", "B"), result("x1", "A")])
    assert (again.how, again.appended) == (How.CONTINUED, 2)
    assert again.talk.pending() == ()
    assert shows(again.talk)[-2:] == [("result", "B", "list"), ("result", "A", "read")]


# ---------------------------------------------------------------------------------------------- again


def test_a_request_that_comes_again_is_recorded_once(service: Service) -> None:
    asked = [*begun(service), user("two")]
    first = service.ask(asked)
    service.recogniser.failed(first)
    before = records(service)
    again = service.ask(asked)
    assert (again.how, again.appended) == (How.REPEATED, 0)
    assert again.talk.branch_id == first.talk.branch_id
    assert records(service) == before


def test_a_first_request_that_failed_is_the_same_conversation_once(service: Service) -> None:
    asked = [system("be kind"), user("one")]
    first = service.ask(asked)
    service.recogniser.failed(first)
    again = service.ask(asked)
    assert (again.how, again.appended, again.talk.id) == (How.REPEATED, 0, first.talk.id)
    other = service.ask(asked)
    assert (other.how, other.talk.id == first.talk.id) == (How.BEGUN, False)
    service.recogniser.failed(again)
    third = service.ask([system("be brief"), user("one")])
    assert (third.how, third.talk.id) == (How.REPEATED, first.talk.id)
    assert governs(third.talk) == ["be brief"]


def test_a_first_request_that_was_answered_begins_anew(service: Service) -> None:
    first, _ = service.turn([user("one")], "first")
    again = service.ask([user("one")])
    assert again.how is How.BEGUN
    assert again.talk.id != first.talk.id


def test_a_failed_first_request_goes_to_nobody_else(service: Service) -> None:
    service.recogniser.failed(service.ask([user("one")]))
    for given in ({"scope": "other"}, {"user": "mia"}):
        assert service.ask([user("one")], **given).how is How.BEGUN  # type: ignore[arg-type]


def test_another_answer_to_the_same_request_stands_on_a_branch(service: Service) -> None:
    asked = [*begun(service), user("two")]
    first, _ = service.turn(asked, "second")
    again = service.ask(asked)
    assert (again.how, again.appended) == (How.BRANCHED, 0)
    assert again.talk.id == first.talk.id
    assert texts(again.talk) == ["one", "first", "two"]
    service.reply(again, "another")
    for answer in ("second", "another"):
        on = service.ask([*asked, model(answer), user("three")])
        assert on.how is How.CONTINUED
        assert texts(on.talk) == ["one", "first", "two", answer, "three"]


def test_a_request_that_comes_again_meanwhile_is_answered_beside(service: Service) -> None:
    asked = [*begun(service), user("two")]
    first, second = service.ask(asked), service.ask(asked)
    assert second.how is How.BRANCHED
    service.reply(second, "late")
    service.reply(first, "early")
    for answer in ("early", "late"):
        assert texts(service.ask([*asked, model(answer), user("on")]).talk) == ["one", "first", "two", answer, "on"]


def test_a_request_that_nobody_waits_for_any_more_holds_nothing_up(service: Service) -> None:
    asked = [*begun(service), user("two")]
    service.ask(asked)  # its client is gone, and so is what stood for it
    assert service.ask(asked).how is How.REPEATED


# ---------------------------------------------------------------------------------------------- otherwise


def test_an_edit_in_the_middle_is_a_branch(service: Service) -> None:
    held = begun(service)
    for number in range(3):
        _, held = service.turn([*held, user(f"ask {number}")], f"answer {number}")
    edited = [*held[:4], user("another"), *held[5:]]
    placed = service.ask([*edited, user("on")])
    assert placed.how is How.BRANCHED
    assert texts(placed.talk) == [message["content"] for message in edited] + ["on"]
    assert service.ask([*held, user("on")]).how is How.CONTINUED


def test_an_edit_before_the_first_answer_begins_anew(service: Service) -> None:
    held = begun(service)
    placed = service.ask([user("other"), *held[1:], user("two")])
    assert placed.how is How.BEGUN
    assert texts(placed.talk) == ["other", "first", "two"]


def test_old_messages_that_are_dropped_begin_anew(service: Service) -> None:
    held = begun(service)
    for number in range(3):
        _, held = service.turn([*held, user(f"ask {number}")], f"answer {number}")
    placed = service.ask([*held[2:], user("on")])
    assert placed.how is How.BEGUN
    assert texts(placed.talk) == [message["content"] for message in held[2:]] + ["on"]


def test_a_summary_in_place_of_old_messages_begins_anew(service: Service) -> None:
    held = begun(service)
    _, held = service.turn([*held, user("two")], "second")
    placed = service.ask([user("one"), user("Summary: all went well."), *held[2:], user("on")])
    assert placed.how is How.BEGUN
    assert texts(placed.talk) == ["one", "Summary: all went well.", "two", "second", "on"]


def test_side_requests_leave_the_conversation_as_it_is(service: Service) -> None:
    held = begun(service)
    _, held = service.turn([*held, user("two")], "second")
    title = service.ask([system("Write a title."), user("user: one\nassistant: first\nuser: two")])
    summary, _ = service.turn([system("Summarise."), *held, user("Summarise all of that.")], "All went well.")
    probe = service.ask([user("quota")], max_tokens=1)
    assert (title.how, probe.how) == (How.BEGUN, How.BEGUN)
    on = service.ask([*held, user("three")])
    assert on.talk.id == summary.talk.id
    assert texts(on.talk) == ["one", "first", "two", "second", "three"]
    assert governs(on.talk) == []


def test_agents_with_the_same_beginning_go_on_beside_each_other(service: Service) -> None:
    held = begun(service)
    first, second = service.ask([*held, user("left")]), service.ask([*held, user("right")])
    assert (first.how, second.how) == (How.CONTINUED, How.BRANCHED)
    service.reply(second, "on the right")
    service.reply(first, "on the left")
    for way in ("left", "right"):
        on = service.ask([*held, user(way), model(f"on the {way}"), user("further")])
        assert on.how is How.CONTINUED
        assert texts(on.talk) == ["one", "first", way, f"on the {way}", "further"]


# ---------------------------------------------------------------------------------------------- who is who


@pytest.mark.parametrize("turn", [0, 1])
def test_a_history_that_two_began_with_is_neither_s(service: Service, turn: int) -> None:
    conversations = [service.turn([user("one")], "first")[0].talk.id for _ in range(2)]
    held = [user("one"), model("first")]
    placed = [service.ask([*held, user(text)]) for text in (("a", "b") if turn else ("b", "a"))]
    assert [one.how for one in placed] == [How.AMBIGUOUS, How.AMBIGUOUS]
    assert len({*conversations, *(one.talk.id for one in placed)}) == 4
    for one, text in zip(placed, ("a", "b") if turn else ("b", "a"), strict=True):
        service.reply(one, f"re {text}")
        on = service.ask([*held, user(text), model(f"re {text}"), user("on")])
        assert (on.how, on.talk.id) == (How.CONTINUED, one.talk.id)
        assert texts(on.talk) == ["one", "first", text, f"re {text}", "on"]


def test_the_copy_that_nobody_went_on_with_goes_on(service: Service) -> None:
    first, held = service.turn([*begun(service), user("two")], "second")
    waiting, _ = service.turn([user("one")], "first")
    placed = service.ask(held[:3])
    assert (placed.how, placed.talk.id) == (How.CONTINUED, waiting.talk.id)
    # Now somebody went on with each.
    assert service.ask([*held[:2], user("other")]).how is How.AMBIGUOUS
    on = service.ask([*held, user("three")])
    assert (on.how, on.talk.id) == (How.CONTINUED, first.talk.id)


def test_another_credential_or_user_with_the_same_history_is_another(service: Service) -> None:
    held = begun(service)
    mine = service.ask([*held, user("mine")])
    for given in ({"scope": "other"}, {"user": "mia"}, {"scope": "key\0mia"}, {"scope": "4:mia"}):
        other = service.ask([*held, user("theirs")], **given)  # type: ignore[arg-type]
        assert other.how is How.BEGUN
        assert other.talk.id != mine.talk.id
    assert texts(mine.talk) == ["one", "first", "mine"]


def test_users_of_the_store_are_of_one_credential_and_user(service: Service) -> None:
    ways: tuple[dict[str, str], ...] = (
        {},
        {"user": "mia"},
        {"user": "zoe"},
        {"scope": "other"},
        {"scope": "other", "user": "mia"},
    )
    owners = [[service.ask([user("one")], **given).talk.user for _ in range(2)] for given in ways]  # type: ignore[arg-type]
    assert all(one == other for one, other in owners)
    assert len({one for one, _ in owners}) == len(ways)


def test_an_answer_that_says_nothing_tells_nobody_apart(service: Service) -> None:
    first = service.ask([user("one")])
    service.reply(first, model(""))
    assert service.ask([user("one")]).how is How.BEGUN


# ---------------------------------------------------------------------------------------------- by name


def test_a_name_is_a_conversation_of_its_credential_and_user(service: Service) -> None:
    first = service.ask([user("one")], named="work")
    assert (first.how, first.talk.name.rpartition("/")[2]) == (How.BEGUN, "work")
    others = [
        service.ask([user("one")], named="play"),
        service.ask([user("one")], named="work", scope="other"),
        service.ask([user("one")], named="work", user="mia"),
    ]
    assert len({one.talk.id for one in (first, *others)}) == 4
    service.reply(first, "first")
    again = service.ask([user("one"), model("first"), user("two")], named="work")
    assert (again.how, again.talk.id) == (How.CONTINUED, first.talk.id)


def test_a_named_conversation_is_begun_with_what_is_known_elsewhere(service: Service) -> None:
    held = begun(service)
    placed = service.ask([*held, user("two")], named="work")
    assert (placed.how, placed.appended) == (How.BEGUN, 3)
    assert texts(placed.talk) == ["one", "first", "two"]


@pytest.mark.parametrize("by", ["name", "id"])
def test_a_conversation_that_was_begun_without_a_name_has_one(service: Service, by: str) -> None:
    placed, held = service.turn([user("one")], "first")
    name = placed.talk.name.rpartition("/")[2] if by == "name" else placed.talk.id
    again = service.ask([*held, user("two")], named=name)
    assert (again.how, again.talk.id) == (How.CONTINUED, placed.talk.id)
    for given in ({"scope": "other"}, {"user": "mia"}):
        other = service.ask([*held, user("two")], named=name, **given)  # type: ignore[arg-type]
        assert (other.how, other.talk.id == placed.talk.id) == (How.BEGUN, False)


def test_no_name_leads_out_of_its_credential(service: Service) -> None:
    own = service.runtime.conversation("own").id
    theirs = service.ask([user("one")], scope="other", named="work")
    for name in (own, "own", theirs.talk.id, theirs.talk.name, f"../{theirs.talk.name}", "a/b"):
        placed = service.ask([user("one")], named=name)
        assert placed.talk.id not in (own, theirs.talk.id)
        assert placed.talk.name.endswith(f"/{name}")


def test_a_named_conversation_that_is_rewritten_stays_what_its_client_sent(service: Service) -> None:
    held = begun(service, named="work")
    for number in range(3):
        _, held = service.turn([*held, user(f"ask {number}")], f"answer {number}", named="work")
    ways: list[tuple[Sequence[Fields], How]] = [
        (held[2:], How.REWRITTEN),
        ([user("Summary: fine."), *held[4:]], How.REWRITTEN),
        ([user("one"), user("Summary: fine."), *held[4:]], How.BRANCHED),
        ([user("one")], How.BRANCHED),
        (held, How.CONTINUED),
    ]
    for history, how in ways:
        placed = service.ask([*history, user("on")], named="work")
        assert placed.how is how
        assert texts(placed.talk) == [message["content"] for message in history] + ["on"]
        held_now = [*history, user("on"), service.reply(placed, "good")]
        assert service.ask([*held_now, user("more")], named="work").how is How.CONTINUED


def test_a_first_request_by_name_that_comes_again_is_recorded_once(service: Service) -> None:
    first = service.ask([user("one")], named="work")
    meanwhile = service.ask([user("one")], named="work")
    assert meanwhile.how is How.BRANCHED
    service.recogniser.failed(first)
    service.recogniser.failed(meanwhile)
    again = service.ask([user("one")], named="work")
    assert (again.how, again.appended) == (How.REPEATED, 0)


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 600, "x" * 500, "\ud800"])
@pytest.mark.parametrize("kind", ["named", "user"])
def test_a_name_that_is_none_is_refused(service: Service, kind: str, name: str) -> None:
    with pytest.raises(InvalidOption):
        service.ask([user("one")], **{kind: name})  # type: ignore[arg-type]
    assert service.runtime.conversations() == []


def test_a_scope_is_needed(service: Service) -> None:
    with pytest.raises(InvalidOption):
        service.ask([user("one")], scope="")


# ---------------------------------------------------------------------------------------------- instructions


def test_other_instructions_replace_those_before(service: Service) -> None:
    first, held = service.turn([system("It is Monday."), system("Be kind."), user("one")], "first")
    assert governs(first.talk) == ["It is Monday.", "Be kind."]
    second, now = service.turn([system("It is Tuesday."), *held[1:], user("two")], "second")
    assert second.how is How.CONTINUED
    assert governs(second.talk) == ["It is Tuesday.", "Be kind."]
    third = service.ask([{"role": "developer", "content": "Be brief."}, *now[2:], user("three")])
    assert governs(third.talk) == ["Be brief."]
    assert texts(third.talk) == ["one", "first", "two", "second", "three"]


def test_instructions_that_are_gone_govern_no_more(service: Service) -> None:
    _, held = service.turn([system("Be kind."), user("one")], "first")
    placed = service.ask([*held[1:], user("two")])
    assert placed.how is How.CONTINUED
    assert governs(placed.talk) == []
    assert governs(service.ask([*held, user("other")]).talk) == ["Be kind."]


def test_equal_instructions_are_recorded_once(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    held = [system("Be kind."), user("one")]
    for number in range(4):
        placed, held = service.turn(held, f"answer {number}")
        held.append(user(f"ask {number}"))
        service.restart()
    assert service.ask(held).talk.id == placed.talk.id
    assert records(service) == 1 + 2 * 4 + 1


@pytest.mark.parametrize("named", [None, "work"])
def test_a_request_that_comes_again_may_bring_other_instructions(service: Service, named: str | None) -> None:
    asked = [*begun(service, named=named), user("two")]
    for text in ("A", "B", "B", "A"):
        placed = service.ask([system(text), *asked], named=named)
        assert placed.how is (How.REPEATED if text != "A" or placed.appended == 0 else How.CONTINUED)
        assert governs(placed.talk) == [text]
        service.recogniser.failed(placed)
    assert len(placed.talk.branches()) == 1


def test_instructions_that_change_each_time_come_between_no_call_and_its_result(service: Service) -> None:
    held = [user("one")]
    for number in range(5):
        said = model(None, (f"c{number}", "read", {}))
        placed, now = service.turn([system(f"It is {number} o'clock."), *held], said)
        assert governs(placed.talk) == [f"It is {number} o'clock."]
        held = [*now[1:], result(f"c{number}", str(number))]
    placed = service.ask([system("It is late."), *held])
    assert (placed.how, len(placed.talk.branches())) == (How.CONTINUED, 1)
    found, _ = placed.talk.history()
    assert {defect for record in found for defect in getattr(record.body, "defects", ())} == set()


def test_instructions_in_the_middle_stay_when_those_before_change(service: Service) -> None:
    _, held = service.turn([system("A"), user("one"), system("From now on in German."), user("two")], "eins")
    placed = service.ask([system("B"), *held[1:], user("three")])
    assert placed.how is How.CONTINUED
    assert sorted(governs(placed.talk)) == ["B", "From now on in German."]
    assert texts(placed.talk) == ["one", "From now on in German.", "two", "eins", "three"]


def test_other_tools_are_the_same_history(service: Service) -> None:
    held = begun(service)
    tool = {"type": "function", "function": {"name": "new", "parameters": {"type": "object"}}}
    assert service.ask([*held, user("two")], tools=[tool]).how is How.CONTINUED


# ---------------------------------------------------------------------------------------------- responses by id


def _after(service: Service, response: str, *messages: Fields, scope: str = "key") -> Any:
    asked = read_request({"model": "any", "messages": [user("x"), *messages]}, Wire.OPENAI)
    asked = replace(asked, blocks=asked.blocks[1:], previous=response)
    return service.recogniser.place(asked, scope=scope)


def test_responses_are_gone_on_with_by_id_and_branch(service: Service) -> None:
    first = service.ask([user("one")])
    service.reply(first, model("look", ("a", "read", {}), ("b", "list", {})), response="r1")
    second = _after(service, "r1", result("b", "B"), result("a", "A"))
    assert (second.how, second.appended, second.talk.id) == (How.CONTINUED, 2, first.talk.id)
    again = _after(service, "r1", result("a", "A"), result("b", "B"))
    assert (again.how, again.appended) == (How.BRANCHED, 0)
    service.reply(second, "done", response="r2")
    third = _after(service, "r2", user("three"))
    assert texts(third.talk) == ["one", "look", "B", "A", "done", "three"]
    other = _after(service, "r1", user("never mind"))
    assert other.how is How.BRANCHED
    assert texts(other.talk) == ["one", "look", "never mind"]
    whole = [user("one"), model("look", ("a", "read", {}), ("b", "list", {})), result("a", "A"), result("b", "B")]
    assert service.ask([*whole, model("done"), user("three")]).how is How.BRANCHED  # the third still waits


@pytest.mark.parametrize(("response", "scope"), [("r2", "key"), ("r1", "other")])
def test_a_response_that_is_not_known_is_refused(service: Service, response: str, scope: str) -> None:
    service.reply(service.ask([user("one")]), "first", response="r1")
    before = records(service)
    with pytest.raises(NotFound):
        _after(service, response, user("two"), scope=scope)
    assert records(service) == before


# ---------------------------------------------------------------------------------------------- cut results

LONG = "line of a log " * 40
CLEARED = "[Old tool result content cleared]"


def _worked(service: Service, turns: int) -> list[Fields]:
    held = begun(service)
    for number in range(turns):
        _, held = service.turn([*held, user(f"ask {number}")], model(None, (f"c{number}", "read", {"n": number})))
        _, held = service.turn([*held, result(f"c{number}", f"{number}: {LONG}")], f"answer {number}")
    return held


def _cleared(held: list[Fields], *numbers: int, text: str = CLEARED) -> list[Fields]:
    ids = {f"c{number}" for number in numbers}
    return [{**one, "content": text} if one.get("tool_call_id") in ids else one for one in held]


def test_results_that_a_client_has_cut_are_the_same_history(service: Service) -> None:
    held = _worked(service, 4)
    placed, now = service.turn([*_cleared(held, 0, 1), user("on")], "fine")
    assert (placed.how, placed.appended) == (How.CUT, 1)
    assert texts(placed.talk) == [message["content"] or "" for message in held] + ["on", "fine"]
    # Known by what they are now from here on ...
    on, now = service.turn([*now, user("more")], "good")
    assert (on.how, on.appended) == (How.CONTINUED, 1)
    # ... and when more of them are cut.
    assert service.ask([*_cleared(now, 0, 1, 2, 3), user("last")]).how is How.CUT
    assert service.ask([*held, user("as it was")]).how is How.BRANCHED


@pytest.mark.parametrize("text", ["", CLEARED, LONG[:100]])
def test_however_they_are_cut(service: Service, text: str) -> None:
    held = _worked(service, 2)
    placed = service.ask([*_cleared(held, 0, text=text), user("on")])
    assert placed.how is How.CUT


@pytest.mark.parametrize(
    "text", [f"0: {LONG}".replace("log", "***"), f"0: {LONG} and more", LONG[: len(LONG) * 2 // 3]]
)
def test_results_that_a_client_has_changed_are_a_branch(service: Service, text: str) -> None:
    held = _cleared(_worked(service, 2), 0, text=text)
    placed = service.ask([*held, user("on")])
    assert placed.how is How.BRANCHED
    assert texts(placed.talk) == [message["content"] or "" for message in held] + ["on"]


def test_a_newest_result_is_never_taken_for_cut(service: Service) -> None:
    held = _worked(service, 2)
    asked = [*held[:-2], result("c1", "short")]
    placed = service.ask(asked)
    assert placed.how is How.BRANCHED
    assert texts(placed.talk)[-1] == "short"


def test_cut_results_do_not_hide_an_edit(service: Service) -> None:
    held = _cleared(_worked(service, 3), 0)
    edited = [*held[:6], user("another"), *held[7:]]
    placed = service.ask([*edited, user("on")])
    assert "another" in texts(placed.talk)
    assert texts(placed.talk)[-1] == "on"


def test_cut_results_of_two_conversations_are_nobody_s(service: Service) -> None:
    _worked(service, 1)
    held = _worked(service, 1)
    placed = service.ask([*_cleared(held, 0), user("on")])
    assert placed.how is How.AMBIGUOUS
    assert texts(placed.talk)[-3:] == [CLEARED, "answer 0", "on"]


def test_an_agent_that_keeps_its_last_results_alone_is_one_history(service: Service) -> None:
    held = begun(service)
    branches = set()
    for number in range(12):
        placed, held = service.turn([*held, user(f"ask {number}")], model(None, (f"c{number}", "read", {})))
        placed, held = service.turn([*held, result(f"c{number}", f"{number}: {LONG}")], f"answer {number}")
        held = _cleared(held, *range(number - 2))
        branches.add(placed.talk.branch_id)
    assert len(branches) == 1
    assert LONG in texts(placed.talk)[4]
