"""Recall inside the proxy: the model's calls are answered there, and its client sees one answer and none of them."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import openai
import pytest

import callsheet
from callsheet.graph.nodes import ModelRun, ToolArtifact, ToolCall
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.settings import Handling, Price, Spending
from tests.serve.proxy.proxies import Running, running, settings
from tests.serve.proxy.talking import CLIENTS, Chat, Responses, Talking
from tests.upstream import Broken, Called, Failing, Gate, Reply, Upstream

RECALL = Called("recall", {"query": "row 7 of result 1"})
LOOK = Called("look", {"x": "1"})
TURNS = 4
"""Turns after which results are out of view."""


@pytest.fixture
def service() -> Iterator[Upstream]:
    with Upstream() as started:
        yield started


def results() -> Iterator[str]:
    for number in count(1):
        rows = [{"n": n, "text": f"row {n} of result {number}: {n * 7_919 % 1_000}"} for n in range(600)]
        yield json.dumps(rows)


def client_of(kind: type[Talking], proxy: Running, *, streamed: bool) -> Talking:
    made = results()
    return kind(proxy.base, streamed=streamed, result=lambda: next(made))


def begin(talking: Talking, service: Upstream) -> None:
    """Say so much that the recall tool is offered."""
    service.will(*(Reply(thinking="Hm.", calls=(LOOK,)), Reply(text="I have seen it.")) * TURNS)
    for number in range(TURNS):
        talking.say(f"question {number}: what of it?")
    assert "recall" in offered(service)


def offered(service: Upstream, at: int = -1) -> list[str]:
    """The tools of a request as it came to the service."""
    tools = service.bodies[at].get("tools") or []
    assert isinstance(tools, list)
    declared = [one for tool in tools for one in tool.get("functionDeclarations", [tool.get("function", tool)])]
    return [str(one.get("name")) for one in declared]


both = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
each = pytest.mark.parametrize("kind", CLIENTS)


@both
@each
def test_a_client_sees_one_answer_and_goes_on_with_it(
    service: Upstream, tmp_path: Path, kind: type[Talking], *, streamed: bool
) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(kind, proxy, streamed=streamed) as talking:
        begin(talking, service)
        service.will(
            Reply(thinking="I must read.", text="Let me read.", calls=(RECALL,)),
            Reply(thinking="More.", calls=(RECALL, RECALL)),
            Reply(thinking="Done.", text="It is 433."),
        )
        answer = talking.say("what did the first one say in row 7, exactly?")
        usage = talking.usage
        # Then both kinds of calls at once, and behind the client's result another answer of two rounds.
        service.will(
            Reply(thinking="Both.", text="I look.", calls=(RECALL, LOOK)),
            Reply(thinking="Again.", calls=(RECALL,)),
            Reply(text="That is all."),
            Reply(text="Bye."),
        )
        second = talking.say("and now look again")
        last = talking.say("thanks")
    assert [received.refused for received in service.received if received.refused] == []
    assert "".join(answer.split()) == "Letmeread.Itis433."
    assert (second, last) == ("That is all.", "Bye.")
    assert set(talking.called) == {"look"}
    assert offered(service, 0) == ["look"]
    assert offered(service)[:2] == ["look", "recall"]
    rows = proxy.rows()
    assert {row["conversation"] for row in rows} == {rows[0]["conversation"]}
    assert [row["how"] for row in rows] == ["begun"] + ["continued"] * (len(rows) - 1)
    assert {row["outcome"] for row in rows} == {"answered"}
    # A request of the client each, and all that the service counted is in them.
    assert len(service.bodies) == len(rows) + 3
    assert rows[2 * TURNS]["input"] == usage
    cost, plain = (sum(float(str(row[name])) for row in rows) for name in ("cost", "plain_cost"))
    assert cost < plain
    _is_recorded(proxy)


def _is_recorded(proxy: Running) -> None:
    """Every round is a run of its own with its usage and its sheet, and every recall has its result."""
    with callsheet.open(proxy.settings.database) as runtime:
        bodies = [record.body for stream in runtime.ledger.streams() for record in runtime.ledger.records(stream.key)]
    runs = [body for body in bodies if isinstance(body, ModelRun)]
    assert len(runs) == 2 * TURNS + 7
    # The very first request went out as the client wrote it, so its usage is not the sheet's.
    assert sum(run.usage is None for run in runs) <= 1
    assert len({run.sheet for run in runs}) == len(runs)
    calls = [body for body in bodies if isinstance(body, ToolCall)]
    answers = [body for body in bodies if isinstance(body, ToolArtifact)]
    assert [call.tool for call in calls].count("recall") == 5
    assert len(answers) == len(calls)
    assert all(answer.call is not None and not answer.defects for answer in answers)


def test_the_next_round_goes_on_from_what_the_provider_has_cached(service: Upstream, tmp_path: Path) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(Responses, proxy, streamed=False) as talking:
        begin(talking, service)
        service.will(Reply(text="Hm.", calls=(RECALL,)), Reply(text="It is 7."))
        talking.say("what did it say?")
    first, second = service.bodies[-2:]
    assert {key: value for key, value in first.items() if key != "input"} == {
        key: value for key, value in second.items() if key != "input"
    }
    before, after = first["input"], second["input"]
    assert isinstance(before, list)
    assert isinstance(after, list)
    assert after[: len(before)] == before
    assert [item.get("type", "message") for item in after[len(before) :]] == [
        "message",
        "function_call",
        "function_call_output",
    ]


# --------------------------------------------------------------------------- bounds


@both
@each
def test_at_the_bound_the_model_answers_without_the_tool(
    service: Upstream, tmp_path: Path, kind: type[Talking], *, streamed: bool
) -> None:
    made = settings(tmp_path, service.url, handling=Handling(recall_rounds=2))
    with running(made) as proxy, client_of(kind, proxy, streamed=streamed) as talking:
        begin(talking, service)
        begun = len(service.bodies)
        service.otherwise(lambda received: Reply(thinking="I read.", text="Hm.", calls=(RECALL,)))
        # It calls the tool even where that is not offered: nobody sees it, and nothing waits for its result.
        assert "".join(talking.say("what did it say?").split()) == "Hm.Hm.Hm."
        service.otherwise(lambda received: Reply(text="Fine."))
        assert talking.say("and now?") == "Fine."
    assert ["recall" in offered(service, at) for at in range(begun, begun + 3)] == [True, True, False]
    assert [received.refused for received in service.received if received.refused] == []
    assert talking.called == ["look"] * TURNS
    assert [row["how"] for row in proxy.rows()][-1] == "continued"


def test_no_more_is_read_than_the_operator_allows(service: Upstream, tmp_path: Path) -> None:
    made = settings(tmp_path, service.url, handling=Handling(recall_bytes=600))
    with running(made) as proxy, client_of(Chat, proxy, streamed=False) as talking:
        begin(talking, service)
        service.will(Reply(calls=(RECALL, RECALL, RECALL)), Reply(text="So."))
        talking.say("what did it say?")
    assert "recall" not in offered(service)
    with callsheet.open(proxy.settings.database) as runtime:
        bodies = [record.body for stream in runtime.ledger.streams() for record in runtime.ledger.records(stream.key)]
    sizes = [body.size for body in bodies if isinstance(body, ToolArtifact) and body.tool == "recall"]
    assert len(sizes) == 3
    # What says what it is stands beside the content.
    assert sum(sizes) < 600 + 3 * 400


@both
def test_with_a_horizon_of_one_no_request_is_dearer_with_all_its_rounds(
    service: Upstream, tmp_path: Path, *, streamed: bool
) -> None:
    made = settings(tmp_path, service.url, handling=Handling(horizon=1))
    with running(made) as proxy, client_of(Chat, proxy, streamed=streamed) as talking:
        service.otherwise(
            lambda received: Reply(calls=(RECALL,)) if "recall" in offered(service) else Reply(text="So.")
        )
        for number in range(8):
            service.will(Reply(calls=(LOOK,)))
            talking.say(f"question {number}")
    rows = proxy.rows()
    assert len(service.bodies) > len(rows), "nothing was recalled"
    for row in rows:
        sent, asked, assembled, output, cost = (
            float(str(row[name])) for name in ("input", "asked", "assembled", "output", "cost")
        )
        # The client's own request, of which nothing is cached where the assembled one was sent before, at $2.5 and $10.
        assert cost <= (asked * sent / assembled * 2.5 + output * 10) / 1_000_000 + 1e-9


# --------------------------------------------------------------------------- trouble


@both
@each
def test_an_error_behind_a_round_reaches_the_client(
    service: Upstream, tmp_path: Path, kind: type[Talking], *, streamed: bool
) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(kind, proxy, streamed=streamed) as talking:
        begin(talking, service)
        service.will(
            Reply(thinking="I read.", text="Hm.", calls=(RECALL,)), Failing(429, "slow down, please", retry_after=7)
        )
        with pytest.raises(Exception, match="slow down, please") as raised:
            talking.say("what did it say?")
        response = getattr(raised.value, "response", None)
        if not streamed and response is not None:
            assert (response.status_code, response.headers["retry-after"]) == (429, "7")
        # The client tries again, as it does with any error.
        service.will(Reply(text="So."))
        assert talking.step() == "So."
        assert talking.say("and now?") == "ok"
    rows = proxy.rows()[2 * TURNS :]
    assert [(row["outcome"], row["status"]) for row in rows] == [("refused", 429), ("answered", 200), ("answered", 200)]
    assert float(str(rows[0]["cost"])) > 0
    assert {row["conversation"] for row in proxy.rows()} == {rows[0]["conversation"]}
    assert [received.refused for received in service.received if received.refused] == []


@both
def test_a_failure_of_ours_behind_a_round_is_no_second_request(
    service: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, streamed: bool
) -> None:
    def fails(*_: object, **__: object) -> object:
        raise RuntimeError

    with running(settings(tmp_path, service.url)) as proxy, client_of(Chat, proxy, streamed=streamed) as talking:
        begin(talking, service)
        service.will(Reply(thinking="I read.", text="Hm.", calls=(RECALL,)))
        with monkeypatch.context() as patch:
            patch.setattr(Preparing, "further", fails)
            with pytest.raises(openai.APIError):
                talking.say("what did it say?")
        service.will(Reply(text="So."))
        assert talking.step() == "So."
    before, failed, after = proxy.rows()[-3:]
    assert (failed["outcome"], failed["status"], after["outcome"]) == ("failed", 503, "answered")
    # One request went out, and what it cost is there.
    assert float(str(failed["assembled"])) < 1.2 * float(str(before["assembled"]))
    assert float(str(failed["cost"])) > 0
    with callsheet.open(proxy.settings.database) as runtime:
        bodies = [record.body for stream in runtime.ledger.streams() for record in runtime.ledger.records(stream.key)]
    sheets = [body.sheet for body in bodies if isinstance(body, ModelRun)]
    assert len(set(sheets)) == len(sheets)
    assert failed["sheet"] in sheets


@both
def test_no_round_follows_once_a_key_has_spent_what_it_may(
    service: Upstream, tmp_path: Path, *, streamed: bool
) -> None:
    price = Price(input=2.5, output=10.0)
    made = settings(tmp_path, service.url, handling=Handling(price=price), spending=Spending(day=10.0))
    with running(made) as proxy, client_of(Chat, proxy, streamed=streamed) as talking:
        begin(talking, service)
        begun = len(service.bodies)
        service.will(Reply(text="Hm.", calls=(RECALL,), output=2_000_000), Reply(text="It is 7."))
        with pytest.raises(openai.APIError, match="has spent"):
            talking.say("what did it say?")
    assert len(service.bodies) == begun + 1
    row = proxy.rows()[-1]
    assert (row["outcome"], row["status"]) == ("limited", 429)
    assert float(str(row["cost"])) == pytest.approx(20, rel=0.01)


@both
@pytest.mark.parametrize("error", [False, True])
def test_a_stream_that_breaks_in_a_later_round(
    service: Upstream, tmp_path: Path, *, streamed: bool, error: bool
) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(Chat, proxy, streamed=streamed) as talking:
        begin(talking, service)
        broken = Broken(reply=Reply(text="It is a longer text."), after=3, error=error, cut=not error)
        service.will(Reply(thinking="I read.", text="Hm.", calls=(RECALL,)), broken)
        with pytest.raises(openai.APIError):
            talking.say("what did it say?")
        service.will(Reply(text="So."))
        assert talking.step() == "So."
    assert [row["outcome"] for row in proxy.rows()[-2:]] in (["broken", "answered"], ["refused", "answered"])


def test_a_client_that_leaves_in_a_later_round(service: Upstream, tmp_path: Path) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(Chat, proxy, streamed=True) as talking:
        begin(talking, service)
        gate = Gate()
        service.will(Reply(thinking="I read.", text="Hm.", calls=(RECALL,)), Reply(text="It is so.", gate=gate))
        talking.asks("what did it say?")
        tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
        stream = talking.client.chat.completions.create(
            model="gpt-4o", messages=talking.history, tools=tools, stream=True
        )
        next(iter(stream))
        gate.wait_until_reached()
        stream.close()
        assert service.received[-1].over.wait(30)
        assert service.received[-1].left
        service.will(Reply(text="So."))
        assert talking.step() == "So."
    rows = proxy.rows()[-2:]
    assert [row["outcome"] for row in rows] == ["cut_off", "answered"]
    assert len({row["conversation"] for row in rows}) == 1


# --------------------------------------------------------------------------- where it is not offered


@pytest.mark.parametrize(
    "more",
    [
        {"tool_choice": "none"},
        {"tool_choice": "required"},
        {"tool_choice": {"type": "function", "function": {"name": "look"}}},
        {"n": 2},
        {"response_format": {"type": "json_object"}},
        {"tools": [{"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}]},
    ],
    ids=lambda more: json.dumps(more)[:30],
)
def test_not_where_the_request_cannot_carry_it(service: Upstream, tmp_path: Path, more: dict[str, object]) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(Chat, proxy, streamed=False) as talking:
        begin(talking, service)
        talking.asks("and now?")
        tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
        asking = {"model": "gpt-4o", "messages": talking.history, "tools": tools, **more}
        talking.client.chat.completions.create(**asking)
    assert offered(service) == [str(tool["function"]["name"]) for tool in asking["tools"]]  # type: ignore[attr-defined]
    assert service.received[-1].refused is None


def test_not_where_the_operator_says_so_nor_where_nothing_is_out_of_view(service: Upstream, tmp_path: Path) -> None:
    made = settings(tmp_path, service.url, handling=Handling(recall=False))
    with running(made) as proxy, client_of(Chat, proxy, streamed=False) as talking:
        for number in range(TURNS):
            service.will(Reply(calls=(LOOK,)), Reply(text="So."))
            talking.say(f"question {number}")
    assert all(offered(service, at) == ["look"] for at in range(len(service.bodies)))
    assert offered(service, 0) == ["look"]


@each
def test_calls_of_the_clients_own_are_its_own_as_ever(service: Upstream, tmp_path: Path, kind: type[Talking]) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(kind, proxy, streamed=True) as talking:
        begin(talking, service)
        service.will(Reply(thinking="Hm.", text="All of it.", calls=(LOOK,)), Reply(text="So."))
        assert talking.say("look again") == "So."
    assert talking.called == ["look"] * (TURNS + 1)


# --------------------------------------------------------------------------- what the provider keeps


@both
def test_a_response_that_the_provider_keeps_is_gone_on_from(
    service: Upstream, tmp_path: Path, *, streamed: bool
) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(Responses, proxy, streamed=streamed) as talking:
        begin(talking, service)
        look = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}
        service.will(Reply(thinking="I read.", text="Hm.", calls=(RECALL,)), Reply(text="It is 7."), Reply(text="Yes."))
        talking.asks("what did it say?")
        client = talking.client
        asking: dict[str, Any] = {"model": "gpt-4o", "tools": [look], "instructions": "Be kind."}
        if streamed:
            with client.responses.stream(**asking, input=talking.history) as stream:
                first = stream.get_final_response()
        else:
            first = client.responses.create(**asking, input=talking.history)
        assert first.output_text.split() == ["Hm.It", "is", "7."]
        second = client.responses.create(**asking, input="sure?", previous_response_id=first.id)
        assert second.output_text == "Yes."
        third = client.responses.create(**asking, input="thanks", previous_response_id=second.id)
        assert third.output_text == "ok"
    assert [received.refused for received in service.received if received.refused] == []
    assert len({row["conversation"] for row in proxy.rows()}) == 1


@each
def test_arguments_that_no_request_has_room_for_are_refused_to_the_model(
    service: Upstream, tmp_path: Path, kind: type[Talking]
) -> None:
    with running(settings(tmp_path, service.url)) as proxy, client_of(kind, proxy, streamed=False) as talking:
        begin(talking, service)
        long = Called("recall", {"query": "x y " * 150_000})
        service.will(Reply(thinking="Long.", text="Hm.", calls=(long,)), Reply(text="It is 7."))
        answer = talking.say("what did it say?")
        sent = json.dumps(service.bodies[-1])
        service.will(Reply(thinking="Long.", text="Hm.", calls=(long, LOOK)), Reply(text="Bye."))
        last = talking.say("and now?")
    assert ("".join(answer.split()), last) == ("Hm.Itis7.", "Bye.")
    assert [received.refused for received in service.received if received.refused] == []
    for body in (sent, json.dumps(service.bodies[-1])):
        assert "characters, of which at most 16,384 are read" in body
        assert len(body) < 400_000
    assert {row["outcome"] for row in proxy.rows()} == {"answered"}
