"""Whether the proxy saves what the library saves: recorded sessions replayed through it, and by the library alone.

    python tools/proxy_saving.py RECORDINGS/long_sessions.jsonl.gz [--sessions N] [--observe] [--json]

Each session is a client of Chat Completions with a key of its own: it sends its whole history before each recorded
answer of the model, the provider says what was recorded, and the client goes on with what it got. The proxy runs as
`callsheet serve` under its default policy set, without the recall tool; with `--observe` in observe-only mode. Then the
same histories are recorded and assembled by the library in a store of its own, step by step. Printed are tokens, all
counted alike: of the clients' own requests, of those that the proxy assembled, of those that it sent (where the
assembled one is not cheaper the client's own goes out), and of those that the library assembled; and by how much the
saving of the assembled ones differs.
"""

import argparse
import asyncio
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import callsheet
from callsheet.serve.proxy.weighing import Scales
from callsheet.wire.names import Wire
from callsheet.wire.tokens import counter_for
from tests.serve.lean import LeanClient
from tests.serve.processes import ProxyProcess, rows
from tests.upstream import Called, Reply, Upstream
from tests.upstream.scripts import Received

MODEL = "gpt-5.2"
Message = dict[str, object]
Session: TypeAlias = tuple[list[Message], list[Message]]
"""Tools, and messages."""


class Provider:
    """Says what was recorded, by the number in a header."""

    def __init__(self) -> None:
        self._scales, self._counter = Scales(), counter_for("openai", MODEL)
        self._said: dict[str, Reply] = {}
        self.tokens = 0

    def will(self, number: str, message: Mapping[str, object]) -> None:
        self._said[number] = Reply(text=_text(message), calls=tuple(_calls(message)))

    def says(self, received: Received) -> Reply:
        self.tokens += self._scales.weigh(received.body, Wire.OPENAI, self._counter).tokens
        return self._said.pop(received.headers["x-number"])


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in _list(content))


def _calls(message: Mapping[str, object]) -> Iterator[Called]:
    for call in _list(message.get("tool_calls")):
        arguments = json.loads(call["function"]["arguments"] or "{}")
        yield Called(call["function"]["name"], arguments if isinstance(arguments, dict) else {"value": arguments})


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def sessions(path: Path) -> Iterator[Session]:
    with gzip.open(path, "rt") as lines:
        for line in lines:
            found = json.loads(line)
            yield [tool for tool in found["tools"] or () if "function" in tool], found["messages"]


async def proxied(base: str, provider: Provider, number: int, session: Session) -> tuple[list[Message], list[int]]:
    """A session as its client lived it, and where the model answered."""
    tools, recorded = session
    history: list[Message] = []
    answers: list[int] = []
    ids: dict[str, object] = {}
    offered = {"tools": tools} if tools else {}
    async with LeanClient(base) as client:
        for at, message in enumerate(recorded):
            if message["role"] != "assistant" or not history or not (_text(message) or message.get("tool_calls")):
                again = {"tool_call_id": ids.get(str(message["tool_call_id"]))} if "tool_call_id" in message else {}
                history.append({**message, **again})
                continue
            key = f"{number}/{at}"
            provider.will(key, message)
            body = {"model": MODEL, "messages": history, **offered}
            got = await client.post(
                "/v1/chat/completions", body, {"authorization": f"Bearer sk-{number}", "x-number": key}
            )
            assert got.status == 200, got.content
            answers.append(len(history))
            said = json.loads(got.content)["choices"][0]["message"]
            said.pop("refusal", None)
            ids |= {
                str(old["id"]): new["id"]
                for old, new in zip(_list(message.get("tool_calls")), _list(said.get("tool_calls")), strict=True)
            }
            history.append(said)
    return history, answers


def alone(tools: Sequence[Message], history: Sequence[Message], answers: Sequence[int]) -> tuple[int, int]:
    """Tokens of the client's own requests and of those that the library assembles."""
    scales, counter = Scales(), counter_for("openai", MODEL)
    offered: Message = {"tools": list(tools)} if tools else {}
    own = ours = recorded = 0
    with closing(callsheet.open(":memory:")) as runtime:
        talk = runtime.conversation("session")
        for at in answers:
            talk.record(history[recorded:at])
            recorded = at
            sheet = talk.assemble(provider="openai", model=MODEL, tools=list(tools), recall=False)
            own += scales.weigh({"messages": list(history[:at]), **offered}, Wire.OPENAI, counter).tokens
            ours += scales.weigh({**sheet.request(), **offered}, Wire.OPENAI, counter).tokens
    return own, ours


async def run(path: Path, count: int | None, *, observe: bool) -> dict[str, int | float]:
    provider = Provider()
    total = {"sessions": 0, "requests": 0, "own": 0, "proxy": 0, "sent": 0, "library": 0}
    with tempfile.TemporaryDirectory() as folder, Upstream(checks=False, lean=True) as upstream:
        upstream.otherwise(provider.says)
        more = {"recall": False, "observe_only": observe}
        with ProxyProcess(Path(folder), upstream.url, more=more) as proxy:
            for number, session in enumerate(islice(sessions(path), count)):
                history, answers = await proxied(proxy.base, provider, number, session)
                own, ours = alone(session[0], history, answers)
                total["sessions"] += 1
                total["requests"] += len(answers)
                total["own"] += own
                total["library"] += ours
                print(f"{number + 1}: {len(answers):,} requests", file=sys.stderr, flush=True)
        noted = rows(proxy.database)
    assert len(noted) == total["requests"]
    assert sum(int(str(row["asked"])) for row in noted) == total["own"]
    total["proxy"] = sum(int(str(row["assembled"])) for row in noted)
    total["sent"] = provider.tokens
    saved, library = total["own"] - total["proxy"], total["own"] - total["library"]
    return {
        **total,
        "conversations": len({row["conversation"] for row in noted}),
        "differs": (saved - library) / library,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--sessions", type=int)
    parser.add_argument("--observe", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = asyncio.run(run(arguments.file, arguments.sessions, observe=arguments.observe))
    if arguments.json:
        print(json.dumps(found))
        return
    own = found["own"]
    print(f"{found['sessions']:,} sessions in {found['conversations']:,} conversations, {found['requests']:,} requests")
    for name, title in (
        ("own", "the clients' own requests"),
        ("proxy", "assembled by the proxy"),
        ("sent", "sent by the proxy"),
        ("library", "assembled by the library"),
    ):
        print(f"{title:>26}: {found[name]:>13,} tokens, {100 * (1 - found[name] / own):.2f} % saved")
    print(f"what the proxy's assembling saves differs by {100 * found['differs']:+.3f} % from the library's")


if __name__ == "__main__":
    main()
