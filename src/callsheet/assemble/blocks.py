"""The neutral form of a conversation: what provider formats are parsed into and what requests are rendered from.

Blocks hold content, not references: whoever has blocks needs no store. Text is a Python string and may hold NUL or
lone surrogates when it was recorded so; rendering cleans it for the wire, recording keeps it. ``extras`` are a JSON
object (as bytes, empty when there is none) with the keys of the provider's block that have no neutral meaning.
"""

from dataclasses import dataclass
from typing import TypeAlias

from callsheet.graph.enums import Defect, Role, RunStatus
from callsheet.graph.values import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A piece of text."""

    text: str
    extras: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reasoning:
    """A thinking or reasoning block of the format `wire`, as JSON, byte for byte. Only that format may render it."""

    wire: str
    raw: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Media:
    """An image, sound, file or other bytes, inline (`data`) or by address (`url`)."""

    mime: str = ""
    data: bytes | None = None
    url: str | None = None
    width: int | None = None
    height: int | None = None
    wire: str = ""
    extras: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class Opaque:
    """A block of the format `wire` without neutral meaning, as JSON. Only that format may render it."""

    wire: str
    raw: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool call. `arguments` is text as received, parsed or not.

    Parsed from a provider, `id` is the provider's, or None. Composed for a request, it is unique in the request.
    """

    id: str | None
    tool: str
    arguments: str
    #: ``function``, ``custom`` (free text instead of JSON), or a provider's own; empty where the sender named none.
    kind: str = "function"
    wire: str = ""
    extras: bytes = b""
    defects: tuple[Defect, ...] = ()


Part: TypeAlias = Text | Reasoning | Call | Media | Opaque
Content: TypeAlias = Text | Media | Opaque


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A message: system, developer, user or assistant."""

    role: Role
    parts: tuple[Part, ...] = ()
    #: How the content stood in its provider's shape: ``string``, ``parts``, ``null`` or ``absent``; ``parts@1,2`` for
    #: parts among which results stood at these places.
    form: str = "string"
    wire: str = ""
    name: str | None = None
    extras: bytes = b""
    defects: tuple[Defect, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls among the parts, in order."""
        return tuple(part for part in self.parts if isinstance(part, Call))


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The result of a tool call.

    Composed for a request, it stands behind the message with its call, in the order of the calls, and `call` is that
    call's id.
    """

    call: str | None
    tool: str | None = None
    content: tuple[Content, ...] = ()
    form: str = "string"
    #: None: the provider's shape does not say.
    failed: bool | None = None
    wire: str = ""
    extras: bytes = b""
    defects: tuple[Defect, ...] = ()


Block: TypeAlias = Said | Answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a provider answered to one request."""

    said: Said
    status: RunStatus
    model: str | None = None
    usage: Usage | None = None
    finish: str | None = None
    #: The provider's id of the response.
    response: str | None = None
    #: Keys of the response without neutral meaning, as a JSON object.
    extras: bytes = b""
