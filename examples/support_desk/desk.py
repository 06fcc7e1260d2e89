"""The desk at work: it keeps the conversation, runs the tools for real, gives messages their times and calls their ids.

A scene of the script speaks through it and reads back, as typed values, what the tools answered.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from random import Random
from typing import ParamSpec, TypeVar

from examples.support_desk.shop.shop import Shop
from examples.support_desk.tools.toolbox import Outcome, Tool

P = ParamSpec("P")
R = TypeVar("R")
Message = dict[str, object]

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class ScriptError(Exception):
    """The script and the shop disagree: a call failed that should not, or a time has already passed."""


class Clock:
    """The day's time. It moves only when it is told to, so every recording of the day is the same."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def forward(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    def until(self, hour: int, minute: int) -> None:
        """Wait until a time of the day; ScriptError if it has passed."""
        then = self.now.replace(hour=hour, minute=minute, second=0)
        if then < self.now:
            raise ScriptError(f"it is {self.now:%H:%M:%S}, later than {hour:02d}:{minute:02d}")
        self.now = then


class Together:
    """One assistant message that asks for one or several calls; the results follow it in the order of the calls."""

    def __init__(self, desk: "Desk", calls: list[Message]) -> None:
        self._desk = desk
        self._calls = calls
        self.results: list[Message] = []

    def call(self, tool: Tool[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a tool and read its result; ScriptError if it fails."""
        outcome = self._run(tool, tool.arguments(*args, **kwargs))
        if outcome.failed:
            raise ScriptError(f"{tool.name} failed: {outcome.content}")
        return tool.read(outcome.content)

    def failing(self, tool: Tool[P, R], *args: P.args, **kwargs: P.kwargs) -> str:
        """Call a tool that cannot do its work now, and give back its error; ScriptError if it succeeds."""
        outcome = self._run(tool, tool.arguments(*args, **kwargs))
        if not outcome.failed:
            raise ScriptError(f"{tool.name} was expected to fail")
        return outcome.content

    def _run(self, tool: Tool[P, R], arguments: str) -> Outcome:
        call_id = self._desk.new_call_id()
        function = {"name": tool.name, "arguments": arguments}
        self._calls.append({"id": call_id, "type": "function", "function": function})
        self._desk.clock.forward(self._desk.random.randrange(1, 4))
        outcome = tool.run(self._desk.shop, arguments)
        result: Message = {"role": "tool", "tool_call_id": call_id, "content": outcome.content}
        if outcome.failed:
            result["x_status"] = "failed"
        result["x_at"] = self._desk.clock.now.isoformat()
        self.results.append(result)
        return outcome


class Desk:
    """One conversation between the desk agent and the assistant, and the shop that its tools work on."""

    def __init__(self, shop: Shop, clock: Clock, random: Random) -> None:
        self.shop = shop
        self.clock = clock
        self.random = random
        self.messages: list[Message] = []
        self._answers: list[tuple[str, dict[str, object], str]] = []

    def system(self, text: str) -> None:
        self._add({"role": "system", "content": text})

    def user(self, text: str, *, after: int = 0) -> int:
        """The desk agent writes, ``after`` seconds later or after a natural pause. Returns the message's index."""
        self.clock.forward(after or self.random.randrange(20, 100))
        return self._add({"role": "user", "content": text})

    def say(self, text: str) -> None:
        """The assistant answers."""
        self.clock.forward(3 + len(text) // 120)
        self._add({"role": "assistant", "content": text})

    @contextmanager
    def together(self, saying: str | None = None) -> Iterator[Together]:
        """Several calls in one assistant message, with a word before them if there is one."""
        self.clock.forward(self.random.randrange(2, 6))
        calls: list[Message] = []
        self._add({"role": "assistant", "content": saying, "tool_calls": calls})
        step = Together(self, calls)
        yield step
        self.messages.extend(step.results)
        for call, result in zip(calls, step.results, strict=True):
            self._keep(call, result)

    def call(self, tool: Tool[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """One call in an assistant message without words."""
        with self.together() as step:
            return step.call(tool, *args, **kwargs)

    def failing(self, tool: Tool[P, R], *args: P.args, **kwargs: P.kwargs) -> str:
        """One call that fails, in an assistant message without words."""
        with self.together() as step:
            return step.failing(tool, *args, **kwargs)

    def seen(self, tool: Tool[P, R], argument: str) -> R:
        """What the newest call of a tool with this argument answered here: remembered, not called again."""
        for name, arguments, content in reversed(self._answers):
            if name == tool.name and argument in arguments.values():
                return tool.read(content)
        raise ScriptError(f"{tool.name} was never answered for {argument}")

    def new_call_id(self) -> str:
        return "call_" + "".join(self.random.choice(_ALPHABET) for _ in range(24))

    def fork(self, at: int) -> "Desk":
        """A desk that remembers this conversation's first ``at`` messages and works on in the same shop and day."""
        other = Desk(self.shop, self.clock, self.random)
        calls: dict[object, Message] = {}
        for message in self.messages[:at]:
            asked = message.get("tool_calls")
            if isinstance(asked, list):
                calls.update({call["id"]: call for call in asked})
            if message["role"] == "tool":
                other._keep(calls[message["tool_call_id"]], message)
        return other

    def _add(self, message: Message) -> int:
        message["x_at"] = self.clock.now.isoformat()
        self.messages.append(message)
        return len(self.messages) - 1

    def _keep(self, call: Message, result: Message) -> None:
        function, content = call["function"], result["content"]
        if isinstance(function, dict) and isinstance(content, str) and "x_status" not in result:
            self._answers.append((function["name"], json.loads(function["arguments"]), content))
