"""Counting as one model does: exactly, or as an estimate that says so, names its factor and carries a margin."""

from collections.abc import Iterable

from msgspec import Struct

from callsheet.wire.tokens.calibration import DECIMALS, Calibration
from callsheet.wire.tokens.engine import EncodingName, count
from callsheet.wire.tokens.framing import Framing, framing
from callsheet.wire.tokens.least import least_tokens
from callsheet.wire.tokens.pictures import picture_tokens
from callsheet.wire.tokens.providers import Family, family, guess, openai_encoding

#: Part of every counter's name; raised when a text would count differently under the same factor.
_VERSION = 1

_SCALE = 10**DECIMALS


class TokenCounter(Struct, frozen=True, kw_only=True):
    """Counts tokens as one model would. A value: equal counters count alike, on any machine."""

    provider: str
    model: str
    encoding: EncodingName
    #: Whether texts count exactly as the model counts them. Pictures, tools and framing are estimates all the same.
    exact: bool
    #: Tokens per token of the encoding.
    factor: float = 1.0
    #: Fraction that `bounded` adds.
    margin: float = 0.0

    @property
    def name(self) -> str:
        """Stable, such as ``o200k_base@1`` or ``anthropic~o200k_base×1.15+m0.15@1``.

        Counters of one name count every text alike; pictures, tools and framing depend on provider and model too.
        """
        if self.exact:
            return f"{self.encoding}@{_VERSION}"
        label = family(self.provider).value
        return f"{label}~{self.encoding}×{self.factor:g}+m{self.margin:g}@{_VERSION}"

    def count(self, text: str) -> int:
        """Tokens of a text, without margin."""
        return self.converted(count(text, self.encoding))

    def converted(self, tokens: int) -> int:
        """The count of a text that has so many tokens in `encoding`: lets stored counts serve without the text."""
        return tokens if self.exact else _times(tokens, self.factor)

    def surely_over(self, text: str, tokens: int) -> bool:
        """Whether a text has more tokens than this, told without counting it; False also where that is not sure."""
        enough = tokens if self.exact else max(tokens, int(tokens / self.factor) + 1)
        return self.converted(least_tokens(text, enough)) > tokens

    def bounded(self, tokens: int) -> int:
        """The count with the margin of its estimate on top; the count itself where it is exact."""
        return tokens + _times(tokens, self.margin)

    def count_picture(self, *, width: int | None = None, height: int | None = None, low_detail: bool = False) -> int:
        """Estimated tokens of a picture by its size in pixels; see `picture_tokens`."""
        return picture_tokens(self.provider, self.model, width=width, height=height, low_detail=low_detail)

    def count_tools(self, definitions: Iterable[str]) -> int:
        """Estimated tokens of the tools offered, from the JSON text of each definition."""
        sizes = [self.count(definition) for definition in definitions]
        return sum(sizes) + self.framing.around_tools(len(sizes))

    @property
    def framing(self) -> Framing:
        """Tokens of a request that stand in none of its texts."""
        return framing(self.provider)


def _times(tokens: int, ratio: float) -> int:
    """Rounded up, in whole numbers: the last bit of a float must not decide whether a request fits."""
    return -(-tokens * round(ratio * _SCALE) // _SCALE)


def counter_for(provider: str, model: str, calibration: Calibration | None = None) -> TokenCounter:
    """The counter of a model: exact where the encoding is known, else an estimate, calibrated if something was learned.

    An exact counter ignores the calibration. An estimate takes the one that began with `uncalibrated` for the same
    model; another one is a `ValueError`.
    """
    exact = _exact(provider, model)
    if exact is not None:
        return exact
    first = _estimate(provider, model, *guess(provider, model))
    if calibration is None:
        return first
    if calibration.counter != first.name:
        raise ValueError(f"this calibration is for the counter {calibration.counter}, not for {first.name}")
    return _estimate(provider, model, calibration.factor, calibration.margin)


def uncalibrated(provider: str, model: str) -> Calibration:
    """The calibration of a model from which nothing was learned yet."""
    factor, margin = guess(provider, model)
    return Calibration(counter=counter_for(provider, model).name, first_factor=factor, first_margin=margin)


def _exact(provider: str, model: str) -> TokenCounter | None:
    encoding = openai_encoding(model) if family(provider) is Family.OPENAI else None
    return TokenCounter(provider=provider, model=model, encoding=encoding, exact=True) if encoding else None


def _estimate(provider: str, model: str, factor: float, margin: float) -> TokenCounter:
    return TokenCounter(
        provider=provider, model=model, encoding="o200k_base", exact=False, factor=factor, margin=margin
    )
