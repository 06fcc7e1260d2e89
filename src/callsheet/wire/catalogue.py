"""What is known of models: how much they read, and what their tokens cost. A table with a date, in the package."""

import re
from functools import cache, lru_cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from callsheet.wire.tokens.providers import Family, family


class ModelFacts(Struct, frozen=True, kw_only=True):
    """One model. Prices are in dollars for a million tokens; None: not listed."""

    provider: str
    id: str
    #: Which names mean it: [operator, text], [``or``, rules] or [``and``, rules].
    match: list[object]
    #: Tokens that request and reply may take together.
    window: int | None = None
    input: float | None = None
    #: Input that is read from the provider's cache, and input that is written to it.
    cached: float | None = None
    write: float | None = None
    output: float | None = None


class Catalogue(Struct, frozen=True, kw_only=True):
    """The whole table and where it comes from."""

    source: str
    date: str
    models: tuple[ModelFacts, ...]

    @property
    def name(self) -> str:
        """Part of the pins, such as ``genai-prices 0.2.3 of 2026-11-29``."""
        return f"{self.source} of {self.date}"


@cache
def catalogue() -> Catalogue:
    """The table, read once."""
    text = files("callsheet.wire").joinpath("catalogue.json").read_bytes()
    return msgspec.json.decode(text, type=Catalogue)


@lru_cache(maxsize=1024)
def facts(provider: str, model: str) -> ModelFacts | None:
    """What is known of a provider's model by the name that requests give it; None: nothing.

    A fine-tuned model (``ft:gpt-4o-mini:…``) that is not listed is taken for the one that it was made from.
    """
    listed = {Family.GEMINI: "google", Family.OTHER: provider.strip().lower()}.get(family(provider))
    wanted = listed or family(provider).value
    name = model.strip().lower().removeprefix("models/")
    rows = [row for row in catalogue().models if row.provider == wanted]
    for known_as in (name, name.removeprefix("ft:").split(":", 1)[0]):
        for row in rows:
            if _matches(row.match, known_as):
                return row
    return None


def _matches(rule: list[object], name: str) -> bool:
    operator, operand = rule
    if isinstance(operand, list):
        found = (_matches(each, name) for each in operand)
        return any(found) if operator == "or" else all(found)
    text = str(operand)
    match operator:
        case "=":
            return name == text
        case "^":
            return name.startswith(text)
        case "$":
            return name.endswith(text)
        case "*":
            return text in name
        case _:
            return re.search(text, name) is not None
