"""Requests rendered from fixed histories, compared whole.

Each file in ``golden/`` holds a history as recorded and the request for each format. Results stand behind their calls
already; of composing only the ids of calls without one are needed.
"""

import json
from pathlib import Path

import pytest

from callsheet.wire.formats import parse_messages, render
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.wire.histories import with_ids
from tests.wire.sdk import accept

GOLDEN = sorted(Path(__file__).with_name("golden").glob("*.json"))

table = pytest.mark.parametrize("wire", list(Wire))
each_file = pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)


def load(file: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(file.read_bytes())
    return found


@table
@each_file
def test_a_history_renders_to_the_reviewed_request(file: Path, wire: Wire) -> None:
    golden = load(file)
    tools = golden.get("tools")
    assert tools is None or isinstance(tools, list)
    blocks = with_ids(parse_messages(golden["history"]))

    request = render(blocks, wire, model="model-1", tools=tools, max_tokens=1000)

    assert golden[wire] == request
    assert json.dumps(golden[wire]) == json.dumps(request), "keys stand in another order"


@table
@each_file
def test_the_reviewed_request_is_valid(file: Path, wire: Wire) -> None:
    request = load(file)[wire]
    assert isinstance(request, dict)

    assert problems(request, wire) == []
    accept(request, wire)


def test_there_are_golden_files() -> None:
    assert len(GOLDEN) >= 15
