"""Whatever clients send in whatever order: a request stands in what its own client sent, and in nothing else."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from callsheet.serve.proxy.recognising import How, Placed
from tests.serve.proxy.clients import Fields, Service, governs, model, result, shows, system, user

WORDS = ("yes", "go on")
"""Few, so that histories of several clients are alike."""

LONG = "a line of it " * 30
CLEARED = "[cleared]"


@dataclass(kw_only=True, slots=True)
class Client:
    """A program with a credential and what it holds of its conversations."""

    name: str
    scope: str
    user: str | None
    held: list[Fields] = field(default_factory=list)
    #: Everything that it sent or was answered, in any request.
    known: set[str] = field(default_factory=set)
    waiting: list[tuple[Placed, list[Fields]]] = field(default_factory=list)

    def learned(self, messages: Sequence[Fields]) -> None:
        self.known.update(json.dumps(message.get("content")) for message in messages)


CLIENTS = (("a", "key", None), ("b", "key", None), ("c", "key", "mia"), ("d", "other", None))

_step = st.tuples(
    # The first two can be taken for each other; the others must never be taken for anybody.
    st.sampled_from((0, 0, 0, 1, 1, 1, 2, 3)),
    st.sampled_from(
        (
            "turn",
            "turn",
            "turn",
            "turn",
            "work",
            "say",
            "say",
            "answer",
            "fail",
            "again",
            "edit",
            "drop",
            "cut",
            "forget",
            "rename",
        )
    ),
    st.sampled_from(WORDS),
    #: Whether the answer is one that others get too, whether a name is given, which instructions stand before.
    st.sampled_from((True, True, True, False)),
    st.sampled_from((False, False, False, False, False, True)),
    st.sampled_from((None, None, "A", "B")),
    st.integers(0, 7),
)
Step = tuple[int, str, str, bool, bool, str | None, int]


_act = st.tuples(
    st.sampled_from(("turn", "turn", "turn", "work", "work", "say", "answer", "again", "fail", "rename")),
    st.sampled_from((True, True, True, True, False)),
    st.integers(0, 3),
)
_program = st.tuples(st.sampled_from((0, 0, 1)), st.lists(_act, min_size=2, max_size=5))
"""What one of two clients does from the beginning on: the same again and again, answered the same."""


def _steps(programs: Sequence[tuple[int, list[tuple[str, bool, int]]]]) -> list[Step]:
    """Programs one after the other, each time from nothing."""
    found: list[Step] = []
    for index, acts in programs:
        found.append((index, "forget", "yes", True, False, None, 0))
        found += [(index, act, "yes", common, False, None, at) for act, common, at in acts]
    return found


def _canonical(messages: Sequence[Fields]) -> list[tuple[object, ...]]:
    """A request as `shows` tells of a branch."""
    tools = {call["id"]: call["function"]["name"] for one in messages for call in one.get("tool_calls", ())}
    found: list[tuple[object, ...]] = []
    for one in messages:
        if one["role"] == "tool":
            found.append(("result", one["content"], tools.get(one["tool_call_id"])))
        else:
            made = one.get("tool_calls", ())
            asked = [(call["function"]["name"], call["function"]["arguments"]) for call in made]
            found.append((one["role"], one["content"] or "", *asked))
    return found


class World:
    """Clients of one proxy, and what has to hold after each of their requests."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.clients = [Client(name=name, scope=scope, user=user) for name, scope, user in CLIENTS]
        #: Whose a conversation is.
        self.owners: dict[str, tuple[str, str | None]] = {}
        #: In which conversations a history was answered, its answer included; and those begun without an answer.
        self.answered: dict[tuple[str, str | None, str], set[str]] = {}
        #: The ids of all calls in those histories, as they were there.
        self.ids: dict[tuple[str, str], set[tuple[str, ...]]] = {}
        #: What was said last on each branch of a conversation that has something of its own.
        self.lines: dict[tuple[str, str], list[tuple[object, ...]]] = {}
        self.unanswered: set[str] = set()
        self.number = 0

    def step(self, step: Step) -> None:
        index, act, word, common, named, before, at = step
        client = self.clients[index]
        if act in ("turn", "work", "say"):
            self.ask(client, [*client.held, user(word)], named=named, before=before)
        if act in ("turn", "work", "answer"):
            self.answer(client, -1 if act != "answer" else at, call=act == "work", common=common)
        elif act == "fail" and client.waiting:
            placed, _ = client.waiting.pop(at % len(client.waiting))
            self.service.recogniser.failed(placed)
            self.unanswered.add(placed.talk.id)
        elif act == "again" and client.held:
            self.ask(client, client.held, named=named, before=before)
        elif act == "forget":
            client.held = []
            client.waiting.clear()
        elif act == "rename":
            self.number += 1
            client.held = [_renamed(one, f"n{self.number}") for one in client.held]
        elif act in ("edit", "drop", "cut") and client.held:
            self.rewrite(client, act, word, at)

    def rewrite(self, client: Client, act: str, word: str, at: int) -> None:
        place = at % len(client.held)
        one = client.held[place]
        if act == "edit" and one["role"] == "user":
            client.held = [*client.held[:place], user(f"{word}, {client.name}")]
        elif act == "drop" and one["role"] == "user":
            client.held = client.held[place:]
        elif act == "cut" and one["role"] == "tool":
            client.held = [*client.held[:place], {**one, "content": CLEARED}, *client.held[place + 1 :]]

    def ask(self, client: Client, messages: list[Fields], *, named: bool, before: str | None) -> None:
        client.held = messages
        client.learned(messages)
        placed = self.service.ask(
            [*([system(before)] if before else []), *messages],
            scope=client.scope,
            user=client.user,
            named="work" if named else None,
        )
        client.waiting.append((placed, messages))
        self.check(client, placed, messages, before, named)

    def check_whose(self, client: Client, placed: Placed, messages: list[Fields], named: bool) -> None:
        """It goes on with the one conversation in which its longest answered beginning was answered, or with none."""
        if named or any(one["content"] == CLEARED for one in messages):
            return
        known = self.told_apart(client, messages)
        if len(known) == 1:
            assert {placed.talk.id} == known
            assert not placed.new
        elif known:
            assert placed.how is How.AMBIGUOUS
            assert placed.talk.id not in self.owners
        else:
            assert placed.how is How.BEGUN or (placed.how is How.REPEATED and placed.talk.id in self.unanswered)
        self.unanswered.discard(placed.talk.id)

    def told_apart(self, client: Client, messages: list[Fields]) -> set[str]:
        """Where its longest answered beginning was answered. Of several: where its calls have the ids that they have
        in the request; of several still: the one in which nothing stands behind the request's beginning, if it is one.
        """
        ends = [end for end in range(len(messages), 0, -1) if messages[end - 1]["role"] == "assistant"]
        for end in ends:
            key = _key(messages[:end])
            known = self.answered.get((client.scope, client.user, key), set())
            if not known:
                continue
            given = _ids(messages[:end])
            if len(known) > 1 and given:
                known = {one for one in known if given in self.ids[one, key]} or known
            waiting = {one for one in known if self.waits(one, _joined(_canonical(messages[:end])), messages)}
            return waiting if len(waiting) == 1 else known
        return set()

    def waits(self, conversation: str, answered: list[tuple[object, ...]], messages: list[Fields]) -> bool:
        said = _joined(_canonical(messages))
        return any(
            line[: len(answered)] == answered and said[: len(line)] == line
            for (place, _), line in self.lines.items()
            if place == conversation
        )

    def stands(self, placed: Placed, messages: Sequence[Fields]) -> None:
        records, _ = placed.talk.history()
        if records and records[-1].branch == placed.talk.branch_id:
            self.lines[placed.talk.id, placed.talk.branch_id] = _joined(_canonical(messages))

    def check(
        self, client: Client, placed: Placed, messages: list[Fields], before: str | None, named: bool = False
    ) -> None:
        expected, found = _canonical(messages), shows(placed.talk)
        if placed.how is How.CUT:
            assert len(found) == len(expected)
            for one, other in zip(found, expected, strict=True):
                # The client's own result, as it was before it was cut.
                assert one == other or (one[0] == other[0] == "result" and other[1] == CLEARED and LONG in str(one[1]))
                assert json.dumps(one[1]) in client.known or one[1] == ""
        else:
            assert _joined(found) == _joined(expected)
        assert governs(placed.talk) == ([before] if before else [])
        self.check_whose(client, placed, messages, named)
        self.stands(placed, messages)
        owner = (client.scope, client.user)
        assert self.owners.setdefault(placed.talk.id, owner) == owner

    def answer(self, client: Client, at: int, *, call: bool, common: bool) -> None:
        if not client.waiting:
            return
        placed, messages = client.waiting.pop(at % len(client.waiting))
        self.number += 1
        text = "fine" if common else f"only for {client.name}, {self.number}"
        # Some services count the calls of each history.
        id = f"s{len(messages)}.{len(_ids(messages))}" if common and self.number % 2 else f"c{self.number}"
        said = self.service.reply(placed, model(None, (id, "read", {"n": 1})) if call else model(text))
        client.held = [*messages, said]
        key = _key(client.held)
        self.answered.setdefault((client.scope, client.user, key), set()).add(placed.talk.id)
        self.ids.setdefault((placed.talk.id, key), set()).add(_ids(client.held))
        self.stands(placed, client.held)
        if call:
            client.held.append(result(id, f"{LONG} {'' if common else self.number}"))
        client.learned(client.held)


def _ids(messages: Sequence[Fields]) -> tuple[str, ...]:
    return tuple(call["id"] for one in messages for call in one.get("tool_calls", ()))


def _renamed(message: Fields, name: str) -> Fields:
    """The same with other ids of its calls."""
    if message["role"] == "tool":
        return {**message, "tool_call_id": f"{name}.{message['tool_call_id']}"}
    made = [{**call, "id": f"{name}.{call['id']}"} for call in message.get("tool_calls", ())]
    return {**message, "tool_calls": made} if made else message


def _key(messages: Sequence[Fields]) -> str:
    return json.dumps(_joined(_canonical(messages)))


def _joined(said: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The same with the messages of a side in a row as one: those of the model are one turn, however they came."""
    found: list[tuple[object, ...]] = []
    for one in said:
        if found and one[0] == found[-1][0] == "assistant":
            found[-1] = ("assistant", f"{found[-1][1]}{one[1]}", *found[-1][2:], *one[2:])
        else:
            found.append(one)
    return found


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(_step, min_size=6, max_size=30))
def test_a_request_stands_in_its_own_history(steps: list[Step]) -> None:
    world = World(Service())
    for step in steps:
        world.step(step)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(_program, min_size=2, max_size=5).map(_steps))
@example(_steps([(0, [("turn", True, 0)] * 2)] * 2))
@example([(one, act, "yes", True, False, None, 0) for act in ("turn", "work", "turn", "turn") for one in (0, 1)])
def test_also_when_the_same_program_runs_again(steps: list[Step]) -> None:
    world = World(Service())
    for step in steps:
        world.step(step)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(st.tuples(_step, st.booleans()), min_size=4, max_size=16))
def test_also_when_the_store_is_opened_again_at_any_time(steps: list[tuple[Step, bool]]) -> None:
    with TemporaryDirectory() as folder:
        world = World(Service(Path(folder) / "store.db"))
        for step, restarts in steps:
            world.step(step)
            if restarts:
                world.service.restart()
                for client in world.clients:
                    client.waiting.clear()
        world.service.runtime.close()


@pytest.mark.parametrize("seed", range(3))
def test_the_oracle_notices_another_history(seed: int) -> None:
    world = World(Service())
    client = world.clients[0]
    world.ask(client, [user("yes")], named=False, before=None)
    placed, _ = client.waiting[0]
    with pytest.raises(AssertionError):
        world.check(client, placed, [user("yes"), user(f"{seed}")], None)
