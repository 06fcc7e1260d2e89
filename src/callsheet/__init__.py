"""Callsheet: durable, explainable context assembly for tool-using AI agents.

    with callsheet.open("agent.db") as runtime:
        talk = runtime.conversation("support-17", user="mia")
        talk.record({"role": "user", "content": "Where is order W123?"})
        sheet = talk.assemble(provider="openai", model="gpt-5.2")

Importing this module does nothing and loads nothing; each name loads what it needs at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from callsheet._version import __version__

if TYPE_CHECKING:
    from callsheet.errors import CallsheetError
    from callsheet.graph.enums import ArtifactStatus, Role
    from callsheet.ledger.crypto.signers import Ed25519Signer, HmacSigner
    from callsheet.policy.contracts import ToolContract
    from callsheet.policy.sets import PolicySetDocument
    from callsheet.runtime.aio import AsyncConversation, AsyncRuntime, open_async
    from callsheet.runtime.checking import Checked
    from callsheet.runtime.conversation import Conversation, PendingCall, Recorded
    from callsheet.runtime.counters import Counters
    from callsheet.runtime.executing.tool import tool
    from callsheet.runtime.loading import load_policy
    from callsheet.runtime.opening import open
    from callsheet.runtime.recalling import Recalled
    from callsheet.runtime.runtime import Runtime
    from callsheet.runtime.searching import Finding
    from callsheet.runtime.sheet import Reference, Sheet
    from callsheet.runtime.transcript import Spoken, ToolCard

__all__ = [
    "ArtifactStatus",
    "AsyncConversation",
    "AsyncRuntime",
    "CallsheetError",
    "Checked",
    "Conversation",
    "Counters",
    "Ed25519Signer",
    "Finding",
    "HmacSigner",
    "PendingCall",
    "PolicySetDocument",
    "Recalled",
    "Recorded",
    "Reference",
    "Role",
    "Runtime",
    "Sheet",
    "Spoken",
    "ToolCard",
    "ToolContract",
    "__version__",
    "load_policy",
    "open",
    "open_async",
    "tool",
]

_HOMES = {
    "ArtifactStatus": "callsheet.graph.enums",
    "AsyncConversation": "callsheet.runtime.aio",
    "AsyncRuntime": "callsheet.runtime.aio",
    "CallsheetError": "callsheet.errors",
    "Checked": "callsheet.runtime.checking",
    "Conversation": "callsheet.runtime.conversation",
    "Counters": "callsheet.runtime.counters",
    "Ed25519Signer": "callsheet.ledger.crypto.signers",
    "Finding": "callsheet.runtime.searching",
    "HmacSigner": "callsheet.ledger.crypto.signers",
    "PendingCall": "callsheet.runtime.conversation",
    "PolicySetDocument": "callsheet.policy.sets",
    "Recalled": "callsheet.runtime.recalling",
    "Recorded": "callsheet.runtime.conversation",
    "Reference": "callsheet.runtime.sheet",
    "Role": "callsheet.graph.enums",
    "Runtime": "callsheet.runtime.runtime",
    "Sheet": "callsheet.runtime.sheet",
    "Spoken": "callsheet.runtime.transcript",
    "ToolCard": "callsheet.runtime.transcript",
    "ToolContract": "callsheet.policy.contracts",
    "load_policy": "callsheet.runtime.loading",
    "open": "callsheet.runtime.opening",
    "open_async": "callsheet.runtime.aio",
    "tool": "callsheet.runtime.executing.tool",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'callsheet' has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
