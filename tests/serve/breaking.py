"""A proxy that is broken on purpose in one of these ways, to see that the judge of long runs notices.

python -m tests.serve.breaking WAY serve --config FILE
"""

import itertools
import sys
from collections.abc import Callable
from typing import Any

from callsheet.cli import main
from callsheet.serve.proxy import concluding
from callsheet.serve.proxy.prepared import Prepared
from callsheet.serve.proxy.recognising import Placed
from callsheet.serve.proxy.upstream import Upstreams

EACH = 10
"""Of so many answers or requests one goes wrong."""


def loses() -> None:
    """An answer is not recorded."""

    def recorded(*args: Any, **named: Any) -> bool:
        return False if next(turn) % EACH == 0 else real(*args, **named)

    turn, real = itertools.count(1), concluding._recorded
    concluding._recorded = recorded


def doubles() -> None:
    """An answer is recorded twice."""

    def recorded(*args: Any, **named: Any) -> bool:
        if next(turn) % EACH == 0:
            real(*args, **named)
        return real(*args, **named)

    turn, real = itertools.count(1), concluding._recorded
    concluding._recorded = recorded


def mixes_up() -> None:
    """An answer is recorded in another conversation."""

    def recorded(preparing: Any, order: Any, prepared: Prepared, placed: Placed, **named: Any) -> bool:
        others = [one for one in seen if one.placed is not None and one.placed.talk.id != placed.talk.id]
        others = [one for one in others if _provider(one) == _provider(prepared)]
        seen.append(prepared)
        if others and next(turn) % EACH == 0 and (wrong := others[-1].placed) is not None:
            return real(preparing, order, others[-1], wrong, **named)
        return real(preparing, order, prepared, placed, **named)

    seen: list[Prepared] = []
    turn, real = itertools.count(1), concluding._recorded
    concluding._recorded = recorded


def _provider(prepared: Prepared) -> str | None:
    return prepared.sheet.record.boundary.provider if prepared.sheet is not None else None


def sends_anothers() -> None:
    """What goes to the provider is what another client asked."""

    def ask(self: Upstreams, upstream: Any, method: str, *rest: Any) -> Any:
        address, headers, content = rest
        alike = address, b'"stream":true' in content
        before, last[alike] = last.get(alike, content), content
        sent = before if next(turn) % EACH == 0 else content
        return real(self, upstream, method, address, _sized(headers, sent), sent)

    last: dict[tuple[str, bool], bytes] = {}
    turn, real = itertools.count(1), Upstreams.ask
    Upstreams.ask = ask  # type: ignore[method-assign,assignment]


def _sized(headers: Any, content: bytes) -> list[tuple[bytes, bytes]]:
    return [(key, str(len(content)).encode() if key.lower() == b"content-length" else value) for key, value in headers]


WAYS: dict[str, Callable[[], None]] = {one.__name__: one for one in (loses, doubles, mixes_up, sends_anothers)}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
    sys.exit(main(sys.argv[2:]))
