"""What the first bytes of a picture say: its type and its size in pixels."""

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_GIF = (b"GIF87a", b"GIF89a")

#: JPEG segments that hold the size: start of frame, all kinds but the tables that share their range.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def picture_type(data: bytes) -> str | None:
    """The MIME type of a picture that providers show: PNG, JPEG, GIF or WebP; None for anything else."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(_JPEG):
        return "image/jpeg"
    if data.startswith(_GIF):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Width and height, where the header tells."""
    match picture_type(data):
        case "image/png" if len(data) >= 24:
            return _checked(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
        case "image/gif" if len(data) >= 10:
            return _checked(int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
        case "image/jpeg":
            return _jpeg_size(data)
        case "image/webp" if len(data) >= 30:
            return _webp_size(data)
    return None


def _checked(width: int, height: int) -> tuple[int, int] | None:
    return (width, height) if width and height else None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            return _checked(int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big"))
        # A filler byte, or a marker without a segment.
        if marker == 0xFF or 0xD0 <= marker <= 0xD9:
            at += 1 if marker == 0xFF else 2
            continue
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = int.from_bytes(data[26:28], "little"), int.from_bytes(data[28:30], "little")
            return _checked(width & 0x3FFF, height & 0x3FFF)
    return None
