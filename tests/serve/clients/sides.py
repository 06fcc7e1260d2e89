"""The same client before a provider, and before the proxy before the same provider: both must see the same."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from callsheet.serve.proxy.settings import Handling
from tests.serve.proxy.proxies import Running, running, settings
from tests.upstream import Step, Upstream
from tests.upstream.scripts import Received

KEY = "sk-test"
T = TypeVar("T")


@contextmanager
def proxied(
    folder: Path, *, handling: Handling | None = None, plays: Callable[[Received, Upstream], Step] | None = None
) -> Iterator[tuple[Upstream, Running]]:
    """A provider, and the proxy before it.

    Clients send back what they got with keys that are their own, which providers pass over and our rules do not.
    """
    with Upstream(rules=False) as upstream:
        if plays is not None:
            upstream.otherwise(lambda received: plays(received, upstream))
        with running(settings(folder, upstream.url, handling=handling)) as proxy:
            yield upstream, proxy


def both(
    folder: Path, steps: tuple[Step, ...], use: Callable[[str], T], *, handling: Handling | None = None
) -> tuple[T, list[dict[str, object]]]:
    """What a client sees, the same with the proxy as without it; and the proxy's list of requests.

    `use` is given an address without a path. The provider says the same steps to each.
    """
    with Upstream(rules=False) as upstream:
        upstream.will(*steps)
        plain = use(upstream.url)
        without = [received.body for received in upstream.received]
        assert not any(received.refused for received in upstream.received)
    with proxied(folder, handling=handling) as (upstream, proxy):
        upstream.will(*steps)
        seen = use(proxy.base)
        assert [received.refused for received in upstream.received] == [None] * len(without)
    assert seen == plain
    return plain, proxy.rows()


def like(value: object, but: frozenset[str] = frozenset()) -> object:
    """A part of an answer without what two runs need not share: the usage, which is that of the request sent."""
    if isinstance(value, Mapping):
        return {key: like(item, but) for key, item in value.items() if key not in _VARIES | but}
    return [like(item, but) for item in value] if isinstance(value, list) else value


_VARIES = frozenset({"usage", "usage_metadata", "sdk_http_response"})
