"""What planning knows of a record: its place, its sizes by level, and how far policy lets it be shortened."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId


class SecondHand(StrEnum):
    """What tells of other records, which may stand beside it."""

    EPISODE = "episode"
    #: What somebody laid down for what follows.
    LAID_DOWN = "laid_down"
    #: Another milestone or fact.
    STATED = "stated"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One record that may stand in a request. Sizes are tokens, exact or estimated like the request."""

    id: RecordId
    position: int
    #: Counted from 1 along the branch as its reader sees it.
    turn: int
    #: The message that it stands with: the one that holds the call, for a result that answers one; else itself.
    group: RecordId
    #: None: a result.
    role: Role | None
    instruction: bool = False
    #: In its own place, by level, without framing.
    standing: Mapping[Level, int] = field(default_factory=dict)
    #: What a provider adds around it in its own place: around a message and its calls, or around a result.
    framing: int = 0
    #: In a note, by level: its line, with what was asked and the reference.
    noted: Mapping[Level, int] = field(default_factory=dict)
    #: The share of its entities that its gist still shows.
    gist_keeps: float = 0.0
    #: The most detail that policy allows; before a rewrite hard verdicts alone count.
    most: Level = Level.RAW
    most_hard: Level = Level.RAW
    #: The least it may be shown in; `Level.NONE`: it may be left out.
    least: Level = Level.NONE
    #: That least is owed to the last turns, and to nothing that wants it shown by itself.
    recent: bool = False
    reason: Reason = Reason.INCLUDED
    #: The rule behind `reason`; empty: none.
    rule: str = ""
    #: The segments of the narrowed form, where `standing` or `noted` offers `Level.FOCUS`.
    segments: tuple[int, ...] = ()
    #: That form would show nothing of it, so its gist stands in its place.
    bare: bool = False
    #: The newest turn in which it was used, its own at least.
    used: int = 0
    #: An earlier result in view that it mostly equals, and the tokens of what differs.
    like: RecordId | None = None
    like_size: int = 0
    #: One of its calls has no result yet: it stays in its place.
    open: bool = False
    #: Its exact bytes are wanted, and policy gives them.
    exact: bool = False
    #: Another's own work that was opened to the reader: it fills what the reader's own leaves.
    given: bool = False
    #: Of a memory: the results that it stands for.
    covers: tuple[RecordId, ...] = ()
    #: Of a result: all that was remembered of it was replaced since, so it says how it was.
    replaced: bool = False
    #: None: it is what was said or found itself, or a memory of a result.
    second_hand: SecondHand | None = None
    #: The episode that stands for it: it does not stand in its own place any more, unless it must.
    compacted: RecordId | None = None
    #: The episode whose extract says all that it says, word for word.
    within: RecordId | None = None
    #: Of a milestone or fact: what it is an excerpt of, and whether the line of that in a note shows it.
    quotes: tuple[RecordId, ...] = ()
    quotes_line: bool = False
    #: Of a result: it is no success.
    failed: bool = False
    #: What people and programs said of it, from -1 to 1; 0: nothing, or as much for as against.
    feedback: float = 0.0
    #: Where the set fills by score: how much of what the newest turns say it holds, 0 to 1, and the minutes since it
    #: was recorded or last used.
    similar: float = 0.0
    minutes: float = 0.0

    @property
    def is_result(self) -> bool:
        return self.role is None
