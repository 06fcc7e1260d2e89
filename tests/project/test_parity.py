"""The asynchronous face has every name of the synchronous one, with the same parameters."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import callsheet
from callsheet.runtime.aio import AsyncKnowledge, AsyncSkills, AsyncSubAgent
from callsheet.runtime.conversation import SubAgent
from callsheet.runtime.documenting.knowledge import Knowledge
from callsheet.runtime.skills import Skills

FACES = [
    (callsheet.Conversation, callsheet.AsyncConversation),
    (SubAgent, AsyncSubAgent),
    (callsheet.Runtime, callsheet.AsyncRuntime),
    (Skills, AsyncSkills),
    (Knowledge, AsyncKnowledge),
]
ASYNC_NAMES = {"__enter__": "__aenter__", "__exit__": "__aexit__"}


def _members(face: type) -> dict[str, object]:
    managing = (*ASYNC_NAMES, *ASYNC_NAMES.values())
    names = [name for name in dir(face) if not name.startswith("_") or name in managing]
    return {name: inspect.getattr_static(face, name) for name in names}


def _parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any, str]]:
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default, _asynchronous(p.annotation)) for p in parameters]


def _asynchronous(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    for sync, aio in FACES:
        text = text.replace(aio.__name__, sync.__name__)
    return text.replace("callsheet.runtime.aio.", "").replace("callsheet.runtime.conversation.", "")


@pytest.mark.parametrize(("sync", "aio"), FACES)
def test_both_faces_have_the_same_names(sync: type, aio: type) -> None:
    expected = {ASYNC_NAMES.get(name, name) for name in _members(sync)}

    assert set(_members(aio)) == expected


@pytest.mark.parametrize(("sync", "aio"), FACES)
def test_every_method_takes_and_gives_the_same(sync: type, aio: type) -> None:
    for name, value in _members(sync).items():
        twin = inspect.getattr_static(aio, ASYNC_NAMES.get(name, name))
        if isinstance(value, property):
            assert isinstance(twin, property), name
            continue
        if not inspect.isfunction(value):
            continue
        assert inspect.iscoroutinefunction(twin), f"{aio.__name__}.{name} is not asynchronous"
        assert _parameters(twin) == _parameters(value), name
        returned = (inspect.signature(twin).return_annotation, inspect.signature(value).return_annotation)
        assert _asynchronous(returned[0]) == _asynchronous(returned[1]), name


def test_both_ways_to_open_take_the_same() -> None:
    assert _parameters(callsheet.open_async) == _parameters(callsheet.open)


@pytest.mark.parametrize(("sync", "aio"), FACES)
def test_the_asynchronous_face_promises_what_the_other_does_or_refers_to_it(sync: type, aio: type) -> None:
    promised = _members(sync)
    for name, value in _members(aio).items():
        if not name.startswith("_"):
            referring = [f"See `{base.__name__}.{name}`." for base in sync.__mro__]
            assert inspect.getdoc(value) in (inspect.getdoc(promised[name]), *referring), name
