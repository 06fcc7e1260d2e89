"""The service as a process of its own, for measurements: it prints its address and ends with its standard input.

It checks nothing, and says the same to everything; a model named ``slow`` says it slowly.
"""

import sys

from tests.upstream import Reply, Upstream
from tests.upstream.scripts import Received

_SAID = "The parcel left the depot this morning, and the carrier says that it is two days late. " * 4


def _says(received: Received) -> Reply:
    return Reply(text=_SAID, pause=2.0 if received.body.get("model") == "slow" else 0.0)


if __name__ == "__main__":
    with Upstream(checks=False, lean=True) as upstream:
        upstream.otherwise(_says)
        print(upstream.url, flush=True)
        sys.stdin.read()
