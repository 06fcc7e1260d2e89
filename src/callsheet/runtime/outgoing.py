"""What of a conversation may go to a provider as it is.

Internal; `callsheet.serve.proxy` is its user: it may send a client's own request in place of the assembled one.
"""

from callsheet.derive.redaction import Redaction
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime import routing
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.routing import Provider

__all__ = ["Provider", "keeps_nothing", "redaction_of"]


def redaction_of(talk: Conversation) -> Redaction:
    """How secrets of a conversation are marked in its requests."""
    return talk._session.redacting.redaction


def keeps_nothing(talk: Conversation, provider: Provider, policy: PolicySetDocument) -> bool:
    """Whether a policy set lets a provider have all that this view sees; see `routing.keeps_nothing`."""
    return routing.keeps_nothing(talk._session, talk._view, provider, policy)
