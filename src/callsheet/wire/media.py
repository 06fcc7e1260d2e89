"""Media parts: found in the shapes in which providers and tools send them, and put back exactly as they were.

`Media.extras` is the part as it came, its bytes replaced by an empty text, so that putting back is filling in. Where
that would write them otherwise (line breaks in base64), the extras keep them too.
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from enum import StrEnum

from callsheet.assemble.blocks import Media
from callsheet.wire import standins
from callsheet.wire.jsontext import decode_object, encode_bytes, own_extras
from callsheet.wire.jsonvalue import json_fields
from callsheet.wire.names import Wire
from callsheet.wire.pictures import picture_size, picture_type
from callsheet.wire.reading import Fields


class Kind(StrEnum):
    """What sort of media."""

    IMAGE = "image"
    AUDIO = "audio"
    DOCUMENT = "document"


class _Coding(StrEnum):
    """How the bytes stand in a part."""

    DATA_URL = "data_url"
    BASE64 = "base64"
    TEXT = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """Where the bytes stand in a part."""

    path: tuple[str, ...]
    content: str
    coding: _Coding
    mime: str = ""


PDF = "application/pdf"
AUDIO_FORMATS = {"audio/wav": "wav", "audio/mpeg": "mp3"}

_KINDS = {
    "image_url": Kind.IMAGE,
    "input_image": Kind.IMAGE,
    "image": Kind.IMAGE,
    "input_audio": Kind.AUDIO,
    "audio": Kind.AUDIO,
    "file": Kind.DOCUMENT,
    "document": Kind.DOCUMENT,
}


def read(part: Fields, wire: str, where: str) -> Media | None:
    """The media of a part (its type included), or None for a part without any that can be read."""
    if part.get("type") not in _KINDS:
        return None
    part = json_fields(part, where)
    place = _place(part)
    if place is None:
        url = _url(part)
        known = url is not None or _file_id(part) is not None
        return Media(url=url, wire=wire, extras=encode_bytes(part, where)) if known else None
    mime, data = _decoded(place)
    if data is None:
        return None
    width, height = picture_size(data) or (None, None)
    exact = _encoded(data, place.coding, mime) == place.content
    extras = encode_bytes(_with(part, place.path, "") if exact else part, where)
    return Media(mime=mime, data=data, width=width, height=height, wire=wire, extras=extras)


def as_recorded(media: Media) -> Fields:
    """The part that `read` was given."""
    part = decode_object(media.extras)
    place = _place(part) if media.data is not None else None
    if place is None or place.content or media.data is None:
        return part
    return _with(part, place.path, _encoded(media.data, place.coding, media.mime))


def kind(media: Media) -> Kind:
    """What sort of media: by its type, else by the part that it came in."""
    for found in (Kind.IMAGE, Kind.AUDIO):
        if media.mime.startswith(found.value + "/"):
            return found
    if media.mime or not media.extras:
        return Kind.DOCUMENT
    return _KINDS.get(str(decode_object(media.extras).get("type")), Kind.DOCUMENT)


def shown_type(media: Media) -> str | None:
    """The type of inline media as their bytes say, since providers check; None where they contradict it."""
    if media.data is None:
        return None
    if kind(media) is Kind.IMAGE:
        return picture_type(media.data)
    if media.mime == PDF and b"%PDF-" not in media.data[:1024]:
        return None
    return media.mime or None


def text_of(media: Media) -> str | None:
    """The text of an inline text document; None for everything else, and for one that shows nothing."""
    if media.data is None or not media.mime.startswith("text/"):
        return None
    try:
        text = media.data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return text if text.strip() else None


def web_url(media: Media) -> str | None:
    """The address, if a provider can fetch it."""
    return media.url if media.url is not None and media.url.startswith(("https://", "http://")) else None


def base64_of(data: bytes) -> str:
    """Standard base64."""
    return b64encode(data).decode("ascii")


def data_url(mime: str, data: bytes) -> str:
    """The data as an URL."""
    return f"data:{mime};base64,{base64_of(data)}"


def standin(media: Media) -> str:
    """The words that stand for media that cannot be shown."""
    size = None if media.data is None else len(media.data)
    return standins.not_shown(media.mime or kind(media).value, size=size, url=web_url(media))


def instead(media: Media, wire: Wire, *, in_text: bool = False, vision: bool = True) -> str | None:
    """The words that a request of this format has in place of media; None: it shows them.

    `in_text`: they stand in a message that may hold only text, as those of a model and instructions do. Without
    `vision` no picture is shown.
    """
    in_text = in_text or (not vision and kind(media) is Kind.IMAGE)
    shows = text_of(media) is not None or (not in_text and (_file_of(media, wire) or _sent(media, wire)))
    return None if shows else standin(media)


def _sent(media: Media, wire: Wire) -> bool:
    """Whether a format takes these bytes, or this address."""
    mime, image = shown_type(media), kind(media) is Kind.IMAGE
    if wire is Wire.OPENAI:
        if image:
            return (media.data is not None and mime is not None) or web_url(media) is not None
        return media.data is not None and (mime == PDF or mime in AUDIO_FORMATS)
    if media.data is not None:
        return mime is not None and (image or mime == PDF)
    own = bool(own_extras(media.extras, media.wire, wire))
    return media.url is not None and media.url.startswith("https://") and (image or own or media.mime == PDF)


def _file_of(media: Media, wire: Wire) -> bool:
    """Whether it is a file that this provider keeps."""
    own = own_extras(media.extras, media.wire, wire)
    return media.data is None and bool(_file_id(own))


def _place(part: Fields) -> _Place | None:
    match part:
        case {"type": "image_url", "image_url": {"url": str(content)}} if content[:5] in ("data:", ""):
            return _Place(path=("image_url", "url"), content=content, coding=_Coding.DATA_URL)
        case {"type": "image_url" | "input_image", "image_url": str(content)} if content[:5] in ("data:", ""):
            return _Place(path=("image_url",), content=content, coding=_Coding.DATA_URL)
        case {"type": "file", "file": {"file_data": str(content)}}:
            return _Place(path=("file", "file_data"), content=content, coding=_Coding.DATA_URL)
        case {"type": "input_audio", "input_audio": {"data": str(content), "format": str(format)}}:
            mime = "audio/mpeg" if format == "mp3" else f"audio/{format}"
            return _Place(path=("input_audio", "data"), content=content, coding=_Coding.BASE64, mime=mime)
        case {"source": {"type": "base64", "data": str(content), "media_type": str(mime)}}:
            return _Place(path=("source", "data"), content=content, coding=_Coding.BASE64, mime=mime)
        case {"type": "document", "source": {"type": "text", "data": str(content), "media_type": str(mime)}}:
            return _Place(path=("source", "data"), content=content, coding=_Coding.TEXT, mime=mime)
        case {"type": "image" | "audio", "data": str(content), "mimeType": str(mime)}:
            return _Place(path=("data",), content=content, coding=_Coding.BASE64, mime=mime)
    return None


def _url(part: Fields) -> str | None:
    match part:
        case {"image_url": {"url": str(url)}} | {"image_url": str(url)} | {"source": {"type": "url", "url": str(url)}}:
            return url
    return None


def _file_id(part: Fields) -> str | None:
    match part:
        case {"file": {"file_id": str(id)}} | {"source": {"type": "file", "file_id": str(id)}}:
            return id
    return None


def _decoded(place: _Place) -> tuple[str, bytes | None]:
    """Type and bytes; no bytes where there is no base64."""
    if place.coding is _Coding.TEXT:
        return place.mime, place.content.encode("utf-8", "surrogatepass")
    mime, content = place.mime, place.content
    if place.coding is _Coding.DATA_URL:
        head, _, content = content.partition(",")
        if not head.startswith("data:") or not head.endswith(";base64"):
            return mime, None
        mime = head.removeprefix("data:").partition(";")[0]
    try:
        return mime, b64decode("".join(content.split()), validate=True)
    except ValueError:
        return mime, None


def _encoded(data: bytes, coding: _Coding, mime: str) -> str:
    match coding:
        case _Coding.DATA_URL:
            return data_url(mime, data)
        case _Coding.BASE64:
            return base64_of(data)
        case _Coding.TEXT:
            return data.decode("utf-8", "surrogatepass")


def _with(part: Fields, path: tuple[str, ...], content: str) -> Fields:
    if len(path) == 1:
        return {**part, path[0]: content}
    inner = part[path[0]]
    assert isinstance(inner, dict), "matched by _place"
    return {**part, path[0]: {**inner, path[1]: content}}
