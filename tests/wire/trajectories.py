"""Recorded trajectories, line by line."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Trajectory:
    """One recorded conversation."""

    id: str
    messages: list[dict[str, object]]
    tools: list[object]


def trajectories(file: Path, *, sample: int) -> Iterator[Trajectory]:
    """The first conversations of a file, and every 17th of the rest."""
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        chosen = (line for at, line in enumerate(lines) if at < sample or at % 17 == 0)
        for raw in map(json.loads, islice(chosen, 3 * sample)):
            yield Trajectory(id=raw["id"], messages=raw["messages"], tools=raw.get("tools") or [])
