"""The items and parts of a Responses request that are not plain text: calls, reasoning, media, items as recorded."""

from callsheet.assemble.blocks import Call, Media, Opaque, Reasoning
from callsheet.wire import media
from callsheet.wire.arguments import as_text, exact_object
from callsheet.wire.cleaning import MergedKeys, clean, clean_value
from callsheet.wire.jsontext import own_extras
from callsheet.wire.names import CUSTOM, UNNAMED_TOOL, Wire, allowed_name
from callsheet.wire.openai_responses import shapes
from callsheet.wire.openai_responses.shapes import (
    AsRecorded,
    CustomCall,
    FunctionCall,
    InputFile,
    InputImage,
    InputPart,
    InputText,
)

_PDF_NAME = "document.pdf"
"""The service wants a name with the bytes of a file."""


def tool_call(call: Call, id: str, own_id: str | None) -> FunctionCall | CustomCall:
    """A call; arguments that are no JSON object are wrapped in one. `own_id` is that of the item, if it is sent."""
    name = allowed_name(call.tool, shapes.LONGEST_NAME) or UNNAMED_TOOL
    item: FunctionCall | CustomCall
    if call.kind == CUSTOM:
        item = CustomCall(type="custom_tool_call", call_id=id, name=name, input=clean(call.arguments))
    else:
        item = FunctionCall(type="function_call", call_id=id, name=name, arguments=as_text(call.arguments))
    namespace = own_extras(call.extras, call.wire, Wire.OPENAI_RESPONSES).get("namespace")
    if own_id is not None:
        item["id"] = own_id
    if isinstance(namespace, str) and allowed_name(namespace, shapes.LONGEST_NAME) == namespace:
        item["namespace"] = namespace
    return item


def reasoning(part: Reasoning) -> AsRecorded | None:
    """A reasoning item, each value as it came; None where it cannot be sent.

    So where it is of another format, or holds neither encrypted nor plain reasoning: then only its id says which it is,
    and whether the service still knows that is not known here.
    """
    found = exact_object(part.raw.decode()) if part.wire == Wire.OPENAI_RESPONSES else None
    if found is None or found.get("type") != shapes.REASONING or not found.get("id"):
        return None
    if not isinstance(found.get("summary"), list) or not (found.get("encrypted_content") or found.get("content")):
        return None
    item = {key: value for key, value in found.items() if key in shapes.REASONING_KEYS and value is not None}
    return item if _cleaned(item) == item else None


def as_recorded(part: Opaque) -> AsRecorded | None:
    """An item that the service made, if it came in this format and the service takes it back; else None."""
    item = exact_object(part.raw.decode()) if part.wire == Wire.OPENAI_RESPONSES else None
    demanded = shapes.SERVER_RUN.get(str(item.get("type"))) if item is not None else None
    if item is None or demanded is None or not demanded <= item.keys():
        return None
    return _cleaned(item)


def _cleaned(item: AsRecorded) -> AsRecorded | None:
    """The item as any request may hold it; None where cleaning would lose a value."""
    try:
        return clean_value(item)
    except MergedKeys:
        return None


def media_part(found: Media) -> InputPart:
    """Media in a message of the user or in a result; what the service does not take becomes a stand-in."""
    own = own_extras(found.extras, found.wire, Wire.OPENAI_RESPONSES)
    text, mime, url = media.text_of(found), media.shown_type(found), media.web_url(found)
    if text is not None:
        return InputText(type="input_text", text=clean(text))
    if media.kind(found) is media.Kind.IMAGE:
        shown = media.data_url(mime, found.data) if found.data is not None and mime is not None else url
        image = _image(shown, own)
        if image is not None:
            return image
    elif mime == media.PDF and found.data is not None:
        name = _text(own, "filename") or _PDF_NAME
        return InputFile(type="input_file", filename=name, file_data=media.data_url(mime, found.data))
    elif url is not None and (own or found.mime == media.PDF):
        return InputFile(type="input_file", file_url=clean(url))
    elif found.data is None and (file_id := _text(own, "file_id")) is not None:
        return InputFile(type="input_file", file_id=file_id)
    return InputText(type="input_text", text=clean(media.standin(found)))


def _image(url: str | None, own: AsRecorded) -> InputImage | None:
    detail = _text(own, "detail")
    image = InputImage(type="input_image", detail=detail if detail in shapes.DETAILS and detail else "auto")
    file_id = _text(own, "file_id")
    if url is not None:
        image["image_url"] = clean(url)
    elif file_id is not None:
        image["file_id"] = file_id
    else:
        return None
    return image


def _text(part: AsRecorded, key: str) -> str | None:
    """A text of the recorded part, cleaned."""
    value = part.get(key)
    return clean(value) if isinstance(value, str) and value else None
