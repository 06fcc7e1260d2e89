"""Every method of the public face refuses arguments of wrong types and impossible values, by name, and changes nothing.

The methods and their arguments are found by their signatures, so one that is added later is asked too.
"""

import asyncio
import inspect
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from types import UnionType
from typing import Any, NamedTuple

import pytest

import callsheet
from callsheet import Conversation, Runtime
from callsheet.errors import CallsheetError, InputError, InvalidTime
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import TenantId
from callsheet.runtime.conversation import SubAgent
from callsheet.runtime.skills import Skills
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, user


class Odd:
    """Of no type that anything takes."""

    def __repr__(self) -> str:
        return "<odd>"


class Parameter(NamedTuple):
    face: type[Any]
    method: str
    name: str
    kind: inspect._ParameterKind
    hint: object

    def __str__(self) -> str:
        return f"{self.face.__name__}.{self.method}({self.name})"


FACES: tuple[type[Any], ...] = (Runtime, Conversation, SubAgent, Skills)


def methods(face: type[Any]) -> Iterator[tuple[str, Callable[..., object]]]:
    for name in sorted(vars(face) if face is SubAgent else dir(face)):
        method = inspect.getattr_static(face, name)
        if inspect.isfunction(method) and not name.startswith("_"):
            yield name, method


def parameters(face: type[Any], method: str) -> list[Parameter]:
    function = getattr(face, method)
    hints = typing.get_type_hints(function)
    own = list(inspect.signature(function).parameters.values())[1:]
    return [Parameter(face, method, one.name, one.kind, hints[one.name]) for one in own]


ASKED = [one for face in FACES for name, _ in methods(face) for one in parameters(face, name) if one.hint is not object]


def members(hint: object) -> tuple[object, ...]:
    union = typing.get_origin(hint) in (typing.Union, UnionType)
    return tuple(member for one in typing.get_args(hint) for member in members(one)) if union else (hint,)


def takes(hint: object, kind: type) -> bool:
    return any(_plain(member) is kind for member in members(hint))


def _plain(hint: object) -> object:
    hint = getattr(hint, "__supertype__", hint)
    return str if isinstance(hint, type) and issubclass(hint, Enum) else hint


def never(hint: object) -> list[object]:
    """Values that are wrong for a type."""
    wrong: list[object] = [Odd(), 1j]
    if not takes(hint, type(None)):
        wrong.append(None)
    if not takes(hint, int) and not takes(hint, float):
        wrong.append(5)
    if not takes(hint, bool):
        wrong.append(True)
    if not takes(hint, bytes):
        wrong.append(b"seven")
    wrong += [[Odd()], {5: Odd()}]
    return wrong


class World:
    """A conversation in which there is something to speak of, and fitting arguments for every method."""

    def __init__(self) -> None:
        self.runtime = memory_runtime()
        self.talk = self.runtime.conversation("mill")
        self.talk.record(user("Which stone is worn?"))
        self.talk.record(asks(call("c1", "weigh")))
        self.result = self.talk.record({"role": "tool", "tool_call_id": "c1", "content": "north, 1,204 kg"}).ids[0]
        self.talk.record(asks(call("c2", "weigh")))
        self.sub = self.talk.spawn("Look at the south stone.", name="looker")
        self.faces: dict[type[Any], object] = {
            Runtime: self.runtime,
            Conversation: self.talk,
            SubAgent: self.sub,
            Skills: self.runtime.skills,
        }

    def fitting(self, hint: object, name: str) -> object:
        if takes(hint, Conversation):
            return self.talk
        if takes(hint, str):
            return {"call": "c2", "message": self.result}.get(name, self.result)
        if takes(hint, float):
            return 0.5
        return {"role": "user", "content": "x"} if hint is object else ()

    def call(self, asked: Parameter, value: object) -> object:
        placed: list[object] = []
        named: dict[str, object] = {}
        signature = inspect.signature(getattr(asked.face, asked.method))
        for one in parameters(asked.face, asked.method):
            own = one.name == asked.name
            default = signature.parameters[one.name].default
            if not own and (default is not inspect.Parameter.empty or one.kind is inspect.Parameter.VAR_POSITIONAL):
                if one.kind is not inspect.Parameter.KEYWORD_ONLY and default is not inspect.Parameter.empty:
                    placed.append(default)
                continue
            given = value if own else self.fitting(one.hint, one.name)
            if one.kind is inspect.Parameter.KEYWORD_ONLY:
                named[one.name] = given
            else:
                placed.append(given)
        return getattr(self.faces[asked.face], asked.method)(*placed, **named)

    def heads(self) -> list[object]:
        ledger, tenant = self.runtime.ledger, TenantId(self.runtime.tenant)
        return [ledger.head(stream.key) for kind in StreamKind for stream in ledger.streams(tenant, kind)]


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_an_argument_of_a_wrong_type_is_refused_by_its_name(world: World, asked: Parameter) -> None:
    before = world.heads()
    for value in never(asked.hint):
        with pytest.raises(InputError) as refused:
            world.call(asked, value)
        assert asked.name in str(refused.value), value
    assert world.heads() == before


IMPOSSIBLE: list[object] = [
    "",
    "\ud83e",
    "a\0b",
    "x" * 2_000,
    -1,
    10**30,
    float("nan"),
    float("inf"),
    [""],
    ["\ud83e"],
    {"": ""},
    {"a": float("nan")},
    (-1, 10**30),
    (None, None),
    [[]],
]


@pytest.mark.parametrize("face", FACES)
def test_whatever_an_argument_holds_only_errors_of_ours_come_of_it(face: type[Any]) -> None:
    world = World()
    for asked in (one for name, _ in methods(face) for one in parameters(face, name)):
        if asked.method in ("complete", "fail", "close"):
            continue
        for value in IMPOSSIBLE:
            with suppress(CallsheetError):
                world.call(asked, value)


def test_a_wrong_time_is_refused_as_a_time(world: World) -> None:
    record: Callable[..., object] = world.talk.record
    with pytest.raises(
        InvalidTime, match=r"^at is <odd>; in record\(\) it must be an aware datetime or text or a whole number"
    ):
        record(user("x"), at=Odd())


def test_the_place_in_a_list_is_no_matter(world: World) -> None:
    execute: Callable[..., object] = world.talk.execute
    with pytest.raises(
        InputError, match=r"^calls is \['c2', 5\]; in execute\(\) it must be a list, each text or a PendingCall"
    ):
        execute([], calls=["c2", 5])


def test_the_asynchronous_face_refuses_the_same() -> None:
    async def work() -> None:
        async with await callsheet.open_async(":memory:") as runtime:
            talk = await runtime.conversation("mill")
            methods: tuple[Callable[..., Any], ...] = (talk.execute, talk.recall, talk.record)
            for method in methods:
                with pytest.raises(InputError):
                    await method(5)

    asyncio.run(work())


def test_what_a_type_does_not_tell_is_left_to_the_method(world: World) -> None:
    assert world.talk.recall(world.result, lines=(0, None)).text
    assert world.talk.executions() is not None
    with pytest.raises(TypeError):
        world.talk.recall()  # type: ignore[call-arg]


class Marked(str):
    """Text of a kind of its own, as libraries of arrays and of markup have it."""

    def __str__(self) -> str:
        return "marked"


def test_kinds_of_text_are_taken_as_text() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation(Marked("jetty"), user=Marked("mia"))
        assert (talk.name, type(talk.name)) == ("jetty", str)
        said = talk.record({Marked("role"): Marked("user"), "content": [{"type": "text", "text": Marked("Hello")}]})
        talk.feedback(Marked(said.ids[0]), 1, by=Marked("kim"))
        assert "Hello" in str(talk.assemble(provider=Marked("openai"), model=Marked("gpt-5.2")).messages())


@pytest.mark.parametrize("score", [10**400, -(10**400)])
def test_a_number_beyond_all_is_refused_by_name(score: int) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("jetty")
        said = talk.record(user("Is it sound?"))
        with pytest.raises(InputError, match="score is"):
            talk.feedback(said.ids[0], score)
