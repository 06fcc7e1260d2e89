"""Values that several kinds of record are made of."""

from typing import Annotated, Any, TypeAlias, dataclass_transform

from msgspec import Meta, Struct, StructMeta, field

from callsheet.graph.enums import Isolation, Privacy, RuntimeMode, Visibility
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.times import Instant

Digest: TypeAlias = str
"""A content hash that names its algorithm: ``sha256:`` and 64 hex digits."""

Count = Annotated[int, Meta(ge=0)]


class _ValueMeta(StructMeta):
    """Makes every field of every value keyword-only; msgspec inherits its other settings, but not this one."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        return super().__new__(mcls, name, bases, namespace, **{"kw_only": True, **config})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Value(Struct, metaclass=_ValueMeta, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Base of everything that is stored: cannot change, compares by content; a field at its default takes no room.

    What cannot change cannot come to hold itself, so the collector of reference cycles need not look at it.
    """

    def __repr__(self) -> str:
        # Bytes are content, such as what a sender put beside a message: printed, they are told by their number.
        given = ((name, getattr(self, name)) for name in self.__struct_fields__)
        told = (
            f"{name}={f'<{len(one)} bytes>' if isinstance(one, bytes) and one else repr(one)}" for name, one in given
        )
        return f"{type(self).__name__}({', '.join(told)})"


class Scope(Value):
    """Whose a record is and who may see it. Stands in the header, so it survives the erasure of the body."""

    #: The branch it was recorded on; None: the whole conversation.
    branch: RecordId | None = None
    visibility: Visibility = Visibility.BRANCH
    #: The participant that owns it.
    owner: RecordId | None = None
    #: The run that produced it.
    run: RecordId | None = None
    isolation: Isolation = Isolation.ISOLATED
    #: Participants that may see it beside its owner.
    shared_with: tuple[RecordId, ...] = ()
    mode: RuntimeMode = RuntimeMode.CHAT
    task: str | None = None
    #: The batch of sub-agents and the sub-agent's run it belongs to.
    batch: RecordId | None = None
    sub_agent: RecordId | None = None
    parent_message: RecordId | None = None
    parent_task: str | None = None
    parent_call: RecordId | None = None
    #: Decisions that released it.
    releases: tuple[RecordId, ...] = ()


class BlobRef(Value):
    """Where bytes lie in the blob store."""

    #: Keyed hash of the bytes within one erasure scope; equal bytes of one user lie there once.
    address: str
    #: Bytes as stored: compressed, and encrypted where a key is set.
    stored: Count


class Payload(Value):
    """Bytes exactly as they came from outside, inline or in the blob store.

    Text is kept as UTF-8; lone surrogates, which UTF-8 cannot hold, are kept the way ``surrogatepass`` writes them.
    """

    size: Count
    inline: bytes | None = None
    blob: BlobRef | None = None
    #: Set wherever the bytes lie outside the record, and on every argument and result.
    digest: Digest | None = None

    def __repr__(self) -> str:
        # A record that is printed, as in a log or the text of an error, shows nothing of its content.
        return f"Payload(size={self.size}, digest={self.digest!r})"


class Text(Value, tag="text"):
    """A piece of text."""

    text: Payload
    #: Exact o200k_base tokens of the text, counted when it was recorded.
    o200k: Count = 0
    #: What its provider's block held beside the text, as JSON; empty when nothing.
    extras: bytes = b""


class Reasoning(Value, tag="reasoning"):
    """A thinking or reasoning block, kept byte for byte because providers check its signature."""

    wire: str
    #: The block as JSON.
    raw: Payload
    o200k: Count = 0


class CallRef(Value, tag="call"):
    """The place of a tool call within its message."""

    call: RecordId


BINARY = "application/octet-stream"
"""The type under which bytes that are not UTF-8 are recorded."""


class Media(Value, tag="media"):
    """An image, sound or file, by bytes or by address."""

    #: MIME type, such as ``image/png``; empty when the sender gave none.
    mime: str = ""
    data: Payload | None = None
    url: str | None = None
    width: int | None = None
    height: int | None = None
    wire: str = ""
    #: The provider's block as JSON without the bytes.
    extras: bytes = b""


class Opaque(Value, tag="opaque"):
    """A block of a provider that has no neutral meaning here, kept as JSON byte for byte."""

    wire: str
    raw: Payload
    o200k: Count = 0


Part: TypeAlias = Text | Reasoning | CallRef | Media | Opaque
"""What a message is made of, in order."""

Content: TypeAlias = Text | Media | Opaque
"""What a tool result is made of, in order."""


class Locator(Value):
    """Points at a place in an artifact or message, with a hash of what stood there."""

    source: RecordId
    #: Index of the content part inside the source.
    part: int = 0
    #: Exactly one of the following says where.
    pointer: str | None = None
    byte_range: tuple[int, int] | None = None
    line_range: tuple[int, int] | None = None
    row_range: tuple[int, int] | None = None
    digest: Digest


class RetryContract(Value):
    """Under which terms a failed or unresolved call may be tried again."""

    attempts: Count = 0
    limit: Count | None = None
    #: Seconds.
    backoff: float | None = None
    retry_after: Instant | None = None
    idempotency_key: str | None = None
    #: True: repeating does no harm; None: unknown, which is treated as not safe.
    safe: bool | None = None


class Usage(Value):
    """Tokens as the provider reported them."""

    input: Count = 0
    output: Count = 0
    cached_input: Count = 0
    cache_write: Count = 0
    reasoning: Count = 0


class Attribute(Value):
    """One filterable property, such as product, locale, version or entity."""

    name: str
    value: str


class Vector(Value):
    """What a text means, as a point: one signed byte for each dimension, and what a step of one is worth.

    Compared by its bytes alone, as whole numbers, so that every machine finds the same order.
    """

    scale: float
    #: A signed byte for each dimension, two's complement.
    cells: bytes


class Cut(Value):
    """A vector of stream positions: what had been recorded at one moment. Sheets are not part of it."""

    positions: tuple[tuple[StreamId, int], ...]

    def at(self, stream: StreamId) -> int:
        """The last position of a stream that counts; 0: none of it."""
        return dict(self.positions).get(stream, 0)


class TokenParts(Value):
    """Tokens of a request by part."""

    instructions: Count = 0
    tools: Count = 0
    window: Count = 0
    memories: Count = 0
    protected: Count = 0
    skills: Count = 0
    raw: Count = 0

    @property
    def total(self) -> int:
        return self.instructions + self.tools + self.window + self.memories + self.protected + self.skills + self.raw


DEFAULT_PRIVACY = Privacy.INTERNAL
"""The class of what no policy has classified yet."""
