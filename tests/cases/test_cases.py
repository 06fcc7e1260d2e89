"""Every row of `cases.yaml`, recorded once and rendered for each provider under two policy sets, with the invariants.

U1 to U4 (pairing, grouping, order, content) are the providers' rules as `wire.validate` has them, U5 is the budget,
U6 encodes, U7 and U8: assembling twice gives equal bytes and changes nothing that is recorded.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import yaml

import callsheet
from callsheet.graph.record import StreamKey
from callsheet.testing import FixedClock, SequenceIds
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.cases import test_restarts
from tests.cases.checks import CHECKS, MODELS, Played
from tests.cases.histories import HISTORIES, TOOLS, Json

TABLE = cast("list[Json]", yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8")))

ROOT = Path(__file__).resolve().parents[2]
HERE = [case for case in TABLE if "expect" in case]
ELSEWHERE = [case for case in TABLE if "played" in case]

#: Wide enough for every case; cases about budgets name their own.
BUDGET = 400_000


@pytest.fixture(params=["memory", "sqlite"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ":memory:" if request.param == "memory" else str(tmp_path / "case.db")


def play(case: Json, provider: str, policy: str, location: str) -> Iterator[Played]:
    runtime = callsheet.open(location, ids=SequenceIds(), clock=FixedClock())
    with runtime:
        talk = runtime.conversation(str(case["id"]))
        history = HISTORIES[str(case["made"])]() if "made" in case else cast("list[object]", case["history"])
        for value in history:
            talk.record(value)
        tools = TOOLS[str(case["tools"])]() if "tools" in case else []
        sheet = talk.assemble(provider=provider, model=MODELS[provider], tools=tools, budget=BUDGET, policy=policy)
        yield Played(runtime=runtime, talk=talk, provider=provider, policy=policy, tools=tools, sheet=sheet)


@pytest.mark.parametrize("policy", ["replay", "balanced"])
@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("case", HERE, ids=[str(case["id"]) for case in HERE])
def test_case(case: Json, provider: str, policy: str, location: str) -> None:
    for played in play(case, provider, policy, location):
        invariants(played)
        for name, expected in cast("Json", case["expect"]).items():
            CHECKS[name](played, expected)


def invariants(played: Played) -> None:
    request = played.sheet.request()
    assert not problems(request, Wire(played.provider))
    assert played.sheet.tokens <= BUDGET
    assert json.loads(json.dumps(request).encode("utf-8")) == request
    before = played.runtime.ledger.head(_stream(played)), played.talk.history()
    again = played.assemble(BUDGET)
    assert again.blocks == played.sheet.blocks
    assert before == (played.runtime.ledger.head(_stream(played)), played.talk.history())


def _stream(played: Played) -> StreamKey:
    return next(s.key for s in played.runtime.ledger.streams() if s.id == played.talk.id)


def test_every_case_says_what_it_expects_or_where_it_is_played() -> None:
    assert len({case["id"] for case in TABLE}) == len(TABLE) == len(HERE) + len(ELSEWHERE)
    for case in ELSEWHERE:
        for place in cast("list[str]", case["played"]):
            assert hasattr(test_restarts, place) or (ROOT / place).is_file(), place
