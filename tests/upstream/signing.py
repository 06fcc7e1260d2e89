"""Signatures of thoughts, which a provider gives and takes back unchanged alone."""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Mapping

_BINDING = re.compile(r"claude-(fable|mythos|opus|sonnet|haiku)-5-(1|2|5)\b")


def signature(thought: str, behind: str = "") -> str:
    """The signature of a thought, for models that bind it also of all that it was had `behind`."""
    content = f"thought:{behind}{thought}".encode("utf-8", "surrogatepass")
    return b64encode(hashlib.sha256(content).digest()).decode()


def behind(body: Mapping[str, object], messages: int) -> str:
    """What stands before a message of a request, for models that bind their thoughts to it; empty for all others."""
    if not _BINDING.search(str(body.get("model"))):
        return ""
    listed = body["messages"]
    assert isinstance(listed, list)
    said = [body.get("tools") or None, body.get("system") or None, *listed[:messages]]
    return hashlib.sha256(json.dumps(_plain(said), sort_keys=True).encode()).hexdigest()


def _plain(value: object) -> object:
    """Without marks for the cache; a text is a list of one text."""
    if isinstance(value, dict):
        found = {key: _plain(item) for key, item in value.items() if key != "cache_control"}
        if isinstance(found.get("content"), str):
            found["content"] = [{"type": "text", "text": found["content"]}]
        return found
    return [_plain(item) for item in value] if isinstance(value, list) else value
