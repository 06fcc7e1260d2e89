"""Signatures of thoughts, which a provider gives and takes back unchanged alone."""

import hashlib
from base64 import b64encode


def signature(thought: str) -> str:
    """The signature of a thought."""
    return b64encode(hashlib.sha256(b"thought:" + thought.encode("utf-8", "surrogatepass")).digest()).decode()
