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
    #: Of either alphabet: ``+/`` or ``-_``.
    ANY_BASE64 = "any_base64"
    TEXT = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """Where the bytes stand in a part."""

    path: tuple[str, ...]
    content: str
    coding: _Coding
    mime: str = ""


PDF = "application/pdf"
_GEMINI_PICTURES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp"}
_GEMINI_TYPES = frozenset({*_GEMINI_PICTURES.values(), "image/heic", "image/heif", PDF, "application/json"})
_GEMINI_KINDS = ("audio", "video", "text")
AUDIO_FORMATS = {"audio/wav": "wav", "audio/mpeg": "mp3"}

_KINDS = {
    "image_url": Kind.IMAGE,
    "input_image": Kind.IMAGE,
    "computer_screenshot": Kind.IMAGE,
    "image": Kind.IMAGE,
    "input_audio": Kind.AUDIO,
    "audio": Kind.AUDIO,
    "file": Kind.DOCUMENT,
    "input_file": Kind.DOCUMENT,
    "document": Kind.DOCUMENT,
}


def read(part: Fields, wire: str, where: str) -> Media | None:
    """The media of a part (its type included), or None for a part without any that can be read."""
    type = part.get("type")
    if not (isinstance(type, str) and type in _KINDS) and (wire != Wire.GEMINI or "type" in part):
        return None
    part = json_fields(part, where)
    place = _place(part)
    if place is None:
        mime, url = _address(part)
        known = url is not None or _file_id(part) is not None
        return Media(mime=mime, url=url, wire=wire, extras=encode_bytes(part, where)) if known else None
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
    if kind(media) is Kind.IMAGE and not vision:
        in_text = True
    elif wire is Wire.GEMINI and media.wire == wire:
        # Its models make pictures, and want to have them back.
        in_text = False
    shows = text_of(media) is not None or (not in_text and (_file_of(media, wire) or _sent(media, wire)))
    return None if shows else standin(media)


def _sent(media: Media, wire: Wire) -> bool:
    """Whether a format takes these bytes, or this address."""
    mime, image = shown_type(media), kind(media) is Kind.IMAGE
    if wire is Wire.GEMINI:
        return type_for_gemini(media) is not None
    own = bool(own_extras(media.extras, media.wire, wire))
    if wire in (Wire.OPENAI, Wire.OPENAI_RESPONSES) and image:
        return (media.data is not None and mime is not None) or web_url(media) is not None
    if wire is Wire.OPENAI:
        return media.data is not None and (mime == PDF or mime in AUDIO_FORMATS)
    if wire is Wire.OPENAI_RESPONSES:
        return mime == PDF if media.data is not None else web_url(media) is not None and (own or media.mime == PDF)
    if media.data is not None:
        return mime is not None and (image or mime == PDF)
    return media.url is not None and media.url.startswith("https://") and (image or own or media.mime == PDF)


def type_for_gemini(media: Media) -> str | None:
    """The type by which Gemini takes these bytes or this address; empty: the address came there without one.

    None: it does not take them. Text of other formats is none of them: it is shown as text.
    """
    own = media.wire == Wire.GEMINI
    if media.data is not None:
        mime = (media.mime if own else shown_type(media)) or ""
        taken = mime in _GEMINI_TYPES or (mime.partition("/")[0] in _GEMINI_KINDS and not mime.endswith("/"))
        return mime if media.data and taken and (own or not mime.startswith("text/")) else None
    if address_for_gemini(media) is not None:
        return media.mime
    if media.url is None or not media.url.strip():
        return None
    mime = media.mime or _GEMINI_PICTURES.get(media.url.partition("?")[0].rpartition(".")[2].lower(), "")
    taken = mime == PDF or (mime in _GEMINI_TYPES and mime.startswith("image/"))
    return mime if media.url.startswith("https://") and taken else None


def address_for_gemini(media: Media) -> str | None:
    """The address under which it came in this format; None: it came otherwise."""
    own = own_extras(media.extras, media.wire, Wire.GEMINI)
    for key in ("fileData", "file_data"):
        match own.get(key):
            case {"fileUri": str(url)} | {"file_uri": str(url)} if url.strip():
                return url
    return None


def is_base64(text: str) -> bool:
    """Whether the text is base64 of something, in either alphabet."""
    return bool(text) and _bytes_of(text) is not None


def _file_of(media: Media, wire: Wire) -> bool:
    """Whether it is a file that this provider keeps."""
    own = own_extras(media.extras, media.wire, wire)
    return media.data is None and bool(_file_id(own))


def _place(part: Fields) -> _Place | None:
    match part:
        case {"type": "image_url", "image_url": {"url": str(content)}} if content[:5] in ("data:", ""):
            return _Place(path=("image_url", "url"), content=content, coding=_Coding.DATA_URL)
        case {"type": type, "image_url": str(content)} if type in _KINDS and content[:5] in ("data:", ""):
            return _Place(path=("image_url",), content=content, coding=_Coding.DATA_URL)
        case {"type": "input_file", "file_data": str(content)}:
            return _Place(path=("file_data",), content=content, coding=_Coding.DATA_URL)
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
    for key in ("inlineData", "inline_data"):
        match part.get(key):
            case {"data": str(content), "mimeType": str(mime)} | {"data": str(content), "mime_type": str(mime)}:
                return _Place(path=(key, "data"), content=content, coding=_Coding.ANY_BASE64, mime=mime)
    return None


def _address(part: Fields) -> tuple[str, str | None]:
    """Type and address; no type where the part names none."""
    for key in ("fileData", "file_data"):
        file = part.get(key)
        match file:
            case {"fileUri": str(url)} | {"file_uri": str(url)} if isinstance(file, dict):
                mime = file.get("mimeType") or file.get("mime_type")
                return (mime if isinstance(mime, str) else ""), None if _is_kept(url) else url
    return "", _url(part)


def _is_kept(url: str) -> bool:
    """Whether the address is one of a file that Google keeps, which it alone can fetch."""
    return url.startswith("https://generativelanguage.googleapis.com/")


def _url(part: Fields) -> str | None:
    match part:
        case {"image_url": {"url": str(url)}} | {"image_url": str(url)} | {"source": {"type": "url", "url": str(url)}}:
            return url
        case {"type": "input_file", "file_url": str(url)}:
            return url
    return None


def _file_id(part: Fields) -> str | None:
    match part:
        case {"file": {"file_id": str(id)}} | {"source": {"type": "file", "file_id": str(id)}}:
            return id
        case {"type": "input_file" | "input_image" | "computer_screenshot", "file_id": str(id)}:
            return id
        case {"fileData": {"fileUri": str(url)} | {"file_uri": str(url)}} if _is_kept(url):
            return url
        case {"file_data": {"fileUri": str(url)} | {"file_uri": str(url)}} if _is_kept(url):
            return url
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
    if place.coding is _Coding.ANY_BASE64:
        return mime, _bytes_of(content)
    try:
        return mime, b64decode("".join(content.split()), validate=True)
    except ValueError:
        return mime, None


_STANDARD = str.maketrans("-_", "+/")


def _bytes_of(text: str) -> bytes | None:
    """The bytes of base64 in either alphabet, padded or not; None for anything else."""
    found = "".join(text.split()).translate(_STANDARD).rstrip("=")
    try:
        return b64decode(found + "=" * (-len(found) % 4), validate=True)
    except ValueError:
        return None


def _encoded(data: bytes, coding: _Coding, mime: str) -> str:
    match coding:
        case _Coding.DATA_URL:
            return data_url(mime, data)
        case _Coding.BASE64 | _Coding.ANY_BASE64:
            return base64_of(data)
        case _Coding.TEXT:
            return data.decode("utf-8", "surrogatepass")


def _with(part: Fields, path: tuple[str, ...], content: str) -> Fields:
    if len(path) == 1:
        return {**part, path[0]: content}
    inner = part[path[0]]
    assert isinstance(inner, dict), "matched by _place"
    return {**part, path[0]: {**inner, path[1]: content}}
