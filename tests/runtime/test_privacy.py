"""Secrets that tools print, people type and models repeat are in nothing that is made of them."""

import json
import logging
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callsheet
from callsheet import Conversation, Sheet
from callsheet.errors import CallsheetError, InvalidOption
from callsheet.graph.enums import Level, Privacy, StreamKind
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.nodes import ContextAssembly, Message, ModelRun, PolicyDecision, ToolMemory
from callsheet.graph.query import NodeQuery
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import ClassForms, ProviderForm
from tests.derive.test_redaction import KEEP, SHAPES
from tests.derive.test_secrets import EVERY

SECRETS = [
    "gh" + "p_" + "Z9" * 18,
    "AK" + "IA" + "Q7" * 8,
    "postgres://svc:" + "hunter-FAKE-22" + "@db.invalid:5432/x",
    "-----BEGIN " + "PRIVATE KEY-----\nMIIFAKE" + "A" * 60 + "\n-----END PRIVATE KEY-----",
    "sk-" + "proj-" + "fK3" * 14,
]
HIDDEN = [*SECRETS, "MIIFAKE" + "A" * 20, "hunter-FAKE-22"]
DUMP = "dump:\n" + "\n".join(SECRETS + KEEP)
TYPES = ["github-token", "aws-access-key", "url-password", "private-key", "openai-key"]


@pytest.fixture
def talk() -> Conversation:
    return callsheet.open(":memory:").conversation("kiln")


def asked(talk: Conversation, content: object, arguments: str = "{}", tool: str = "dump") -> RecordId:
    """A question, a call and its result."""
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": arguments}}
    talk.record({"role": "user", "content": "What is set there?"})
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
    return talk.record({"role": "tool", "tool_call_id": "c1", "content": content}).ids[0]


def sheet(talk: Conversation, policy: str | PolicySetDocument = "balanced", provider: str = "openai") -> Sheet:
    model = "claude-sonnet-4-5" if provider == "anthropic" else "gpt-5.2"
    return talk.assemble(provider=provider, model=model, policy=policy, budget=20_000)


def sent(sheet: Sheet) -> str:
    return json.dumps([sheet.request(), sheet.tools()], ensure_ascii=False)


def refused(act: Callable[[], object]) -> str:
    """The text of the error that an act raises."""
    with pytest.raises(CallsheetError) as raised:
        act()
    return f"{raised.value} {raised.value!r}"


def all_that_is_made(talk: Conversation, reference: RecordId) -> str:
    """Requests, searches, recalls, memories, explanations, transcripts and printed records, in one text."""
    one = sheet(talk)
    made = [repr(sheet(talk, policy)) + sent(sheet(talk, policy)) for policy in ("balanced", "lean", "faithful")]
    made += [sent(sheet(talk, provider="anthropic")), repr(talk.recall(reference)), talk.recall(reference).text]
    made.append(talk.recall(reference, bytes=(0, None)).bytes.decode("utf-8", "replace"))
    made += [repr(talk.search(word)) for word in ("dump", "pot", KEEP[2])]
    made += [talk.answer_recall(json.dumps({"reference": reference})), talk.answer_recall('{"query": "pot"}')]
    memory = talk.promote(reference)
    records, _ = talk.history()
    session = talk._session
    (kept,) = session.ledger.get(session.conversation.key, (memory,))
    assert isinstance(kept.body, ToolMemory)
    made += [repr(records), repr(kept), session.read(kept.body.summary).decode(), repr(talk.transcript())]
    made += [repr(talk.explain(one)), one.explain(), repr(talk.why_not(one, reference)), repr(talk.pending())]
    positions = list(range(1, 99))
    made.append(repr(session.ledger.indexed(session.conversation.key, positions)))
    return "\n".join(made)


def test_each_secret_is_a_marker_of_its_type_and_the_rest_is_unchanged(talk: Conversation) -> None:
    asked(talk, DUMP)
    text = sent(sheet(talk))
    for hidden in HIDDEN:
        assert hidden not in text
    for kind in TYPES:
        assert f"[secret:{kind}#" in text
    for kept in KEEP:
        assert kept in text


def test_no_secret_is_in_anything_that_is_made_nor_logged(talk: Conversation, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    artifact = asked(talk, DUMP, json.dumps({"env": SECRETS[0]}))
    talk.record({"role": "user", "content": f"Use {SECRETS[4]} and {SECRETS[2]} for it."})
    made = all_that_is_made(talk, artifact) + caplog.text
    errors = [refused(lambda: talk.recall(artifact, pointer=f"/{SECRETS[0]}")), refused(lambda: talk.raw(artifact))]
    errors.append(refused(lambda: talk.demote(artifact, SECRETS[4])))
    for hidden in HIDDEN:
        assert hidden not in made
        assert hidden.casefold() not in made.casefold()
    for hidden in (SECRETS[0], SECRETS[4]):
        assert hidden not in "".join(errors[1:])


def test_the_same_secret_has_the_same_marker_within_a_conversation_and_another_elsewhere(talk: Conversation) -> None:
    asked(talk, f"key {SECRETS[0]}")
    talk.record({"role": "user", "content": f"Is {SECRETS[0]} right?"})
    text = sent(sheet(talk))
    marker = text[text.index("[secret:") : text.index("]", text.index("[secret:")) + 1]
    assert text.count(marker) == 2
    other = callsheet.open(":memory:").conversation("kiln")
    asked(other, f"key {SECRETS[0]}")
    assert marker not in sent(sheet(other))


def test_markers_are_the_same_after_a_restart(tmp_path: object) -> None:
    place = f"{tmp_path}/kiln.db"
    with callsheet.open(place) as runtime:
        asked(runtime.conversation("kiln"), DUMP)
        before = sheet(runtime.conversation("kiln")).messages()
    with callsheet.open(place) as runtime:
        assert sheet(runtime.conversation("kiln")).messages() == before


def test_the_raw_artifact_is_read_with_a_reason_alone_and_this_is_recorded(talk: Conversation) -> None:
    artifact = asked(talk, DUMP)
    assert "privileged" in refused(lambda: talk.raw(artifact))
    with pytest.raises(InvalidOption):
        talk.raw(artifact, privileged=True)
    with pytest.raises(InvalidOption):
        talk.raw(artifact, privileged=True, reason="because I say so!")
    assert talk.raw(artifact, privileged=True, reason="incident_42").decode() == DUMP
    (decision,) = decisions(talk, "privileged_read")
    assert decision.governs == (artifact,)
    assert decision.rule == "privacy.privileged_read.incident_42"
    assert decision.verdict == "read_by:local"


def test_what_holds_no_secret_is_read_as_before(talk: Conversation) -> None:
    artifact = asked(talk, "cone 6\n" + "\n".join(KEEP))
    assert talk.raw(artifact).decode() == "cone 6\n" + "\n".join(KEEP)
    assert decisions(talk, "privileged_read") == []


def decisions(talk: Conversation, kind: str) -> list[PolicyDecision]:
    session = talk._session
    query = NodeQuery(kinds=("decision",), lineage=session.tail(talk._view, fresh=True).lineage)
    bodies = [record.body for record in session.ledger.nodes(session.conversation.key, query)]
    return [body for body in bodies if isinstance(body, PolicyDecision) and body.kind == kind]


def test_a_call_is_executed_with_the_arguments_as_the_model_wrote_them(talk: Conversation) -> None:
    arguments = json.dumps({"token": SECRETS[0]})
    call = {"id": "c1", "type": "function", "function": {"name": "fire", "arguments": arguments}}
    talk.record({"role": "user", "content": "Fire it."})
    (pending,) = talk.record({"role": "assistant", "content": None, "tool_calls": [call]}).pending
    assert pending.arguments == arguments
    assert SECRETS[0] not in repr(pending)
    assert SECRETS[0] not in sent(sheet(talk))


def test_a_set_may_open_a_provider_to_secrets_and_what_was_made_for_it_goes_nowhere_else(talk: Conversation) -> None:
    opened = ProviderForm(provider="local", privacy=Privacy.SECRET, form=Level.RAW)
    policy = PolicySetDocument(name="house", version="1", providers=(opened,))
    asked(talk, DUMP)
    assert SECRETS[0] in sent(sheet(talk, policy, "local"))
    assert SECRETS[0] in sent(sheet(talk, "replay"))
    for provider in ("openai", "anthropic"):
        assert SECRETS[0] not in sent(sheet(talk, policy, provider))
    assert SECRETS[0] in sent(sheet(talk, policy, "local"))


def test_a_set_may_keep_out_results_with_secrets_altogether(talk: Conversation) -> None:
    policy = PolicySetDocument(name="strict", version="1", privacy=ClassForms(secret=Level.NONE))
    asked(talk, DUMP)
    text = sent(sheet(talk, policy))
    assert KEEP[2] not in text
    assert SECRETS[0] not in text


def test_a_tool_that_is_declared_secret_shows_metadata_alone(talk: Conversation) -> None:
    policy = PolicySetDocument(name="vaults", version="1", tools=(ToolContract(name="dump", privacy=Privacy.SECRET),))
    asked(talk, DUMP)
    assert KEEP[2] not in sent(sheet(talk, policy))


def test_tokens_are_those_of_what_is_sent(talk: Conversation) -> None:
    asked(talk, DUMP)
    marked = sheet(talk)
    plain = callsheet.open(":memory:").conversation("kiln")
    asked(plain, str(marked.messages()[-1]["content"]))
    assert marked.tokens == sheet(plain).tokens


def test_a_recall_gives_markers_and_slices_that_join_to_them(talk: Conversation) -> None:
    artifact = asked(talk, DUMP)
    whole = talk.recall(artifact).bytes
    joined = b"".join(talk.recall(artifact, bytes=(at, at + 50)).bytes for at in range(0, len(whole), 50))
    assert joined == whole
    assert all(hidden.encode() not in whole for hidden in HIDDEN)


@pytest.mark.parametrize(("kind", "secret"), [(kind, secret) for kind, secret in EVERY if secret.isprintable()])
def test_a_secret_as_the_name_of_a_tool_or_speaker_is_a_marker(
    talk: Conversation, kind: str, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    talk.record({"role": "user", "content": "What is set there?", "name": secret})
    call = {"id": "c0", "type": "function", "function": {"name": secret, "arguments": "{}"}}
    recorded = talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
    one = sheet(talk)
    made = [repr(recorded), repr(talk.pending()), sent(one), sent(sheet(talk, provider="anthropic"))]
    made += [repr(talk.execute([])), repr(talk.executions())]
    talk.record({"role": "tool", "tool_call_id": "c0", "content": "fired"})
    artifact = asked(talk, "cone 6", tool=secret)
    made += [all_that_is_made(talk, artifact), repr(talk.executions()), repr(talk.approvals()), repr(talk.memories())]
    made += [sent(sheet(talk, "replay")), repr(talk.trace(sheet(talk))), sheet(talk).explain(), caplog.text]
    orphan = talk.record({"role": "tool", "tool_call_id": "c9", "name": secret, "content": "x"}).ids[0]
    made += [repr(talk.history()), refused(lambda: talk.promote(orphan, summary="", payload=1))]
    assert [one for one in made if secret.casefold() in one.casefold()] == [], kind


def test_listings_of_calls_print_no_arguments(talk: Conversation) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "fire", "arguments": json.dumps({"x": SECRETS[0]})}}
    talk.record({"role": "user", "content": "Fire it."})
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]})

    def fire(x: str) -> str:
        return "fired"

    needing = callsheet.tool(contract=ToolContract(name="fire", needs_approval=True))(fire)
    executed = talk.execute([needing])
    (approval,) = talk.approvals()
    (execution,) = talk.executions()
    for listed in (executed, talk.approvals(), talk.approvals(everywhere=True), talk.executions(), talk.pending()):
        assert SECRETS[0] not in repr(listed)
    assert approval.arguments == execution.arguments == json.dumps({"x": SECRETS[0]})


@pytest.mark.parametrize(("kind", "secret"), EVERY)
def test_what_was_asked_for_is_told_again_without_secrets(talk: Conversation, kind: str, secret: str) -> None:
    artifact = asked(talk, json.dumps({"pot": {"glaze": "ash"}, "note": f"here {secret}"}))
    sheet(talk)
    short = secret[:300]
    acts: list[Callable[[], object]] = [
        lambda: talk.recall(artifact, search=short).text,
        lambda: talk.recall(artifact, pointer=f"/pot/{short}"),
        lambda: talk.recall(artifact, pointer=short),
        lambda: talk.recall(short),
        lambda: talk.recall(artifact, search=short * 40),
        lambda: talk.search(short),
        lambda: talk.answer_recall(json.dumps({"reference": artifact, "part": f'"{short}"'})),
        lambda: talk.answer_recall(json.dumps({"reference": artifact, "part": f"/pot/{short}"})),
        lambda: talk.answer_recall(json.dumps({"reference": short})),
        lambda: talk.answer_recall(json.dumps({"query": short})),
        lambda: talk.answer_recall(short),
        lambda: talk.demote(artifact, short),
        lambda: talk.on(short),
        lambda: talk.child(short),
        lambda: talk.resume(short),
        lambda: talk.sheet(short),
        lambda: talk.participant("ada", isolation=short),
        lambda: talk.assemble(provider="openai", model="gpt-5.2", policy=short),
    ]
    for number, act in enumerate(acts):
        try:
            told = repr(act())
        except CallsheetError as error:
            told = f"{error} {error!r}"
        assert short not in told, number


@pytest.mark.parametrize(("kind", "secret"), EVERY)
@pytest.mark.parametrize("parts", [2, 3])
def test_a_secret_that_several_parts_hold_together_is_in_no_bytes(
    talk: Conversation, kind: str, secret: str, parts: int
) -> None:
    cuts = [len(secret) * at // parts for at in range(parts + 1)]
    texts = [secret[low:high] for low, high in pairwise(cuts)]
    texts = ["keep ", *texts, " this"]
    artifact = asked(talk, [{"type": "text", "text": text} for text in texts])
    message = talk.record({"role": "user", "content": [{"type": "text", "text": text} for text in texts]}).ids[0]
    for reference in (artifact, message):
        whole = talk.recall(reference)
        assert secret.encode() not in whole.bytes
        assert whole.bytes.startswith(b"keep ")
        assert whole.bytes.endswith(b" this")
        assert secret not in whole.text
        assert secret not in whole.text.replace("\n", "")
        joined = b"".join(talk.recall(reference, bytes=(at, at + 9)).bytes for at in range(0, len(whole.bytes), 9))
        assert joined == whole.bytes
    assert "privileged" in refused(lambda: talk.raw(artifact))


# ---------------------------------------------------------------------------------------------- labels


def test_what_an_account_holds_is_told_by_namespace_and_shape(talk: Conversation) -> None:
    mail = json.dumps({"kind": "gmail#message", "snippet": "the kiln is booked"})
    asked(talk, mail)
    assert "the kiln is booked" not in sent(sheet(talk))
    other = callsheet.open(":memory:").conversation("kiln")
    asked(other, "the kiln is booked", tool="slack__read_channel")
    assert "the kiln is booked" not in sent(sheet(other))
    assert "the kiln is booked" in sent(sheet(other, "replay"))


def test_labels_follow_the_data_to_sheet_answer_and_memory(talk: Conversation) -> None:
    policy = PolicySetDocument(
        name="mail",
        version="1",
        providers=(ProviderForm(provider="openai", privacy=Privacy.GOOGLE_DERIVED, form=Level.RAW),),
    )
    artifact = asked(talk, json.dumps({"kind": "gmail#message", "snippet": "the kiln is booked"}))
    shown = sheet(talk, policy)
    assert shown.record.decisions == (("class.google_derived", 1),)
    call = {"id": "c2", "type": "function", "function": {"name": "note", "arguments": '{"say": "kiln booked"}'}}
    talk.record({"role": "assistant", "content": "It is booked.", "tool_calls": [call]}, sheet=shown)
    talk.record({"role": "tool", "tool_call_id": "c2", "content": "ok"})
    session = talk._session
    query = NodeQuery(kinds=("run", "message"), lineage=session.tail(talk._view).lineage)
    labelled = {
        type(record.body): record.header.privacy for record in session.ledger.nodes(session.conversation.key, query)
    }
    assert labelled == {ModelRun: Privacy.GOOGLE_DERIVED, Message: Privacy.GOOGLE_DERIVED}
    (stored,) = session.ledger.get(session.sheets.key, (shown.id,))
    assert isinstance(stored.body, ContextAssembly)
    assert stored.header.privacy is Privacy.GOOGLE_DERIVED
    (memory,) = session.ledger.get(session.conversation.key, (talk.promote(artifact),))
    assert memory.header.privacy is Privacy.GOOGLE_DERIVED
    assert "booked" not in sent(sheet(talk, policy, "anthropic"))
    assert "It is booked." in sent(sheet(talk, policy))


def test_an_answer_that_recalls_is_of_the_class_of_what_it_recalls(talk: Conversation) -> None:
    artifact = asked(talk, json.dumps({"kind": "drive#file", "name": "glaze plan"}))
    call = {
        "id": "c3",
        "type": "function",
        "function": {"name": "recall", "arguments": json.dumps({"reference": artifact})},
    }
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
    answer = talk.record({"role": "tool", "tool_call_id": "c3", "content": talk.recall(artifact).text}).ids[0]
    session = talk._session
    (record,) = session.ledger.get(session.conversation.key, (answer,))
    assert record.header.privacy is Privacy.GOOGLE_DERIVED


# ---------------------------------------------------------------------------------------------- any place


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(EVERY),
    st.sampled_from(sorted(SHAPES)),
    st.booleans(),
    st.sampled_from(["", "x=", "pot 7 ", '"', "\\n"]),
)
def test_a_secret_anywhere_is_in_nothing_that_is_made(
    known: tuple[str, str], shape: str, said: bool, before: str
) -> None:
    _, secret = known
    talk = callsheet.open(":memory:").conversation("kiln")
    artifact = asked(talk, SHAPES[shape](before + secret))
    if said:
        talk.record({"role": "user", "content": f"I found {secret}"})
    made = all_that_is_made(talk, artifact)
    body = secret.split("\n")[min(1, secret.count("\n"))].split("\\n")[-1 if "\\n" not in secret else 1]
    assert body not in made
    assert body.casefold() not in made.casefold()


def test_every_stream_is_only_what_it_was(talk: Conversation) -> None:
    asked(talk, DUMP)
    sheet(talk)
    ledger = talk._session.ledger
    sheets = ledger.streams(TenantId("local"), StreamKind.SHEETS)
    for stream in sheets:
        for record in ledger.records(stream.key):
            assert SECRETS[0] not in repr(record)
    assert BALANCED.privacy.secret is Level.SAFE


def test_a_secret_in_the_reason_for_a_word_or_a_checkpoint_is_in_no_representation(talk: Conversation) -> None:
    def transfer(amount: int) -> str:
        raise AssertionError(amount)

    talk.record({"role": "user", "content": "Pay."})
    call = {"id": "c", "type": "function", "function": {"name": "transfer", "arguments": '{"amount": 5}'}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
    contract = ToolContract(name="transfer", side_effects=True, needs_approval=True)
    talk.execute([callsheet.tool(contract=contract)(transfer)])
    talk.refuse("c", by="kim", reason=f"not with {SECRETS[0]}")
    kept = talk.resume(talk.checkpoint(f"before {SECRETS[0]}"))
    (execution,) = talk.executions()
    assert SECRETS[0] not in repr(execution) + repr(kept)
    assert (execution.decisions[0].reason, kept.reason) == (f"not with {SECRETS[0]}", f"before {SECRETS[0]}")
