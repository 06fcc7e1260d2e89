"""Session files of Claude Code, written record by record as the program does."""

from itertools import count
from typing import Any

Line = dict[str, Any]

SESSION = "7c0f5a3e-0000-4000-8000-000000000001"
MODEL = "claude-sonnet-4-5-20250929"


def usage(input: int = 4, cached: int = 0, written: int = 0, output: int = 10) -> Line:
    return {
        "input_tokens": input,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    }


class Session:
    """Records in the order in which they are written; each follows the newest unless another is named."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._numbers = count(1)
        self.newest: str | None = None

    def user(self, content: object, **more: Any) -> str:
        return self._add("user", {"role": "user", "content": content}, more)

    def result(self, call: str, text: str, **more: Any) -> str:
        content = [{"type": "tool_result", "tool_use_id": call, "content": text}]
        return self.user(content, toolUseResult={"stdout": text}, **more)

    def says(self, id: str, *parts: object, took: Line | None = None, model: str = MODEL, **more: Any) -> str:
        """One record of a response; texts as they are, calls by their ids in a tuple with the tool."""
        blocks = [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {"type": "tool_use", "id": part[1], "name": part[0], "input": {}}
            if isinstance(part, tuple)
            else part
            for part in parts
        ]
        message = {"id": id, "type": "message", "role": "assistant", "model": model, "content": blocks}
        return self._add("assistant", {**message, "usage": took or usage()}, more)

    def other(self, type: str, **more: Any) -> str:
        return self._add(type, None, more)

    def _add(self, type: str, message: Line | None, more: Line) -> str:
        number = next(self._numbers)
        uuid = f"{number:08d}-0000-4000-8000-000000000000"
        line: Line = {
            "parentUuid": self.newest,
            "isSidechain": False,
            "sessionId": SESSION,
            "version": "2.0.50",
            "cwd": "/src/app",
            "gitBranch": "main",
            "type": type,
            "uuid": uuid,
            "timestamp": f"2026-03-02T09:{number // 60:02}:{number % 60:02}.000Z",
        }
        if message is not None:
            line["message"] = message
        self.lines.append({**line, **more})
        self.newest = uuid
        return uuid
