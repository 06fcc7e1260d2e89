"""Read files of recorded conversations: one JSON object a line, plain or compressed with gzip."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from msgspec import Struct
from msgspec.structs import replace

from callsheet.audit.logs.unrecognised import told_once
from callsheet.errors import InvalidLine
from callsheet.evaluate.normalise import normalise
from callsheet.evaluate.trajectory import Trajectory

_ENDINGS = (".gz", ".jsonl", ".json")

_NO_MESSAGES = "the object has no list of messages"


class Recording(Struct, frozen=True, kw_only=True):
    """One line of a file, as it was recorded."""

    line: int
    raw: Mapping[str, object]


class RecordingFile(Struct, frozen=True, kw_only=True):
    """What one file holds."""

    #: The file's name without folder and endings.
    name: str
    #: The recordings that have at least one step to measure.
    trajectories: tuple[Trajectory, ...]
    #: Lines that hold no recording; the others are not affected.
    refused: tuple[InvalidLine, ...]


def load(path: Path, *, said: bool = True) -> RecordingFile:
    """Read and normalise every recording of a file. A recording without an id is called after its file and line.

    The line of a branch is read with the messages that the branch inherits from the conversation before it in the file.
    Where nobody `said` that it is a file of lines and none of them holds a recording, that is told once.
    """
    trajectories: list[Trajectory] = []
    refused: list[InvalidLine] = []
    known: dict[tuple[object, object], list[object]] = {}
    for entry in read(path) if said else told_once(read(path), _NO_MESSAGES):
        if isinstance(entry, InvalidLine):
            refused.append(entry)
            continue
        try:
            inherited = _inherited(entry.raw, known)
            trajectory = _normalised(entry, inherited, f"{path.name}:{entry.line}")
        except RecursionError:
            refused.append(InvalidLine("nested too deeply", file=str(path), line=entry.line))
            continue
        if trajectory.steps:
            trajectories.append(trajectory)
    return RecordingFile(name=short_name(path), trajectories=tuple(trajectories), refused=tuple(refused))


def _inherited(raw: Mapping[str, object], known: dict[tuple[object, object], list[object]]) -> Sequence[object]:
    """The messages that a recording inherits; `known` collects all messages of conversations by id and branch."""
    id, branch, own = str(raw.get("id")), raw.get("branch"), raw.get("messages")
    own = own if isinstance(own, list) else []
    if not isinstance(branch, Mapping):
        known[id, "main"] = own
        return ()
    at = branch.get("at")
    parent = known.get((id, branch.get("parent", "main")), [])
    taken = parent[:at] if isinstance(at, int) and at > 0 else []
    known[id, branch.get("name")] = [*taken, *own]
    return taken


def _normalised(entry: Recording, inherited: Sequence[object], name: str) -> Trajectory:
    if not inherited:
        return normalise(entry.raw, default_id=name)
    own = entry.raw["messages"]
    assert isinstance(own, list)
    branch = entry.raw["branch"]
    assert isinstance(branch, Mapping)
    before = normalise({"messages": inherited}, default_id=name)
    id = f"{entry.raw.get('id')}/{branch.get('name')}"
    whole = normalise({**entry.raw, "id": id, "messages": [*inherited, *own]}, default_id=name)
    return replace(whole, inherited=len(before.messages))


def read(path: Path) -> Iterator[Recording | InvalidLine]:
    """The recordings of a file as they stand, and an error value in place of each line that holds none.

    Blank lines are passed over. Compressed data that breaks off ends the file with one error value.
    """
    for entry in objects(path):
        messages = None if isinstance(entry, InvalidLine) else entry.raw.get("messages") or entry.raw.get("traj")
        if isinstance(entry, InvalidLine) or (isinstance(messages, list) and messages):
            yield entry
        else:
            yield InvalidLine(_NO_MESSAGES, file=str(path), line=entry.line)


def objects(path: Path) -> Iterator[Recording | InvalidLine]:
    """The same of any file of JSON objects, whatever they hold."""
    line = 0
    try:
        with _open(path) as file:
            for line, text in enumerate(file, start=1):
                if text.strip():
                    yield _object(path, line, text)
    except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
        yield InvalidLine(f"the compressed file is damaged from here on ({damage})", file=str(path), line=line + 1)


def short_name(path: Path) -> str:
    """The file's name without its endings: ``a/b.jsonl.gz`` is ``b``."""
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def _open(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _object(path: Path, line: int, text: bytes) -> Recording | InvalidLine:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as problem:
        return InvalidLine(f"not JSON ({problem})", file=str(path), line=line)
    if not isinstance(raw, dict):
        return InvalidLine("a recording is a JSON object", file=str(path), line=line)
    return Recording(line=line, raw=raw)
