"""Program text: segments are blocks of code, and the declarations tell what stands where."""

import re
from itertools import islice

from callsheet.derive.document import ContentKind
from callsheet.derive.prose.important import viewed
from callsheet.derive.prose.marks import lowered
from callsheet.derive.prose.pieces import cuts_at, line_span, within
from callsheet.derive.prose.written import Written, written

_NUMBERED = r"(?:[ ]{0,8}+\d{1,7}(?:[:|\t→]| {2}) ?)?"
_DECLARED = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)\n]{0,40}\))?|unsafe"
    r"|extern|inline|virtual|override|sealed|partial) +){0,5}"
    r"(?:def|class|func|fn|function|struct|enum|trait|impl|interface|module|namespace|type|record|object|macro_rules!"
    r"|package|sub|proc|procedure|typedef|#[ ]*define|create (?:table|view|index|function))[ *]+[\w.$<(\"`\[]"
)
# For text in lower case with a line end before it: patterns that ignore case, or look for the beginnings of lines at
# every character, take several times as long. So what begins at a place there has its line begin there in the text.
_DECLARATION = re.compile(rf"\n{_NUMBERED}[ \t]{{0,8}}+{_DECLARED}")
_TOP = re.compile(rf"\n{_NUMBERED}(?:@\w|{_DECLARED})")
_CODE = re.compile(
    rf"{_NUMBERED}\s*+(?:{_DECLARED}|import [\w.{{*\"']|from [\w.]+ import"
    r"|#[ ]*(?:include|define|if|ifdef|ifndef|endif|else|undef|pragma)\b|typedef|extern|static |using [\w.]+;"
    r"|(?:const|let|var|val) \w+ *[:=]"
    r"|return\b|if\b.*[:{]$|for\b.*[:{]$|else\b|elif\b|while\b.*[:{]$|try\b|except\b|catch\b|@\w+"
    r"|[\w.\]\[]++ (?:[-+*/|&]?=|:=) |[\w.]++\(.*\)?[;,{:]?$|[})\]];?,?$|//|#!|/\*|\*/|-- |INSERT INTO |SELECT )"
)
# Begins with what it looks for, and looks back behind it: a search that begins with looking back takes far longer.
_PROSE = re.compile(r"[a-z](?<![a-z][a-z])[a-z]++ (?:[a-z]{2,}+ ){3}[a-z]{2}")
_BUDGET = 1200
_LONGEST = 2500
_NAMED = 12


def read_source(text: str) -> Written | None:
    """Program text, also with line numbers before each line, or None."""
    lines = [line[:200].rstrip() for line in text[:20_000].split("\n")[:300] if line.strip()]
    if len(lines) < 3:
        return None
    others = [line for line in lines if _CODE.match(line) is None]
    if (len(lines) - len(others)) * 5 < len(lines) * 2:
        return None
    prose = sum(_PROSE.search(line) is not None for line in others if line.count(" ") > 3)
    lower = "\n" + lowered(text)
    if prose * 3 > len(lines) or _DECLARATION.search(lower, 0, 200_001) is None:
        return None
    declarations = [line_span(text, match.start()) for match in islice(_DECLARATION.finditer(lower), 2000)]
    shown = viewed(text)
    always = within([*shown, *declarations], _BUDGET)
    if len(always) < len(declarations):
        always = within(shown, _BUDGET)
    names = [text[span.start : min(span.end, span.start + 80)].strip(" \t\r\n{:") for span in declarations[:_NAMED]]
    more = f" and {len(declarations) - _NAMED:,} more" if len(declarations) > _NAMED else ""
    shape = "; ".join(names) + more
    return written(
        ContentKind.SOURCE, text, list(cuts_at(text, _TOP, lower)), always=always, longest=_LONGEST, shape=shape
    )
