"""The parts of a generateContent request that are not plain text: calls, thoughts, media, and parts as recorded."""

from callsheet.assemble.blocks import Call, Media, Opaque, Reasoning, Text
from callsheet.wire import media
from callsheet.wire.arguments import as_object, exact_object, free_text
from callsheet.wire.cleaning import MergedKeys, clean, clean_value
from callsheet.wire.gemini.shapes import (
    KINDS,
    OPAQUE,
    SIGNATURE,
    AsRecorded,
    Blob,
    CallPart,
    DataPart,
    FileData,
    FilePart,
    FunctionCall,
    TextPart,
)
from callsheet.wire.gemini.spelling import as_sent, said
from callsheet.wire.jsontext import own_extras
from callsheet.wire.names import CUSTOM, Wire
from callsheet.wire.reading import Fields

_THOUGHT = frozenset({"text", "thought", SIGNATURE})
_OF_MEDIA = ("videoMetadata", "mediaResolution")
"""What the service is told of media beside their bytes."""


def text_part(part: Text, wire: str) -> TextPart:
    """A text, with the signature that it came with."""
    written = TextPart(text=clean(part.text))
    signature = _signature(own_extras(part.extras, wire, Wire.GEMINI))
    if signature is not None:
        written["thoughtSignature"] = signature
    return written


def function_call(call: Call, name: str, id: str | None) -> CallPart:
    """A call, with the signature that it came with. Free text of a custom tool stands under ``input``."""
    given = free_text(call.arguments) if call.kind == CUSTOM else as_object(call.arguments)
    inner = FunctionCall(name=name, args=given) if id is None else FunctionCall(id=id, name=name, args=given)
    part = CallPart(functionCall=inner)
    signature = _signature(own_extras(call.extras, call.wire, Wire.GEMINI))
    if signature is not None:
        part["thoughtSignature"] = signature
    return part


def thought(part: Reasoning) -> list[AsRecorded]:
    """A thought, or a signature that stood alone, as it came; nothing of another format or not sendable unchanged."""
    found = _recorded(part)
    if found is None:
        return []
    shown = {key: value for key, value in found.items() if key in _THOUGHT}
    if not isinstance(text := shown.get("text", ""), str) or not isinstance(shown.get("thought", False), bool):
        return []
    signature = _signature(found)
    if signature is None:
        shown.pop(SIGNATURE, None)
        return [shown] if text.strip() else []
    return [{"text": text} | shown]


def as_recorded(part: Opaque) -> list[AsRecorded]:
    """A part without neutral meaning that stands in turns of the model, if it came in this format; else nothing."""
    found = _recorded(part)
    if found is None:
        return []
    kind = next((kind for kind in KINDS if kind in found), None)
    inner = found.get(kind) if kind in OPAQUE else None
    if kind is None or not isinstance(inner, dict) or not (shown := as_sent(inner)):
        return []
    signature = _signature(found)
    return [{kind: shown} | ({SIGNATURE: signature} if signature is not None else {})]


def _recorded(part: Reasoning | Opaque) -> Fields | None:
    """The part in the API's spelling, as any request may hold it; None where cleaning would lose a value."""
    found = exact_object(part.raw.decode()) if part.wire == Wire.GEMINI else None
    try:
        return as_sent(clean_value(found)) if found is not None else None
    except MergedKeys:
        return None


def _signature(found: Fields) -> str | None:
    signature = said(found, SIGNATURE)
    return signature if isinstance(signature, str) and media.is_base64(signature) else None


def media_part(found: Media, *, signed: bool = False) -> DataPart | FilePart | TextPart:
    """Media; what the service does not take becomes a stand-in. `signed`: with the signature that it came with."""
    own = own_extras(found.extras, found.wire, Wire.GEMINI)
    part = _shown(found, own)
    if part is None:
        return TextPart(text=clean(media.text_of(found) or media.standin(found)))
    kept: Fields = {key: value for key in _OF_MEDIA if isinstance(value := said(own, key), dict)}
    signature = _signature(own) if signed else None
    if signature is not None:
        kept[SIGNATURE] = signature
    part.update(kept)  # type: ignore[typeddict-item]  # what came with it in this format
    return part


def _shown(found: Media, own: Fields) -> DataPart | FilePart | None:
    mime = media.type_for_gemini(found)
    if mime is None:
        return None
    if found.data is not None:
        return DataPart(inlineData=Blob(mimeType=mime, data=media.base64_of(found.data)))
    file = FileData(fileUri=clean(media.address_for_gemini(found) or found.url or ""))
    if mime:
        file["mimeType"] = mime
    return FilePart(fileData=file)
