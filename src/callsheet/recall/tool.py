"""The recall tool as a model sees it: its name, its schema, and what its arguments mean."""

import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from callsheet.errors import InvalidOption
from callsheet.recall.request import LONGEST_POINTER, LONGEST_SEARCH, MOST, PARTS, Range, RecallRequest, shown

NAME = "recall"

_DOES = "Read what was shortened or left out"
_TAKES = ": a reference, whole or in part; or find references by query."

DESCRIPTION = _DOES + _TAKES

PART = "lines 0:40, rows 0:40, bytes 0:999, a JSON Pointer, or text to find"
"""What a part may be, as a model is told: few tokens, since they are in nearly every request."""

SQL = ", or sql SELECT ... FROM t"
"""What `PART` ends in where a table was shortened and can be asked."""

_LONGEST_ARGUMENTS = 8 * (LONGEST_POINTER + LONGEST_SEARCH)
_KNOWN = ("reference", "part", *PARTS, "query")
_RANGE = re.compile(
    r"(lines?|rows?|bytes?|characters?)\s*[:=]?\s*\[?(\d{1,400})\s*(?:(?::|-|,|to|\.\.)\s*(\d{1,400})?)?\]?",
    re.IGNORECASE,
)
_ALMOST = re.compile(
    r"(lines?|rows?|bytes?|characters?|chars|turns|messages|items|records|entries|elements|columns|pages|sections"
    r"|paragraphs|chunks|words|tokens)\b(?=\D{0,20}\d)(?:[\s\d:=,;.+\-\[\]()]|to\b|and\b|from\b|until\b|end\b|of\b)*",
    re.IGNORECASE,
)
"""What begins like a range and holds nothing else, whether it can be one or not: looked for as text it would be found
nowhere, which reads as if the content did not have it."""
_POINTER = re.compile(r"pointer(?:\s*[:=]|\s)\s*(?=/)", re.IGNORECASE)
"""How a JSON Pointer may be announced."""
_ROWS_OF = re.compile(
    r"(rows?\b[\s\d:=,.to\[\]-]{1,60}?)\s*(?:of\s+)?(?=sql\b|select\b)(.*)", re.IGNORECASE | re.DOTALL
)
"""Rows of what SQL finds."""
_SEARCH = re.compile(r"search(?:\s*:|\s)\s*(?=\S)", re.IGNORECASE)
"""How text to find may be announced."""
_STATEMENT = re.compile(
    r"""sql\b[\s:]+(?=\(|--|/\*|(?:alter|attach|call|copy|create|delete|describe|drop|explain|export|from|insert|install"""
    r"""|load|merge|pivot|pragma|select|set|show|summarize|table|truncate|update|values|with)\b)|(?=select\s.*\bfrom\s)""",
    re.IGNORECASE | re.DOTALL,
)
"""How SQL begins: any other text, such as ``sql error``, is text to find."""
_MISSPELT = re.compile(r"sql\b[\s:]+(?=(\w+)\s)", re.IGNORECASE)
_LIKE = 0.8
"""Likeness of a misspelt word to the one that is meant: one letter of six missing, added or at the wrong place."""
_QUOTED = re.compile(r"\"(.+)\"|'(.+)'", re.DOTALL)


def schema(*, sql: bool = False) -> dict[str, object]:
    """The JSON schema of its arguments; with `sql` it says that tables can be asked.

    The parts of a `RecallRequest` are understood by their own names too; one argument for all of them is a third of
    the tokens.
    """
    text = {"type": "string"}
    return {
        "type": "object",
        "properties": {
            "reference": dict(text),
            "part": {"type": "string", "description": PART + SQL if sql else PART},
            "query": dict(text),
        },
    }


def description(documents: int = 0, titles: Sequence[str] = ()) -> str:
    """What it does; where there are documents, also how many can be searched, and their titles if any are given."""
    if not documents:
        return DESCRIPTION
    named = f" ({'; '.join(titles)})" if titles else ""
    return f"{_DOES}, or search {documents:,} document{'s' if documents > 1 else ''}{named}{_TAKES}"


def tool(*, sql: bool = False, documents: int = 0, titles: Sequence[str] = ()) -> dict[str, object]:
    """The tool in the shape of OpenAI's Chat Completions, which every format here takes.

    See `schema` and `description`.
    """
    told = {"name": NAME, "description": description(documents, titles), "parameters": schema(sql=sql)}
    return {"type": "function", "function": told}


def parse(arguments: str | Mapping[str, object]) -> RecallRequest:
    """The request that a model's arguments mean. Raises `InvalidOption`, saying how to put it right.

    A `part` is a range such as ``lines 0:40``, without the second bound; a JSON Pointer where it begins with ``/`` or
    ``pointer /``; SQL where it begins like it, or with ``sql``, before which ``rows 40:`` may stand; else text to find,
    which may stand in quotes or behind ``search``. What begins like a range and is none is refused. Lenient where the
    meaning is plain: null and empty values are none, ``[5]`` and ``5`` are from 5 to the end, and an end beyond all
    that content can have is its end.
    """
    given = _object(arguments) if isinstance(arguments, str) else arguments
    unknown = sorted(str(key)[:40] for key in given if key not in _KNOWN)
    if unknown:
        raise InvalidOption(f"unknown argument {unknown[0]!r}; there are: {', '.join(_KNOWN)}")
    # An empty pointer names the whole document; the other arguments mean nothing when empty.
    kept = {key: value for key, value in given.items() if value is not None and value not in ("", [], ())}
    part = _text(kept, "part")
    if part is not None and part.strip():
        kept = {**kept, **_of_part(part.strip())}
    return RecallRequest(
        reference=_text(kept, "reference"),
        lines=_range(kept, "lines"),
        rows=_range(kept, "rows"),
        bytes=_range(kept, "bytes"),
        characters=_range(kept, "characters"),
        pointer=_text(kept, "pointer"),
        search=_text(kept, "search"),
        sql=_text(kept, "sql"),
        query=_text(kept, "query"),
    )


def _of_part(part: str) -> dict[str, object]:
    """A part by the name of what it is."""
    ranged = _RANGE.fullmatch(part)
    if ranged is not None:
        bounds = [int(bound) for bound in ranged.groups()[1:] if bound is not None]
        return {ranged[1].lower().rstrip("s") + "s": bounds}
    pointer = _POINTER.match(part)
    if pointer is not None or part.startswith("/"):
        return {"pointer": part[pointer.end() :] if pointer is not None else part}
    rows = _ROWS_OF.fullmatch(part)
    if rows is not None and _RANGE.fullmatch(rows[1].strip()) and (sql := _sql(rows[2])) is not None:
        return {"sql": sql, **_of_part(rows[1].strip())}
    sql = _sql(part)
    if sql is not None:
        return {"sql": sql}
    if _ALMOST.fullmatch(part):
        raise InvalidOption(
            f"part is {shown(part)}; a range is one of lines, rows, bytes or characters with whole numbers from 0, such"
            ' as "lines 0:40"; to find these words, put them in quotes'
        )
    announced = _SEARCH.match(part)
    text = part[announced.end() :] if announced is not None else part
    quoted = _QUOTED.fullmatch(text)
    return {"search": (quoted[1] or quoted[2]) if quoted is not None else text}


def _sql(part: str) -> str | None:
    """The query of a part; None: it is none. Of one that is misspelt the answer says what is wrong."""
    asked = _STATEMENT.match(part)
    if asked is None:
        asked = _MISSPELT.match(part)
        if asked is None or not get_close_matches(asked[1].lower()[:20], ("select", "with"), cutoff=_LIKE):
            return None
    return part[asked.end() :]


def _object(arguments: str) -> Mapping[str, object]:
    example = 'such as {"reference": "...", "part": "lines 0:40"}'
    if len(arguments) > _LONGEST_ARGUMENTS:
        raise InvalidOption(f"the arguments have {len(arguments):,} characters; send a JSON object, {example}")
    try:
        value: object = json.loads(arguments, strict=False) if arguments.strip() else {}
    except (ValueError, RecursionError):
        raise InvalidOption(f"the arguments are not JSON; send a JSON object, {example}") from None
    if not isinstance(value, dict):
        raise InvalidOption(f"the arguments must be a JSON object, {example}")
    return value


def _text(given: Mapping[str, object], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidOption(f"{name} must be text")
    return value


def _range(given: Mapping[str, object], name: str) -> Range | None:
    value = given.get(name)
    if value is None:
        return None
    bounds = list(value) if isinstance(value, list | tuple) else [value]
    if len(bounds) == 2 and bounds[1] is None:
        bounds.pop()
    whole = [bound for bound in bounds if isinstance(bound, int) and not isinstance(bound, bool)]
    if len(whole) != len(bounds) or len(whole) > 2:
        raise InvalidOption(f"{name} must be [from, to]: two whole numbers, counted from 0, without 'to' itself")
    return (whole[0], min(whole[1], MOST) if len(whole) == 2 else None)
