"""Where a conversation stands in its life, and how full its context is."""

from callsheet.graph.enums import Lifecycle
from callsheet.runtime import living
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.gauging import Gauge, gauge
from callsheet.runtime.options import label, remark


class Lives(Viewed):
    """Puts a conversation away and takes it up again."""

    @property
    def status(self) -> Lifecycle:
        """Where the conversation stands: ``opened``, ``active``, ``compacted`` or ``archived``.

        It says what happened to it last. A turn makes it active, whatever it was before.
        """
        return living.status(self._session.ledger, self._session.conversation.key)

    def archive(self, *, reason: str = "") -> bool:
        """Put the conversation away, and return whether it was not yet. Nothing of it is lost or closed.

        Whatever is said or done in it afterwards makes it active again, in the same transaction. What was remembered
        for its session alone is out of date from here on, also then. Raises `InvalidOption` in the view of a sub-agent.
        """
        return living.archive(self._session, self._view, remark(reason))

    def reopen(self, *, reason: str = "") -> bool:
        """Take the conversation up again without saying anything in it, and return whether it had been put away.

        Raises `InvalidOption` in the view of a sub-agent.
        """
        return living.reopen(self._session, self._view, remark(reason))

    def gauge(self, *, provider: str | None = None, model: str | None = None) -> Gauge:
        """How full the context of this view is: what its newest request took of a model's window, and what came since.

        Default: the model of the newest request; for another one its window counts, with tokens as they were counted.
        Takes time in proportion to what has come since the newest request. Raises `InvalidOption` where there is none
        and no model is given.
        """
        return gauge(
            self._session,
            self._view,
            label(provider, "provider") if provider is not None else None,
            label(model, "model") if model is not None else None,
        )
