"""What came of an execution, as the content of an artifact: results whole, errors without the process's secrets."""

import json
import math
from dataclasses import replace

import msgspec

from callsheet.assemble import blocks
from callsheet.graph.enums import ArtifactStatus
from callsheet.graph.nodes import ToolCall
from callsheet.wire import content

LONGEST_MESSAGE = 4_000
"""Characters of an exception's message that are kept."""


def said(call: ToolCall, text: str) -> blocks.Answer:
    """A text as the answer of a call."""
    shown = (blocks.Text(text=text),) if text else ()
    return blocks.Answer(call=call.provider_id, tool=call.tool, content=shown, wire=call.wire)


def returned(call: ToolCall, value: object) -> tuple[blocks.Answer, ArtifactStatus]:
    """What a tool returned, and how it ended: text and bytes as they are, everything else as JSON.

    A value that JSON cannot hold is a failure that says so; what of it can be written is kept. A number that is none
    or infinite is such a value: most readers of JSON refuse it, and to leave it out would be to change the result.
    """
    if value is None or isinstance(value, str):
        return said(call, value or ""), ArtifactStatus.OK
    if isinstance(value, bytes | bytearray | memoryview):
        fields: dict[str, object] = {"content": bytes(value)}
        form, parts, defects = content.take_result(fields, _no_part, "result")
        return replace(said(call, ""), form=form, content=parts, defects=defects), ArtifactStatus.OK
    lost: list[str] = []

    def instead(part: object) -> str:
        lost.append(type(part).__name__)
        return f"<{type(part).__name__}>"

    try:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=instead)
        text = _json(plain, lost)
    except (TypeError, ValueError, RecursionError, OverflowError) as problem:
        return said(call, _unwritable(type(value).__name__, type(problem).__name__)), ArtifactStatus.FAILED
    if lost:
        names = ", ".join(sorted(set(lost))[:5])
        return said(call, f"{_unwritable(names, '')} What could be written:\n{text}"), ArtifactStatus.FAILED
    return said(call, text), ArtifactStatus.OK


def _json(plain: object, lost: list[str]) -> str:
    """Plain values as JSON; what is no JSON number stands as its name, and is told in `lost`."""
    try:
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        finite = _finite(plain, lost)
        return json.dumps(finite, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _finite(value: object, lost: list[str]) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        lost.append(name)
        return f"<{name}>"
    if isinstance(value, dict):
        return {key: _finite(one, lost) for key, one in value.items()}
    return [_finite(one, lost) for one in value] if isinstance(value, list | tuple) else value


def _no_part(found: dict[str, object], type: str, where: str) -> blocks.Content:
    raise AssertionError(where)  # bytes have no parts


def _unwritable(names: str, problem: str) -> str:
    because = f" ({problem})" if problem else ""
    return f"The tool ran to its end, but what it returned cannot be written as JSON: {names}{because}."


def raised(call: ToolCall, error: BaseException) -> blocks.Answer:
    """What a tool raised, by type and message; never the traceback."""
    return said(call, f"{type(error).__name__}: {_message(error)}"[:LONGEST_MESSAGE])


def _message(error: BaseException) -> str:
    # An exception's own text is code of the tool, and may fail like any other.
    caught = Catching()
    text = ""
    with caught:
        text = str(error)
    return text or "(no message)"


class Catching:
    """Keeps whatever was raised within it. For code of others, of which nothing is known."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> "Catching":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self.error = error
        return True


_MAYBE = "It may or may not have taken effect; check before you try it again."
_NOTHING = "It changes nothing, so there is nothing to undo."


def timed_out(call: ToolCall, seconds: float, *, effectful: bool) -> blocks.Answer:
    """For a call that was given up on while it ran."""
    time = "1 second" if seconds == 1 else f"{seconds:g} seconds"
    return said(call, f"No result within {time}. {_MAYBE if effectful else _NOTHING}")


def cancelled(call: ToolCall, *, begun: bool, effectful: bool = True) -> blocks.Answer:
    """For a call that was cancelled."""
    if not begun:
        return said(call, "Cancelled before it began; it was not run.")
    return said(call, f"Cancelled while it ran. {_MAYBE if effectful else _NOTHING}")


def unavailable(call: ToolCall, offered: tuple[str, ...]) -> blocks.Answer:
    """For a call of a tool that is not there."""
    others = f" Available: {', '.join(offered)}." if offered else ""
    return said(call, f"The tool {call.tool!r} is not available; nothing was run.{others}")


def refused(call: ToolCall, reason: str) -> blocks.Answer:
    """For a call that a person refused."""
    return said(call, f"Refused by a person; it was not run.{f' Reason: {reason}' if reason else ''}")


def given_up(call: ToolCall, by: str, reason: str, *, run: bool) -> blocks.Answer:
    """For a call that nobody waits for any more; `run`: it may have been run."""
    why = f": {reason}" if reason else ""
    became = "No result is known; it may or may not have taken effect." if run else "It was not run."
    return said(call, f"Given up on by {by}{why}. {became}")


def unknown(call: ToolCall, recheck: tuple[str, ...], *, elsewhere: bool = False) -> blocks.Answer:
    """For a call whose process ended while it ran, or that was run on another branch (`elsewhere`)."""
    check = f" It can be checked with: {', '.join(recheck)}." if recheck else ""
    became = "run on another branch" if elsewhere else "begun and interrupted"
    return said(call, f"(no result yet: it was {became}; it may or may not have taken effect.{check})")


def worn_out(call: ToolCall, attempts: int) -> blocks.Answer:
    """For a call that is not tried again after its process ended during it."""
    return said(call, f"Given up after {attempts} attempts; the last one was interrupted.")
