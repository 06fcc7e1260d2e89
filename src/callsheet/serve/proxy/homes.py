"""The conversations that requests go on with, open as long as they are used, and where an answer is still awaited."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

from callsheet.graph.ids import RecordId
from callsheet.runtime.continuing import governing_of
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.governing import Governing

OPEN = 512
"""Conversations that are kept open. Another one is opened again, which takes a few milliseconds."""


@dataclass(kw_only=True, eq=False)
class Home:
    """An open conversation. Whoever places a request in it holds its lock."""

    talk: Conversation
    lock: threading.Lock = field(default_factory=threading.Lock)
    governing: Governing = field(init=False)
    #: By branch, who waits for an answer there. A request that is over without one is forgotten by itself.
    _awaited: "dict[RecordId, weakref.ref[object]]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.governing = governing_of(self.talk)

    def awaits(self, branch: RecordId, request: object) -> None:
        """Note that a request waits for an answer on a branch."""
        self._awaited[branch] = weakref.ref(request)

    def settled(self, branch: RecordId, request: object) -> None:
        """Note that it does no more."""
        known = self._awaited.get(branch)
        if known is not None and known() in (None, request):
            self._awaited.pop(branch, None)

    def busy(self, branch: RecordId) -> bool:
        """Whether a request waits for an answer on a branch."""
        known = self._awaited.get(branch)
        if known is not None and known() is None:
            self._awaited.pop(branch, None)
            return False
        return known is not None

    @property
    def in_use(self) -> bool:
        """Whether a request waits for an answer anywhere in it, or is being placed."""
        return self.lock.locked() or any(known() is not None for known in list(self._awaited.values()))


class Homes:
    """The conversations that were used last, by the id of their stream."""

    def __init__(self, most: int = OPEN) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._open: OrderedDict[Hashable, Home] = OrderedDict()

    def get(self, stream: str) -> Home | None:
        """The home of a conversation that is open."""
        with self._lock:
            home = self._open.get(stream)
            if home is not None:
                self._open.move_to_end(stream)
            return home

    def keep(self, talk: Conversation) -> Home:
        """The home of a conversation; that which is open already, or this one."""
        with self._lock:
            home = self._open.setdefault(talk.id, Home(talk=talk))
            self._open.move_to_end(talk.id)
            if len(self._open) > self._most:
                # Those in use stay: two homes of one conversation would not know what the other awaits.
                unused = next((id for id, known in self._open.items() if known is not home and not known.in_use), None)
                if unused is not None:
                    del self._open[unused]
            return home
