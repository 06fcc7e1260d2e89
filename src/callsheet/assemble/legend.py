"""One line that tells how the dense notation of tables is read, where a request first shows one."""

import re
from dataclasses import replace

from callsheet.assemble import blocks, standins

_ANNOUNCED = re.compile(
    r"^[^\n]{0,120}?(?:\[(?:\d[\d,]{0,12}(?: of \d[\d,]{0,12})?)?\]|\{\d{0,12}\})\{[^\n]{1,400}:$", re.MULTILINE
)


def explained(block: blocks.Block, *, noted: bool) -> blocks.Block | None:
    """The block with the line before its first text that shows a table; None where none does.

    Of a note (`noted`) it stands below the first line, which says what the note is.
    """
    parts = block.content if isinstance(block, blocks.Answer) else block.parts
    for at, part in enumerate(parts):
        if isinstance(part, blocks.Text) and _has_table(part.text):
            head, _, rest = part.text.partition("\n")
            text = f"{head}\n{standins.LEGEND}\n{rest}" if noted else f"{standins.LEGEND}\n{part.text}"
            return _with(block, at, replace(part, text=text))
    return None


def _has_table(text: str) -> bool:
    return ("]{" in text or "}{" in text) and _ANNOUNCED.search(text) is not None


def _with(block: blocks.Block, at: int, part: blocks.Text) -> blocks.Block:
    if isinstance(block, blocks.Answer):
        return replace(block, content=(*block.content[:at], part, *block.content[at + 1 :]))
    return replace(block, parts=(*block.parts[:at], part, *block.parts[at + 1 :]))
