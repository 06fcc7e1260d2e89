"""Whether the streams of a tenant are what their records say, and each conversation has its sheets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from callsheet.audit.report import Finding, FindingKind, finding
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import StreamId, UserId
from callsheet.graph.record import Stream


@dataclass(kw_only=True, slots=True)
class Identity:
    """What a stream is: first by its row, then by its records."""

    stream: Stream
    name: str
    user: UserId | None
    #: Position of the record that begins a conversation.
    begun: int | None = None
    #: Position of the first sheet.
    sheets: int | None = None
    #: The conversations that sheets were assembled for, with the position of each one's first sheet.
    conversations: dict[StreamId, int] = field(default_factory=dict)
    #: Whether every record could be read, so that what was not found is not there.
    sound: bool = True

    @property
    def is_conversation(self) -> bool:
        """Whether it is one by its records; as far as these cannot tell, by its row."""
        return self.begun is not None or (self.stream.kind is StreamKind.CONVERSATION and not self.sound)


def wrong_kind(identity: Identity) -> Finding | None:
    """What is wrong with the kind that a stream is said to have."""
    kind = identity.stream.kind
    if identity.begun is not None and kind is not StreamKind.CONVERSATION:
        return _finding(identity, f"by its records it is a conversation, not {kind.value!r}", identity.begun)
    if identity.sheets is not None and kind is not StreamKind.SHEETS:
        return _finding(identity, f"by its records it holds sheets, not {kind.value!r}", identity.sheets)
    if kind is StreamKind.CONVERSATION and identity.sound and identity.begun is None:
        return _finding(identity, "no record says that it is a conversation")
    return None


def wrong_pairs(tenant: Sequence[Identity]) -> Iterator[Finding]:
    """Sheets that do not go by the name and user of their conversation, and what is left without the other.

    For all streams of one tenant, of which none may be missing: else it is not certain who goes with whom.
    """
    conversations = {one.stream.id: one for one in tenant if one.is_conversation}
    served: set[StreamId] = set()
    unused: list[Identity] = []
    for sheets in tenant:
        if sheets.conversations:
            yield from _misnamed(sheets, conversations)
            served.update(sheets.conversations)
        elif sheets.stream.kind is StreamKind.SHEETS and sheets.begun is None:
            unused.append(sheets)
    by_name = {one.name: one for one in conversations.values()}
    spare = False
    for sheets in unused:
        conversation = by_name.get(sheets.stream.name)
        if conversation is None:
            spare = True
            yield _finding(sheets, "there is no conversation of this name")
        elif conversation.stream.id in served:  # whose own sheets go by another name, which was told
            spare = True
        else:
            served.add(conversation.stream.id)
            if sheets.stream.user != conversation.user:
                yield _finding(sheets, _other(sheets, conversation))
    if not spare:
        lonely = (one for id, one in conversations.items() if id not in served)
        yield from (_finding(one, "there are no sheets of this name for the conversation") for one in lonely)


def _misnamed(sheets: Identity, conversations: dict[StreamId, Identity]) -> Iterator[Finding]:
    for id, position in sheets.conversations.items():
        conversation = conversations.get(id)
        if conversation is None:
            yield _finding(sheets, f"its sheets are of the conversation {id}, which does not exist", position)
        elif (sheets.stream.name, sheets.stream.user) != (conversation.name, conversation.user):
            yield _finding(sheets, _other(sheets, conversation), position)


def _other(sheets: Identity, conversation: Identity) -> str:
    whose = f"{conversation.name!r} of user {conversation.user!r}"
    return f"its sheets are of the conversation {whose}, not of user {sheets.stream.user!r} under this name"


def _finding(identity: Identity, text: str, position: int | None = None) -> Finding:
    return finding(identity.stream, FindingKind.STREAM, text, position)
