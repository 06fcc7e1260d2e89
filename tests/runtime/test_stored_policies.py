"""Contracts that cannot be right never reach the store; a stored set that cannot be read is said to be so."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
import pytest

import callsheet
from callsheet import Conversation, ToolContract
from callsheet.errors import PolicyError
from callsheet.graph.enums import StreamKind
from callsheet.graph.nodes import PolicySet
from callsheet.graph.ports import Append, Owner
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Draft
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.policies import STREAM, keep_policy, policy_by_hash
from callsheet.testing import memory_runtime

T = TypeVar("T")


def make(kind: Callable[..., T], **said: object) -> T:
    """A value as a program without type checks makes it."""
    return kind(**said)


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("cellar")


def test_a_class_that_a_tool_declares_by_its_word_counts_to_the_end(talk: Conversation) -> None:
    @callsheet.tool(contract=make(ToolContract, name="vault", privacy="secret", recheck=["vault"], attempts=2))
    def vault() -> str:
        """Open the vault."""
        return "17 bottles"

    def asked() -> str:
        return str(talk.assemble(provider="openai", model="gpt-5.2", tools=[vault]).messages())

    talk.record({"role": "user", "content": "What is in the vault?"})
    sheet = talk.assemble(provider="openai", model="gpt-5.2", tools=[vault])
    call = {"id": "v", "type": "function", "function": {"name": "vault", "arguments": "{}"}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]}, sheet=sheet)
    (outcome,) = talk.execute([vault]).outcomes
    assert outcome.artifact is not None
    assert "17 bottles" not in asked()
    assert talk.why_not(talk.sheets()[-1], outcome.artifact).sentence


def test_a_contract_that_cannot_be_right_is_refused_before_anything_is_stored(talk: Conversation) -> None:
    with pytest.raises(PolicyError, match="privacy of the contract of 'vault' is 'sekret'"):
        callsheet.tool(contract=make(ToolContract, name="vault", privacy="sekret"))
    assert talk._session.ledger.stream(talk._session.owner.tenant, StreamKind.WORKSPACE, STREAM) is None


@pytest.mark.parametrize(
    "wrong",
    [{"tools": [{"name": "vault", "privacy": "sekret"}]}, {"turns": "4"}, {"low_water": {"tokens": 90_000}}, [], None],
)
def test_a_stored_set_that_cannot_be_read_is_a_policy_error_that_names_it(talk: Conversation, wrong: object) -> None:
    session = talk._session
    ledger, tenant = session.ledger, session.owner.tenant
    keep_policy(ledger, tenant, session.ids, session.clock, PolicySetDocument(name="tight", version="1"))
    stream = ledger.stream(tenant, StreamKind.WORKSPACE, STREAM)
    assert stream is not None
    (kept,) = (record.body for record in ledger.nodes(stream.key, NodeQuery(kinds=("policy_set",))))
    assert isinstance(kept, PolicySet)
    said = {"name": "loose", "version": "1", **wrong} if isinstance(wrong, dict) else wrong
    content = msgspec.json.encode(said) if said is not None else b"\xff{"
    bad = PolicySet(name="loose", version="1", hash="sha256:bad", document=ledger.stash(Owner(tenant=tenant), content))
    draft = Draft(id=session.ids.record("policy_set"), at=session.clock.now(), body=bad, nonce=session.ids.nonce())
    ledger.append([Append(stream=stream, drafts=(draft,))])
    with pytest.raises(PolicyError, match="policy set loose@1, which is stored here, cannot be read"):
        policy_by_hash(ledger, tenant, "sha256:bad")
    assert policy_by_hash(ledger, tenant, kept.hash).name == "tight"
