"""What is sent: the assembled request where it pays, the client's own where that may go."""

import json
from collections.abc import Iterator
from dataclasses import replace as changed

import pytest
from msgspec.structs import replace

import callsheet
from callsheet.graph.enums import Level, Privacy
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import BALANCED, BUILT_IN, PolicySetDocument
from callsheet.policy.settings import ProviderForm
from callsheet.serve.proxy.comparing import Comparing
from callsheet.serve.proxy.concluding import Came, conclude, ended
from callsheet.serve.proxy.journal import Outcome, Sent
from callsheet.serve.proxy.limiting import limit_of, reserve_of
from callsheet.serve.proxy.orders import Order
from callsheet.serve.proxy.permitting import lets_all, speaking_for
from callsheet.serve.proxy.prepared import Prepared
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.pricing import Tokens, dollars, price_of
from callsheet.serve.proxy.recognising import Recogniser
from callsheet.serve.proxy.settings import Handling
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.weighing import Memory, Scales, billed, rates
from callsheet.wire.asked import read_request
from callsheet.wire.names import Wire
from callsheet.wire.tokens import engine
from tests.serve.proxy.scripted import chat, message

SECOND = 1_000_000
MODELS = {Wire.OPENAI: ("openai", "gpt-4o"), Wire.ANTHROPIC: ("anthropic", "claude-haiku-4-5")}


@pytest.fixture
def preparing() -> Iterator[Preparing]:
    with callsheet.open(":memory:") as runtime:
        yield Preparing(recogniser=Recogniser(runtime), comparing=Comparing(scales=Scales(), memory=Memory()))


def order(handling: Handling, wire: Wire = Wire.OPENAI, at: int = 0) -> Order:
    provider, model = MODELS[wire]
    return Order(
        wire=wire, provider=provider, model=None, stream=None, handling=handling,
        price=price_of(handling, provider, model), scope="t/k", named=None, user=None, at=at,
    )  # fmt: skip


def play(preparing: Preparing, handling: Handling, wire: Wire, turns: int, *, pause: int = 1) -> Iterator[Prepared]:
    """A conversation that looks things up, as its agent sends it again and again."""
    history: list[dict[str, object]] = []
    for turn in range(turns):
        rows = json.dumps([{"turn": turn, "row": row, "text": "some words of a result"} for row in range(60)])
        history.append({"role": "user", "content": f"question {turn}: {rows}"})
        body = {"model": MODELS[wire][1], "max_tokens": 500, "messages": list(history)}
        asked = order(handling, wire, at=turn * pause * SECOND)
        prepared = preparing.prepare(asked, body)
        yield prepared
        answer = f"answer {turn}"
        said = chat(answer) if wire is Wire.OPENAI else message(answer)
        conclude(
            preparing, asked, prepared, Came(outcome=Outcome.ANSWERED, status=200, response=json.loads(said.pieces[0]))
        )
        history.append({"role": "assistant", "content": answer})


@pytest.mark.parametrize("pause", [1, 1_000], ids=["cached", "forgotten"])
@pytest.mark.parametrize("wire", MODELS)
def test_with_a_horizon_of_one_no_request_is_dearer_than_the_one_it_replaces(
    preparing: Preparing, wire: Wire, pause: int
) -> None:
    provider, model = MODELS[wire]
    handling = Handling(horizon=1)
    cost = rates(provider, model, price_of(handling, provider, model))
    sent = set()
    for prepared in play(preparing, handling, wire, 24, pause=pause):
        found = prepared.weighed
        assert found is not None
        assert prepared.sent in (Sent.SHEET, Sent.OWN)
        if prepared.sent is Sent.SHEET:
            ours = billed(found.assembled, found.assembled_cached, cost, 1)
            assert ours < billed(found.own, found.own_now, cost, 1)
            assert found.assembled.tokens <= found.own.tokens
        sent.add(prepared.sent)
    assert Sent.SHEET in sent


@pytest.mark.parametrize("wire", MODELS)
def test_looking_ahead_a_long_history_is_made_smaller(preparing: Preparing, wire: Wire) -> None:
    *_, last = play(preparing, Handling(), wire, 24)
    assert last.sent is Sent.SHEET
    assert last.weighed is not None
    assert last.weighed.assembled.tokens < last.weighed.own.tokens / 2


def test_the_first_request_goes_as_it_came(preparing: Preparing) -> None:
    (first,) = play(preparing, Handling(), Wire.ANTHROPIC, 1)
    assert (first.sent, first.content) == (Sent.OWN, None)


def test_what_a_set_keeps_back_goes_assembled_whatever_it_costs(preparing: Preparing) -> None:
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": f"It is {secret}, and " + "words " * 50}]}
    prepared = preparing.prepare(order(Handling()), body)
    assert prepared.sent is Sent.SHEET
    assert prepared.content is not None
    assert secret.encode() not in prepared.content
    everything = preparing.prepare(order(Handling(policy=BUILT_IN["replay"])), body)
    assert everything.content is None or secret.encode() in everything.content


def test_what_goes_on_from_a_response_that_is_not_known(preparing: Preparing) -> None:
    body = {"model": "gpt-4o", "input": "Hi", "previous_response_id": "resp_unknown"}
    asked = as_responses(order(Handling()))
    with pytest.raises(Turned, match="send the whole history") as caught:
        preparing.prepare(asked, body)
    assert caught.value.status == 400
    passed = preparing.prepare(as_responses(order(Handling(policy=BUILT_IN["replay"]))), body)
    assert (passed.sent, passed.content) == (Sent.UNASSEMBLED, None)


def as_responses(made: Order) -> Order:
    """The same for Responses."""
    return changed(made, wire=Wire.OPENAI_RESPONSES, provider="openai-responses")


def test_a_name_that_is_none_is_refused(preparing: Preparing) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
    with pytest.raises(Turned) as caught:
        preparing.prepare(changed(order(Handling()), named="x" * 1_000), body)
    assert caught.value.status == 400


# --------------------------------------------------------------------------- what may pass


def set_with(**said: object) -> PolicySetDocument:
    made: PolicySetDocument = replace(BUILT_IN["replay"], name="own", version="1", **said)
    return made


KEEPS = ProviderForm(provider="openai", privacy=Privacy.PERSONAL, form=Level.NONE)
OPENS = ProviderForm(provider="openai", privacy=Privacy.SECRET, form=Level.RAW)
RULE = Rule(name="own", about=About.PROVIDER, when="true", then=Then.LEAVE_OUT)
RULE_OF_A_TOOL = Rule(name="own", about=About.PRIVACY, when="record.tool == 'x'", then=Then.SAFE)


@pytest.mark.parametrize(
    ("policy", "provider", "all_pass"),
    [
        (BUILT_IN["replay"], "openai", True),
        (BUILT_IN["balanced"], "openai", False),
        (BUILT_IN["lean"], "openai", False),
        (BUILT_IN["faithful"], "openai", False),
        (set_with(providers=(KEEPS,)), "openai", False),
        (set_with(providers=(KEEPS,)), "anthropic", True),
        (set_with(rules=(RULE,)), "anthropic", False),
        (set_with(privacy=replace(BUILT_IN["replay"].privacy, secret=Level.SAFE), providers=(OPENS,)), "openai", True),
        (set_with(privacy=replace(BUILT_IN["replay"].privacy, public=Level.SAFE)), "openai", False),
    ],
)
def test_what_passes_unseen_passes_only_where_nothing_could_be_kept_back(
    policy: PolicySetDocument, provider: str, all_pass: bool
) -> None:
    assert lets_all(policy, provider) == all_pass


def test_what_is_kept_from_a_provider_is_kept_from_its_other_name() -> None:
    policy = set_with(providers=(KEEPS,))
    both = speaking_for(policy, "openai", "openai-responses")
    assert not lets_all(both, "openai-responses")
    assert str(both) != str(policy)
    assert speaking_for(BALANCED, "openai", "openai-responses") is BALANCED
    own = replace(KEEPS, provider="openai-responses", form=Level.SAFE)
    said = set_with(providers=(KEEPS, own))
    assert speaking_for(said, "openai", "openai-responses") is said


@pytest.mark.parametrize("share", [0.0, 0.5], ids=["uncached", "half"])
def test_what_is_saved_by_a_rewrite_is_reckoned_with_what_the_provider_was_seen_to_cache(
    preparing: Preparing, share: float
) -> None:
    handling = Handling()
    history: list[dict[str, object]] = []
    rewritten = 0
    for turn in range(24):
        history.append({"role": "user", "content": f"question {turn}: " + "of many words " * 400})
        asked = order(handling, at=turn * SECOND)
        prepared = preparing.prepare(asked, {"model": "gpt-4o", "max_tokens": 500, "messages": list(history)})
        found = prepared.weighed
        assert found is not None
        sheet = prepared.sent is Sent.SHEET
        sent, held = (found.assembled, found.assembled_cached) if sheet else (found.own, found.own_now)
        response = json.loads(chat(f"answer {turn}", prompt=sent.tokens).pieces[0])
        response["usage"]["prompt_tokens_details"] = {"cached_tokens": round(held * share)}
        came = Came(outcome=Outcome.ANSWERED, status=200, response=response)
        row = ended(asked.at, asked, prepared, came, conclude(preparing, asked, prepared, came), size=0)
        if sheet and not held and found.own_cached:
            rewritten += 1
            assert asked.price is not None
            own = Tokens(input=found.own.tokens, cached=round(found.own_cached * share), output=row.output)
            assert row.plain_cost == pytest.approx(dollars(asked.price, own), rel=1e-3)
        history.append({"role": "assistant", "content": f"answer {turn}"})
    assert rewritten


def test_the_answer_to_a_request_that_went_unassembled_waits_for_no_sheet(preparing: Preparing) -> None:
    asked = order(Handling(policy=BUILT_IN["replay"]))
    made = preparing.prepare(asked, {"model": "gpt-4o", "messages": [{"role": "user", "content": "Where is W1?"}]})
    assert made.placed is not None
    # Assembled with recall and then without, and something of ours failed behind it: the client's own was sent.
    made.placed.talk.assemble(provider="openai", model="gpt-4o-mini")
    passed = changed(made, sent=Sent.UNASSEMBLED, content=None, sheet=None, weighed=None)
    came = Came(outcome=Outcome.ANSWERED, status=200, response=json.loads(chat("On its way.").pieces[0]))
    assert conclude(preparing, asked, passed, came) is not None
    records, _ = made.placed.talk.history()
    assert len(records) == 2


def test_a_set_with_rules_leaves_a_tool_loop_its_thoughts(preparing: Preparing) -> None:
    """DeepSeek refuses a turn with calls without what was thought before them."""
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    thinks = {"role": "assistant", "content": None, "reasoning_content": "The user wants W1.", "tool_calls": [call]}
    messages = [
        {"role": "user", "content": "Where is W1?"},
        thinks,
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    policy = replace(BALANCED, name="own", version="1", rules=(RULE_OF_A_TOOL,))
    # The marked parameter lets nothing go out as it came.
    body = {"model": "gpt-4o", "messages": messages, "stop": [f"key {secret}"]}
    prepared = preparing.prepare(order(Handling(policy=policy)), body)
    assert prepared.sent is Sent.SHEET
    assert prepared.content is not None
    sent = json.loads(prepared.content)["messages"]
    assert [message.get("reasoning_content") for message in sent] == [None, "The user wants W1.", None]


# --------------------------------------------------------------------------- how large a request may be

TOOL = {"type": "function", "function": {"name": "read_card", "parameters": {"type": "object", "properties": {}}}}


def cards(count: int = 10) -> dict[str, object]:
    """A first request that holds what was read: nothing of it is cached, and a turn waits for its answer."""
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "read_card", "arguments": f'{{"card": {n}}}'}}
        for n in range(count)
    ]
    blank = " and nothing else on it, front or back" * 20
    return {
        "model": "gpt-4o",
        "messages": [
            {"role": "user", "content": "Which card names the warden?"},
            {"role": "assistant", "content": "Reading.", "tool_calls": calls},
            *({"role": "tool", "tool_call_id": f"c{n}", "content": f"card {n}: blank{blank}"} for n in range(count)),
        ],
        "tools": [TOOL],
    }


@pytest.mark.parametrize("short", [20, 200, 700])
def test_what_is_larger_than_the_budget_goes_assembled_and_what_was_cut_can_be_read(
    preparing: Preparing, short: int
) -> None:
    whole = preparing.prepare(order(Handling()), cards())
    assert (whole.sent, whole.weighed is not None) == (Sent.OWN, True)
    assert whole.weighed is not None
    budget = whole.weighed.own.tokens - short
    cut = preparing.prepare(order(Handling(budget=budget)), cards())
    assert cut.sent is Sent.SHEET
    assert cut.weighed is not None
    assert cut.weighed.assembled.tokens <= budget
    assert (cut.recalls, cut.hides) == (True, True)
    assert preparing.readable(order(Handling(budget=budget)), cut) > 500


def test_what_is_larger_than_the_budget_goes_assembled_also_where_it_is_dearer(preparing: Preparing) -> None:
    handling = Handling(horizon=1)
    *_, last = play(preparing, handling, Wire.OPENAI, 3)
    assert last.weighed is not None
    assert last.sent is Sent.OWN
    smaller = changed(handling, budget=last.weighed.own.tokens - 100)
    with callsheet.open(":memory:") as runtime:
        anew = Preparing(recogniser=Recogniser(runtime), comparing=Comparing(scales=Scales(), memory=Memory()))
        *_, last = play(anew, smaller, Wire.OPENAI, 3)
    found = last.weighed
    assert found is not None
    assert last.sent is Sent.SHEET
    assert found.assembled.tokens < found.own.tokens
    cost = rates("openai", "gpt-4o", None)
    assert billed(found.assembled, found.assembled_cached, cost, 1) > billed(found.own, found.own_now, cost, 1)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({}, 4_096),
        ({"max_tokens": 300}, 300),
        ({"max_completion_tokens": 300, "max_tokens": 200}, 300),
        ({"max_tokens": 6_000}, 4_096),
        ({"max_tokens": 0}, 4_096),
        ({"generationConfig": {"maxOutputTokens": 300}}, 300),
    ],
)
def test_what_the_client_allows_the_reply_is_kept_free_within_half_of_the_window(
    said: dict[str, object], kept: int
) -> None:
    asked = read_request({"model": "gpt-4", "messages": [{"role": "user", "content": "Hi"}], **said}, Wire.OPENAI)
    assert reserve_of(Handling(), "openai", asked) == kept
    assert limit_of(Handling(), "openai", asked) == 8_192 - kept
    assert limit_of(Handling(budget=77), "openai", asked) == 77
    assert limit_of(Handling(), "openai", changed(asked, model="unheard-of")) is None


def test_a_long_text_goes_out_where_the_client_wants_a_short_answer(preparing: Preparing) -> None:
    messages = [{"role": "user", "content": "Summarise: " + "word " * 5_200}]
    prepared = preparing.prepare(order(Handling()), {"model": "gpt-4", "max_tokens": 300, "messages": messages})
    assert prepared.sent is Sent.OWN


@pytest.mark.parametrize("system", [False, True], ids=["question", "system"])
@pytest.mark.parametrize("wire", MODELS)
def test_a_question_that_cannot_fit_is_refused_before_it_is_counted_and_recorded(
    preparing: Preparing, wire: Wire, monkeypatch: pytest.MonkeyPatch, *, system: bool
) -> None:
    def counted(*_: object, **__: object) -> int:
        raise AssertionError("it was counted")

    monkeypatch.setattr(engine, "_counted", counted)
    long = "so it is " * 5_000
    question, instruction = ("Hi", long) if system else (long, "Be brief.")
    asking: dict[str, object] = {"role": "user", "content": question}
    body = {"model": MODELS[wire][1], "max_tokens": 500, "messages": [asking], "system": instruction}
    if wire is Wire.OPENAI:
        body["messages"] = [{"role": "system", "content": body.pop("system")}, asking]
    with pytest.raises(Turned) as turned:
        preparing.prepare(order(Handling(budget=12_000), wire), body)
    assert turned.value.status == 400
    assert "assembly.budget_too_small" in turned.value.message


def test_what_may_pass_is_recorded_however_long_it_is(preparing: Preparing) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "so it is " * 5_000}]}
    prepared = preparing.prepare(order(Handling(budget=12_000, policy=BUILT_IN["replay"])), body)
    assert prepared.sent is Sent.UNASSEMBLED
    assert prepared.placed is not None
