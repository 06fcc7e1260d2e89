"""Files of lines for the tests of import and export, and short ways to import and export them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from callsheet.audit.exchange.exporting import dumped, export_conversation
from callsheet.audit.exchange.importing import Imported, import_source
from callsheet.errors import InvalidLine
from callsheet.runtime.runtime import Runtime

Message = dict[str, object]
Line = Mapping[str, object]


def user(text: str, **more: object) -> Message:
    return {"role": "user", "content": text, **more}


def assistant(text: str | None, *calls: str, **more: object) -> Message:
    """An assistant's message; each call is its id and is answered by a tool of the same name."""
    asked = [{"id": id, "type": "function", "function": {"name": f"tool_{id}", "arguments": "{}"}} for id in calls]
    return {"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {}), **more}


def result(id: str, text: str, **more: object) -> Message:
    return {"role": "tool", "tool_call_id": id, "content": text, **more}


def written(path: Path, lines: Iterable[Line | Sequence[Message] | str]) -> Path:
    """A file of these lines; text stands as it is."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def imported(runtime: Runtime, path: Path | str) -> tuple[Imported, list[InvalidLine]]:
    """What importing a file came to, and what was refused."""
    total, refused = Imported(), list[InvalidLine]()
    for outcome in import_source(runtime, str(path)):
        if isinstance(outcome, InvalidLine):
            refused.append(outcome)
        else:
            total += outcome
    return total, refused


def exported(runtime: Runtime, name: str) -> list[dict[str, object]]:
    """The lines of a conversation, as they are written and read again."""
    return [json.loads(dumped(line)) for line in export_conversation(runtime, name)]
