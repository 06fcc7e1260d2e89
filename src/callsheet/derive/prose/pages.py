"""HTML: excerpts show the readable text of a page, its title, headings, links and tables; the text itself keeps all."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from callsheet.derive.document import ContentKind, Segment
from callsheet.derive.prose.blobs import blobs, masked
from callsheet.derive.prose.written import Written

_PAGE = re.compile(
    r"\s{0,200}(?:<\?xml[^>]{0,200}>\s{0,200})?(?:<!--[^>]{0,500}-->\s{0,200})?<(?:!doctype html|html)\b", re.IGNORECASE
)
_PART = re.compile(
    r"<(?:p|div|span|a|table|tr|td|ul|ol|li|h[1-6]|body|head|section|article|br|img)\b[^<>]{0,500}>", re.IGNORECASE
)
#: Attribute values hold no ``<`` here, so that no scan goes beyond the next tag.
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*+)([^<>\"']*+(?:\"[^\"<]*+\"[^<>\"']*+|'[^'<]*+'[^<>\"']*+)*+)>")
_LINK = re.compile(r"\bhref\s{0,20}=\s{0,20}(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))", re.IGNORECASE)
_PICTURE = re.compile(r"\balt\s{0,20}=\s{0,20}(?:\"([^\"]*+)\"|'([^']*+)')", re.IGNORECASE)
_SILENT = re.compile(r"</(script|style|svg|template|noscript)\b", re.IGNORECASE)
_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_BLOCKS = {
    *("p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "ul", "ol", "dl", "dt", "dd", "li"),
    *(
        "table",
        "thead",
        "tbody",
        "tr",
        "caption",
        "form",
        "fieldset",
        "pre",
        "blockquote",
        "figure",
        "figcaption",
        "hr",
    ),
    *("title", "body", "head", "html", "br", "option", "select", "button", "label", "details", "summary", "address"),
    *_HEADINGS,
}
_MOST = 20_000
_LONGEST_LINK = 300
_NAMED = 8


def is_page(text: str) -> bool:
    """Whether the text is a page or a fragment of one, by its form."""
    if _PAGE.match(text):
        return True
    head = text[:4000]
    return head.lstrip().startswith("<") and len(_PART.findall(head)) >= 3


def read_page(text: str) -> Written:
    """The page with one segment per block of readable text, or per few blocks where there are very many."""
    names: list[str] = []
    passages = list(_passages(text, names)) or [_Passage(start=0)]
    starts = [0, *(passage.start for passage in passages[1:]), len(text)]
    before = [0, *accumulate(passage.blocks for passage in passages)]
    titles = _titles(passages)
    segments = tuple(
        Segment(starts[index], starts[index + 1], f"passage {before[index] + 1:,}", index in titles)
        for index in range(len(passages))
    )
    return Written(
        kind=ContentKind.HTML,
        text=text,
        unit="passages",
        total=before[-1],
        segments=segments,
        before=before,
        shape=_shape(names),
        shown=[passage.text for passage in passages],
        note="readable text of the page, without its markup",
    )


@dataclass(slots=True)
class _Passage:
    """Blocks that are shown or left out as one."""

    start: int
    text: str = ""
    blocks: int = 0
    roles: set[str] = field(default_factory=set)


def _passages(text: str, names: list[str]) -> Iterator[_Passage]:
    """The passages in order; titles and headings go into `names`."""
    least = len(text) // _MOST
    now: _Passage | None = None
    parts: list[str] = []
    for block in _blocks(text):
        if now is not None and block.start - now.start >= least:
            now.text = "\n".join(parts)
            yield now
            now = None
        if now is None:
            now, parts = _Passage(start=block.start), []
        parts.append(masked(block.text, blobs(block.text)))
        now.blocks += 1
        if block.role == "title" or block.role in _HEADINGS:
            now.roles.add(block.role)
            names.append(block.text[:80])
    if now is not None:
        now.text = "\n".join(parts)
        yield now


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    text: str
    role: str


@dataclass(slots=True)
class _Gathering:
    """What was read since the last block ended."""

    start: int = 0
    role: str = ""
    parts: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    #: Ends that stand nowhere in the rest of the text, so that nothing is searched for twice.
    absent: set[str] = field(default_factory=set)

    def take(self, end: int) -> Iterator[_Block]:
        text = " ".join(html.unescape("".join(self.parts)).split())
        if text.strip("|- "):
            yield _Block(self.start, _HEADINGS.get(self.role, "") + text, self.role)
            self.start = end
        self.parts.clear()


def _blocks(text: str) -> Iterator[_Block]:
    now = _Gathering()
    at = 0
    while True:
        tag = text.find("<", at)
        if tag < 0:
            break
        now.parts.append(text[at:tag])
        match = _TAG.match(text, tag)
        if match is None:
            at, kept = _odd(text, tag, now.absent)
            now.parts.append(kept)
            continue
        at = match.end()
        name = match[2].lower()
        if name in _BLOCKS:
            yield from now.take(tag)
            now.role = name if not match[1] else ""
            if name == "li" and not match[1]:
                now.parts.append("- ")
        elif not match[1] and name in {"script", "style", "svg", "template", "noscript"}:
            at = _after_silent(text, at, name, now.absent)
        else:
            _inline(now, name, match)
    now.parts.append(text[at:])
    yield from now.take(len(text))


def _odd(text: str, tag: int, absent: set[str]) -> tuple[int, str]:
    """Where reading goes on after a ``<`` that begins no tag, and what of it is text."""
    if text.startswith("<!--", tag):
        end = -1 if "-->" in absent else text.find("-->", tag + 4)
        if end < 0:
            absent.add("-->")
        # A comment that never ends hides nothing: what follows it is read.
        return (end + 3, "") if end >= 0 else (tag + 4, "")
    end = text.find(">", tag, tag + 2000)
    if end >= 0 and text[tag + 1 : tag + 2] in "!?/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ":
        return end + 1, ""
    return tag + 1, "<"


def _after_silent(text: str, at: int, name: str, absent: set[str]) -> int:
    if name in absent:
        return at
    for match in _SILENT.finditer(text, at):
        if match[1].lower() == name:
            end = text.find(">", match.end())
            return end + 1 if end >= 0 else len(text)
    absent.add(name)
    return at


def _inline(now: _Gathering, name: str, match: re.Match[str]) -> None:
    if name == "a" and not match[1]:
        link = _LINK.search(match[3])
        target = next((part for part in link.groups() if part), "") if link else ""
        usable = target and not target.startswith(("#", "javascript:", "data:")) and len(target) <= _LONGEST_LINK
        now.links.append(target if usable else "")
    elif name == "a" and now.links:
        target = now.links.pop()
        now.parts.append(f" ({target})" if target else "")
    elif name == "img":
        shown = _PICTURE.search(match[3])
        now.parts.append(f" [picture: {shown[1] or shown[2]}] " if shown and (shown[1] or shown[2]) else " ")
    elif name in {"td", "th"} and match[1]:
        now.parts.append(" | ")


def _titles(passages: Sequence[_Passage]) -> set[int]:
    """The passages that always stand, unless they are long: the one with the title, the one with the first heading."""
    wanted = [next((i for i, passage in enumerate(passages) if role in passage.roles), -1) for role in ("title", "h1")]
    return {i for i in wanted if i >= 0 and len(passages[i].text) <= 500}


def _shape(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more
