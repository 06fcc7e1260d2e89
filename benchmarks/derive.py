"""What deriving a tool result costs by what it holds: seconds for each megabyte, and the most memory taken.

    python benchmarks/derive.py [--size MB] [--large] [--kind KIND ...] [--json]

Measured is `index_result`: reading the content, finding entities and terms, the gist and the table of segments.
Counting tokens is left out, since it has a benchmark of its own. Memory is what Python allocates above the content
itself, measured in a second run. `--large` takes 50 MB of log lines and of JSON.
"""

import argparse
import base64
import json
import random
import time
import tracemalloc
from collections.abc import Callable

from callsheet.derive.derived import index_result

_WORDS = [
    "harbour",
    "crane",
    "cargo",
    "manifest",
    "berth",
    "pilot",
    "tide",
    "vessel",
    "customs",
    "pallet",
    "reefer",
    "anchor",
    "signal",
    "deck",
]


def _text(source: random.Random, words: int) -> str:
    return " ".join(source.choices(_WORDS, k=words))


def _row(source: random.Random, number: int) -> dict[str, object]:
    return {
        "id": f"VSL-{number:06d}",
        "berth": f"B{source.randrange(90)}",
        "eta": f"2031-0{source.randrange(1, 10)}-1{source.randrange(10)}T0{source.randrange(10)}:15:00Z",
        "tonnes": source.randrange(90_000) / 10,
        "note": _text(source, 6),
    }


def _nested(source: random.Random, number: int) -> dict[str, object]:
    return {"vessel": _row(source, number), "stops": [{"port": _text(source, 1), "cargo": _row(source, number)}] * 3}


def _line(source: random.Random, number: int) -> str:
    level = source.choice(("INFO", "INFO", "INFO", "WARN", "ERROR"))
    return f"2031-05-04 12:{number // 60 % 60:02d}:{number % 60:02d} {level} crane-{number % 7}: {_text(source, 9)}"


def _frame(source: random.Random, number: int) -> str:
    place = f'File "/srv/port/{source.choice(_WORDS)}.py", line {number % 900}, in {source.choice(_WORDS)}'
    return f"  {place}\n    lift({number})"


def _hunk(source: random.Random, number: int) -> str:
    head = f"diff --git a/{number}.txt b/{number}.txt\n--- a/{number}.txt\n+++ b/{number}.txt\n@@ -1,3 +1,3 @@\n"
    return f"{head} {_text(source, 8)}\n-{_text(source, 8)}\n+{_text(source, 8)}"


def _function(source: random.Random, number: int) -> str:
    return (
        f"def {source.choice(_WORDS)}_{number}(cargo: int) -> int:\n    tide = cargo + {number}\n    return tide * 2\n"
    )


def _element(source: random.Random, number: int) -> str:
    return f'<tr id="r{number}"><td><a href="/vessels/{number}">VSL-{number}</a></td><td>{_text(source, 8)}</td></tr>'


def _hit(source: random.Random, number: int) -> str:
    return f"{number}. {_text(source, 5)}\nhttps://port.example/{number}\n{_text(source, 25)}\n"


def _table(source: random.Random, number: int) -> str:
    return f"| VSL-{number} | {source.choice(_WORDS)} | {source.randrange(900)} | {_text(source, 5)} |"


def _csv(source: random.Random, number: int) -> str:
    return f'VSL-{number},{source.choice(_WORDS)},{source.randrange(900)},"{_text(source, 5)}"'


def _prose(source: random.Random, number: int) -> str:
    return f"{_text(source, 14).capitalize()}. On day {number} {_text(source, 12)}, said Captain Imre Vass.\n"


Part = Callable[[random.Random, int], str]

LINES: dict[str, tuple[str, Part]] = {
    "json lines": ("", lambda source, number: json.dumps(_row(source, number))),
    "csv": ("vessel,kind,tonnes,note\n", _csv),
    "markdown": ("| vessel | kind | tonnes | note |\n|---|---|---|---|\n", _table),
    "log": ("", _line),
    "trace": ("Traceback (most recent call last):\n", _frame),
    "diff": ("", _hunk),
    "source": ("import port\n\n", _function),
    "html": ("<html><body><table>\n", _element),
    "search": ("", _hit),
    "text": ("", _prose),
}


def content(kind: str, size: int) -> str:
    """About so many characters of one kind."""
    source = random.Random(kind)
    if kind in ("json", "nested"):
        make = _row if kind == "json" else _nested
        each = len(json.dumps(make(source, 0)))
        return json.dumps([make(source, number) for number in range(size // each + 1)])
    if kind == "base64":
        return base64.b64encode(source.randbytes(size * 3 // 4)).decode()
    if kind == "mixed":
        kinds = ("text", "log", "json", "csv", "base64")
        return "\n\n".join(content(one, size // len(kinds)) for one in kinds)
    head, part = LINES[kind]
    parts, length, number = [head], len(head), 0
    while length < size:
        parts.append(part(source, number) + "\n")
        length += len(parts[-1])
        number += 1
    return "".join(parts)


KINDS = ("json", "nested", *LINES, "base64", "mixed")


def _derive(text: str) -> str:
    index = index_result(text, tool="ask", arguments='{"of": "port"}', count=lambda counted: len(counted) // 4)
    return f"{len(index.entities)} entities, {len(index.terms)} terms"


def measure(kind: str, megabytes: float) -> dict[str, object]:
    text = content(kind, int(megabytes * 1e6))
    size = len(text) / 1e6
    started = time.perf_counter()
    found = _derive(text)
    took = time.perf_counter() - started
    tracemalloc.start()
    _derive(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"kind": kind, "MB": size, "s_per_MB": took / size, "peak_by_size": peak / 1e6 / size, "found": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--size", type=float, default=1.0, help="megabytes of each kind")
    parser.add_argument("--large", action="store_true", help="50 MB of log lines and of JSON")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS, metavar="KIND")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    _derive(content("text", 1_000))  # what is imported and compiled once
    wanted = [("log", 50.0), ("json", 50.0)] if given.large else [(kind, given.size) for kind in given.kind]
    rows = [measure(kind, size) for kind, size in wanted]
    if given.json:
        print(json.dumps(rows))
        return
    print(f"{'kind':>12}{'MB':>8}{'s per MB':>10}{'peak x size':>13}")
    for row in rows:
        print(
            f"{row['kind']:>12}{row['MB']:>8.1f}{row['s_per_MB']:>10.3f}{row['peak_by_size']:>13.1f}   {row['found']}"
        )


if __name__ == "__main__":
    main()
