"""One thread that does background work beside the program, for as long as the store is open."""

import logging
import threading
from collections.abc import Sequence

from callsheet.errors import StoreClosed
from callsheet.runtime.working.draining import Draining, Worked
from callsheet.runtime.working.work import Work

PAUSE = 5.0
"""Seconds between two looks for work. Nothing waits for it, so it need not be soon."""

PATIENCE = 10.0
"""Seconds that stopping waits for the unit in hand. What takes longer finds the store closed, and is found again."""

_LOG = logging.getLogger(__name__)


class Worker:
    """Does works in a thread of its own until it is stopped. What it had in hand then is found again the next time."""

    def __init__(self, works: Sequence[Work], *, pause: float = PAUSE) -> None:
        self._works = tuple(works)
        self._pause = pause
        self._stop = threading.Event()
        #: Set once everything that was pending at the beginning was tried.
        self.looked = threading.Event()
        self._lock = threading.Lock()
        self._worked: dict[str, Worked] = {}
        self._thread = threading.Thread(target=self._run, name="callsheet worker", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End behind the unit that is in hand, and wait a while for that. Stopping twice is fine."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(PATIENCE)

    @property
    def alive(self) -> bool:
        """Whether it is at work."""
        return self._thread.is_alive()

    @property
    def worked(self) -> tuple[Worked, ...]:
        """What has come of each work since it began, errors by their class."""
        with self._lock:
            return tuple(self._worked.values())

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                for work in self._works:
                    self._add(Draining(work=work, stopped=self._stop.is_set).drain())
                self.looked.set()
                self._stop.wait(self._pause)
        except StoreClosed:
            if not self._stop.is_set():
                _LOG.warning("background work ended: the store was closed under it")

    def _add(self, worked: Worked) -> None:
        with self._lock:
            known = self._worked.get(worked.work)
            self._worked[worked.work] = known.with_(worked) if known is not None else worked
