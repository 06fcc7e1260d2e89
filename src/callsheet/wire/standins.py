"""The words that a provider's rules make rendering add; those that any request may need are in `assemble.standins`."""

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


def shown_behind(what: str) -> str:
    """In a tool result, for media that follow behind the results."""
    return f"({what}, behind the results)"


def returned_by(call: str) -> str:
    """Before media that a tool returned."""
    return f"Returned by tool call {call}:"
