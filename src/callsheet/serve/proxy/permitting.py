"""Whether a client's own request may go to a provider, judged by the policy set that its content would go through."""

from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from threading import Lock

from msgspec.structs import replace

from callsheet.derive import classify
from callsheet.derive.redaction import Redaction
from callsheet.graph.enums import Level, Privacy
from callsheet.policy.sets import PolicySetDocument
from callsheet.serve.proxy.bodies import encoded
from callsheet.serve.proxy.weighing import Weight, pieces, texts
from callsheet.wire.asked import Passes
from callsheet.wire.reading import Fields

_REMEMBERED = 65_536
"""Pieces of which it is remembered whether there are secrets in them."""


def lets_all(policy: PolicySetDocument, provider: str) -> bool:
    """Whether no rule of a policy set could keep anything from a provider, whatever it holds.

    Only then may a request go there that was not looked through. A set with rules of its own could, whatever they say.
    """
    return not policy.rules and all(form is Level.RAW for form in _forms(policy, provider).values())


def passing(policy: PolicySetDocument, provider: str) -> Passes:
    """Tells of a text that stands beside what assembly shows whether it may go to a provider.

    It is of the class that it shows by itself, as every message is. Rules of a set are asked of records: whatever they
    say of the one that it stands beside, that is shown. So a text passes there too, unless it is of a stricter class
    than plain text: by that a rule could tell the two apart.
    """
    forms = _forms(policy, provider)
    if policy.rules:
        return lambda text: forms[kind := _class_of(text)] is Level.RAW and kind in _PLAIN
    is_open = all(form is Level.RAW for form in forms.values())
    return lambda text: is_open or forms[_class_of(text)] is Level.RAW


_PLAIN = frozenset({Privacy.PUBLIC, Privacy.INTERNAL})
"""What a text is that shows neither a secret nor a person."""


_class_of = lru_cache(maxsize=1_024)(classify.privacy)
"""The same reasoning comes with every request of a conversation."""


def _forms(policy: PolicySetDocument, provider: str) -> dict[Privacy, Level]:
    forms = {privacy: policy.privacy.of(privacy) for privacy in Privacy}
    return forms | {one.privacy: one.form for one in policy.providers if one.provider == provider}


class Clean:
    """Whether requests hold secrets. Each piece is looked through once. Thread-safe."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, bool] = OrderedDict()
        self._redaction = Redaction()
        self._lock = Lock()

    def is_clean(self, body: Fields, weight: Weight) -> bool:
        """Whether no secret is found in a body of this weight."""
        return all(
            self._is_clean(digest, piece) for (digest, _), piece in zip(weight.pieces, pieces(body), strict=True)
        )

    def _is_clean(self, digest: bytes, piece: object) -> bool:
        with self._lock:
            known = self._known.get(digest)
        if known is None:
            known = all(self._redaction.text(text) == text for text in _written(piece))
            with self._lock:
                self._known[digest] = known
                if len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
        return known


_OBJECTS = frozenset({"args", "input", "response"})
"""Where arguments and results stand as objects. They are recorded as JSON, in which a name tells what its value is."""


def _written(piece: object) -> Iterator[str]:
    """Every text of a piece, and the names in its objects: any of them may hold a secret."""
    yield from texts(piece, frozenset())
    yield from _names(piece)


def _names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            if name in _OBJECTS and isinstance(item, dict):
                yield encoded(item).decode()
            yield from _names(item)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def holds_no_more(own: Weight, assembled: Weight) -> bool:
    """Whether all that the client's own request holds stands in the assembled one, word for word.

    Then nothing was kept back, and the client's own may go in its place.
    """
    return {digest for digest, _ in own.pieces} <= {digest for digest, _ in assembled.pieces}


def speaking_for(policy: PolicySetDocument, provider: str, alias: str) -> PolicySetDocument:
    """The policy set with what it says of a provider said of another name of it too.

    OpenAI's Responses are a provider of their own in requests; what a set keeps from OpenAI it keeps from both.
    """
    if provider == alias or any(one.provider == alias for one in policy.providers):
        return policy
    own = tuple(replace(one, provider=alias) for one in policy.providers if one.provider == provider)
    if not own:
        return policy
    return replace(policy, version=f"{policy.version}, {alias}", providers=(*policy.providers, *own))
