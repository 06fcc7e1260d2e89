"""What other processes do in the tests of tool execution: ``python -m tests.runtime.executing.children WORK PATH``.

The tools append a line each to a file of their own, so that what really happened can be counted after any kill.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import callsheet
from callsheet import Conversation, ToolContract
from callsheet.errors import CallTaken
from callsheet.graph.ports import Append
from callsheet.graph.record import Record
from callsheet.runtime.executing.pace import SystemPace
from callsheet.runtime.executing.tool import Tool
from tests.runtime.executing.acts import artifacts, talking

KILLED = 9
CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "e1": ("post_notice", {}),
    "e2": ("open_valve", {}),
    "e3": ("read_gauge", {}),
}


def count(folder: Path, name: str) -> int:
    """How often a tool took effect."""
    file = folder / name
    return len(file.read_text().splitlines()) if file.exists() else 0


def _mark(folder: Path, name: str) -> str:
    with (folder / name).open("a") as file:
        file.write("done\n")
    return f"{name} done"


def tools(folder: Path, during: Callable[[str], None] = lambda name: None) -> list[Tool[..., object]]:
    """The three tools; `during` is called within each, after it took effect."""

    def made(name: str, contract: ToolContract) -> Tool[..., object]:
        def run() -> str:
            told = _mark(folder, name)
            during(name)
            return told

        return callsheet.tool(contract=contract)(run)

    return [
        made("post_notice", ToolContract(name="post_notice", side_effects=True)),
        made("open_valve", ToolContract(name="open_valve", side_effects=True)),
        made("read_gauge", ToolContract(name="read_gauge", side_effects=False)),
    ]


def begin(path: Path, *ids: str) -> Conversation:
    calls = {id: call for id, call in CALLS.items() if not ids or id in ids}
    return talking(callsheet.open(path).conversation("valves"), **calls)


# --------------------------------------------------------------------------- work


class DyingPace(SystemPace):
    """Takes its process down between the first result and the next start."""

    def __init__(self, talk: Conversation) -> None:
        super().__init__()
        self._talk = talk

    def now(self) -> float:
        if artifacts(self._talk):
            os._exit(KILLED)
        return super().now()


def die_between(path: Path) -> None:
    talk = begin(path)
    talk.execute(tools(path.parent), parallel=1, pace=DyingPace(talk))


def die_within(path: Path) -> None:
    def during(name: str) -> None:
        if name == "open_valve":
            os._exit(KILLED)

    begin(path).execute(tools(path.parent, during), parallel=1)


def hang_within(path: Path) -> None:
    """Hangs in the second call until it is told to go on, or killed."""

    def during(name: str) -> None:
        if name == "open_valve":
            print("hanging", flush=True)
            sys.stdin.readline()

    begin(path).execute(tools(path.parent, during), parallel=1)
    print("finished", flush=True)


def resume(path: Path) -> None:
    talk = callsheet.open(path).conversation("valves")
    try:
        done = talk.execute(tools(path.parent))
    except CallTaken as taken:
        print(f"taken {len(taken.calls)}", flush=True)
    else:
        print(" ".join(outcome.status for outcome in done.outcomes), flush=True)


def die_at_every_append(path: Path) -> None:
    """For each append of an execution, and before and after it: a process that dies there."""
    # What is slow to load is loaded once, before the processes part.
    talking(callsheet.open(":memory:").conversation("warm"), **CALLS).execute(tools(path.parent / "nowhere"))
    for number in range(1, 40):
        for after in (False, True):
            folder = path.parent / f"{number}-{after}"
            folder.mkdir()
            child = os.fork()
            if child == 0:
                _die_at(folder / "store.db", number, after=after)
            _, status = os.waitpid(child, 0)
            if os.waitstatus_to_exitcode(status) != KILLED:
                return


def _die_at(path: Path, number: int, *, after: bool) -> None:
    talk = begin(path, "e2", "e3")
    ledger = talk._session.ledger
    append, seen = ledger.append, [0]

    def dying(appends: Sequence[Append]) -> list[Record]:
        seen[0] += 1
        if seen[0] == number and not after:
            os._exit(KILLED)
        records = append(appends)
        if seen[0] == number:
            os._exit(KILLED)
        return records

    vars(ledger)["append"] = dying
    talk.execute(tools(path.parent), parallel=2)
    os._exit(0)


# --------------------------------------------------------------------------- starting


def start(work: Callable[[Path], None], path: Path) -> subprocess.Popen[str]:
    """Another process that does the work."""
    command = [sys.executable, "-m", "tests.runtime.executing.children", work.__name__, str(path)]
    root = Path(__file__).parents[3]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]))
