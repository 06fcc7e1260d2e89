"""Gemini's contents in logs: exported as they came, several results in one content, and read back equal."""

from pathlib import Path

from callsheet.testing import memory_runtime
from tests.audit.lines import exported, imported, written

Json = dict[str, object]

CONTENTS: list[Json] = [
    {"role": "system", "parts": [{"text": "Be brief."}]},
    {"role": "user", "parts": [{"text": "Tides?"}]},
    {
        "role": "model",
        "parts": [
            {"functionCall": {"name": "tide", "args": {"port": "Aask"}}, "thoughtSignature": "c2lnLTc3"},
            {"functionCall": {"name": "tide", "args": {"port": "Norrholm"}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "tide", "response": {"output": "05:12"}}},
            {"functionResponse": {"name": "tide", "response": {"high": "06:40"}}},
            {"text": "Well?"},
        ],
    },
    {"role": "model", "parts": [{"functionCall": {"name": "tide"}}]},
    {"role": "function", "parts": [{"functionResponse": {"name": "tide", "response": {"error": "no port"}}}], "x": 1},
]


def test_contents_come_back_and_are_read_again(tmp_path: Path) -> None:
    with memory_runtime() as runtime:
        runtime.conversation("tides").record(CONTENTS)
        (line,) = exported(runtime, "tides")
    told = line["messages"]
    assert isinstance(told, list)
    assert [{key: message[key] for key in message if key != "x_at"} for message in told] == CONTENTS

    with memory_runtime() as other:
        _, refused = imported(other, written(tmp_path / "log.jsonl", [line]))
        assert refused == []
        assert exported(other, "tides") == [line]
