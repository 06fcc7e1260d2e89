"""Documents of a shop, and stores to put them into."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import callsheet
from callsheet import Runtime
from callsheet.graph.ports import Embedder
from callsheet.testing import FixedClock, SequenceIds

RETURNS_1 = (
    "# Returns\n\nGoods go back within 30 days.\n\n## Damaged goods\n\nWhat arrives broken is replaced at once.\n"
)
RETURNS_2 = "# Returns\n\nGoods go back within 14 days.\n"
WARRANTY = "# Warranty\n\nKilns have a warranty of two years. Claims name the form KIL-7781.\n"
SHIPPING = "# Versand\n\nÖfen werden mit einer Spedition geliefert, Häuser auf Inseln per Schiff.\n"


@contextmanager
def opened(path: Path | None = None, *, tenant: str = "local", embedder: Embedder | None = None) -> Iterator[Runtime]:
    """A runtime over a store in memory, or in a file; with ids in sequence where it is in memory."""
    where = ":memory:" if path is None else path
    ids = SequenceIds() if path is None else None
    with callsheet.open(where, tenant=tenant, ids=ids, clock=FixedClock(), embedder=embedder) as runtime:
        yield runtime


def fill(runtime: Runtime) -> None:
    """The shop's documents."""
    knowledge = runtime.knowledge
    knowledge.add("RET-01", RETURNS_1, version="1", title="Return policy", locale="en", attributes={"about": "goods"})
    knowledge.add("WAR-03", WARRANTY, version="1", title="Warranty", locale="en", attributes={"about": "kilns"})
    knowledge.add("SHP-02", SHIPPING, version="3", title="Versand", locale="de", attributes={"about": "kilns"})
