"""By what Gemini's objects are known."""

from collections.abc import Mapping

from callsheet.wire.gemini.spelling import said


def is_reply(found: Mapping[str, object]) -> bool:
    """Whether an object is a whole response: it has candidates, or says why there are none."""
    if "role" in found or "parts" in found:
        return False
    return any(said(found, key) is not None for key in ("candidates", "promptFeedback", "usageMetadata"))


def is_content(found: Mapping[str, object]) -> bool:
    """Whether an object is one turn of a conversation."""
    return "content" not in found and ("parts" in found or found.get("role") == "model")
