"""A task that an agent finishes by going from page to page, and the model that plays it.

The model goes by what a model sees: the task, which must still stand in the request, and the newest result. Old pages
are long and say nothing that the next step needs, so a request may leave them out; the answer must stay the same.
"""

import json
import random
import re
from collections.abc import Sequence

from tests.upstream import Called, Reply, Step, Upstream
from tests.upstream.scripts import Received

TASK = "Find the code word in the logbook of the Erika. Begin with page 1 and follow the pages."
TOOL = "read_page"
LOST = "I do not know what I was asked."
PAGES = 24

_NEXT = re.compile(r"next page: (\d+)\.")
_LAST = re.compile(r"the code word is (\w+)\.")
_WORDS = (
    "wind from the west, sea slight, the mate reports the forward hold dry and the boiler at low pressure; "
    "two sails seen to leeward, one of them a schooner, the other too far away to be told by anyone on deck"
).split()


def page(number: int, pages: int = PAGES) -> str:
    """A page of the logbook: some thousand characters, and where to read on."""
    source = random.Random(number)
    lines = [f"{hour:02}:00 {' '.join(source.sample(_WORDS, 12))}" for hour in range(24)]
    middle = "\n".join(lines * 2)
    end = f"next page: {number + 1}." if number < pages else f"the code word is LANTERN{pages}."
    return f"Page {number} of the logbook.\n{middle}\n{end}"


def answer(pages: int = PAGES) -> str:
    """What the agent says in the end."""
    return f"The code word is LANTERN{pages}."


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


def sizes(bodies: Sequence[object]) -> list[int]:
    """The characters of requests."""
    return [len(json.dumps(body)) for body in bodies]
