"""Conversations that Anthropic holds between requests: only what is new is sent, by the id of the message before."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.upstream import messages
from tests.upstream.scripts import Json, Lost

_HELD = ("system", "tools")
"""What the first request sets and the others must not."""


@dataclass(kw_only=True)
class Threads:
    """What the service holds."""

    #: By id of a message: the request that it answered, as a whole, with it.
    kept: dict[str, Json] = field(default_factory=dict)

    def whole(self, body: Mapping[str, object]) -> Json:
        """A request with what stands before it."""
        before = self.kept.get(_continued(body), {})
        held = {key: before[key] for key in _HELD if key in before}
        return {**body, **held, "messages": [*_listed(before), *_listed(body)]}

    def refuse(self, body: Mapping[str, object], headers: Mapping[str, str]) -> str | None:
        """Why the service refuses a request; None: it does not."""
        continued = _continued(body)
        if not continued:
            return messages.refuse(body, headers)
        if continued not in self.kept:
            return Lost(f"thread.previous_message_id: '{continued}' not found")
        if given := [key for key in _HELD if key in body]:
            return f"{given[0]}: cannot be set when a thread goes on"
        return messages.refuse(self.whole(body), headers)

    def keep(self, body: Mapping[str, object], response: Json) -> None:
        """Hold what was said, where the request wants it."""
        if body.get("thread"):
            whole = self.whole(body)
            turn = {"role": "assistant", "content": response["content"]}
            self.kept[str(response["id"])] = {**whole, "messages": [*_listed(whole), turn]}


def _continued(body: Mapping[str, object]) -> str:
    thread = body.get("thread")
    return str(thread.get("previous_message_id") or "") if isinstance(thread, dict) else ""


def _listed(body: Mapping[str, object]) -> list[object]:
    found = body.get("messages")
    return found if isinstance(found, list) else []
