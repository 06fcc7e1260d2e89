"""The parts of a Messages request that are not plain text: calls, thinking, media, and blocks kept as recorded."""

from callsheet.assemble.blocks import Call, Media, Opaque, Reasoning
from callsheet.wire import media
from callsheet.wire.anthropic import shapes
from callsheet.wire.anthropic.shapes import (
    AsRecorded,
    Base64Source,
    DocumentBlock,
    FileSource,
    ImageBlock,
    Source,
    TextBlock,
    TextSource,
    ToolUseBlock,
    UrlSource,
)
from callsheet.wire.arguments import as_object, exact_object, free_text
from callsheet.wire.cleaning import MergedKeys, clean, clean_value
from callsheet.wire.jsontext import own_extras
from callsheet.wire.names import CUSTOM, UNNAMED_TOOL, Wire, allowed_name


def tool_use(call: Call, id: str) -> ToolUseBlock:
    """A call. Free text of a custom tool stands under ``input``."""
    given = free_text(call.arguments) if call.kind == CUSTOM else as_object(call.arguments)
    name = allowed_name(call.tool, shapes.LONGEST_NAME) or UNNAMED_TOOL
    return ToolUseBlock(type="tool_use", id=id, name=name, input=given)


def thinking(part: Reasoning) -> list[AsRecorded]:
    """A thinking block exactly as it came, or nothing: of another format, unsigned, or not sendable unchanged."""
    block = exact_object(part.raw.decode()) if part.wire == Wire.ANTHROPIC else None
    if block is None or not block.get(shapes.THINKING.get(str(block.get("type")), "")):
        return []
    return [block] if cleaned(block) == block else []


def as_recorded(part: Opaque, place: str) -> list[AsRecorded]:
    """A block without neutral meaning, if it came in this format and may stand in this place; else nothing.

    Cache marks are left out: a request may hold four, and old ones mean nothing.
    """
    block = exact_object(part.raw.decode()) if part.wire == Wire.ANTHROPIC else None
    if block is None or block.get("type") not in shapes.OPAQUE_BLOCKS[place]:
        return []
    if block["type"] == "document" and not _holds_blocks(block.get("source")):
        return []
    shown = cleaned({key: value for key, value in block.items() if key != "cache_control"})
    return [shown] if shown is not None else []


def cleaned(block: AsRecorded) -> AsRecorded | None:
    """The block as any request may hold it; None where cleaning would lose a value."""
    try:
        return clean_value(block)
    except MergedKeys:
        return None


def _holds_blocks(source: object) -> bool:
    """Whether it is the source of a document made of text blocks; all other documents are media."""
    return isinstance(source, dict) and source.get("type") == "content" and bool(source.get("content"))


def media_block(found: Media) -> ImageBlock | DocumentBlock | TextBlock:
    """Media where pictures and documents may stand; what the service does not take becomes a stand-in."""
    own = own_extras(found.extras, found.wire, Wire.ANTHROPIC)
    is_image = media.kind(found) is media.Kind.IMAGE
    source = _source(found, own, is_image)
    if source is None:
        return TextBlock(type="text", text=clean(media.standin(found)))
    if is_image:
        return ImageBlock(type="image", source=source)
    block = DocumentBlock(type="document", source=source)
    title, context = own.get("title"), own.get("context")
    if isinstance(title, str) and title.strip():
        block["title"] = clean(title)
    if isinstance(context, str) and context.strip():
        block["context"] = clean(context)
    return block


def _source(found: Media, own: dict[str, object], is_image: bool) -> Source | None:
    text = media.text_of(found)
    if text is not None:
        return TextSource(type="text", media_type="text/plain", data=clean(text))
    mime = media.shown_type(found)
    if found.data is not None:
        if mime is None or not (is_image or mime == media.PDF):
            return None
        return Base64Source(type="base64", media_type=mime, data=media.base64_of(found.data))
    if found.url is not None and found.url.startswith("https://") and (is_image or own or found.mime == media.PDF):
        return UrlSource(type="url", url=clean(found.url))
    match own.get("source"):
        case {"type": "file", "file_id": str(id)} if id:
            return FileSource(type="file", file_id=clean(id))
    return None
