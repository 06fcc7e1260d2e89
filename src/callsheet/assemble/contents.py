"""What recorded content reads as: of a message, of a result with all its parts, of a memory."""

from collections.abc import Callable

from callsheet.derive.reading import read as read_document
from callsheet.derive.text import binary_standin, readable
from callsheet.graph import values
from callsheet.graph.nodes import ToolArtifact, ToolMemory

Read = Callable[[values.Payload], bytes]
"""Gives the bytes of a payload that has been fetched."""


def text_of(content: bytes) -> str:
    """Recorded text as it came, lone surrogates included."""
    return content.decode("utf-8", "surrogatepass")


def result_text(body: ToolArtifact, read: Read) -> str:
    """What of a result can be read as text, its parts one below the other."""
    words: list[str] = []
    for part in body.content:
        if isinstance(part, values.Text):
            words.append(text_of(read(part.text)))
        elif isinstance(part, values.Opaque):
            words.append(text_of(read(part.raw)))
        elif part.data is not None and is_bytes(part):
            data = read(part.data)
            words.append(readable(data) or binary_standin(part.mime, len(data)))
    return "\n".join(words)


def memory_text(body: ToolMemory, read: Read) -> str:
    """What a memory tells: its summary, and its structured content where it has any."""
    summary = text_of(read(body.summary))
    if body.payload is None:
        return summary
    return f"{summary}\n{read_document(text_of(read(body.payload)), 'application/json').dense()}"


def content_payload(part: values.Content) -> values.Payload | None:
    """Where the bytes of a result's part are; None for media by address."""
    if isinstance(part, values.Text):
        return part.text
    return part.raw if isinstance(part, values.Opaque) else part.data


def is_bytes(part: values.Media) -> bool:
    """Whether it was recorded as bytes of no known type, which may be text after all."""
    return part.mime == values.BINARY and part.data is not None
