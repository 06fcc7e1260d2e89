"""Which call a result answers. A provider's id is no key: recordings repeat it, so position decides."""

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

    With an id: the newest open call with that id; else one of the newest message that was answered before. Without
    an id: the oldest open call of the newest message, of the same tool where the result names one.
    """
    if id:
        return _by_id(id, tail)
    for known in tail.open.values():
        if known.body.message == tail.last_message and tool in (None, known.body.tool):
            return Match(call=known)
    return Match(call=None, defects=(Defect.ORPHAN_RESULT,))


def _by_id(id: str, tail: Tail) -> Match:
    known = tail.newest(id)
    if known is not None:
        late = known.body.message != tail.last_message
        return Match(call=known, defects=(Defect.LATE_RESULT,) if late else ())
    for known in tail.answered.values():
        if known.body.provider_id == id:
            return Match(call=known, defects=(Defect.REPEATED_RESULT,))
    return Match(call=None, defects=(Defect.ORPHAN_RESULT,))
