"""What a memory of a user is about: of two memories of one subject only one holds at a time."""

import hashlib
import unicodedata

from callsheet.graph.nodes import UserMemory

USER = "user"
"""The entity of what is said of the user, where no other is named: no id of the user goes to a provider."""

_MARK = "="
"""Before the subject among what a memory is found by; no identifier begins so."""


def subject(body: UserMemory) -> str | None:
    """Entity, attribute and who may see it, in one normal form; None: it has no attribute and replaces nothing."""
    if body.attribute is None:
        return None
    parts = (body.entity, body.attribute, body.participant or "")
    return "".join(f"{_MARK} {normal(part)} " for part in parts)


def statement(body: UserMemory, text: str) -> str:
    """What it says of whom, and to whom: the same for all that say the same. A digest, whatever its length."""
    parts = (body.entity, body.attribute or "", body.participant or "", text)
    told = "".join(f"{len(part)} {part} " for part in map(normal, parts))
    return f"{_MARK}{hashlib.sha256(told.encode()).hexdigest()[:32]}"


def states(name: str) -> bool:
    """Whether a name among those of a memory is of what it says, in its very words, and not of what it is about."""
    return name.startswith(_MARK) and not name.startswith(f"{_MARK} ")


def normal(text: str) -> str:
    """A name without what tells two ways to write it apart: case, width, composition and white space."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())
