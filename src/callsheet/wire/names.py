"""The names that mean something on the wire: of formats, tools, speakers and calls."""

import hashlib
import re
from enum import StrEnum
from typing import Final


class Wire(StrEnum):
    """A provider's message format. The value is stored with everything that came in it."""

    #: OpenAI Chat Completions, and every service that speaks it.
    OPENAI = "openai"
    #: OpenAI Responses.
    OPENAI_RESPONSES = "openai-responses"
    #: Anthropic Messages.
    ANTHROPIC = "anthropic"
    #: Gemini's generateContent.
    GEMINI = "gemini"


UNNAMED_TOOL: Final = "unnamed_tool"
"""Stands for the name of a tool that was called without one."""

CUSTOM: Final = "custom"
"""The kind of a call, or tool, that takes free text instead of a JSON object."""

_IN_NAMES = re.compile(r"[a-zA-Z0-9_-]")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def allowed_name(name: str, longest: int) -> str:
    """The name with ``_`` for each character that no provider allows; empty when it has no other."""
    return _NOT_IN_NAMES.sub("_", name)[:longest] if _IN_NAMES.search(name) else ""


class CallIds:
    """Call ids of one request in a provider's syntax.

    An id that fits stays; another becomes ``call_`` and 24 digits of its hash. Distinct ids stay distinct, and an id
    depends on those before it alone.
    """

    def __init__(self, syntax: re.Pattern[str]) -> None:
        self._syntax = syntax
        self._rendered: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, id: str | None) -> str:
        """The id as this request has it; the same at every use."""
        given = id or ""
        known = self._rendered.get(given)
        if known is not None:
            return known
        candidate = given if self._syntax.fullmatch(given) else _hashed(given)
        while candidate in self._taken:
            candidate = _hashed(candidate)
        self._rendered[given] = candidate
        self._taken.add(candidate)
        return candidate


def _hashed(id: str) -> str:
    return "call_" + hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:24]
