"""A long run through the proxy in which everything goes wrong at times, and what must be true of it afterwards.

Clients hold conversations in Chat Completions and Messages, streamed and whole. The provider answers some requests with
429 or 500 and breaks some of its answers off; clients leave some; and the proxy is killed now and then and started
again. A client that gets no whole answer asks again. Each time that it asks it sends a number of its own, which goes
on to the provider, so that what was sent and what arrived can be compared one by one.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import callsheet
from callsheet.graph.enums import RunStatus
from callsheet.graph.nodes import ModelRun
from tests.serve.lean import Got, LeanClient, Severed
from tests.serve.processes import ProxyProcess, rows
from tests.upstream import Broken, Failing, Reply, Step, Upstream
from tests.upstream.scripts import Received

NUMBER = "x-number"
_FAILING, _BREAKING, _LEAVING = 0.06, 0.05, 0.05
"""Of all requests."""

_PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages"}
_KEYS = 5
"""Clients share few keys, as the machines of one company do."""

Message = dict[str, object]


@dataclass(kw_only=True)
class Asked:
    """A request as its client knows it."""

    talk: int
    #: What came, if all of it did.
    answered: str | None = None
    #: The provider's id of the response.
    response: str = ""
    conversation: str = ""


@dataclass(kw_only=True)
class Talk:
    """A conversation as its client knows it."""

    wire: str
    key: str
    history: list[Message] = field(default_factory=list)
    conversations: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Run:
    """What happened."""

    folder: Path
    asked: dict[str, Asked] = field(default_factory=dict)
    talks: list[Talk] = field(default_factory=list)
    #: What the provider got, and what it said to it.
    got: Counter[str] = field(default_factory=Counter)
    said: dict[str, str] = field(default_factory=dict)
    #: The texts of each request that the provider got, to compare with what was asked.
    last: dict[str, str] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    #: Whether the proxy runs; clients wait for it.
    up: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def answered(self) -> int:
        return sum(one.answered is not None for one in self.asked.values())


def endure(
    folder: Path,
    *,
    requests: int,
    clients: int,
    kills: int,
    turns: int = 8,
    seed: int = 1,
    program: Sequence[str] = ("-m", "callsheet"),
) -> Run:
    """Run until so many requests were asked. The proxy is killed so many times on the way; `program` is what runs."""
    run = Run(folder=folder)
    with Upstream(rules=False, lean=True) as upstream:
        upstream.otherwise(lambda received: _says(run, received, seed))
        with ProxyProcess(folder, upstream.url, program=program) as proxy:
            asyncio.run(_all(run, proxy, requests=requests, clients=clients, kills=kills, turns=turns, seed=seed))
        # What is not whole came of a proxy that was killed while it sent it.
        refused = [one.refused for one in upstream.received if one.refused and "could not parse" not in one.refused]
    assert not refused, refused[:3]
    return run


def _says(run: Run, received: Received, seed: int) -> Step:
    number = received.headers[NUMBER]
    run.got[number] += 1
    messages = received.body["messages"]
    assert isinstance(messages, list)
    run.last[number] = _text_of(messages[-1]["content"])
    chance = random.Random(f"{seed}/says/{number}").random()
    if chance < _FAILING:
        run.seen["429 or 500"] += 1
        return Failing(429 if chance < _FAILING / 2 else 500)
    text = f"Answer {number}. " + "It was so at the time, as far as anybody knew. " * (int(chance * 1_000) % 5)
    run.said[number] = text  # one that breaks behind its end is whole
    if chance < _FAILING + _BREAKING:
        run.seen["broken"] += 1
        return Broken(reply=Reply(text=text), after=int(chance * 10_000) % 7)
    return Reply(text=text)


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content) if isinstance(content, list) else ""


async def _all(
    run: Run, proxy: ProxyProcess, *, requests: int, clients: int, kills: int, turns: int, seed: int
) -> None:
    async def kill() -> None:
        due = [requests * (at + 1) // (kills + 1) for at in range(kills)]
        for at in due:
            while len(run.asked) < at:
                await asyncio.sleep(0.01)
            run.up.clear()
            await asyncio.to_thread(proxy.kill)
            run.kills += 1
            await asyncio.to_thread(proxy.start)
            run.up.set()

    run.up.set()
    played = [_client(run, proxy.base, number, requests=requests, turns=turns, seed=seed) for number in range(clients)]
    await asyncio.gather(kill(), *played)


async def _client(run: Run, base: str, number: int, *, requests: int, turns: int, seed: int) -> None:
    chance = random.Random(f"{seed}/client/{number}")
    async with LeanClient(base) as client:
        while len(run.asked) < requests:
            talk = Talk(wire=chance.choice(list(_PATHS)), key=f"sk-{number % _KEYS}")
            at = len(run.talks)
            run.talks.append(talk)
            for turn in range(turns):
                # Half of all conversations begin with the same words.
                text = "Hello" if turn == 0 and at % 2 else f"Question {turn} of conversation {at}."
                talk.history.append({"role": "user", "content": text})
                while not await _ask(run, client, talk, at, chance):
                    pass
                if len(run.asked) >= requests:
                    break


async def _ask(run: Run, client: LeanClient, talk: Talk, at: int, chance: random.Random) -> bool:
    """Ask once; whether a whole answer came."""
    await run.up.wait()
    number = str(len(run.asked))
    asked = run.asked[number] = Asked(talk=at)
    stream = chance.random() < 0.7
    leave = chance.choice((0, 1, 400, 900)) if chance.random() < _LEAVING else None
    body: Message = {"model": "m", "messages": talk.history, "stream": stream}
    headers = {"authorization": f"Bearer {talk.key}", NUMBER: number}
    if talk.wire == "messages":
        body["max_tokens"] = 500
        headers = {"x-api-key": talk.key, "anthropic-version": "2023-06-01", NUMBER: number}
    try:
        got = await client.post(_PATHS[talk.wire], body, headers, leave_after=leave)
    except Severed:
        run.seen["left" if leave is not None else "severed"] += 1
        return False
    run.seen[f"status {got.status}"] += 1
    text = _answer(got, stream=stream) if got.status == 200 else None
    if text is None:
        return False
    asked.answered, asked.response = text
    asked.conversation = got.headers["x-callsheet-conversation"]
    talk.conversations.append(asked.conversation)
    talk.history.append({"role": "assistant", "content": asked.answered})
    return True


def _answer(got: Got, *, stream: bool) -> tuple[str, str] | None:
    """The text of a whole answer and its id; None: it is not whole."""
    if not stream:
        found = json.loads(got.content)
        said = found["choices"][0]["message"] if "choices" in found else found
        return _text_of(said["content"]), found["id"]
    events = [json.loads(data) for data in _events(got.content) if data != "[DONE]"]
    if any("error" in event for event in events):
        return None
    if events[0].get("type") == "message_start":
        text = "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")
        return (text, events[0]["message"]["id"]) if events[-1]["type"] == "message_stop" else None
    choices = [choice for event in events for choice in event["choices"]]
    text = "".join(choice["delta"].get("content") or "" for choice in choices)
    return (text, events[0]["id"]) if got.content.rstrip().endswith(b"[DONE]") else None


def _events(content: bytes) -> Iterator[str]:
    return (line[6:].decode() for line in content.split(b"\n") if line.startswith(b"data: "))


# --------------------------------------------------------------------------- what must be true


def judge(run: Run, tell: Callable[[str], object] = lambda line: None) -> None:
    """Raise AssertionError where something was lost, doubled or mixed up."""
    asked, got = set(run.asked), set(run.got)
    assert got <= asked, "the provider got what nobody asked"
    assert max(run.got.values()) == 1, "the provider got a request twice"
    for number, one in run.asked.items():
        if one.answered is not None:
            assert number in got, "an answer came of nothing"
            assert one.answered == run.said[number], "a client got another answer than the provider gave"
    tell(f"{len(asked):,} asked, {len(got):,} at the provider, {run.answered:,} answered whole; {run.kills} kills")
    for number, text in run.last.items():
        talk = run.talks[run.asked[number].talk]
        assert any(message["content"] == text for message in talk.history), "a request held what is not its client's"
    noted = rows(run.folder / "callsheet.db")
    tell(f"{len(noted):,} requests noted: {dict(Counter(str(row['outcome']) for row in noted))}")
    assert len(noted) >= len(got), "a request is not in the list"
    with callsheet.open(run.folder / "callsheet.db", tenant="local") as runtime:
        _judge_runs(run, runtime)
        changed = _judge_transcripts(run, runtime)
    tell(f"{len(run.talks):,} conversations, {changed} of them went on in another of the store; {dict(run.seen)}")


def _judge_runs(run: Run, runtime: callsheet.Runtime) -> None:
    runs: dict[tuple[str, str], list[str]] = {}
    for stream in runtime.ledger.streams():
        for record in runtime.ledger.records(stream.key):
            body = record.body
            if isinstance(body, ModelRun) and body.status is RunStatus.COMPLETED and body.response:
                runs.setdefault((str(body.requested_provider), body.response), []).append(str(stream.key.stream))
    providers = {"chat": "openai", "messages": "anthropic"}
    for one in run.asked.values():
        if one.answered is not None:
            key = providers[run.talks[one.talk].wire], one.response
            found = runs.get(key, [])
            assert len(found) == 1, f"an answer that a client got has {len(found)} runs"
            assert found == [one.conversation], "an answer is recorded in another conversation than its client was told"


def _judge_transcripts(run: Run, runtime: callsheet.Runtime) -> int:
    """Every conversation as its client knows it is a branch of one of the store. Returns how many changed over."""
    changed = 0
    for talk in run.talks:
        if not talk.conversations:
            continue
        changed += len(set(talk.conversations)) > 1
        found = runtime.existing(talk.conversations[-1])
        # A question at the end was not answered any more.
        known = talk.history if talk.history[-1]["role"] == "assistant" else talk.history[:-1]
        wanted = [str(message["content"]) for message in known]
        shown = (
            [str(item.text) for item in found.transcript(branch) if hasattr(item, "text")]
            for branch in found.branches().values()
        )
        assert any(one[: len(wanted)] == wanted for one in shown), "a transcript is not what its client saw"
    return changed
