"""The parts of a Chat Completions request that are not plain text: calls and media."""

from callsheet.assemble.blocks import Call, Media
from callsheet.wire import media
from callsheet.wire.arguments import as_text
from callsheet.wire.cleaning import clean
from callsheet.wire.jsontext import own_extras
from callsheet.wire.names import CUSTOM, UNNAMED_TOOL, Wire, allowed_name
from callsheet.wire.openai_chat import shapes
from callsheet.wire.openai_chat.shapes import (
    AudioPart,
    Custom,
    CustomCall,
    FileData,
    FilePart,
    Function,
    FunctionCall,
    ImagePart,
    ImageUrl,
    InputAudio,
    TextPart,
    UserPart,
)

_PDF_NAME = "document.pdf"
"""The service wants a name with every file."""


def tool_call(call: Call, id: str) -> FunctionCall | CustomCall:
    """A call; arguments that are no JSON object are wrapped in one."""
    name = allowed_name(call.tool, shapes.LONGEST_NAME) or UNNAMED_TOOL
    if call.kind == CUSTOM:
        return CustomCall(id=id, type="custom", custom=Custom(name=name, input=clean(call.arguments)))
    return FunctionCall(id=id, type="function", function=Function(name=name, arguments=as_text(call.arguments)))


def media_part(found: Media) -> UserPart:
    """Media in a user message; what the service does not take becomes a stand-in."""
    own = own_extras(found.extras, found.wire, Wire.OPENAI)
    file_id = _inner(own, "file", "file_id")
    text, mime, url = media.text_of(found), media.shown_type(found), media.web_url(found)
    is_image = media.kind(found) is media.Kind.IMAGE
    if text is not None:
        return TextPart(type="text", text=clean(text))
    if is_image and found.data is not None and mime is not None:
        return _image(media.data_url(mime, found.data), own)
    if is_image and url is not None:
        return _image(url, own)
    if mime == media.PDF and found.data is not None:
        name = _inner(own, "file", "filename") or _PDF_NAME
        return FilePart(type="file", file=FileData(file_data=media.data_url(mime, found.data), filename=name))
    if mime in media.AUDIO_FORMATS and found.data is not None:
        sound = InputAudio(data=media.base64_of(found.data), format=media.AUDIO_FORMATS[mime])
        return AudioPart(type="input_audio", input_audio=sound)
    if file_id is not None:
        return FilePart(type="file", file=FileData(file_id=file_id))
    return TextPart(type="text", text=clean(media.standin(found)))


def _image(url: str, own: dict[str, object]) -> ImagePart:
    image = ImageUrl(url=clean(url))
    detail = _inner(own, "image_url", "detail")
    if detail in shapes.DETAILS:
        image["detail"] = detail
    return ImagePart(type="image_url", image_url=image)


def _inner(part: dict[str, object], key: str, inner: str) -> str | None:
    """A text two levels down in the recorded part, cleaned."""
    found = part.get(key)
    value = found.get(inner) if isinstance(found, dict) else None
    return clean(value) if isinstance(value, str) and value else None
