"""Pictures, files and sound: where they may stand, as what, and what stands for them elsewhere."""

import struct
import zlib
from base64 import b64encode, encodebytes

import pytest

from callsheet.assemble.blocks import Answer, Block, Call, Media, Said, Text
from callsheet.graph.enums import Role
from callsheet.wire.formats import parse_messages, render_messages
from callsheet.wire.names import Wire
from callsheet.wire.pictures import picture_size, picture_type
from tests.wire.histories import PDF, PNG

OPENAI, ANTHROPIC = Wire.OPENAI, Wire.ANTHROPIC

BIG = bytes(range(256)) * 1000


def user(media: Media) -> list[Block]:
    return [Said(role=Role.USER, parts=(media,), form="parts")]


def result(*content: Media | Text, failed: bool | None = None) -> list[Block]:
    asked = Said(role=Role.ASSISTANT, parts=(Call(id="c", tool="f", arguments="{}"),))
    return [Said(role=Role.USER, parts=(Text(text="go"),)), asked, Answer(call="c", content=content, failed=failed)]


def shown(blocks: list[Block], wire: Wire) -> object:
    """The last part of the last message."""
    message = render_messages(blocks, wire)[-1]
    content = message.get("content", message.get("parts"))
    return content[-1] if isinstance(content, list) else content


def url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{b64encode(data).decode()}"


def source(mime: str, data: bytes) -> dict[str, str]:
    return {"type": "base64", "media_type": mime, "data": b64encode(data).decode()}


IN_USER_MESSAGES: list[tuple[Media, object, object]] = [
    (
        Media(mime="image/png", data=PNG),
        {"type": "image_url", "image_url": {"url": url("image/png", PNG)}},
        {"type": "image", "source": source("image/png", PNG)},
    ),
    (
        Media(mime="image/jpeg", data=PNG),
        {"type": "image_url", "image_url": {"url": url("image/png", PNG)}},
        {"type": "image", "source": source("image/png", PNG)},
    ),
    (
        Media(mime="application/pdf", data=PDF),
        {"type": "file", "file": {"file_data": url("application/pdf", PDF), "filename": "document.pdf"}},
        {"type": "document", "source": source("application/pdf", PDF)},
    ),
    (
        Media(mime="audio/mpeg", data=b"ID3"),
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
        {"type": "text", "text": "(audio/mpeg, 3 bytes, not shown)"},
    ),
    (
        Media(mime="text/csv", data="a;ä\0".encode()),
        "a;ä␀",
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a;ä␀"}},
    ),
    (
        Media(mime="image/png", url="https://a.example/b.png"),
        {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
        {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
    ),
]

IN_WORDS: list[tuple[Media, str]] = [
    (Media(mime="image/png", data=BIG), "(image/png, 256,000 bytes, not shown)"),
    (Media(mime="image/tiff", data=b"II*\0"), "(image/tiff, 4 bytes, not shown)"),
    (Media(mime="application/pdf", data=BIG), "(application/pdf, 256,000 bytes, not shown)"),
    (Media(mime="application/octet-stream", data=PNG), f"(application/octet-stream, {len(PNG)} bytes, not shown)"),
    (Media(mime="text/plain", data=b"\xff"), "(text/plain, 1 bytes, not shown)"),
    (Media(mime="text/plain", data=b" "), "(text/plain, 1 bytes, not shown)"),
    (Media(mime="video/mp4", url="https://a.example/v"), "(video/mp4 at https://a.example/v, not shown)"),
    (Media(mime="image/png", url="file:///etc/hosts"), "(image/png, not shown)"),
    (Media(data=b"x"), "(document, 1 bytes, not shown)"),
    (Media(), "(document, not shown)"),
]


@pytest.mark.parametrize(("media", "openai", "anthropic"), IN_USER_MESSAGES)
def test_what_a_provider_takes_is_shown(media: Media, openai: object, anthropic: object) -> None:
    text = {"type": "text", "text": openai} if isinstance(openai, str) else openai

    assert shown(user(media), OPENAI) in (openai, text)
    assert shown(user(media), ANTHROPIC) == anthropic


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize(("media", "words"), IN_WORDS)
def test_what_a_provider_does_not_take_is_said(media: Media, words: str, wire: Wire) -> None:
    assert shown(user(media), wire) in (words, {"type": "text", "text": words}, {"text": words})
    assert words in str(render_messages(result(media), wire)[2])


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.SYSTEM])
def test_only_users_show_pictures(role: Role, wire: Wire) -> None:
    blocks: list[Block] = [
        Said(role=Role.USER, parts=(Text(text="x"),)),
        Said(role=role, parts=(Media(mime="image/png", data=PNG),)),
    ]

    assert f"(image/png, {len(PNG)} bytes, not shown)" in str(render_messages(blocks, wire))


def test_pictures_of_openai_results_follow_all_results_of_their_turn() -> None:
    calls = (Call(id="a", tool="f", arguments="{}"), Call(id="b", tool="f", arguments="{}"))
    blocks: list[Block] = [
        Said(role=Role.ASSISTANT, parts=calls),
        Answer(call="a", content=(Media(mime="image/png", data=PNG), Text(text="panel 6"))),
        Answer(call="b", content=(Text(text="panel 7"),)),
        Said(role=Role.USER, parts=(Text(text="Well?"),)),
    ]

    _, first, second, pictures, last = render_messages(blocks, OPENAI)

    assert first["content"] == [
        {"type": "text", "text": "(image/png, in the next user message)"},
        {"type": "text", "text": "panel 6"},
    ]
    assert second["content"] == "panel 7"
    assert pictures["content"] == [
        {"type": "text", "text": "Returned by tool call a:"},
        {"type": "image_url", "image_url": {"url": url("image/png", PNG)}},
    ]
    assert last["content"] == "Well?"


def test_sound_of_results_stays_out() -> None:
    assert shown(result(Media(mime="audio/wav", data=b"RIFF")), OPENAI) == "(audio/wav, 4 bytes, not shown)"


def test_errors_of_anthropic_hold_text_alone() -> None:
    (block,) = [shown(result(Text(text="off"), Media(mime="image/png", data=PNG), failed=True), ANTHROPIC)]

    assert block == {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": [
            {"type": "text", "text": "off"},
            {"type": "text", "text": f"(image/png, {len(PNG)} bytes, not shown)"},
        ],
        "is_error": True,
    }


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": url("image/png", PNG)}},
        {"type": "input_image", "image_url": url("image/png", PNG)},
        {"type": "image", "mimeType": "image/png", "data": b64encode(PNG).decode()},
        {"type": "image", "source": source("image/png", PNG)},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encodebytes(PNG).decode()}},
    ],
)
def test_a_picture_is_known_in_every_shape(part: dict[str, object]) -> None:
    (answer,) = parse_messages({"role": "tool", "tool_call_id": "c", "content": [part]})
    assert isinstance(answer, Answer)
    (media,) = answer.content
    assert isinstance(media, Media)

    assert (media.mime, media.data, media.width, media.height) == ("image/png", PNG, 1, 1)


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + zlib.compress(b"")


def jpeg(width: int, height: int) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 6) + b"Exif"
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\1\1\1"
    return b"\xff\xd8" + exif + b"\xff" + frame


PICTURES = [
    (png(640, 480), "image/png", (640, 480)),
    (jpeg(640, 480), "image/jpeg", (640, 480)),
    (b"GIF89a" + struct.pack("<HH", 640, 480), "image/gif", (640, 480)),
    (
        b"RIFF0000WEBPVP8X" + b"\0" * 8 + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"),
        "image/webp",
        (640, 480),
    ),
    (
        b"RIFF0000WEBPVP8L" + b"\0" * 4 + b"\x2f" + (639 | 479 << 14).to_bytes(4, "little") + b"\0" * 9,
        "image/webp",
        (640, 480),
    ),
    (b"RIFF0000WEBPVP8 " + b"\0" * 7 + b"\x9d\x01\x2a" + struct.pack("<HH", 640, 480), "image/webp", (640, 480)),
    (png(640, 480)[:20], "image/png", None),
    (jpeg(640, 480)[:14], "image/jpeg", None),
    (png(0, 480), "image/png", None),
    (b"\xff\xd8\xff", "image/jpeg", None),
    (b"BM", None, None),
    (b"", None, None),
]


@pytest.mark.parametrize(("data", "mime", "size"), PICTURES)
def test_the_header_tells_type_and_size(data: bytes, mime: str | None, size: tuple[int, int] | None) -> None:
    assert picture_type(data) == mime
    assert picture_size(data) == size
