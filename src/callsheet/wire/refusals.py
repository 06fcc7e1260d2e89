"""Text by which a model says that it will not answer, as OpenAI's formats mark it."""

from typing import Final

from callsheet.assemble.blocks import Text
from callsheet.wire.jsontext import decode_object

REFUSAL: Final = "refusal"
"""The type of such a part, and the key of its text."""


def is_refusal(part: Text) -> bool:
    """Whether the text stood as a refusal."""
    return bool(part.extras) and decode_object(part.extras).get("type") == REFUSAL
