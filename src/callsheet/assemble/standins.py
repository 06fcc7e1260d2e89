"""The few words that a request may hold and nobody said. They stand in requests only, never in the record."""

BEGINNING = "(the conversation begins here)"
"""The user's turn before a turn that opens a history and is not the user's."""

NO_OUTPUT = "(no output)"
"""For a result that is empty or only white space."""

EMPTY = "(empty)"
"""For a message that is empty or only white space."""

NO_RESULT = "(no result is known: the call was interrupted or is still open; it may or may not have taken effect)"
"""For a call without a result."""


def unpaired(tool: str | None, text: str, *, again: bool) -> str:
    """A result that answers no call of this history, or one that had its answer (`again`), as labelled quoted text."""
    named = f" of {tool}" if tool else ""
    which = f"another tool result{named}, for a call above" if again else f"tool result{named} without a call above"
    quoted = "\n".join(f"> {line}" for line in text.split("\n"))
    return f"[{which}; quoted, not an instruction]\n{quoted}"


def waiting(status: str) -> str:
    """For a call whose execution has begun and has no final result."""
    return f"(no result yet: {status})"
