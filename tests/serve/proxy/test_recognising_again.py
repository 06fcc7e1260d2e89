"""Recognising after restarts, kills and erasure, by several at once, and with what no client should send."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from callsheet.audit.erasing import erase
from callsheet.graph.prefix import Prefix
from callsheet.runtime.opening import open as open_store
from callsheet.serve.proxy.homes import Homes
from callsheet.serve.proxy.recognising import How, Placed, Recogniser
from tests.serve.proxy.clients import Fields, Service, governs, model, records, result, shows, system, texts, user


class Killed(Exception):
    """The process ends here."""


def _killed_before_notes(service: Service, act: Callable[[], object]) -> None:
    """Do something up to what is noted of it, and open the store again."""

    def dies(*_: object) -> None:
        raise Killed

    service.runtime.ledger.put_prefixes = dies  # type: ignore[method-assign,assignment]
    with pytest.raises(Killed):
        act()
    service.restart()


@pytest.mark.parametrize("answered", [False, True])
def test_between_any_two_steps_the_store_may_be_opened_again(tmp_path: Path, answered: bool) -> None:
    service = Service(tmp_path / "store.db")
    held = [system("Be kind."), user("one")]
    ids = set()
    for number in range(4):
        placed = service.ask(held)
        if answered:
            held = [*held, service.reply(placed, f"answer {number}")]
        else:
            service.recogniser.failed(placed)
            service.restart()
            again = service.ask(held)
            assert (again.how, again.appended) == (How.REPEATED, 0)
            held = [*held, service.reply(again, f"answer {number}")]
        ids.add(placed.talk.id)
        service.restart()
        held.append(user(f"ask {number}"))
    assert len(ids) == 1
    assert records(service) == 1 + 2 * 4


def test_killed_between_records_and_notes_of_a_request(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    _, held = service.turn([user("one")], "first")
    asked = [*held, user("two")]
    _killed_before_notes(service, lambda: service.ask(asked))
    placed = service.ask(asked)
    assert placed.how is How.BRANCHED
    assert texts(placed.talk) == ["one", "first", "two"]
    on = service.ask([*asked, service.reply(placed, "second"), user("three")])
    assert (on.how, texts(on.talk)) == (How.CONTINUED, ["one", "first", "two", "second", "three"])


def test_killed_between_records_and_notes_of_an_answer(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    _, held = service.turn([user("one")], "first")
    asked = [*held, user("two")]
    placed = service.ask(asked)
    _killed_before_notes(service, lambda: service.reply(placed, "second"))
    on = service.ask([*asked, model("second"), user("three")])
    assert on.how is How.BRANCHED
    assert texts(on.talk) == ["one", "first", "two", "second", "three"]


def test_killed_between_records_and_notes_of_a_first_answer(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    placed = service.ask([user("one")])
    _killed_before_notes(service, lambda: service.reply(placed, "first"))
    on = service.ask([user("one"), model("first"), user("two")])
    assert on.how is How.BEGUN
    assert texts(on.talk) == ["one", "first", "two"]


def test_killed_while_instructions_changed(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    _, held = service.turn([system("A"), user("one")], "first")
    asked = [*held[1:], user("two")]
    service.recogniser.failed(service.ask([system("A"), *asked]))
    _killed_before_notes(service, lambda: service.ask([system("B"), *asked]))
    for text in ("A", "B", "A"):
        placed = service.ask([system(text), *asked])
        assert (texts(placed.talk), governs(placed.talk)) == (["one", "first", "two"], [text])


def test_two_processes_go_on_beside_each_other(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    _, held = service.turn([user("one")], "first")
    with open_store(tmp_path / "store.db") as runtime:
        other = Service.__new__(Service)
        other.runtime, other.recogniser, other._numbers = runtime, Recogniser(runtime), 100
        one = service.ask([*held, user("left")])
        two = other.ask([*held, user("right")])
        assert (one.how, two.how) == (How.CONTINUED, How.BRANCHED)
        other.reply(two, "right then")
        service.reply(one, "left then")
        for way in ("left", "right"):
            on = other.ask([*held, user(way), model(f"{way} then"), user("on")])
            assert texts(on.talk) == ["one", "first", way, f"{way} then", "on"]


def test_many_at_once_each_have_their_own(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    _, held = service.turn([user("one")], "first")
    start = threading.Barrier(8)

    def work(number: int) -> list[Fields]:
        said = held
        start.wait()
        for step in range(3):
            said = [*said, user(f"{number}.{step}" if number % 2 else f"same {step}")]
            placed = service.ask(said)
            assert texts(placed.talk) == [message["content"] for message in said]
            said = [*said, service.reply(placed, f"re {number}.{step}")]
        return said

    with ThreadPoolExecutor(8) as pool:
        histories = list(pool.map(work, range(8)))
    for said in histories:
        placed = service.ask([*said, user("on")])
        assert placed.how is How.CONTINUED
        assert texts(placed.talk) == [message["content"] for message in said] + ["on"]
    assert len(service.runtime.conversations()) == 1


def test_first_requests_at_once_share_nothing(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    with ThreadPoolExecutor(8) as pool:
        placed = list(pool.map(lambda _: service.ask([user("one")]), range(16)))
    assert len({one.talk.id for one in placed}) == 16


def test_named_requests_at_once_lose_nothing(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    with ThreadPoolExecutor(8) as pool:
        placed = list(pool.map(lambda number: service.ask([user(str(number))], named="work"), range(8)))
    assert len({one.talk.id for one in placed}) == 1
    assert sorted(texts(one.talk) for one in placed) == [[str(number)] for number in range(8)]


def test_a_failed_first_request_is_taken_by_one_alone(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    failed = service.ask([user("one")])
    service.recogniser.failed(failed)
    with ThreadPoolExecutor(8) as pool:
        placed = list(pool.map(lambda _: service.ask([user("one")]), range(8)))
    assert [one.how for one in placed].count(How.REPEATED) == 1
    assert len({one.talk.id for one in placed}) == 8


# ---------------------------------------------------------------------------------------------- erasure


def _place_of_text(placed: Placed, text: str) -> str:
    found, _ = placed.talk.history()
    return next(record.id for record, said in zip(found, shows(placed.talk), strict=True) if said[1] == text)


def test_what_was_erased_is_known_by_no_history(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    _, held = service.turn([user("one")], "first")
    _, held = service.turn([*held, user("my secret")], "second")
    placed, held = service.turn([*held, user("three")], "third")
    erase(placed.talk._session, [_place_of_text(placed, "my secret")])  # type: ignore[list-item]
    on = service.ask([*held, user("on")])
    assert on.how is How.BRANCHED
    assert texts(on.talk) == ["one", "first", "my secret", "second", "three", "third", "on"]


def test_nothing_is_known_where_the_first_answer_was_erased(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    placed, held = service.turn([user("one")], "first")
    erase(placed.talk._session, [_place_of_text(placed, "first")])  # type: ignore[list-item]
    assert service.ask([*held, user("two")]).how is How.BEGUN


# ---------------------------------------------------------------------------------------------- what is kept open


def test_conversations_that_were_put_away_are_opened_again(tmp_path: Path) -> None:
    service = Service(tmp_path / "store.db")
    service.recogniser._homes = Homes(most=1)
    held = [service.turn([user(str(number))], f"re {number}")[1] for number in range(4)]
    waiting = [service.ask([*one, user("two")]) for one in held]
    assert all(one.how is How.CONTINUED for one in waiting)
    for one, said in zip(waiting, held, strict=True):
        again = service.ask([*said, user("two")])
        assert again.how is How.BRANCHED  # the first still waits
        service.reply(one, "done")


# ---------------------------------------------------------------------------------------------- hostile


def test_odd_texts_are_told_apart_and_known_again() -> None:
    service = Service()
    odd = ["\ud800", "\udfff\ud800", "a\0b", "\u202e", "e\u0301", "é", "x" * 200_000, "0", "null", "[]", "  in  "]
    held: list[Fields] = []
    for number, text in enumerate(odd):
        placed, held = service.turn([*held, user(text)], f"re {text}{number}")
        assert texts(placed.talk) == [message["content"] for message in held]
        assert placed.how is (How.CONTINUED if number else How.BEGUN)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a": 1, "b": [1.0, 2]}', '{"b":[1,2.0],"a":1}', True),
        ('{"a": "\\u00e9"}', '{"a": "é"}', True),
        ("", "{}", True),
        ("{ }", "{}", True),
        ('{"a": 1', '{"a":1', False),
        ('{"a": 1}', '{"a": "1"}', False),
        ('{"a": true}', '{"a": 1}', False),
        ('{"a": NaN}', '{"a": null}', False),
        ('{"a": 1e999}', '{"a": null}', False),
        ('{"a": "\\ud800"}', '{"a": "\\ud801"}', False),
        ("9" * 5_000, "8" * 5_000, False),
        ("[" * 100_000, "[" * 99_999, False),
        ('{"a": 123456789012345678901}', '{"a": 123456789012345678902}', False),
    ],
)
def test_arguments_are_equal_by_what_they_say(one: str, other: str, same: bool) -> None:
    service = Service()
    placed = service.ask([user("one")])
    service.reply(placed, model("look", ("a", "read", one)))
    again = service.ask([user("one"), model("look", ("a", "read", other)), result("a", "A")])
    assert (again.how is How.CONTINUED) is same


def test_two_splits_of_the_same_text_are_two_histories() -> None:
    service = Service()
    _, held = service.turn([user("one"), user("two")], "first")
    for said in ([user("one\ntwo")], [user("onetwo")], [user("o"), user("netwo")], [user("two"), user("one")]):
        assert service.ask([*said, held[-1], user("on")]).how is How.BEGUN


_ATTACHED = (
    [{"type": "file", "file": {"file_id": "file-1"}}, {"type": "file", "file": {"file_id": "file-2"}}],
    [{"type": "of_another_kind", "place": [1]}, {"type": "of_another_kind", "place": [2]}],
    [{"type": "image_url", "image_url": {"url": f"https://pictures.example/{name}"}} for name in ("a", "b")],
    [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}} for data in ("YQ==", "Yg==")],
)


@pytest.mark.parametrize(("one", "other"), _ATTACHED)
def test_what_was_attached_is_part_of_what_was_said(one: Fields, other: Fields) -> None:
    service = Service()

    def look(part: Fields) -> Fields:
        return user([{"type": "text", "text": "look"}, part])

    _, held = service.turn([user("one")], "first")
    _, now = service.turn([*held, look(one)], "a cat")
    marked = look({**one, "cache_control": {"type": "ephemeral"}})
    assert service.ask([*held, marked, now[-1], user("sure?")]).how is How.CONTINUED
    assert service.ask([*held, look(other), now[-1], user("sure?")]).how is How.BRANCHED


def test_a_very_long_history_is_known_at_its_end() -> None:
    service = Service()
    held = [user("one")] + [model(f"told {n}") if n % 2 else user(f"said {n}") for n in range(1, 2_001)]
    placed, held = service.turn(held, "first")
    again = service.ask([*held, user("on")])
    assert (again.how, again.appended, again.talk.id) == (How.CONTINUED, 1, placed.talk.id)
    assert service.ask(held).how is How.BRANCHED


def test_very_many_tiny_messages_are_one_request() -> None:
    service = Service()
    placed, held = service.turn([user(".") for _ in range(3_000)], "first")
    assert placed.appended == 3_000
    assert service.ask([*held, user(".")]).how is How.CONTINUED


def test_marks_tell_nothing_to_whoever_lacks_the_key(tmp_path: Path) -> None:
    found: list[set[bytes]] = []
    for name in ("a", "b"):
        service = Service(tmp_path / f"{name}.db")
        noted: list[Prefix] = []
        put = service.runtime.ledger.put_prefixes

        def noting(tenant: object, scope: str, prefixes: list[Prefix], put: object = put) -> None:
            noted.extend(prefixes)  # noqa: B023 - used within the loop
            assert "key" not in scope
            put(tenant, scope, prefixes)  # type: ignore[operator]

        service.runtime.ledger.put_prefixes = noting  # type: ignore[method-assign,assignment]
        service.turn([user("one")], "first")
        found.append({one.mark for one in noted})
    assert all(found)
    assert found[0].isdisjoint(found[1])
