"""Draws tokens against evidence as an SVG, a panel for each file of recordings.

Colours are of middle lightness and the ground is transparent, so that it reads on white and on black; marks differ in
shape too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from xml.sax.saxutils import escape

INK = "#808080"
FAINT = "#80808055"
LEFT, TOP, WIDTH, HEIGHT, GAP = 62, 34, 240, 240, 46
"""Of the first panel, in pixels, and between two panels."""

LEGEND = 88
STEP = 20
"""Percent between two lines of the grid."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together, joined in their order."""

    name: str
    colour: str
    #: "circle", "square", "triangle", "diamond", "cross", "star" or "ring".
    mark: str
    #: By file: (tokens %, evidence %).
    points: Mapping[str, Sequence[tuple[float, float]]]


def picture(files: Sequence[str], series: Sequence[Series], *, x_label: str, y_label: str, title: str) -> str:
    """The SVG as text."""
    lowest = min(y for one in series for points in one.points.values() for _, y in points)
    bottom = STEP * floor(lowest / STEP)
    width = LEFT + len(files) * (WIDTH + GAP)
    height = TOP + HEIGHT + LEGEND
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        _text(18, TOP + HEIGHT / 2, y_label, turned=True),
    ]
    for place, file in enumerate(files):
        panel = _Panel(LEFT + place * (WIDTH + GAP), bottom)
        lines += panel.frame(file, x_label)
        for one in series:
            lines += panel.series(one, one.points.get(file, ()))
    lines += _legend(series, width)
    return "\n".join([*lines, "</svg>"]) + "\n"


@dataclass(frozen=True, slots=True)
class _Panel:
    left: int
    bottom: int

    def frame(self, file: str, x_label: str) -> Iterator[str]:
        yield _text(self.left + WIDTH / 2, TOP - 12, file, weight="bold")
        yield _text(self.left + WIDTH / 2, TOP + HEIGHT + 34, x_label)
        for percent in range(0, 101, STEP):
            x, _ = self._at(percent, self.bottom)
            yield _line((x, TOP), (x, TOP + HEIGHT), FAINT)
            yield _text(x, TOP + HEIGHT + 16, str(percent))
        for percent in range(self.bottom, 101, STEP):
            _, y = self._at(0, percent)
            yield _line((self.left, y), (self.left + WIDTH, y), FAINT)
            yield _text(self.left - 8, y + 4, str(percent), anchor="end")

    def series(self, series: Series, points: Iterable[tuple[float, float]]) -> Iterator[str]:
        places = [self._at(x, y) for x, y in points]
        if len(places) > 1:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            yield f'<polyline points="{path}" fill="none" stroke="{series.colour}" stroke-width="1.5"/>'
        for place in places:
            yield _mark(series, place)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self.left + WIDTH * x / 100, TOP + HEIGHT * (100 - y) / (100 - self.bottom)


def _legend(series: Sequence[Series], width: int) -> Iterator[str]:
    columns = 4
    for number, one in enumerate(series):
        row, column = divmod(number, columns)
        x, y = LEFT + column * (width - LEFT) / columns, TOP + HEIGHT + 56 + row * 20
        yield _mark(one, (x + 5, y))
        yield _text(x + 16, y + 4, one.name, anchor="start")


def _mark(series: Series, place: tuple[float, float]) -> str:
    x, y = place
    colour = series.colour
    if series.mark == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if series.mark == "ring":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="{colour}" stroke-width="2"/>'
    corners = {
        "square": ((-4, -4), (4, -4), (4, 4), (-4, 4)),
        "triangle": ((0, -5), (5, 4), (-5, 4)),
        "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0)),
        "cross": ((-5, -5), (0, -2), (5, -5), (2, 0), (5, 5), (0, 2), (-5, 5), (-2, 0)),
        "star": ((0, -6), (2, -2), (6, 0), (2, 2), (0, 6), (-2, 2), (-6, 0), (-2, -2)),
    }[series.mark]
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{path}" fill="{colour}"/>'


def _line(start: tuple[float, float], end: tuple[float, float], colour: str) -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "middle", weight: str = "normal", turned: bool = False
) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    shown = escape(text)
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}"{turn}>{shown}</text>'
