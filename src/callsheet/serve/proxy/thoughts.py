"""Thoughts in assembled requests, for models that take them back only behind what they had them behind.

What is kept of a request is whether its beginning is that of the one sent before it: then every thought stands where it
stood. Where it was written anew, the thoughts in it are left out; those that come after it are good again, as long as
the others stay out.
"""

from collections.abc import Callable
from dataclasses import dataclass

from callsheet.serve.proxy.weighing import Before, Weight
from callsheet.wire.anthropic.binding import binds, has_thoughts, without_thoughts
from callsheet.wire.asked import Asked
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields

_MESSAGES = "messages"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """What was sent last in a conversation whose model binds its thoughts."""

    before: Before | None
    #: Whether no answer of the conversation was given through here.
    new: bool
    weigh: Callable[[Fields], Weight]

    def written(self, body: Fields) -> tuple[Fields, int]:
        """An assembled body that the model takes, and how many of its messages, from the first, are without thoughts.

        These have to stay without, as long as requests go on from this one.
        """
        messages = body[_MESSAGES]
        assert isinstance(messages, list), "rendering writes a list"
        if self.before is not None:
            made = body | {_MESSAGES: without_thoughts(messages, self.before.bare)}
            if _goes_on(self.weigh(made), self.before.sent):
                return made, self.before.bare
        return body | {_MESSAGES: without_thoughts(messages, len(messages))}, len(messages)

    def takes(self, body: Fields, weight: Weight) -> bool:
        """Whether the model takes a client's own body: its thoughts may have been had behind an assembled request."""
        if not has_thoughts(body.get(_MESSAGES)):
            return True
        if self.before is None:
            return self.new
        return not self.before.assembled or _goes_on(weight, self.before.sent)


def is_bound(asked: Asked) -> bool:
    """Whether the model of a request binds its thoughts."""
    return asked.wire is Wire.ANTHROPIC and asked.previous is None and binds(asked.model)


def _goes_on(weight: Weight, sent: Weight) -> bool:
    return weight.pieces[: len(sent.pieces)] == sent.pieces
