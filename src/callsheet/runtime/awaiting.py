"""How a method becomes one to be awaited: it runs in a worker thread, by the same name, parameters and promises."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Face = TypeVar("Face")
Twin_co = TypeVar("Twin_co", covariant=True)


class Faced(Generic[Twin_co]):
    """An asynchronous face over the synchronous object that does the work."""

    def __init__(self, twin: Twin_co) -> None:
        self._twin = twin


def awaited(
    method: Callable[Concatenate[Twin_co, P], T],
) -> Callable[Concatenate[Faced[Twin_co], P], Coroutine[Any, Any, T]]:
    """The method, to be awaited."""

    async def run(own: Faced[Twin_co], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(method, own._twin, *args, **kwargs)

    update_wrapper(run, method)
    return run


def opening(
    face: Callable[[T], Face], method: Callable[Concatenate[Twin_co, P], T]
) -> Callable[Concatenate[Faced[Twin_co], P], Coroutine[Any, Any, Face]]:
    """The method, to be awaited, with an asynchronous face over what it returns."""

    async def run(own: Faced[Twin_co], /, *args: P.args, **kwargs: P.kwargs) -> Face:
        return face(await asyncio.to_thread(method, own._twin, *args, **kwargs))

    update_wrapper(run, method)
    return run
