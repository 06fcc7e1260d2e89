"""What a client's request says beside its history, its instructions and its tools: judged as these are.

Predicted outputs, metadata, schemas, stop sequences, variables of prompts: any of them may hold content, also those
that are not known here.
"""

import re
from collections.abc import Callable, Mapping

from callsheet.derive.redaction import Redaction
from callsheet.graph.enums import Level
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.redacting import form_of
from callsheet.serve.proxy.permitting import lets_all, passing
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.body import Asked
from callsheet.wire.failure import Failure
from callsheet.wire.reading import Fields

_WORD = re.compile(r"[A-Za-z0-9_.:/-]{0,64}")
"""Settings, names and ids: they tell nothing by themselves, unless they are secrets."""

_ELSEWHERE = frozenset({"functions"})
"""Tools in the older shape."""

_FOR_THE_PROVIDER = frozenset({"authorization_token"})
"""What opens a server of tools to the provider (`mcp_servers`). No model reads it, and a marker would open nothing."""

_WITHHOLDING = frozenset({Level.REF, Level.NONE})
"""Forms in which secrets are not even marked."""


def judged(asked: Asked, policy: PolicySetDocument, provider: str, redaction: Redaction) -> Fields:
    """The parameters of a request (`Asked.rest`) as the provider may have them, with markers in the place of secrets.

    Raises `Turned` where one holds what the policy set keeps from it: nobody knows what the request would mean without.
    """
    if lets_all(policy, provider):
        return asked.rest
    passes = passing(policy, provider)
    marks = form_of(policy, provider) not in _WITHHOLDING

    def text(given: str) -> str | None:
        if passes(given):
            return given
        marked = redaction.text(given)
        if marked != given:
            return marked if marks and (_WORD.fullmatch(marked) or passes(marked)) else None
        return given if _WORD.fullmatch(given) else None

    if any(text(key) != key for key in asked.rest):
        raise Turned(400, Failure.INVALID, _KEPT.format(where="a parameter's name"))
    return {key: value if key in _ELSEWHERE else _judged(value, key, text) for key, value in asked.rest.items()}


def _judged(value: object, where: str, text: Callable[[str], str | None]) -> object:
    if isinstance(value, str):
        found = text(value)
        if found is None:
            raise Turned(400, Failure.INVALID, _KEPT.format(where=where))
        return found
    if isinstance(value, Mapping):
        if any(text(key) != key for key in value):
            raise Turned(400, Failure.INVALID, _KEPT.format(where=where))
        inner = {key: item if key in _FOR_THE_PROVIDER else _judged(item, where, text) for key, item in value.items()}
        return inner if any(inner[key] is not item for key, item in value.items()) else value
    if isinstance(value, list):
        listed = [_judged(item, where, text) for item in value]
        return listed if any(new is not old for new, old in zip(listed, value, strict=True)) else value
    return value


_KEPT = "callsheet: {where!r} holds what the policy set keeps from this provider (nothing was sent)"
"""Names the parameter, and never what it holds."""
