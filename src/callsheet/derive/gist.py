"""The one or two lines that stand for a result: what was asked, what came back, and which identifiers it holds.

A value stands only with the name or the words that it stood with; what does not fit is left out whole.
"""

import json
import re
from collections.abc import Iterable, Sequence

from callsheet.derive.document import ContentKind, Document
from callsheet.derive.entities import Entity, EntityKind
from callsheet.derive.fields import Field, fields, members
from callsheet.derive.prose.marks import marked_lines

LIMIT = 400
"""Characters of a gist at most, unless the caller says otherwise. Typical are about 60 tokens."""

_SHORT = 160
_VALUE = 64
_OUTLINE = 120
_VALUES_OF_ONE = 8
_ASKED = 140
_ERROR = 260
_BEGINS = 80
_PARSED = 65_536
_ENOUGH = 0.6
_NAMED = frozenset((ContentKind.JSON, ContentKind.JSON_LINES, ContentKind.TABLE))
_WEAK = frozenset((EntityKind.NUMBER, EntityKind.DATE, EntityKind.NAME))
_STRONG = frozenset(EntityKind) - _WEAK - {EntityKind.TIME}
_UNTOLD = re.compile(r"passw|passphrase|secret|token|credential|api_?key|kennwort", re.IGNORECASE)

_BEGINNINGS = 24
_START = re.compile(
    r"""[(\[{\s]*b?(?:(['"])(?P<quoted>[^'"\n]{1,120})\1|(?P<bare>[^\s,|;'"()\[\]{}][^,|;'"()\[\]{}\n]{0,120}))"""
)

_STATUS = re.compile(r"exit(?:ed)?[ _\-]?(?:with )?(?:status|code)[\"':= ]{0,4}-?\d{1,10}", re.IGNORECASE)
_WRONG = re.compile(
    r"^[^\n]{0,200}?(?:\b(?:fatal|error|panic|exception|failed|failure|fehler)\b|\w(?:Error|Exception)\b)[^\n]{0,400}",
    re.IGNORECASE | re.MULTILINE,
)
_WRONG_WORDS = ("fatal", "error", "panic", "exception", "failed", "failure", "fehler")
_SENTENCE = re.compile(r"[^\n]{1,400}?(?:[.!?。！？](?=\s|\Z)|[。！？]|\n|\Z)")
_SPACE = re.compile(r"[\s\x00-\x1f\ud800-\udfff]+")
_MESSAGES = ("error", "message", "detail", "details", "reason", "error_message", "exception", "msg", "code")


def gist(
    document: Document,
    *,
    tool: str,
    arguments: str,
    failed: bool,
    found: Sequence[Entity],
    limit_chars: int = LIMIT,
) -> str:
    """What was asked and what came back, on one line of at most ``limit_chars`` characters.

    ``arguments`` is the JSON of the call, ``found`` the mentions in the text of the document, in order. A failure is
    named as such, with its message and exit status. White space is folded; a value that was cut ends in ``…``.
    """
    asked, given = _asked(tool, arguments)
    text = document.text
    if failed:
        line = _Line(_failure(asked, document, limit_chars), limit_chars, "; ")
        if len(text) <= _ERROR:
            return line.text
    else:
        line = _Line(asked, limit_chars, ": ")
        if document.kind is not ContentKind.BINARY and len(text) <= _SHORT and not _is_object(document):
            line.add(_folded(text) or "empty result")
            return line.text
    _tell(line, document, given, found, failed=failed)
    return line.text


def _tell(
    line: "_Line", document: Document, given: frozenset[tuple[str, str]], found: Sequence[Entity], *, failed: bool
) -> None:
    """The shape, then what identifies, then the rest while the line is short."""
    named = fields(document)
    holders = _with_entities(named, found, _STRONG)
    told = {id(field) for field in holders}
    others = [field for field in _with_entities(named, found, _WEAK) if id(field) not in told]
    told.update(map(id, others))
    # Of output that failed, the lines that are told say how many stood around them.
    shape = "" if _is_told_whole(document, named) or (failed and _in_lines(document)) else _shape(document)
    line.add(shape)
    for piece in _grouped(holders, named, given):
        line.add(piece)
    if not failed and not (named if document.kind in _NAMED else holders):
        for piece in _rows(document) or _in_words(document, found, shape, line.room):
            line.add(piece, up_to=_ENOUGH)
    rest = [field for field in named if id(field) not in told]
    for piece in [*_grouped(others, named, given), *_grouped(rest, named, given)]:
        line.add(piece, up_to=_ENOUGH)


def _is_told_whole(document: Document, named: Sequence[Field]) -> bool:
    """A small flat object needs no outline: its members are the gist."""
    flat = _is_object(document) and 0 < len(named) == document.total <= 8 and "(" not in document.outline()
    return flat and all(0 < len(field.value) <= _VALUE for field in named)


def _shape(document: Document) -> str:
    if document.kind is ContentKind.TEXT and " | " not in document.outline():
        return f"{document.total:,} {document.unit if document.total != 1 else document.unit.removesuffix('s')}"
    return _cut(_folded(document.outline()).rstrip(":"), _OUTLINE)


class _Line:
    """Takes pieces as long as they fit, whole."""

    def __init__(self, start: str, limit: int, mark: str) -> None:
        self._limit = max(limit, 0)
        self._mark = mark
        self.text = _cut(start, self._limit)

    @property
    def room(self) -> int:
        """Characters of a piece that fits."""
        return max(0, self._limit - len(self.text) - len(self._mark))

    def add(self, piece: str, *, up_to: float = 1.0) -> None:
        """Adds the piece if the line has not reached this share of its limit and the piece fits."""
        if piece and len(piece) <= self.room and len(self.text) < up_to * self._limit:
            self.text += self._mark + piece
            self._mark = "; "


def _asked(tool: str, arguments: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """The call with its short scalar arguments, and which they are."""
    given = _given(arguments)
    shown: list[str] = []
    room = _ASKED
    for key, value in given:
        piece = f"{_cut(key, _VALUE)}: {_cut(value, _VALUE)}"
        room -= len(piece) + 2
        if room >= 0:
            shown.append(piece)
    more = "…" if len(shown) < len(given) else ""
    return f"{_cut(_folded(tool), _VALUE)}({', '.join([*shown, more] if more else shown)})", frozenset(given)


def _given(arguments: str) -> list[tuple[str, str]]:
    try:
        parsed: object = json.loads(arguments, parse_int=str, parse_float=str) if len(arguments) <= _PARSED else None
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        flat = {str(key): str(value) for key, value in parsed.items() if isinstance(value, str | bool)}
        return [(_folded(key), _folded(value)) for key, value in flat.items() if not _UNTOLD.search(key)]
    return [(_folded(field.key), _folded(field.value)) for field in members(arguments) if not _UNTOLD.search(field.key)]


def _failure(asked: str, document: Document, limit: int) -> str:
    """The call, that it failed, its exit status where the text tells one, and as much of the message as fits."""
    status = ""
    for match in _STATUS.finditer(document.text[-2_000:]):
        status = f" ({_folded(match[0])})"
    head = _cut(asked, max(limit // 2, limit - _ERROR - len(status) - 9))
    said = (_in_its_place(document) if _in_lines(document) else _cut(_message(document)[0], _ERROR)) or "no message"
    if status[2:-1].casefold() in said.casefold():
        status = ""
    failure = f"{head} failed{status}: "
    if len(failure) > limit:
        return _cut(f"failed: {said}", limit)
    return failure + (_cut(said, limit - len(failure)) or "…")[: limit - len(failure)]


def _in_lines(document: Document) -> bool:
    """Whether it is output of several lines, of which a gist tells a few."""
    return document.unit == "lines" and document.total > 2 and len(document.text) > _ERROR


def _in_its_place(document: Document) -> str:
    """The first line, which is mostly the command, and the message, with how many lines were left out around them."""
    text = document.text
    said, at = _message(document)
    line = text.count("\n", 0, at)
    begins = _cut(_folded(text[: 4 * _BEGINS].partition("\n")[0]), _BEGINS) if line else ""
    if begins.startswith("Traceback"):
        begins = ""
    before, after = line - bool(begins), document.total - line - 1
    around = [begins, _left_out(before), "", _left_out(after)]
    around[2] = _cut(said, _ERROR - sum(map(len, around)))
    return " … ".join(filter(None, around))


def _left_out(lines: int) -> str:
    return f"({lines:,} {'line' if lines == 1 else 'lines'} left out)" if lines > 0 else ""


def _message(document: Document) -> tuple[str, int]:
    """What went wrong, and where in the text it stands, 0 where it is told from several places."""
    text = document.text
    if _is_object(document):
        named: dict[str, str] = {}
        for field in fields(document):
            named.setdefault(field.key.casefold(), field.value)
        told = [f"{key}: {_folded(named[key])}" for key in _MESSAGES if key in named]
        if told:
            return ", ".join(told), 0
    tail = text[-4_000:]
    before = len(text) - len(tail)
    matches = (_WRONG.match(tail, start) for start, _ in marked_lines(tail, _WRONG_WORDS))
    lines = [(match[0], before + match.start()) for match in matches if match is not None]
    first = _first_line(text), 0
    if document.kind is ContentKind.TRACE or "Traceback (most recent" in text[:4_000]:
        last = [line for line in lines if re.match(r"\s{0,4}[\w.]{1,100}(?:Error|Exception)\b|panic", line[0])]
        said, at = (last or lines or [first])[-1]
        return _folded(said), at
    if _WRONG.match(first[0]) or not lines:
        return _folded(first[0] if len(text) > _ERROR else text), 0
    # The first of several says what went wrong; those after it often only count.
    specific = [line for line in lines if re.search(r"(?:error|fatal|panic|fehler)\W", line[0], re.IGNORECASE)]
    said, at = (specific or lines)[0]
    return _folded(said), at


def _first_line(text: str) -> str:
    return text[:2_000].strip().partition("\n")[0]


def _is_object(document: Document) -> bool:
    return document.kind in (ContentKind.JSON, ContentKind.JSON_LINES) and document.text[:200].lstrip()[:1] in (
        "{",
        "[",
    )


def _with_entities(named: Iterable[Field], found: Sequence[Entity], kinds: frozenset[EntityKind]) -> list[Field]:
    """The fields whose value holds a mention of these kinds. Both are in the order of the text."""
    holders: list[Field] = []
    at = 0
    for field in named:
        while at < len(found) and found[at].end <= field.start:
            at += 1
        within = at
        while within < len(found) and found[within].start < field.end:
            if found[within].value in field.value and found[within].kind in kinds:
                holders.append(field)
                break
            within += 1
    return holders


def _grouped(some: Sequence[Field], named: Sequence[Field], given: frozenset[tuple[str, str]]) -> list[str]:
    """``key: value, value`` for each key, in order; without what was asked with and what is too long to stand whole.

    A key that stands under several others is told with the one it stands under. Several values stand together only if
    they identify something: other ones, in a row, would look as if they belonged to those of another key.
    """
    places: dict[str, set[str]] = {}
    for field in named:
        places.setdefault(field.key, set()).add(field.under)
    groups: dict[str, dict[str, None]] = {}
    for field in some:
        value = _folded(field.value)
        if value and len(value) <= _VALUE and (field.key, value) not in given:
            # Under many keys they are the items of a map.
            qualified = field.under and 1 < len(places[field.key]) <= 3
            groups.setdefault(f"{field.under}.{field.key}" if qualified else field.key, {})[value] = None
    pieces: list[str] = []
    for key, values in groups.items():
        if len(values) > 1 and not all(_identifies(value) for value in list(values)[:_VALUES_OF_ONE]):
            continue
        shown = list(values)[:_VALUES_OF_ONE]
        more = ", …" if len(values) > len(shown) else ""
        pieces.append(f"{_folded(key)}: {', '.join(shown)}{more}")
    return pieces


def _identifies(value: str) -> bool:
    """Whether a value looks like the name of one thing, not like a measure, a time or a state."""
    digits = sum(map(str.isdigit, value))
    if digits == 0:
        return not value.islower() or "_" in value or "/" in value or "@" in value
    return digits >= 5 if value.isdigit() else re.fullmatch(r"[\d.,:+\-/ ]+", value) is None


def _rows(document: Document) -> list[str]:
    """Of a table that does not name its columns: a row as it stands, and what the others begin with."""
    if document.kind is not ContentKind.TABLE or not document.segments:
        return []
    first, *others = document.segments[:_BEGINNINGS]
    whole = f"{first.name}: {_folded(document.text[first.start : first.end])}"
    starts = [_START.match(document.text, segment.start, segment.end) for segment in others]
    named = dict.fromkeys(match["quoted"] or match["bare"] for match in starts if match is not None)
    if len(named) < len(others) or not named:
        rows = [document.text[segment.start : segment.end] for segment in others[:2]]
        return [whole, *(f"{segment.name}: {_folded(row)}" for segment, row in zip(others, rows, strict=False))]
    more = ", …" if len(document.segments) > _BEGINNINGS else ""
    return [whole, f"the others begin with: {', '.join(_cut(name, _VALUE) for name in named)}{more}"]


def _in_words(document: Document, found: Sequence[Entity], shape: str, room: int) -> Iterable[str]:
    """The first sentence, cut between words where it is long, then mentions with two words on each side."""
    text = document.text
    if document.kind in (ContentKind.BINARY, ContentKind.EMPTY, ContentKind.HTML, ContentKind.SOURCE):
        return
    opening = _opening(text[:4_000].lstrip(), min(_SHORT, room))
    if opening and document.kind is not ContentKind.JSON and opening not in shape:
        yield opening
    seen = {opening}
    end = 0
    for entity in found[:64]:
        if entity.start < end or entity.value in opening or entity.value in seen or entity.kind is EntityKind.TIME:
            continue
        seen.add(entity.value)
        before = text[max(0, entity.start - 40) : entity.start].rpartition("\n")[2].split(" ")[-3:]
        after = text[entity.end : entity.end + 40].partition("\n")[0].split(" ")[:3]
        end = entity.end + len(" ".join(after))
        piece = _folded(" ".join(before) + entity.value + " ".join(after))
        words = piece.replace(entity.value, "")
        if '":' not in piece and (entity.kind in _STRONG or re.search(r"[^\W\d_]", words)):
            yield piece


def _opening(text: str, limit: int) -> str:
    """The first sentence, or as much of it as fits; of what has no words, nothing."""
    first = _SENTENCE.match(text)
    if first is not None:
        return _cut(_folded(first[0]), limit)
    # None ends soon, as in text without any stop: its beginning says more than nothing.
    begins = _cut(_folded(text), limit)
    return begins if " " in begins or not begins.rstrip("…").isascii() else ""


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _cut(text: str, limit: int) -> str:
    """The text, or its beginning up to a word with a mark that it goes on."""
    if len(text) <= limit:
        return text
    if limit < 2:
        return ""
    head = text[: limit - 1]
    space = head.rfind(" ")
    return (head[:space] if space > limit // 2 else head).rstrip() + "…"
