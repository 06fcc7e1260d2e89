"""The tool by which a model would have something kept of the user: what it writes becomes a proposal, no memory."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from callsheet.runtime.personalising.options import LONGEST

NAME = "remember"

DESCRIPTION = "Propose something worth knowing about the user in later conversations. A person decides on it."

ANSWER = "Proposed. It is kept once a person has accepted it."


def tool() -> dict[str, object]:
    """The tool in the shape of OpenAI's Chat Completions, which every format here takes."""
    text = {"type": "string"}
    parameters = {
        "type": "object",
        "properties": {
            "value": {"type": "string", "description": "What is so, in a sentence."},
            "about": {"type": "string", "description": "Whom or what it is about, if not the user."},
            "attribute": text,
        },
        "required": ["value"],
    }
    return {"type": "function", "function": {"name": NAME, "description": DESCRIPTION, "parameters": parameters}}


class Asked(NamedTuple):
    """What a model would have kept."""

    value: str
    about: str | None = None
    attribute: str | None = None


def parse(arguments: str | Mapping[str, object]) -> Asked | str:
    """What a call asks for; or, as text, what is wrong with it."""
    if isinstance(arguments, str):
        if len(arguments) > 4 * LONGEST:
            return f"The arguments are too long; a memory has at most {LONGEST:,} characters."
        try:
            arguments = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            return _EXAMPLE
    if not isinstance(arguments, Mapping):
        return _EXAMPLE
    given = {name: arguments.get(name) for name in ("value", "about", "attribute")}
    value, about, attribute = given["value"], given["about"], given["attribute"]
    if not isinstance(value, str) or not value.strip():
        return _EXAMPLE
    return Asked(value=value, about=_text(about), attribute=_text(attribute))


_EXAMPLE = 'The arguments must be a JSON object such as {"value": "prefers the window seat"}.'


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
