"""The notation of the notes of a request: lines of who said what. No content may begin a line that looks like one."""

import re

_BREAKS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
# As in lists and quotations; nobody sees characters without width.
_BEFORE = rf"(?:[^\S{_BREAKS}]|[\u200b-\u200f\u2060-\u2064\ufeff\-*_#>•+~`\"'“„«]){{0,16}}"
_MORE = rf"(?:[ \t]+(?:laid[ \t]+down|as[ \t]+of[ \t]+[\d-]+|\([^){_BREAKS}]{{0,40}}\))){{0,3}}[*_ \t]*[:：]"
_REFERENCE = r"\[[a-z2-7]{6}(?:,[^\]\n]{0,40})?\]"
_DAY = r"\(\d{4}-\d\d-\d\d\)"
_MARKS = rf"(?:(?:{_REFERENCE}|{_DAY})[ \t]*){{0,3}}"
_SPOKEN = rf"(?:(?:user|assistant|system|developer){_MORE}|\[[^\]{_BREAKS}]{{1,100}}\][:：])"
_TOLD = (
    rf"(?:tool|noted){_MORE}|result[ \t]+of[ \t]+[^:：{_BREAKS}]{{1,80}}[:：]"
    r"|(?:turns?[ \t]+\d+(?:[ \t]+to[ \t]+\d+)?|an[ \t]+older[ \t]+part)"
    rf"(?:[:：]|[ \t]+in[ \t]+short|[^:：{_BREAKS}]{{0,40}}second-hand)"
)
_HEADS = (
    r"\[(?:from[ \t]|kept[ \t]about|tool[ \t]result|another[ \t]tool|the[ \t]result"
    r"|[\d.,]{1,20}[ \t]+older[ \t]+records?\b)"
)
_TABLE = r"\[[\d.,]{1,20}[ \t]+results?\]"

_BY_SOMEBODY = re.compile(rf"{_BEFORE}{_MARKS}(?:{_SPOKEN}|{_TABLE})", re.IGNORECASE)
_NOTED = re.compile(
    rf"{_BEFORE}(?:{_MARKS}(?:{_SPOKEN}|{_TABLE}|{_TOLD})|(?:{_REFERENCE}|{_DAY})[ \t]|{_HEADS})", re.IGNORECASE
)
_LINES = re.compile(rf"(?<=[{_BREAKS}])(?=\S)")


def is_noted(line: str) -> bool:
    """Whether a text begins like a line of a note."""
    return _NOTED.match(line) is not None


def puts_words(text: str) -> bool:
    """Whether a line of a text says, in the notation of notes, that somebody said or a tool found what follows."""
    return any(_BY_SOMEBODY.match(line) for line in text.splitlines())


def of_tool(line: str) -> str:
    """A line that begins with the name of a tool: no name lets it pass for another line of a note."""
    return f"tool {line}" if is_noted(line) else line


def tool_name(name: str) -> str:
    """The name of a tool as notes show it: in one line, and no beginning of a line of another kind."""
    folded = " ".join(name.split())
    return f"tool {folded}" if any(is_noted(folded + behind) for behind in (":", "():")) else folded


def indented(text: str) -> str:
    """The text with one space before each line, but for the first, that looks like a line of a note."""
    return _LINES.sub(lambda place: " " if _NOTED.match(text, place.start()) else "", text)
