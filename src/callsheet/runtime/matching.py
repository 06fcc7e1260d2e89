"""Which call a result answers. A provider's id is no key: recordings repeat it, so position decides."""

from collections.abc import Sequence
from dataclasses import dataclass

from callsheet.graph.enums import Defect
from callsheet.runtime.tail import KnownCall, Tail


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The call that a result answers, or None, and what was odd about it."""

    call: KnownCall | None
    defects: tuple[Defect, ...] = ()


def match(id: str | None, tool: str | None, tail: Tail) -> Match:
    """Find the call of a result, by the id and the tool that the result names, among the calls of the tail.

    With an id: an open call with that id, in the newest turn that has one; there the oldest, of the same tool where
    there is one. Else a call of the newest message with that id that was answered before. Else, and without an id: an
    open call of the newest message by position, the ones that came without an id first.
    """
    named = tail.named(id) if id else []
    if named:
        turn = [known for known in named if known.body.message == named[-1].body.message]
        late = turn[0].body.message != tail.last_message
        return Match(call=_of_tool(turn, tool) or turn[0], defects=(Defect.LATE_RESULT,) if late else ())
    for known in tail.answered.values():
        if id and known.body.provider_id == id:
            return Match(call=known, defects=(Defect.REPEATED_RESULT,))
    here = [known for known in tail.open.values() if known.body.message == tail.last_message]
    unnamed = _of_tool([known for known in here if not known.body.provider_id], tool)
    if id:
        defect = Defect.MISSING_ID if unnamed is not None else Defect.ORPHAN_RESULT
        return Match(call=unnamed, defects=(defect,))
    by_position = unnamed or _of_tool(here, tool)
    return Match(call=by_position, defects=() if by_position is not None else (Defect.ORPHAN_RESULT,))


def _of_tool(calls: Sequence[KnownCall], tool: str | None) -> KnownCall | None:
    """The first call of this tool; of any where the result names none."""
    return next((known for known in calls if tool in (None, known.body.tool)), None)
