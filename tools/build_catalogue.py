"""Writes src/callsheet/wire/catalogue.json: windows and prices of models, from the package genai-prices.

    pip install genai-prices && python tools/build_catalogue.py

Run by hand when the catalogue should be renewed; the result is committed. That package is not needed to use ours: it
brings an HTTP client and a validation library, and what is wanted of it is one table.
"""

import json
from datetime import date
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src" / "callsheet" / "wire" / "catalogue.json"

PROVIDERS = (
    "anthropic",
    "cerebras",
    "cohere",
    "deepseek",
    "fireworks",
    "google",
    "groq",
    "mistral",
    "moonshotai",
    "openai",
    "perplexity",
    "together",
    "x-ai",
)
"""Those whose own API is called. Resellers list hundreds of models under names of their own."""

_CLAUSES = {"equals": "=", "starts_with": "^", "ends_with": "$", "contains": "*", "regex": "~"}
_PRICES = {"input": "input_mtok", "cached": "cache_read_mtok", "write": "cache_write_mtok", "output": "output_mtok"}


def clause(match: object) -> list[object]:
    """A rule for names of models as [operator, text], [``or``, rules] or [``and``, rules]."""
    for attribute, operator in _CLAUSES.items():
        if hasattr(match, attribute):
            return [operator, getattr(match, attribute)]
    for attribute in ("or_", "and_"):
        if hasattr(match, attribute):
            return [attribute.rstrip("_"), [clause(each) for each in getattr(match, attribute)]]
    raise ValueError(f"a rule of an unknown kind: {match!r}")


def prices(given: object) -> dict[str, float]:
    """Dollars for a million tokens: the newest prices, at their base where they rise with the size of the request."""
    newest = getattr(given[-1], "prices") if isinstance(given, list) else given  # noqa: B009 - typed elsewhere
    found = {name: getattr(newest, attribute, None) for name, attribute in _PRICES.items()}
    return {name: float(getattr(price, "base", price)) for name, price in found.items() if price is not None}


def main() -> None:
    models = [
        {
            "provider": provider.id,
            "id": model.id,
            "match": clause(model.match),
            **({"window": model.context_window} if model.context_window else {}),
            **prices(model.prices),
        }
        for provider in import_module("genai_prices.data").providers
        if provider.id in PROVIDERS
        for model in provider.models
    ]
    head = {"source": f"genai-prices {version('genai-prices')}", "date": date.today().isoformat()}
    rows = ",\n".join(json.dumps(model, separators=(",", ":")) for model in models)
    TARGET.write_text(f'{json.dumps(head)[:-1]},\n"models": [\n{rows}\n]}}\n', encoding="utf-8")
    print(f"{len(models)} models, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
