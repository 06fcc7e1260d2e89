"""Plays the scripted day against a fresh shop and writes the recording: `python -m examples.support_desk.record`.

Every tool result in it was computed by the tool at that moment of the day. Playing it again gives the same bytes.
"""

import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import msgspec

from examples.support_desk.desk import Clock, Desk
from examples.support_desk.script import day
from examples.support_desk.shop.shop import build
from examples.support_desk.toolset import definitions

SHIPPED = Path(__file__).parents[2] / "src/callsheet/evaluate/recordings/support_desk.jsonl"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SEED = 1017
SOURCE = "examples/support_desk: scripted words, real tools on a real shop database"


def record(folder: Path) -> bytes:
    """Build the shop in an empty folder, play the day, and return the recording as JSON Lines, one branch a line."""
    clock = Clock(START)
    shop = build(folder, lambda: clock.now)
    with closing(shop.db):
        desk = Desk(shop, clock, Random(SEED))
        fork = day.main_branch(desk)
        other = desk.fork(fork)
        day.edited_branch(other)
    main = {
        "id": "support-desk",
        "source": SOURCE,
        "user": "desk-agent-1",
        "tools": definitions(),
        "messages": desk.messages,
    }
    branch = {"name": "edited-address", "parent": "main", "at": fork}
    edited = {"id": "support-desk", "branch": branch, "messages": other.messages}
    return b"".join(msgspec.json.encode(line) + b"\n" for line in (main, edited))


def write(target: Path) -> None:
    """Record into ``target``; the shop lives in a temporary folder meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        target.write_bytes(record(Path(folder)))


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED)
