"""Short ways to read a log in tests, and to say what it holds."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from callsheet.audit.logs.formats import recognised
from callsheet.audit.logs.values import LogFormat, LoggedMessage, Notes

RECORDED = Path(__file__).parent / "recorded"


@dataclass
class Read:
    """A log, read whole."""

    format: LogFormat
    #: By name of conversation and branch.
    messages: dict[str, list[LoggedMessage]]
    #: By name: the parent branch and how many messages are inherited.
    forks: dict[str, tuple[str, int]]
    parents: dict[str, str | None]
    notes: Notes

    def said(self, name: str) -> list[str]:
        """What was said, each message as its role and its texts, calls and results in order."""
        return [f"{one.message['role']}: {' | '.join(_pieces(one.message))}" for one in self.messages[name]]

    def usage(self, name: str) -> list[tuple[int, int, int, int] | None]:
        """Input, cached, written and output tokens of each answer."""
        found = [one.answered.usage for one in self.messages[name] if one.answered is not None]
        return [(u.input, u.cached_input, u.cache_write, u.output) if u is not None else None for u in found]


def read(path: Path, format: str | None = None) -> Read:
    """Read a log that must be one."""
    with recognised(str(path), format) as log:
        assert log is not None, "not recognised"
        messages: dict[str, list[LoggedMessage]] = {}
        forks: dict[str, tuple[str, int]] = {}
        parents: dict[str, str | None] = {}
        for one in log.conversations():
            assert one.name not in messages
            messages[one.name] = list(one.read())
            assert len(messages[one.name]) == one.count
            parents[one.name] = one.parent
            if one.fork is not None:
                forks[one.name] = (one.fork.parent, one.fork.at)
        return Read(format=log.format, messages=messages, forks=forks, parents=parents, notes=log.notes)


def written(path: Path, lines: Iterable[object]) -> Path:
    """A file with a JSON document a line; text stands as it is."""
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def _pieces(message: Mapping[str, object]) -> Iterable[str]:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    for part in parts:
        match part:
            case {"type": "text", "text": text}:
                yield str(text)
            case {"type": "tool_use", "name": name, "id": id}:
                yield f"{name}({id})"
            case {"type": "tool_result", "tool_use_id": id, "content": text}:
                yield f"{id}={text}"
            case {"type": type}:
                yield f"<{type}>"
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        held = call.get("function") or call.get("custom")
        yield f"{held['name']}({call['id']})"
    if message["role"] == "tool":
        yield f"[{message['tool_call_id']}]"
