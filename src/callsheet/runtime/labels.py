"""Labels follow the data: what rests on several records is as strict as the strictest of them."""

from collections.abc import Iterable

from callsheet.graph.enums import Privacy

STRICTNESS = (
    Privacy.PUBLIC,
    Privacy.INTERNAL,
    Privacy.RUNTIME_FILE,
    Privacy.DOCUMENT,
    Privacy.PERSONAL,
    Privacy.GOOGLE_DERIVED,
    Privacy.CONNECTED_ACCOUNT,
    Privacy.SECRET,
)
"""The classes of data, the strictest last."""


def strictest(classes: Iterable[Privacy]) -> Privacy:
    """The strictest of some classes, of which there is at least one."""
    return max(classes, key=STRICTNESS.index)
