"""What keys may spend: refused in the provider's own shape, and counted on after a restart."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import callsheet
from callsheet.serve.proxy.credentials import Asker, Credentials, folder_of, secret_of
from callsheet.serve.proxy.journal import Begun, Ended, Journal, Outcome, Sent
from callsheet.serve.proxy.reporting import report
from callsheet.serve.proxy.settings import Format, Handling, Key, ModelHandling, Price, Settings, Spending, Upstream
from callsheet.serve.proxy.spending import Purse, reserved
from callsheet.serve.proxy.turned import Turned
from tests.serve.proxy.proxies import running, settings
from tests.serve.proxy.scripted import STREAM, Provider, Says, chat, chat_stream, message
from tests.serve.proxy.test_proxy import asked

PRICE = Price(input=10.0, output=20.0)


def micros(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def asker(digest: str = "d" * 64) -> Asker:
    return Asker(scope=f"t/{digest}", digest=digest, tenant="t", key=None)


def spend(journal: Journal, request: str, at: int, cost: float, digest: str = "d" * 64) -> None:
    journal.begin(
        Begun(
            request=request, at=at, tenant="t", digest=digest, key="k", route="chat", upstream="u", provider="openai",
            model="m", reserved=0.5,
        )
    )  # fmt: skip
    journal.end(request, Ended(at=at, sent=Sent.SHEET, outcome=Outcome.ANSWERED, status=200, cost=cost))


@pytest.mark.parametrize(
    ("at", "refused"),
    [
        ("2026-01-31T23:59:59", "day"),
        ("2026-02-01T00:00:00", None),
        ("2026-02-01T12:00:00", None),
        ("2026-01-31T00:00:00", "day"),
    ],
)
def test_a_day_is_over_at_midnight(tmp_path: Path, at: str, refused: str | None) -> None:
    journal = Journal(None)
    purse = Purse(journal=journal, settings=Settings(spending=Spending(day=1.0)))
    spend(journal, "one", micros("2026-01-31T00:00:00"), 0.6)
    purse.check(asker(), micros(at), PRICE, "m")
    spend(journal, "two", micros("2026-01-31T18:00:00"), 0.4)
    if refused is None:
        purse.check(asker(), micros(at), PRICE, "m")
    else:
        with pytest.raises(Turned, match=refused) as caught:
            purse.check(asker(), micros(at), PRICE, "m")
        assert caught.value.status == 429
        assert caught.value.retry_after == (micros("2026-02-01T00:00:00") - micros(at)) // 1_000_000
    purse.check(asker("e" * 64), micros(at), PRICE, "m")


def test_a_month_is_counted_whole() -> None:
    journal = Journal(None)
    purse = Purse(journal=journal, settings=Settings(spending=Spending(month=1.0)))
    spend(journal, "one", micros("2026-01-01T00:00:00"), 1.0)
    with pytest.raises(Turned, match="month"):
        purse.check(asker(), micros("2026-01-31T23:00:00"), PRICE, "m")
    purse.check(asker(), micros("2026-02-01T00:00:00"), PRICE, "m")


def test_requests_that_are_not_over_count_with_what_is_reserved() -> None:
    journal = Journal(None)
    purse = Purse(journal=journal, settings=Settings(spending=Spending(day=1.0)))
    now = micros("2026-01-01T00:00:00")
    for name in ("one", "two"):
        purse.check(asker(), now, PRICE, "m")
        journal.begin(
            Begun(
                request=name, at=now, tenant="t", digest="d" * 64, key="k", route="chat", upstream="u",
                provider="openai", model="m", reserved=0.5,
            )
        )  # fmt: skip
    with pytest.raises(Turned):
        purse.check(asker(), now, PRICE, "m")
    journal.end("one", Ended(at=now, sent=Sent.SHEET, outcome=Outcome.REFUSED, status=500))
    purse.check(asker(), now, PRICE, "m")


def test_what_is_ended_twice_counts_once() -> None:
    journal = Journal(None)
    now = micros("2026-01-01T00:00:00")
    spend(journal, "one", now, 0.3)
    journal.end("one", Ended(at=now, sent=Sent.SHEET, outcome=Outcome.ANSWERED, status=200, cost=0.4))
    assert journal.spent("d" * 64, now) == pytest.approx(0.4)
    journal.end("never begun", Ended(at=now, sent=Sent.SHEET, outcome=Outcome.ANSWERED, status=200, cost=0.4))
    assert journal.spent("d" * 64, now) == pytest.approx(0.4)


def test_what_was_spent_and_what_was_never_over_are_there_after_a_restart(tmp_path: Path) -> None:
    now = micros("2026-01-01T00:00:00")
    journal = Journal(tmp_path)
    spend(journal, "one", now, 0.3)
    journal.begin(
        Begun(
            request="killed", at=now, tenant="t", digest="d" * 64, key="k", route="chat", upstream="u",
            provider="openai", model="m", reserved=0.2,
        )
    )  # fmt: skip
    again = Journal(tmp_path)
    assert again.spent("d" * 64, now) == pytest.approx(0.5)
    (open_one,) = [row for row in again.rows(since=0, until=now + 1) if row.outcome is Outcome.OPEN]
    assert (open_one.requests, open_one.cost) == (1, 0)
    again.close()
    journal.close()


def test_a_model_without_a_price_is_refused_where_there_is_a_limit() -> None:
    journal = Journal(None)
    now = micros("2026-01-01T00:00:00")
    limited = Purse(journal=journal, settings=Settings(spending=Spending(day=1.0)))
    with pytest.raises(Turned, match="no price is known"):
        limited.check(asker(), now, None, "m")
    limited.check(asker(), now, None, "")
    Purse(journal=journal, settings=Settings()).check(asker(), now, None, "m")


# --------------------------------------------------------------------------- through the proxy


def test_a_key_that_has_spent_its_limit_is_refused_also_after_a_restart(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello", prompt=100_000, output=0)
    database = str(tmp_path / "callsheet.db")
    digest = Credentials(secret_of(folder_of(database)), Settings()).digest("sk-1")
    keys = (Key(digest=digest, name="alice", spending=Spending(day=1.5)),)
    handling = ModelHandling(match="gpt-*", handling=Handling(price=PRICE))
    made = settings(tmp_path, upstream.address, keys=keys, models=(handling,))
    key, other = {"authorization": "Bearer sk-1"}, {"authorization": "Bearer sk-2"}
    with running(made) as proxy, proxy.client() as client:
        assert client.post("/v1/chat/completions", json=asked("Hi"), headers=key).status_code == 200
        assert client.post("/v1/chat/completions", json=asked("Hi"), headers=key).status_code == 200
        refused = client.post("/v1/chat/completions", json=asked("Hi"), headers=key)
    assert refused.status_code == 429
    assert "alice has spent $2.0000 of the $1.50" in refused.json()["error"]["message"]
    assert int(refused.headers["retry-after"]) <= 86_400
    with running(made) as proxy, proxy.client() as client:
        body = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        again = client.post("/v1/messages", json=body, headers={"x-api-key": "sk-1"})
        assert again.json()["type"] == "error"
        assert client.get("/v1/models", headers=key).status_code == 429
        assert client.post("/v1/chat/completions", json=asked("Hi"), headers=other).status_code == 200
    assert again.status_code == 429
    assert len(upstream.got) == 3


@pytest.mark.parametrize("usage", [True, False])
def test_streams_count_whether_they_report_usage_or_not(upstream: Provider, tmp_path: Path, usage: bool) -> None:
    upstream.script = lambda got: Says(pieces=chat_stream("Hello " * 50, usage=usage), headers=STREAM)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client() as client:
        client.post("/v1/chat/completions", json=asked("Hi", stream=True))
    (row,) = proxy.rows()
    assert row["reported"] == usage
    assert row["cost"] > 0  # type: ignore[operator]


def test_what_the_provider_refuses_costs_nothing(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: Says(pieces=[b"{}"], status=500)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client() as client:
        client.post("/v1/chat/completions", json=asked("Hi"))
    assert [row["cost"] for row in proxy.rows()] == [None]


def test_the_report_counts_all_that_the_status_counts(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello", prompt=100_000, output=0)
    upstreams = (
        Upstream(name="a", format=Format.OPENAI, address=upstream.address, provider="openai", models=("gpt*",)),
    )
    handling = ModelHandling(match="gpt-*", handling=Handling(price=PRICE))
    made = settings(tmp_path, "", upstreams=upstreams, models=(handling,), spending=Spending(day=0.5))
    with running(made) as proxy, proxy.client() as client:
        answers = [client.post("/v1/chat/completions", json=asked("Hi")) for _ in range(2)]
        answers.append(client.post("/v1/chat/completions", json={**asked("Hi"), "model": "other"}))
        answers.append(client.post("/a/v1/chat/completions", json={**asked("Hi"), "model": "other"}))
        answers.append(client.post("/v1/chat/completions", content=b"no JSON"))
        answers.append(client.get("/v1/models"))
        status = client.get("/callsheet/status").json()["requests"]
    assert [answer.status_code for answer in answers] == [200, 429, 404, 404, 400, 429]
    now = datetime.now(UTC)
    found = report(made.database, since=now - timedelta(hours=1), until=now + timedelta(hours=1))
    assert dict(found.outcomes) == {"answered": 1, "invalid": 3, "limited": 2}
    assert {f"outcome.{name}": count for name, count in found.outcomes} == {
        name: count for name, count in status.items() if name.startswith("outcome.")
    }
    # Nothing was asked of anybody: they stand in no line, and cost nothing.
    assert [(line.name, line.requests, line.spent) for line in found.lines] == [("gpt-4o", 1, 1.0)]


def test_keys_have_tenants_of_their_own(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: message("Hello")
    database = str(tmp_path / "callsheet.db")
    digest = Credentials(secret_of(folder_of(database)), Settings()).digest("sk-1")
    made = settings(tmp_path, upstream.address, keys=(Key(digest=digest, name="alice", tenant="team"),))
    body = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    with running(made) as proxy, proxy.client() as client:
        client.post("/v1/messages", json=body, headers={"x-api-key": "sk-1"})
        client.post("/v1/messages", json=body, headers={"x-api-key": "sk-2"})
    for tenant in ("team", "local"):
        with callsheet.open(database, tenant=tenant) as runtime:
            assert len(runtime.conversations()) == 1
    assert {row["key"] for row in proxy.rows()} >= {"alice"}


ALLOWS: dict[str, tuple[str, dict[str, object]]] = {
    "max_tokens": ("/v1/chat/completions", {**asked("Hi"), "max_tokens": 100_000}),
    "max_completion_tokens": ("/v1/chat/completions", {**asked("Hi"), "max_completion_tokens": 100_000}),
    "several": ("/v1/chat/completions", {**asked("Hi"), "max_tokens": 50_000, "n": 2}),
    "max_output_tokens": ("/v1/responses", {"model": "gpt-4o", "input": "Hi", "max_output_tokens": 100_000}),
    "maxOutputTokens": (
        "/v1beta/models/gemini-2.5-flash:generateContent",
        {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {"maxOutputTokens": 100_000}},
    ),
    "left open": ("/v1/chat/completions", asked("Hi")),
}


@pytest.mark.parametrize(("path", "body"), ALLOWS.values(), ids=ALLOWS)
def test_the_answers_that_requests_allow_are_held_until_they_are_over(
    upstream: Provider, tmp_path: Path, path: str, body: dict[str, object]
) -> None:
    go = threading.Event()
    upstream.script = lambda got: Says(pieces=[b"{}"], first=go)
    handling = Handling(price=PRICE, reserve=100_000)
    made = settings(tmp_path, upstream.address, handling=handling, spending=Spending(day=1.5))
    with running(made) as proxy, proxy.client(headers={"authorization": "Bearer k"}) as client:
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(client.post, path, json=body)
            assert upstream.asked.wait(30)
            refused = client.post(path, json=body)
            go.set()
            assert first.result().status_code == 200
        assert client.post(path, json=body).status_code == 200
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "5"
    assert "not over" in refused.text


@pytest.mark.parametrize("allowed", [None, True, "9", -1, 10**18, 10**30, 1.5, [], {"a": 1}], ids=str)
def test_what_is_held_for_an_answer_is_no_more_than_a_model_can_say(allowed: object) -> None:
    body = {"max_tokens": allowed, "n": allowed, "generationConfig": allowed}
    held = reserved(PRICE, body, 400, reply=1_000, window=2_000)
    assert 0.021 <= held <= 0.001 + 128 * 0.04
    assert reserved(None, body, 400, reply=1_000, window=2_000) == 0
    assert reserved(PRICE, body, 400, reply=1_000, window=None) <= 128 * 20.001
