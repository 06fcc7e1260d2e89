"""A long run through the proxy in which everything goes wrong at times; then whether nothing was lost or doubled.

    python tools/proxy_endurance.py [--requests 10000] [--clients 24] [--kills 20] [--seed 1]

See `tests/serve/enduring.py`, which also runs in the tests, shorter. Exit code 1 where something must not be so.
"""

import argparse
import logging
import tempfile
import time
from pathlib import Path

from tests.serve.enduring import endure, judge


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=24)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)  # the provider breaks off what it is told to
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        run = endure(
            Path(folder),
            requests=arguments.requests,
            clients=arguments.clients,
            kills=arguments.kills,
            seed=arguments.seed,
        )
        print(f"{time.monotonic() - started:.0f} s")
        judge(run, print)


if __name__ == "__main__":
    main()
