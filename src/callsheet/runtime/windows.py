"""How much models read."""

from callsheet.wire.catalogue import facts

DEFAULT_WINDOW = 128_000
"""Tokens that a model that is not in the catalogue is taken to read when no budget is given."""


def window_of(provider: str, model: str) -> tuple[int, bool]:
    """Tokens that a model reads, the reply included, and whether the catalogue says so."""
    known = facts(provider, model)
    if known is None or known.window is None:
        return DEFAULT_WINDOW, False
    return known.window, True
