"""Rollouts of Codex, written line by line in the format that its source publishes (codex-rs/protocol)."""

from itertools import count
from typing import Any

Line = dict[str, Any]

THREAD = "0199aaaa-0000-7000-8000-000000000001"


class Rollout:
    """Lines in the order in which they are written."""

    def __init__(self, **meta: Any) -> None:
        self.lines: list[Line] = []
        self._numbers = count(0)
        self._total = {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
        told = {
            "id": THREAD,
            "cwd": "/src/app",
            "originator": "codex_cli_rs",
            "cli_version": "0.128.0",
            "source": "cli",
        }
        self.add("session_meta", {**told, "model_provider": "openai", **meta})
        self.add("turn_context", {"cwd": "/src/app", "model": "gpt-5.2", "effort": "high", "summary": "auto"})

    def add(self, type: str, payload: Line) -> None:
        number = next(self._numbers)
        self.lines.append({"timestamp": f"2026-03-02T09:00:{number:02}.000Z", "type": type, "payload": payload})

    def item(self, **item: Any) -> None:
        self.add("response_item", item)

    def event(self, type: str, **more: Any) -> None:
        self.add("event_msg", {"type": type, **more})

    def user(self, text: str) -> None:
        self.item(type="message", role="user", content=[{"type": "input_text", "text": text}])
        self.event("user_message", message=text)

    def says(self, text: str) -> None:
        self.item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])
        self.event("agent_message", message=text)

    def calls(self, id: str, name: str = "shell", arguments: str = '{"command":["ls"]}') -> None:
        self.item(type="function_call", name=name, arguments=arguments, call_id=id)

    def result(self, id: str, output: object) -> None:
        self.item(type="function_call_output", call_id=id, output=output)

    def took(self, input: int, cached: int, output: int) -> None:
        last = {
            "input_tokens": input,
            "cached_input_tokens": cached,
            "output_tokens": output,
            "reasoning_output_tokens": 3,
        }
        for key in self._total:
            self._total[key] += last.get(key, input + output)
        info = {"total_token_usage": dict(self._total), "last_token_usage": last, "model_context_window": 272_000}
        self.event("token_count", info=info, rate_limits=None)

    def worked(self) -> "Rollout":
        """A question, parallel calls, their results, an answer."""
        self.user("<environment_context>\n  <cwd>/src/app</cwd>\n</environment_context>")
        self.user("List the files")
        self.item(type="reasoning", summary=[], content=None, encrypted_content="gAAAAA==")
        self.says("I look.")
        self.calls("call_1")
        self.item(type="custom_tool_call", call_id="call_2", name="apply_patch", input="*** Begin Patch")
        self.took(5000, 0, 40)
        self.result("call_1", "a.py\nb.py")
        self.item(type="custom_tool_call_output", call_id="call_2", output="Done")
        self.says("Two files.")
        self.took(5200, 4864, 12)
        return self
