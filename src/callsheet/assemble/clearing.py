"""What beside its content a block brings along, without secrets: names, types, addresses, unknown keys.

A block of reasoning cannot be changed, because its provider checks its signature; one that holds a secret goes.
"""

import re
from dataclasses import replace

from callsheet.assemble import blocks, standins
from callsheet.derive.redaction import Redaction

_MARKER = re.compile(rb"\[secret:[a-z\-]{1,40}#[0-9a-f]{6}\]")


def cleared(block: blocks.Block, redaction: Redaction) -> blocks.Block:
    """The block without the secrets that stand beside its content; its content is read without them already."""
    if isinstance(block, blocks.Said):
        parts = _parts(block.parts, redaction)
        if parts is block.parts and not block.extras and not block.name:
            return block
        name = redaction.text(block.name) if block.name is not None else None
        return replace(block, parts=parts, name=name, extras=redaction.content(block.extras))
    content: tuple[blocks.Content, ...] = tuple(
        part
        for part in _parts(block.content, redaction)
        if isinstance(part, blocks.Text | blocks.Media | blocks.Opaque)
    )
    if content == block.content and not block.extras:
        return block
    return replace(block, content=content, extras=redaction.content(block.extras))


def _parts(parts: tuple[blocks.Part, ...], redaction: Redaction) -> tuple[blocks.Part, ...]:
    if all(isinstance(part, blocks.Text) and not part.extras for part in parts):
        return parts
    kept = tuple(
        _part(part, redaction)
        for part in parts
        if not (isinstance(part, blocks.Reasoning) and _MARKER.search(part.raw))
    )
    return kept or (blocks.Text(text=standins.EMPTY),)


def _part(part: blocks.Part, redaction: Redaction) -> blocks.Part:
    match part:
        case blocks.Text(extras=extras) | blocks.Call(extras=extras) if extras:
            return replace(part, extras=redaction.content(extras))
        case blocks.Media():
            return cleared_media(part, redaction)
        case _:
            return part


def cleared_media(media: blocks.Media, redaction: Redaction) -> blocks.Media:
    """The same of media, of which a request may also have words: whoever sent them may have written anything there."""
    mime = redaction.name(media.mime)
    if mime is media.mime and media.url is None and not media.extras:
        return media
    url = redaction.text(media.url) if media.url is not None else None
    return replace(media, mime=mime, url=url, extras=redaction.content(media.extras))
