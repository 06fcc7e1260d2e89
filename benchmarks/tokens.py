"""How fast tokens are counted, as ratios to the bare tokenizer in the same run.

    python benchmarks/tokens.py [--json]

The text is the source of Python's standard library: code and English prose, on every machine. Each round takes texts
that no round before has seen, and measures the bare tokenizer and Callsheet on the same ones in turn; the median of the
rounds is shown.
"""

import json
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from callsheet.wire.tokens import EncodingName, count, encoding

ROUNDS = 6
TOTAL = 4_000_000
#: Characters of a text: a chat message, a tool result, a large file.
SIZES = {"message": 400, "result": 8_000, "file": 1_000_000}
NAME: EncodingName = "o200k_base"


def source_text() -> str:
    """The first `TOTAL` characters of the standard library."""
    modules = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return "".join(module.read_text("utf-8", "replace") for module in modules)[:TOTAL]


def seconds(work: Callable[[str], object], texts: list[str]) -> float:
    start = time.perf_counter()
    for text in texts:
        work(text)
    return time.perf_counter() - start


def measure(text: str, size: int) -> dict[str, float]:
    """Medians over the rounds for texts of one size."""
    tokenizer = encoding(NAME)
    rounds: list[dict[str, float]] = []
    for number in range(ROUNDS):
        # The number in front makes the texts new to the memo.
        texts = [f"{size}.{number} {text[start : start + size]}" for start in range(0, len(text), size)]
        # Whoever goes second finds the texts in the processor's cache, so they take turns.
        works = (tokenizer.encode_ordinary, lambda text: count(text, NAME))
        if number % 2:
            bare, first = (seconds(work, texts) for work in works)
        else:
            first, bare = (seconds(work, texts) for work in reversed(works))
        again = seconds(works[1], texts)
        tokens = sum(count(text, NAME) for text in texts)
        rounds.append(
            {
                "tokens_per_second": tokens / first,
                "time_by_bare_tokenizer": first / bare,
                "megabytes_per_second": len(text) / first / 1e6,
                "seen_before_texts_per_second": len(texts) / again,
                "seen_before_time_by_bare_tokenizer": again / bare,
            }
        )
    return {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}


def main() -> None:
    start = time.perf_counter()
    encoding(NAME)
    loading = time.perf_counter() - start
    text = source_text()
    results = {label: measure(text, size) for label, size in SIZES.items()}
    if "--json" in sys.argv[1:]:
        print(json.dumps({"encoding": NAME, "load_seconds": loading, "by_size": results}, indent=2))
        return
    print(f"{NAME}, loaded in {loading:.2f} s\n")
    print(f"{'text of':>9} {'chars':>9} {'tokens/s':>12} {'MB/s':>6} {'x bare':>7} {'seen: texts/s':>14} {'x bare':>7}")
    for label, figures in results.items():
        print(
            f"{label:>9} {SIZES[label]:>9,} {figures['tokens_per_second']:>12,.0f}"
            f" {figures['megabytes_per_second']:>6.1f} {figures['time_by_bare_tokenizer']:>7.2f}"
            f" {figures['seen_before_texts_per_second']:>14,.0f}"
            f" {figures['seen_before_time_by_bare_tokenizer']:>7.4f}"
        )


if __name__ == "__main__":
    main()
