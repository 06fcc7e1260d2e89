"""Finds what records can be linked by: ids, codes, paths, addresses, amounts, dates and quoted names, in any language.

One linear pass: every branch of the pattern is possessive or bounded, so hostile text costs no more than other text.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from callsheet.derive.remembered import Remembered

LIMIT = 256
"""Distinct entities that are kept of one text unless the caller says otherwise."""

LONGEST = 160
"""Longer runs without white space, such as base64, are no entities."""


class EntityKind(StrEnum):
    """What kind of thing a mention is, by its form."""

    CODE = "code"
    PATH = "path"
    FILE = "file"
    URL = "url"
    EMAIL = "email"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    NAME = "name"


class Entity(NamedTuple):
    """One mention. ``text[start:end] == value``."""

    start: int
    end: int
    value: str
    kind: EntityKind


_PART = r"[\w.\-+@]{1,128}+"
_QUOTES = '"“”„«»「」`'
# No store can keep these in a text column.
_UNFIT = r"\x00-\x1f\ud800-\udfff"
# Every match begins where the last one ended and first passes over all that is plain, so no place is looked at from
# two sides and words are only ever entered at their start. In JSON, escapes such as ``\n`` belong to no word.
# The first of what is plain is the second with the third behind it, which most of a text is: two steps in one.
_PATTERN = re.compile(
    rf"""
    (?:
        [A-Za-z]++[\s,;(){{}}\[\]<>=*+|&!?'%^$€£][\s,;:(){{}}\[\]<>=*+|&!?'%^$€£-]*+
        |(?:[A-Za-z]++|[^\W\d_]++)(?![\w@/\\]|[.:\-][\w/\\])
        |[\s,;:(){{}}\[\]<>=*+|&!?'%^$€£-]++
        |[{_QUOTES}](?![^\W\d_a-z])
        |\d{{1,2}}(?![\w@/\\]|[.,:\-'’\u00a0\u202f][\w/\\])
        |\\[nrtbf"]
        |\.(?![./])
    )*+
    (?:
        (?P<date>\d{{4}}(?:-\d\d-|/\d\d/)\d\d(?=[T ]\d|\W|\Z)|\d{{1,2}}(?:\.\d{{1,2}}\.|/\d{{1,2}}/)\d{{4}}(?!\w))T?
        |(?P<time>\d{{1,2}}:\d\d(?::\d\d)?+(?![\w:]))
        |(?P<number>(?:\d{{1,3}}(?:[,.'’\u00a0\u202f]\d{{3}})++(?:[.,]\d{{1,9}})?+|\d{{1,40}}+(?:[.,]\d{{1,40}}+)?+)
            (?!\w|[.,:\-/]\w))
        |\#(?=[A-Za-z_\-]{{0,20}}+\d)(?P<tagged>[\w\-]{{1,64}}+)
        |[{_QUOTES}](?P<quoted>[^\d_{_QUOTES}{_UNFIT},:;(){{}}\[\]<>/\\=@\#$%*+|!?]{{2,48}}+)(?=[{_QUOTES}](?!\s{{0,3}}+:))
        |(?P<path>(?:/(?<![\w<.:/\\~]/)|~/|\.\.?/)[\w.\-+@]{{2,128}}+(?:/{_PART}){{0,40}}+/?)
        |(?P<url>[A-Za-z][A-Za-z0-9+.\-]{{1,15}}+://[^\s{_UNFIT}"'<>`\\^{{}}|]{{1,2000}}+)
        |(?P<drive>[A-Za-z]:\\[^\s{_UNFIT}"'<>|*?:;,]{{1,400}}+)
        |(?P<email>\w[\w.%+\-]{{0,63}}+@[\w\-]{{1,63}}+(?:\.[\w\-]{{1,63}}+){{1,8}}+)
        |(?P<relative>{_PART}(?:/{_PART}){{2,40}}+/?|{_PART}/(?:[\w\-+@]{{1,64}}+\.){{1,8}}+[A-Za-z]\w{{0,7}}+)
        |(?P<word>\w++(?:[.\-]\w++){{0,16}}+)
        |[\s\S]|\Z
    )
    """,
    re.VERBOSE,
)

_KINDS = {
    "tagged": EntityKind.CODE,
    "path": EntityKind.PATH,
    "drive": EntityKind.PATH,
    "relative": EntityKind.PATH,
    "url": EntityKind.URL,
    "email": EntityKind.EMAIL,
    "date": EntityKind.DATE,
    "time": EntityKind.TIME,
}

_ENDINGS = """
7z aac avi bak bat bash bin bmp bz2 c cc cfg class cmd conf cpp cs css csv dart db deb diff dll doc docx dylib egg
eml env epub exe flac gif gitignore go gz h hpp hs htm html ico ics ini ipynb jar java jpeg jpg js json jsonl jsx
key kt lock log lua m4a map md mjs mk mov mp3 mp4 mpeg msg o odp ods odt ogg parquet patch pdf pem php pkl pl png
ppt pptx properties proto ps1 py pyc pyi r rar rb rpm rs rst rtf scala sh so sql sqlite svelte svg swift tar tex tf
tgz tif tiff toml ts tsv tsx ttf txt vue war wasm wav webm webp whl woff xls xlsx xml yaml yml zip zst
"""
_EXTENSIONS = frozenset(_ENDINGS.split())
_HOSTS = "com org net edu gov io dev app de at ch eu uk fr example internal local localhost"
_DOMAINS = frozenset(_HOSTS.split())
_DIGIT = re.compile(r"\d")
_MEASURE = re.compile(r"\d{1,3}[^\W\d_]{1,2}\Z")
_AFTER_KEY = re.compile(r"[\"'`]?[ \t]{0,3}[:=](?!=)")


def find(text: str) -> list[Entity]:
    """Every mention in the text, in order and not overlapping."""
    return list(mentions(text))


def mentions(text: str, start: int = 0, end: int | None = None) -> Iterator[Entity]:
    """Every mention in a stretch of the text, in order, found as it is asked for. Positions are those of the text."""
    for match in _PATTERN.finditer(text, start, len(text) if end is None else end):
        name = match.lastgroup
        if name is None:
            continue
        begin, stop = match.span(name)
        value = match[name]
        if name == "word":
            if stop - begin < 3 or stop - begin > LONGEST:
                continue
            kind, in_parts = _WORDS[value]
            # What stands before a colon or an equals sign is the name of a field, which many records share.
            if in_parts and _AFTER_KEY.match(text, stop):
                continue
        elif name == "number":
            # Two digits say too little, with or without a mark between them.
            kind = EntityKind.NUMBER if stop - begin > 3 or (stop - begin == 3 and value.isdigit()) else None
        elif name == "quoted":
            kind = EntityKind.NAME if _is_name(value) else None
        else:
            value = value.rstrip(".,;:!?)]-'")
            kind = _KINDS[name] if 2 < len(value) <= 4 * LONGEST else None
        if kind is not None:
            yield Entity(begin, begin + len(value), value, kind)


def _is_name(value: str) -> bool:
    """Names begin with a capital, where there are any, and are short; other quotations are sentences or settings."""
    first, last = value[0], value[-1]
    return not (first == " " or last in " ." or first.islower() or value.count(" ") > 5)


class _Word(NamedTuple):
    """What a run of word characters, hyphens and dots is; None: an ordinary word."""

    kind: EntityKind | None
    #: It has parts and nothing else that tells, so it may be the name of a field.
    in_parts: bool = False


def _read_word(word: str) -> _Word:
    if "." not in word and _DIGIT.search(word) is None:
        return _Word(EntityKind.CODE, True) if "_" in word.strip("_-") and not word.startswith("__") else _Word(None)
    return _Word(_kind_of_word(word))


_WORDS = Remembered(_read_word)


def _kind_of_word(word: str) -> EntityKind | None:
    """What a word with a digit or a dot is."""
    if "." in word:
        return _kind_of_dotted(word, _DIGIT.search(word) is not None)
    if word.isdigit():
        return EntityKind.NUMBER
    bare = word.replace("-", "")
    if bare.isdigit():
        return EntityKind.CODE if len(bare) >= 5 else None
    return None if _MEASURE.match(word) else EntityKind.CODE


def _kind_of_dotted(word: str, numbered: bool) -> EntityKind | None:
    stem, _, last = word.rpartition(".")
    ending = last.casefold()
    if ending in _EXTENSIONS and len(stem) > 1:
        return EntityKind.FILE
    if ending in _DOMAINS and len(stem) > 1:
        return EntityKind.URL
    if not numbered or (last[:1].isupper() and last[1:].islower()):
        return None
    return EntityKind.CODE


_SHORTEST_DATE = 8
_NUMBER = re.compile(r"\d[\d,.'’\u00a0\u202f]*+\Z")
_DATE = re.compile(r"(?:(\d{4})[-/](\d\d)[-/](\d\d)|(\d{1,2})([./])(\d{1,2})[./](\d{4}))\Z")


def normal(value: str) -> str:
    """What links two mentions: the same thing written in another way has the same normal form.

    Case is folded, thousands separators and trailing zeros of a fraction go, as do a leading ``#`` and trailing
    punctuation; dates are written ``YYYY-MM-DD`` where the order is beyond doubt.
    """
    if value.isascii() and value.isdigit():
        return value
    value = value.strip().rstrip(".,;:!?")
    if _NUMBER.match(value):
        return (_plain_date(value) if len(value) >= _SHORTEST_DATE else None) or _plain_number(value)
    if value[:1] == "#" and len(value) > 3:
        value = value[1:]
    if "://" in value or "/" in value or "\\" in value:
        bare = value.rstrip("/\\")
        # What stood before the last stroke may end in punctuation or be a number itself.
        return _plain_date(value) or (normal(bare) if bare != value else value.casefold())
    if value[:1].isdigit():
        value = _plain_date(value) or value
    return " ".join(value.split()).casefold()


def _plain_date(value: str) -> str | None:
    found = _DATE.match(value)
    if found is None:
        return None
    year, month, day, first, mark, second, last = found.groups()
    if year:
        return f"{year}-{month}-{day}"
    if mark == "." or int(first) > 12:
        return f"{last}-{int(second):02}-{int(first):02}"
    return f"{last}-{int(first):02}-{int(second):02}" if int(second) > 12 else None


def _plain_number(value: str) -> str:
    whole, point, fraction = value.partition(".")
    if point and whole.isascii() and whole.isdigit() and fraction.isascii() and fraction.isdigit():
        fraction = fraction.rstrip("0")
        return f"{whole}.{fraction}" if fraction else whole
    marks = [c for c in value if not c.isdigit()]
    if not marks:
        return value
    point = marks[-1]
    grouped = len(marks) > 1 and marks.count(point) == len(marks)
    whole, _, fraction = value.rpartition(point)
    # ``1,284`` and ``1.284.000`` are grouped; ``1.284`` alone is read as a fraction.
    if point not in ".," or grouped or (point == "," and len(fraction) == 3 and "." not in whole):
        return "".join(c for c in value if c.isdigit())
    whole = "".join(c for c in whole if c.isdigit())
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def entities(text: str, limit: int = LIMIT) -> tuple[str, ...]:
    """The distinct normal forms in the text, in order of first appearance, at most ``limit``."""
    seen: set[str] = set()
    found: dict[str, None] = {}
    for entity in mentions(text):
        if entity.value not in seen:
            if len(found) >= limit:
                break
            seen.add(entity.value)
            found[normal(entity.value)] = None
    return tuple(found)
