"""Tokens of pictures by the rules that providers document: by size in pixels, never by the length of their data.

Always an estimate: providers resize by rules of their own and change them between models.
"""

import re
from math import ceil
from typing import NamedTuple

from callsheet.wire.tokens.providers import Family, family, is_claude_up_to_4_6

#: What a picture is taken for whose size is not known: a full screen.
UNKNOWN_SIZE = (1920, 1080)


class Tiles(NamedTuple):
    """So many tokens for every picture and for each 512 px tile, after it was fitted into 2048 px and to 768 px."""

    base: int
    tile: int

    def tokens(self, width: int, height: int) -> int:
        scale = min(1.0, 2048 / max(width, height))
        scale = min(scale, 768 / min(width, height))
        return self.base + self.tile * ceil(width * scale / 512) * ceil(height * scale / 512)


class Cells(NamedTuple):
    """So many tokens for each square cell that the picture touches; a picture with more cells is shrunk to the most."""

    edge: int
    #: Tokens of 100 cells.
    percent: int
    most: int

    def tokens(self, width: int, height: int) -> int:
        cells = min(self.most, ceil(width / self.edge) * ceil(height / self.edge))
        return ceil(cells * self.percent / 100)


#: By OpenAI's guide to images. gpt-4o-mini is billed at 33 times this, but takes no more room in the window.
_OPENAI: tuple[tuple[re.Pattern[str], Tiles | Cells], ...] = (
    (re.compile(r"gpt-(4\.1|5)-mini"), Cells(32, 162, 1536)),
    (re.compile(r"gpt-(4\.1|5)-nano"), Cells(32, 246, 1536)),
    (re.compile(r"o4-mini"), Cells(32, 172, 1536)),
    (re.compile(r"o[13]"), Tiles(75, 150)),
    (re.compile(r"(gpt|chatgpt)-4"), Tiles(85, 170)),
    (re.compile(r"gpt-5(\.1)?(-|$)"), Tiles(70, 140)),
)
_OPENAI_NEWER = Cells(32, 120, 10_000)

#: By Anthropic's guide to vision: one token for each 28 px cell, which is about width x height / 750.
_CLAUDE_UP_TO_4_6 = Cells(28, 100, 1_568)
_CLAUDE_NEWER = Cells(28, 100, 4_784)

#: By Google's guide to tokens: up to Gemini 2, 258 for each 768 px tile; since Gemini 3 the same for every size.
_GEMINI_UP_TO_2 = Cells(768, 25_800, 16)
_GEMINI_NEWER = Tiles(1_120, 0)

_LOW_DETAIL = 85


def picture_tokens(
    provider: str, model: str, *, width: int | None = None, height: int | None = None, low_detail: bool = False
) -> int:
    """Estimated tokens of one picture; of unknown size, those of a full screen (1920 x 1080).

    `low_detail` is OpenAI's ``detail: low``; the other providers have no such thing and count as always.
    """
    if width is None or height is None or width < 1 or height < 1:
        width, height = UNKNOWN_SIZE
    rule = _rule(provider, model.strip().lower().removeprefix("ft:"))
    if low_detail and family(provider) is Family.OPENAI:
        return rule.base if isinstance(rule, Tiles) else min(_LOW_DETAIL, rule.tokens(width, height))
    return rule.tokens(width, height)


def _rule(provider: str, model: str) -> Tiles | Cells:
    match family(provider):
        case Family.ANTHROPIC:
            return _CLAUDE_UP_TO_4_6 if is_claude_up_to_4_6(model) else _CLAUDE_NEWER
        case Family.GEMINI:
            return _GEMINI_UP_TO_2 if re.search(r"gemini-[12]", model) else _GEMINI_NEWER
        case Family.OPENAI | Family.OTHER:
            # Providers that speak OpenAI's format mostly serve models with rules like those of its newer ones.
            return next((rule for pattern, rule in _OPENAI if pattern.match(model)), _OPENAI_NEWER)
