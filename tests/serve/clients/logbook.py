"""A task that an agent finishes by going from page to page. Old pages are long, and no later step needs them.

Nothing is imported here but the standard library: agents in environments of their own read it too.
"""

import random

TASK = "Find the code word in the logbook of the Erika. Begin with page 1 and follow the pages."
TOOL = "read_page"
PAGES = 24

_WORDS = (
    "wind from the west",
    "sea slight",
    "the mate reports the forward hold dry",
    "the boiler at low pressure",
    "two sails seen to leeward",
    "one of them a schooner",
    "the other too far away to be told",
    "the lead found nine fathoms and sand",
    "the log was heaved",
    "the watch was relieved",
)


def page(number: int) -> str:
    """A page of the logbook: some thousand characters, and where to read on."""
    source = random.Random(number)
    middle = "\n".join(f"{hour:02}:00 {'; '.join(source.sample(_WORDS, 3))}" for hour in range(24))
    end = f"next page: {number + 1}." if number < PAGES else f"the code word is LANTERN{PAGES}."
    return f"Page {number} of the logbook.\n{middle}\n{middle[::-1]}\n{end}"


def answer() -> str:
    """What the agent says in the end."""
    return f"The code word is LANTERN{PAGES}."
