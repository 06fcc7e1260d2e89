"""How many graphs each property is shown: some in every run of the tests, many where they are asked for.

A run of all tests shows more than 10,000 distinct graphs: about 8,800 of them five properties at once, which cost one
graph (`in_parts`), the others a property that needs more than one request or history. They are the same in every run,
so that it says the same twice. ``CALLSHEET_PROOFS=10000`` shows each property so many, other ones in every run.
"""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

ASKED = int(os.environ.get("CALLSHEET_PROOFS") or "0")

PARTS = 8
"""Into how many tests a property with many graphs is divided, so that processes share them."""


def in_parts(part: int, few: int, property_: Callable[..., None], *graph: SearchStrategy[Any]) -> None:
    """Show a property one part of its graphs; together the parts are `few`, and each has others."""
    shown = graphs(few // PARTS, ASKED // PARTS)(given(*graph)(property_))
    (shown if ASKED else seed(part)(shown))()


def graphs(few: int, many: int = ASKED) -> settings:
    """Settings of a property that is shown `few` graphs in every run, and `many` where they are asked for."""
    return settings(
        max_examples=many or few,
        derandomize=not ASKED,
        database=None,
        deadline=None,
        # Graphs are small as they are; making a failing one smaller takes minutes.
        phases=[Phase.explicit, Phase.generate],
        print_blob=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
