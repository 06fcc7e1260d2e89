"""How many graphs each property is shown: few in every run of the tests, many where they are asked for.

``CALLSHEET_PROOFS=10000`` shows each property so many graphs, other ones in every run. Without it they are the same
few, so that a run of all tests says the same twice.
"""

import os

from hypothesis import HealthCheck, Phase, settings

ASKED = int(os.environ.get("CALLSHEET_PROOFS") or "0")


def graphs(few: int) -> settings:
    """Settings of a property that is shown `few` graphs in every run of the tests."""
    return settings(
        max_examples=ASKED or few,
        derandomize=not ASKED,
        database=None,
        deadline=None,
        # Graphs are small as they are; making a failing one smaller takes minutes.
        phases=[Phase.explicit, Phase.generate],
        print_blob=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
