"""The measures agree, value by value, with an independent implementation of the same definitions, where there is one.

It is not part of the project: `CALLSHEET_MEASURES` names its folder; without it the folder `../shared/measure` beside
the checkout is taken. Normalising and validity are compared on every recording, the rest on a few of each file.
"""

import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.evaluate.billing import Meter, O200k
from callsheet.evaluate.evidence import Evidence
from callsheet.evaluate.files import Recording, read
from callsheet.evaluate.haystack import stands_in
from callsheet.evaluate.messages import from_openai, to_openai
from callsheet.evaluate.normalise import Repair, normalise
from callsheet.evaluate.presence import Presence
from callsheet.evaluate.trajectory import Trajectory
from callsheet.evaluate.validity import Checker, Refusal
from callsheet.evaluate.values import Kind, scan, value
from tests.recordings import malformed_files, trajectory_files

PER_FILE = 2
BLOCKS = 40
"""Messages of the shortened requests that are compared."""

_NAMED = os.environ.get("CALLSHEET_MEASURES")
MEASURES = Path(_NAMED) if _NAMED else Path(__file__).resolve().parents[3] / "shared" / "measure"

pytestmark = pytest.mark.skipif(
    not (MEASURES / "measures.py").is_file(), reason="needs the reference measures (set CALLSHEET_MEASURES)"
)

every_file = pytest.mark.parametrize("path", [*trajectory_files(), *malformed_files()], ids=lambda path: path.name)

REPAIRS = {
    "unparseable arguments wrapped": Repair.ARGUMENTS_WRAPPED,
    "unknown role dropped": Repair.UNKNOWN_ROLE_DROPPED,
    "mid-run system message -> user": Repair.SYSTEM_AS_USER,
    "result re-paired by order": Repair.RESULT_PAIRED_BY_ORDER,
    "missing result filled": Repair.MISSING_RESULT_FILLED,
    "orphan tool result -> user": Repair.ORPHAN_RESULT_AS_USER,
    "empty content filled": Repair.EMPTY_CONTENT_FILLED,
}
REFUSALS = {
    "anthropic: system message after the start": Refusal.LATE_SYSTEM,
    "anthropic: first message is not user": Refusal.FIRST_NOT_USER,
    "empty content (system)": Refusal.EMPTY_SYSTEM,
    "empty content (user)": Refusal.EMPTY_USER,
    "empty content (assistant)": Refusal.EMPTY_ASSISTANT,
    "empty content (tool)": Refusal.EMPTY_RESULT,
    "arguments not an object": Refusal.ARGUMENTS_NOT_AN_OBJECT,
    "arguments do not parse": Refusal.ARGUMENTS_NOT_JSON,
    "duplicate or missing call ids": Refusal.CALL_IDS,
    "tool message without its call": Refusal.RESULT_WITHOUT_CALL,
    "tool call not answered": Refusal.CALL_NOT_ANSWERED,
    "tool call answered twice": Refusal.CALL_ANSWERED_TWICE,
    "no message besides system": Refusal.NO_MESSAGE,
    "last message is not user or tool": Refusal.NOTHING_TO_ANSWER,
}


class Reference(NamedTuple):
    measures: ModuleType
    trajectories: ModuleType

    def refusals(self, request: list[dict[str, Any]], *, goes_on: bool = False) -> set[Refusal]:
        reasons = self.measures.problems(request, goes_on)
        return {Refusal.UNKNOWN_ROLE if reason.startswith("role ") else REFUSALS[reason] for reason in reasons}


class Pair(NamedTuple):
    """One recording, normalised by both."""

    theirs: Any
    ours: Trajectory


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    pytest.importorskip("bpe_openai", reason="the reference measures count with bpe-openai")
    names = ("trajectories", "measures")
    sys.path.insert(0, str(MEASURES))
    try:
        trajectories, measures = map(importlib.import_module, names)
    finally:
        sys.path.remove(str(MEASURES))
    yield Reference(measures, trajectories)
    for name in names:
        del sys.modules[name]


def raw_recordings(path: Path) -> list[dict[str, Any]]:
    return [dict(entry.raw) for entry in read(path) if isinstance(entry, Recording)]


def sample(path: Path, reference: Reference) -> list[Pair]:
    raws = raw_recordings(path)
    chosen = raws[:: max(1, len(raws) // PER_FILE)][:PER_FILE]
    return [Pair(reference.trajectories.normalise(raw), normalise(raw)) for raw in chosen]


def assert_normalised_alike(raw: dict[str, Any], reference: Reference) -> None:
    theirs, ours = reference.trajectories.normalise(raw), normalise(raw)
    assert (ours.id, ours.source, list(ours.tools)) == (theirs.id, theirs.source, theirs.tools)
    assert [to_openai(message) for message in ours.system] == theirs.system
    assert [to_openai(message) for message in ours.messages] == theirs.messages
    assert ours.repairs == {REPAIRS[repair]: times for repair, times in theirs.repairs.items()}
    assert list(ours.steps) == theirs.steps


@every_file
def test_recordings_are_normalised_alike(path: Path, reference: Reference) -> None:
    for raw in raw_recordings(path):
        assert_normalised_alike(raw, reference)


@every_file
def test_raw_recordings_are_refused_for_the_same_reasons(path: Path, reference: Reference) -> None:
    for raw in raw_recordings(path):
        messages = raw["messages"]
        if any(isinstance(message.get("content"), list) for message in messages):
            continue  # the reference knows contents of text only
        problems = Checker().problems([from_openai(message) for message in messages])
        assert {problem.refusal for problem in problems} == reference.refusals(messages)


@every_file
def test_needs_are_alike(path: Path, reference: Reference) -> None:
    for theirs, ours in sample(path, reference):
        gold, evidence = reference.measures.Gold(theirs), Evidence(ours)
        for step in ours.steps:
            expected = [
                (
                    "number" if need["kind"] == "num" else need["kind"],
                    need["variants"],
                    tuple(at for at in gold.where(need["variants"]) if at < step),
                    need["old"],
                    need["hard"],
                )
                for need in gold.steps[step]
            ]
            assert expected == [
                (need.value.kind, need.value.spellings, need.sources, need.old, need.hard)
                for need in evidence.needs[step]
            ]


def shortened(messages: list[dict[str, Any]], step: int) -> list[dict[str, Any]]:
    """Some of the newest messages before the step, every third cut at both ends, every fifth left out."""
    kept = []
    for at in range(max(0, step - BLOCKS), step):
        message = dict(messages[at])
        text = message["content"] or ""
        if at % 3 == 0:
            message["content"] = text[len(text) // 4 : -len(text) // 4]
        if at % 5:
            kept.append(message)
    return kept


@every_file
def test_bills_are_alike(path: Path, reference: Reference) -> None:
    measures = reference.measures
    for theirs, ours in sample(path, reference):
        meter = Meter(O200k())
        canons = [measures.canon(message) for message in theirs.messages]
        before: dict[str, tuple[Any, Any]] = {"plain": ([], []), "short": ([], [])}
        for step in ours.steps:
            short = shortened(theirs.messages, step)
            requests = {
                "plain": (canons[:step], ours.messages[:step]),
                "short": ([measures.canon(message) for message in short], [from_openai(message) for message in short]),
            }
            for name, (their_request, our_request) in requests.items():
                their_previous, our_previous = before[name]
                bill = meter.bill(our_request, our_previous)
                assert bill.tokens == measures.prompt_tokens(their_request)
                assert bill.cached == measures.common_prefix_tokens(their_request, their_previous)
            before = requests


@every_file
def test_values_are_found_alike_in_shortened_requests_and_in_bare_lists(path: Path, reference: Reference) -> None:
    for theirs, ours in sample(path, reference):
        gold, evidence = reference.measures.Gold(theirs), Evidence(ours)
        presence = Presence(ours, evidence)
        for step in ours.steps[::3]:
            bare = {"role": "user", "content": " ".join(need["variants"][0] for need in gold.steps[step])}
            for request in ([bare], shortened(theirs.messages, step)):
                texts = [reference.measures.message_text(message) for message in request]
                blocks = presence.blocks(from_openai(message) for message in request)
                for need in evidence.needs[step]:
                    holding = presence.holding(need.value, blocks)
                    spellings = need.value.spellings
                    assert bool(holding) == gold.present(spellings, texts)
                    assert presence.in_place(need.value, holding) == gold.in_place(spellings, texts)


PIECES = st.sampled_from(
    [
        *"aZ19 _-.,:;/@#\"'`\n\\$~(",
        "abc",
        "http://",
        "x.py",
        "2024-05-01",
        "1,250",
        ".00",
        "T10:30",
        "a@b.c",
        "ü",
        "²",
        "\\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@given(text=TEXTS, quoted=st.booleans())
def test_any_text_is_scanned_alike(text: str, quoted: bool, reference: Reference) -> None:
    found = [
        (Kind.NUMBER if kind == "num" else Kind(kind), reference.measures.variants(kind, spelling))
        for kind, spelling in reference.measures.scan(text, quoted)
    ]
    assert [(one.kind, one.spellings) for one in scan(text, quoted=quoted)] == found


@given(number=st.from_regex(r"-?[0-9][0-9,]{0,18}(\.[0-9]{1,6})?(e[+-][0-9]{1,3})?", fullmatch=True))
def test_any_number_is_spelled_alike(number: str, reference: Reference) -> None:
    assert value(Kind.NUMBER, number).spellings == reference.measures.variants("num", number)


@given(needle=TEXTS.filter(bool), text=TEXTS)
def test_any_value_occurs_alike(needle: str, text: str, reference: Reference) -> None:
    assert stands_in([needle], text) == reference.measures.occurs(needle, text)


IDS = st.sampled_from(["a", "b", "", None])
CONTENTS = st.sampled_from(["x", "", " ", None])
ARGUMENTS = st.sampled_from(["{}", '{"a": "b\\nc"}', "[]", "{", ""])
ASKED = st.fixed_dictionaries(
    {"id": IDS, "function": st.fixed_dictionaries({"name": st.just("t"), "arguments": ARGUMENTS})}
)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "developer", "critic"]), "content": CONTENTS})
    | st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": CONTENTS, "tool_calls": st.lists(ASKED, max_size=3)}
    )
    | st.fixed_dictionaries({"role": st.just("tool"), "content": CONTENTS, "tool_call_id": IDS}),
    max_size=8,
)


@given(messages=MESSAGES)
def test_any_conversation_is_normalised_alike(messages: list[dict[str, Any]], reference: Reference) -> None:
    assert_normalised_alike({"messages": messages}, reference)


@given(messages=MESSAGES, goes_on=st.booleans())
def test_any_request_is_refused_for_the_same_reasons(
    messages: list[dict[str, Any]], goes_on: bool, reference: Reference
) -> None:
    request = [from_openai(message) for message in json.loads(json.dumps(messages))]
    problems = Checker().problems(request, goes_on=goes_on)
    assert {problem.refusal for problem in problems} == reference.refusals(messages, goes_on=goes_on)
