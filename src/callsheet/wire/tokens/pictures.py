"""Tokens of pictures by the rules that providers document: by size in pixels, never by the length of their data.

Always an estimate: providers resize by rules of their own and change them between models.
"""

import re
from math import ceil, floor, sqrt
from typing import NamedTuple, TypeAlias

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
        wide, high = (max(1, floor(edge * scale)) for edge in (width, height))
        return self.base + self.tile * ceil(wide / 512) * ceil(high / 512)


class Cells(NamedTuple):
    """So many tokens for each square cell that the picture touches; a picture with more cells is shrunk to the most."""

    edge: int
    #: Tokens of 100 cells.
    percent: int
    most: int

    def tokens(self, width: int, height: int) -> int:
        cells = min(self.most, ceil(width / self.edge) * ceil(height / self.edge))
        return ceil(cells * self.percent / 100)


class Patches(NamedTuple):
    """So many tokens for each 32 px patch, after the picture was fitted to its longest side and then to its patches."""

    #: Tokens of 100 patches.
    percent: int
    #: Pixels of its longer side at most.
    side: int
    most: int

    def tokens(self, width: int, height: int) -> int:
        longer = max(width, height)
        if longer > self.side:
            width, height = (max(1, edge * self.side // longer) for edge in (width, height))
        patches = _patches(width, height)
        if patches > self.most:
            # Shrunk to the most, then to whole patches of the side that loses more by that, as the guide has it.
            scale = sqrt(32 * 32 * self.most / (width * height))
            wide, high = (max(1.0, edge * scale / 32) for edge in (width, height))
            scale *= min(floor(wide) / wide, floor(high) / high)
            patches = min(self.most, _patches(max(1, floor(width * scale)), max(1, floor(height * scale))))
        return ceil(patches * self.percent / 100)


def _patches(width: int, height: int) -> int:
    return ceil(width / 32) * ceil(height / 32)


Rule: TypeAlias = Tiles | Cells | Patches


class _Details(NamedTuple):
    """By which rule a model sees a picture where nothing is said of its detail, and where that is to be low."""

    usual: Rule
    low: Rule


def _tiled(base: int, tile: int) -> _Details:
    return _Details(Tiles(base, tile), Tiles(base, 0))


def _patched(percent: int, side: int, most: int, *, low: Patches | None = None) -> _Details:
    usual = Patches(percent, side, most)
    return _Details(usual, low if low is not None else usual)


_THUMBNAIL = Patches(120, 512, 256)

#: By OpenAI's guide to images, as of autumn 2026; of models that it does not list any more, as it had them last. What
#: it has no rule for counts like its nearest relative, in doubt as more. Nothing is said of the detail means ``high``
#: up to GPT-5.4 and ``original`` since. gpt-4o-mini is billed at 33 times this, but takes no more room in the window.
_OPENAI: tuple[tuple[re.Pattern[str], _Details], ...] = (
    (re.compile(r"gpt-5([.-]1)?(-codex)?-mini"), _patched(120, 2048, 1_536)),
    (re.compile(r"gpt-5-nano"), _patched(150, 2048, 1_536)),
    (re.compile(r"gpt-4\.1-mini"), _patched(162, 2048, 6_144)),
    (re.compile(r"gpt-4\.1-nano"), _patched(246, 2048, 1_536)),
    (re.compile(r"o4-mini|codex-mini"), _patched(172, 2048, 1_536)),
    (re.compile(r"o[13]"), _tiled(75, 150)),
    (re.compile(r"(gpt|chatgpt)-4"), _tiled(85, 170)),
    (re.compile(r"gpt-5[.-][23](?!\d)"), _patched(120, 2048, 6_144)),
    (re.compile(r"gpt-5[.-]4(?!\d)"), _patched(120, 2048, 2_500, low=Patches(120, 2048, 6_144))),
    (re.compile(r"gpt-5[.-]5(?!\d)"), _patched(120, 6_000, 10_000, low=_THUMBNAIL)),
    (re.compile(r"gpt-5([.-]1)?(-(?![6-9]\b)|$)"), _tiled(70, 140)),
)
#: Not shrunk at all up to 30,000 patches; what has more is refused.
_OPENAI_NEWER = _patched(120, 65_535, 30_000, low=_THUMBNAIL)

#: Providers that speak OpenAI's format say nothing, and serve models that shrink large pictures.
_LIKE_OPENAI = _patched(120, 6_000, 10_000)

#: By Anthropic's guide to vision: one token for each 28 px cell, which is about width x height / 750.
_CLAUDE_UP_TO_4_6 = Cells(28, 100, 1_568)
_CLAUDE_NEWER = Cells(28, 100, 4_784)

#: By Google's guide to tokens: up to Gemini 2, 258 for each 768 px tile; since Gemini 3 the same for every size.
_GEMINI_UP_TO_2 = Cells(768, 25_800, 16)
_GEMINI_NEWER = Tiles(1_120, 0)


def picture_tokens(
    provider: str, model: str, *, width: int | None = None, height: int | None = None, low_detail: bool = False
) -> int:
    """Estimated tokens of one picture; of unknown size, those of a full screen (1920 x 1080).

    `low_detail` is OpenAI's ``detail: low``; the other providers have no such thing and count as always.
    """
    if width is None or height is None or width < 1 or height < 1:
        width, height = UNKNOWN_SIZE
    return _rule(provider, model.strip().lower().removeprefix("ft:"), low_detail=low_detail).tokens(width, height)


def _rule(provider: str, model: str, *, low_detail: bool) -> Rule:
    match family(provider):
        case Family.ANTHROPIC:
            return _CLAUDE_UP_TO_4_6 if is_claude_up_to_4_6(model) else _CLAUDE_NEWER
        case Family.GEMINI:
            return _GEMINI_UP_TO_2 if re.search(r"gemini-[12]", model) else _GEMINI_NEWER
        case Family.OPENAI:
            details = _details(model, _OPENAI_NEWER)
            return details.low if low_detail else details.usual
        case Family.OTHER:
            return _details(model, _LIKE_OPENAI).usual


def _details(model: str, unknown: _Details) -> _Details:
    return next((details for pattern, details in _OPENAI if pattern.match(model)), unknown)
