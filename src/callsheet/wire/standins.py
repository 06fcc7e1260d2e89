"""The words that rendering has to add where a provider's rule leaves no choice. They stand in requests only."""

EMPTY = "(empty)"
"""For a message of which nothing that this provider may be shown is left."""

NO_OUTPUT = "(no output)"
"""The same for a tool result."""

START = "(the conversation begins here)"
"""The user turn before an assistant turn that opens a history, where the first turn must be the user's."""

CONTINUE = "(continue)"
"""The user turn behind an assistant turn, where the last turn must be the user's."""

SYSTEM_NOTE = "[system note]\n"
"""Before a system text that stands inside a history, where system texts may only stand before it."""

OLD_TOOL = "Not available any more. It was called earlier in this conversation."
"""The description of a tool that only the history knows."""


def not_shown(what: str, *, size: int | None = None, url: str | None = None) -> str:
    """For media that this provider does not take, or not in this place."""
    at = f" at {url}" if url is not None else ""
    return f"({what}{at}, not shown)" if size is None else f"({what}, {size:,} bytes, not shown)"


def shown_below(what: str) -> str:
    """In a tool result, for media that follow in a user message."""
    return f"({what}, in the next user message)"


def returned_by(call: str) -> str:
    """Before media that a tool returned."""
    return f"Returned by tool call {call}:"
