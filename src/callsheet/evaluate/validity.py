"""Reasons for which a provider would refuse a request, checked on messages of the OpenAI chat shape.

Anthropic's own rules are those that the same messages break once they are translated one to one.
"""

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from callsheet.evaluate.messages import Message, Role


class Provider(StrEnum):
    """Whose rules."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class Refusal(StrEnum):
    """Why a request is refused."""

    EMPTY_SYSTEM = "empty_system"
    EMPTY_USER = "empty_user"
    EMPTY_ASSISTANT = "empty_assistant"
    EMPTY_RESULT = "empty_result"
    UNKNOWN_ROLE = "unknown_role"
    ARGUMENTS_NOT_JSON = "arguments_not_json"
    ARGUMENTS_NOT_AN_OBJECT = "arguments_not_an_object"
    #: Two calls of one message share an id, or one has none.
    CALL_IDS = "call_ids"
    CALL_NOT_ANSWERED = "call_not_answered"
    CALL_ANSWERED_TWICE = "call_answered_twice"
    RESULT_WITHOUT_CALL = "result_without_call"
    NO_MESSAGE = "no_message"
    #: The last message is neither from the user nor a result.
    NOTHING_TO_ANSWER = "nothing_to_answer"
    LATE_SYSTEM = "late_system"
    FIRST_NOT_USER = "first_not_user"

    @property
    def providers(self) -> frozenset[Provider]:
        """The providers that refuse for this reason."""
        return _ONLY_ANTHROPIC if self in (Refusal.LATE_SYSTEM, Refusal.FIRST_NOT_USER) else _ALL


_ALL = frozenset(Provider)
_ONLY_ANTHROPIC = frozenset({Provider.ANTHROPIC})


class Problem(Struct, frozen=True, kw_only=True):
    """One reason, and the position of the message that gives it."""

    refusal: Refusal
    at: int


class Checker:
    """Checks the requests of one conversation.

    It remembers each group of messages that it has seen: a call with its results, or any other message alone.
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[Message, ...], tuple[Problem, ...]] = {}

    def problems(self, request: Sequence[Message], *, goes_on: bool = False) -> tuple[Problem, ...]:
        """Every reason to refuse the request.

        `goes_on`: the recorded history itself ends with an assistant message, so the request may end with one.
        """
        found = list(_frame(request, goes_on=goes_on))
        start = 0
        for end in _ends_of_groups(request):
            group = tuple(request[start:end])
            known = self._groups.get(group)
            if known is None:
                known = self._groups[group] = tuple(_group(group))
            if known:
                found.extend(Problem(refusal=problem.refusal, at=start + problem.at) for problem in known)
            start = end
        return tuple(found)


def _frame(request: Sequence[Message], *, goes_on: bool) -> Iterator[Problem]:
    """How the request starts and ends, and where system messages stand."""
    start = next((at for at, message in enumerate(request) if message.role != Role.SYSTEM), None)
    if start is None:
        yield Problem(refusal=Refusal.NO_MESSAGE, at=0)
    else:
        if request[start].role != Role.USER:
            yield Problem(refusal=Refusal.FIRST_NOT_USER, at=start)
        for at in range(start, len(request)):
            if request[at].role == Role.SYSTEM:
                yield Problem(refusal=Refusal.LATE_SYSTEM, at=at)
    if request and request[-1].role not in (Role.USER, Role.TOOL) and not goes_on:
        yield Problem(refusal=Refusal.NOTHING_TO_ANSWER, at=len(request) - 1)


def _ends_of_groups(request: Sequence[Message]) -> Iterator[int]:
    answering = False
    for at, message in enumerate(request):
        if answering and message.role == Role.TOOL:
            continue
        if at:
            yield at
        answering = bool(message.calls) and message.role == Role.ASSISTANT
    if request:
        yield len(request)


def _group(group: Sequence[Message]) -> Iterator[Problem]:
    """Problems within one group; positions count from its start."""
    first = group[0]
    match first.role:
        case Role.ASSISTANT if first.calls:
            yield from _calls(first)
            yield from _results(first, group[1:])
        case Role.SYSTEM | Role.USER | Role.ASSISTANT:
            if first.is_blank:
                yield Problem(refusal=Refusal(f"empty_{first.role}"), at=0)
        case Role.TOOL:
            yield Problem(refusal=Refusal.RESULT_WITHOUT_CALL, at=0)
        case _:
            yield Problem(refusal=Refusal.UNKNOWN_ROLE, at=0)


def _calls(asking: Message) -> Iterator[Problem]:
    for call in asking.calls:
        refusal = _refused_arguments(call.arguments)
        if refusal is not None:
            yield Problem(refusal=refusal, at=0)
    asked = {call.id for call in asking.calls}
    if not all(asked) or len(asked) < len(asking.calls):
        yield Problem(refusal=Refusal.CALL_IDS, at=0)


def _results(asking: Message, results: Sequence[Message]) -> Iterator[Problem]:
    asked = {call.id for call in asking.calls}
    answered: set[str | None] = set()
    for at, result in enumerate(results, start=1):
        if result.is_blank:
            yield Problem(refusal=Refusal.EMPTY_RESULT, at=at)
        if result.answers not in asked:
            yield Problem(refusal=Refusal.RESULT_WITHOUT_CALL, at=at)
        if result.answers in answered:
            yield Problem(refusal=Refusal.CALL_ANSWERED_TWICE, at=at)
        answered.add(result.answers)
    if not asked <= answered:
        yield Problem(refusal=Refusal.CALL_NOT_ANSWERED, at=0)


def _refused_arguments(text: str) -> Refusal | None:
    try:
        return None if isinstance(json.loads(text), dict) else Refusal.ARGUMENTS_NOT_AN_OBJECT
    except (ValueError, RecursionError):
        return Refusal.ARGUMENTS_NOT_JSON
