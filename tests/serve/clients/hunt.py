"""The model that plays the task of `logbook`.

It goes by what a model sees: the task, which must still stand in the request, and the newest page. So a request may
leave old pages out; the answer must stay the same.
"""

import re
from collections.abc import Mapping, Sequence

from tests.serve.clients.logbook import TASK, TOOL
from tests.upstream import Called, Reply, Step, Upstream
from tests.upstream.scripts import Received

LOST = "I do not know what I was asked."

_NEXT = re.compile(r"next page: (\d+)\.")
_LAST = re.compile(r"the code word is (\w+)\.")


def plays(received: Received, upstream: Upstream) -> Step:
    """The model's next step."""
    kept = upstream.apis.kept.items.get(str(received.body.get("previous_response_id")), [])
    said = [*_texts(kept), *_texts(upstream.apis.threads.whole(received.body))]
    if not any(TASK in text for text in said):
        return Reply(text=LOST)
    newest = next((text for text in reversed(said) if _NEXT.search(text) or _LAST.search(text)), "")
    if (found := _LAST.search(newest)) is not None:
        return Reply(text=f"The code word is {found[1]}.")
    following = _NEXT.search(newest)
    number = int(following[1]) if following is not None else 1
    return Reply(text=f"I read page {number}.", calls=(Called(TOOL, {"number": number}),))


def _texts(value: object) -> Sequence[str]:
    """Every text in a request, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


def leaves(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether old pages have left requests: at least a quarter of one that was sent."""
    sizes = [(int(str(row["assembled"])), int(str(row["asked"]))) for row in rows if row["sent"] == "sheet"]
    return any(assembled < 0.75 * asked for assembled, asked in sizes)
