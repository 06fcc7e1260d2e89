"""Asking a summariser: each request fits its window, none is empty, and what it writes is held against its material."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from callsheet.derive.guarding import Flaw, Material, far_too_long, flaw, storable
from callsheet.errors import InvalidOption
from callsheet.graph.ids import RecordId
from callsheet.graph.ports import Pruner, Summariser
from callsheet.runtime.options import line, positive, shown
from callsheet.wire.tokens import count

WINDOW = 8_000
"""Tokens that a plain function is given at once; a summariser with a window of its own says so."""

ROUNDS = 4
"""How often the summaries of parts are summarised in turn, at most: who hardly shortens is not asked on and on."""

PARTS = 32
"""Requests that one material is given in at most. Of a longer one the beginning and the end are given, and it is held
against these: a result of many megabytes would cost hundreds of requests for one summary."""

WIDEST = 4
"""Characters of a token, about; so much is looked at of a material for each token that is given."""

SMALLEST = 512
"""A window below this cannot hold a part and what frames it."""

AnySummariser: TypeAlias = Summariser | Callable[[str], str]
"""A summariser, or a function that is given the material and returns its summary."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A function as a summariser: it goes to nobody that a policy set names."""

    function: Callable[[str], str]
    name: str
    provider: str = ""
    window: int = WINDOW
    #: Its name tells it from no other, as that of a lambda: what was rejected of others is none of its own.
    unnamed: bool = False
    #: Of an unnamed one: the records of which a summary by this very function was rejected.
    rejected: set[RecordId] = field(default_factory=set, compare=False)

    def summarise(self, material: str, *, limit: int) -> str:
        """See `Summariser.summarise`."""
        return self.function(material)


def summariser_of(given: AnySummariser) -> Summariser:
    """A summariser, given as itself or as a function. Raises `InvalidOption`."""
    if isinstance(given, type) or not (hasattr(given, "summarise") or callable(given)):
        raise InvalidOption(f"summariser is {shown(given)}; it must be a function or a Summariser")
    if not hasattr(given, "summarise"):
        named: object = getattr(given, "__name__", None)
        unnamed = not isinstance(named, str) or not named.isidentifier() or inspect.ismethod(given)
        name = line(named or type(given).__name__, "the name of the summariser")
        return Plain(function=given, name=name, unnamed=unnamed)
    _able(given, "summariser", ("name", "provider", "window"), "summarise")
    made = cast("Summariser", given)
    line(made.name, "the name of the summariser")
    provider: object = made.provider
    if provider != "":
        line(provider, "the provider of the summariser")
    if positive(made.window, "the window of the summariser") < SMALLEST:
        raise InvalidOption(f"the window of the summariser is {made.window:,}; it must be at least {SMALLEST}")
    return made


def pruner_of(given: Pruner) -> Pruner:
    """A pruner, if it is one. Raises `InvalidOption`."""
    if isinstance(given, type):
        raise InvalidOption(f"pruner is {shown(given)}; it must be a Pruner")
    _able(given, "pruner", ("name",), "prune")
    line(given.name, "the name of the pruner")
    return given


def _able(given: object, what: str, asked: Sequence[str], does: str) -> None:
    for name in (*asked, does):
        if not hasattr(given, name):
            listed = f"{', '.join(asked)} and {does}()"
            raise InvalidOption(f"{what} is {shown(given)}; it has no {name}: it must have {listed}")
    if not callable(getattr(given, does)):
        raise InvalidOption(f"{does} of the {what} is {shown(getattr(given, does))}; it must be a method")


@dataclass(frozen=True, slots=True)
class Summarised:
    """What came of asking: a summary that may be used, or why there is none."""

    text: str = ""
    #: A `Flaw`; None: it may be used.
    flaw: Flaw | None = None
    #: How often the summariser was called.
    calls: int = 0


def summarised(
    summariser: Summariser, material: Sequence[Material], *, limit: int, conflict: bool = False
) -> Summarised:
    """Have material summarised in at most `limit` tokens, in parts where it is longer than the window.

    The summaries of parts are joined, and summarised once more where they are too long together; what comes out is held
    against the original material, never against a summary alone. Of material that takes more than `PARTS` requests the
    beginning and the end are given. Raises what the summariser raises.
    """
    told = _ends([one for one in material if one.text.strip()], PARTS * WIDEST * summariser.window)
    if conflict or not told:
        return Summarised(flaw=Flaw.CONFLICT if conflict else Flaw.EMPTY)
    calls = 0
    texts = [f"{one.speaker}: {one.text}" for one in told]
    text = ""
    for _ in range(ROUNDS):
        written: list[str] = []
        parts = list(_parts(texts, summariser.window))
        given = [*parts[: PARTS // 2], *parts[PARTS // 2 :][-PARTS // 2 :]]
        for part in given:
            answer: object = summariser.summarise(part, limit=limit)
            calls += 1
            said = answer.strip() if isinstance(answer, str) else None
            if said is not None and far_too_long(said, limit):
                return Summarised(flaw=Flaw.TOO_LONG, calls=calls)
            if said is None or not storable(said):
                return Summarised(flaw=Flaw.INVALID, calls=calls)
            written.append(said)
        text = "\n".join(filter(None, written))
        if len(written) < 2 or tokens(text) <= limit or tokens(text) >= sum(map(tokens, texts)):
            break
        texts = written
    return Summarised(text=text, flaw=flaw(text, told, tokens, limit=limit), calls=calls)


def tokens(text: str) -> int:
    """Tokens of a text in o200k_base."""
    return count(text, "o200k_base")


def _ends(material: Sequence[Material], most: int) -> list[Material]:
    """The material, or the beginning and the end of it with so many characters at most, cut between words."""
    if sum(len(one.text) for one in material) <= most:
        return list(material)
    head = _beginning(material, most // 2, lambda text, left: text[:left].rpartition(" ")[0] or text[:left])
    tail = _beginning(material[::-1], most // 2, lambda text, left: text[-left:].partition(" ")[2] or text[-left:])
    return [*head, *tail[::-1]]


def _beginning(material: Sequence[Material], most: int, cut: Callable[[str, int], str]) -> list[Material]:
    found: list[Material] = []
    for one in material:
        if most <= 0:
            break
        found.append(one if len(one.text) <= most else one._replace(text=cut(one.text, most)))
        most -= len(one.text)
    return found


def _parts(texts: Sequence[str], window: int) -> Iterator[str]:
    """The texts in parts that fit a window each, divided between texts, and within one that is longer than it."""
    part: list[str] = []
    size = 0
    for piece in (piece for text in texts for piece in _pieces(text, window)):
        own = tokens(piece) + 1
        if part and size + own > window:
            yield "\n".join(part)
            part, size = [], 0
        part.append(piece)
        size += own
    if part:
        yield "\n".join(part)


def _pieces(text: str, window: int) -> Iterator[str]:
    """A text in pieces that fit a window each, cut between lines or words where there are any."""
    most = 2 * WIDEST * window
    while len(text) > most or tokens(text) >= window:
        end = min(len(text), most)
        while tokens(text[:end]) >= window:
            end = max(1, end * 3 // 4)
        space = max(text.rfind("\n", 1, end), text.rfind(" ", 1, end))
        end = space if space > end // 2 else end
        yield text[:end]
        text = text[end:].lstrip()
    if text:
        yield text
