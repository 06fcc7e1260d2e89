"""What it costs the proxy to tell which conversation a request goes on with, beside recording what is new of it.

    python benchmarks/recognising.py [--messages N ...] [--requests N] [--json]

A client sends a history of N messages, of which all but the last two are known: the result of a call of 1,500
characters and a question. The store is a SQLite file. Printed for each length, as p50 and p95 in milliseconds of
processor time, which other load on the machine changes little: hashing the history; placing the request, recording
included; recording the same two messages by `record` alone, in a conversation of the same store; what the first takes
more than the second; and noting the answer.
"""

import argparse
import itertools
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import callsheet
from callsheet.serve.proxy.hashing import Chain
from callsheet.serve.proxy.recognising import Placed, Recogniser
from callsheet.wire.asked import read_request
from callsheet.wire.formats import parse_reply
from callsheet.wire.names import Wire

MESSAGES = (100, 1_000, 10_000)
REQUESTS = 60
_WORDS = ["order", "shipped", "delayed", "carrier", "depot", "pallet", "invoice", "refund", "address", "parcel"]

Message = dict[str, object]


def call(number: int) -> Message:
    arguments = json.dumps({"parcel": f"PX-{number:05d}", "lines": [1, 2], "deep": True})
    made = {"id": f"c{number}", "type": "function", "function": {"name": "track", "arguments": arguments}}
    return {"role": "assistant", "content": "Let me see.", "tool_calls": [made]}


def asked(number: int, source: random.Random) -> list[Message]:
    """The result of a call, and the next question."""
    text = f"{number}: " + " ".join(source.choices(_WORDS, k=220))
    question = f"And {number}? " + " ".join(source.choices(_WORDS, k=10))
    return [{"role": "tool", "tool_call_id": f"c{number}", "content": text}, {"role": "user", "content": question}]


def answered(recogniser: Recogniser, placed: Placed, message: Message) -> float:
    """Record an answer; milliseconds to note it."""
    body = {"id": "response", "choices": [{"message": message, "finish_reason": "stop"}]}
    recorded = placed.talk.record(body, wire="openai")
    said = parse_reply(body, Wire.OPENAI).said
    started = time.thread_time()
    recogniser.answered(placed, said, recorded.ids[-1])
    return (time.thread_time() - started) * 1e3


def measure(folder: Path, length: int, requests: int) -> dict[str, float]:
    source = random.Random(1)
    times: dict[str, list[float]] = {"hash": [], "place": [], "record": [], "beside": [], "note": []}
    history: list[Message] = [{"role": "user", "content": "Where are my parcels?"}]
    with callsheet.open(folder / f"{length}.db") as runtime:
        recogniser, plain = Recogniser(runtime), runtime.conversation("plain")
        number = 0
        while len(history) < length - 2:
            history += [call(number), *asked(number, source)]
            number += 1
        for turn in range(number, number + requests + 1):
            request = read_request({"model": "gpt-5.2", "messages": history}, Wire.OPENAI)
            clock = time.thread_time
            moments = [clock()]
            Chain.empty(b"key").links(request.blocks)
            moments.append(clock())
            placed = recogniser.place(request, scope="key")
            moments.append(clock())
            plain.record(history[-2:])
            moments.append(clock())
            noting = answered(recogniser, placed, call(turn))
            plain.record(call(turn))
            hashing, placing, recording = (1e3 * (b - a) for a, b in itertools.pairwise(moments))
            if turn > number:  # the first begins the conversation
                for name, value in zip(times, (hashing, placing, recording, placing - recording, noting), strict=True):
                    times[name].append(value)
            history += [call(turn), *asked(turn, source)]
    return {"messages": length} | {
        f"{name}_{mark}": value
        for name, found in times.items()
        for mark, value in (("p50", statistics.median(found)), ("p95", statistics.quantiles(found, n=20)[-1]))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, nargs="+", default=MESSAGES)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [measure(Path(folder), length, arguments.requests) for length in arguments.messages]
    if arguments.json:
        print(json.dumps(found))
        return
    names = [name for name in found[0] if name != "messages"]
    print("messages " + " ".join(f"{name:>11}" for name in names) + "   ms")
    for one in found:
        print(f"{one['messages']:>8} " + " ".join(f"{one[name]:>11.2f}" for name in names))


if __name__ == "__main__":
    main()
