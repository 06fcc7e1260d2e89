"""System messages in the middle of a conversation: those of the client stand where the client put them.

A request has all instructions before everything else. There a new one changes the beginning that the service has
cached; where it was said it changes nothing before.
"""

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from callsheet.assemble.blocks import Block, Said
from callsheet.graph.enums import INSTRUCTING
from callsheet.wire.openai_chat.render import Rendering
from callsheet.wire.reading import Fields


class Aligning:
    """Finds one message of the client's after another among the rendered ones, each behind the last that was found."""

    def __init__(self, messages: Sequence[object]) -> None:
        self._places: dict[bytes, list[int]] = {}
        for at, message in enumerate(messages):
            self._places.setdefault(msgspec.json.encode(message), []).append(at)
        self._searched = 0

    def find(self, message: Fields) -> int | None:
        """Where it stands; None: nowhere unchanged."""
        found = self._places.get(msgspec.json.encode(message), [])
        later = found[bisect_left(found, self._searched) :]
        if not later:
            return None
        self._searched = later[0] + 1
        return later[0]

    def before(self, message: Fields, end: int) -> list[int]:
        """All its places before this one."""
        found = self._places.get(msgspec.json.encode(message), [])
        return found[: bisect_left(found, end)]


def own_messages(blocks: Sequence[Block]) -> list[Fields]:
    """The message of each block as rendering writes the client's own history."""
    rendering = Rendering()
    places: list[int] = []
    for block in blocks:
        rendering.add([block])
        places.append(rendering.settled - 1)
    messages = rendering.messages()
    return [dict(messages[place]) for place in places]


def restored(instructions: Sequence[Said], blocks: Sequence[Block], messages: Sequence[Fields]) -> list[Fields]:
    """The rendered messages, the client's instructions inside its history behind what they stood behind.

    One whose place is not shown stays before everything else, if it is shown at all.
    """
    if not any(map(_instructs, blocks)):
        return list(messages)
    aligning = Aligning(messages)
    head = next((at for at, each in enumerate(messages) if each["role"] not in INSTRUCTING), len(messages))
    leading = own_messages(instructions)
    taken: set[int] = set()
    moved: dict[int, list[Fields]] = {}
    behind: int | None = None
    for block, own in zip(blocks, own_messages(blocks), strict=True):
        if not _instructs(block):
            behind = aligning.find(own)
            continue
        places = [at for at in aligning.before(own, head) if at not in taken]
        if behind is not None and behind >= head and len(places) > leading.count(own):
            taken.add(places[-1])
            moved.setdefault(_end_of_results(messages, behind), []).append(dict(messages[places[-1]]))
    return [
        each
        for at, message in enumerate(messages)
        for each in (*([] if at in taken else [message]), *moved.get(at, []))
    ]


def _instructs(block: Block) -> bool:
    return isinstance(block, Said) and block.role in INSTRUCTING


def _end_of_results(messages: Sequence[Fields], at: int) -> int:
    """The last of the results that follow; nothing may stand among them."""
    while at + 1 < len(messages) and messages[at + 1]["role"] == "tool":
        at += 1
    return at
