"""The system's clock."""

import time

from callsheet.graph.times import Instant


class SystemClock:
    """Microseconds since the epoch, as the system says."""

    def now(self) -> Instant:
        return Instant(time.time_ns() // 1000)
