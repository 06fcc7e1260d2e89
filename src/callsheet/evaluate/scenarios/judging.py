"""Judging: the requests of a scenario against what is expected of them, each finding in a sentence."""

import json
import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from callsheet.errors import CallsheetError, InputError, InvalidMessage
from callsheet.evaluate.messages import from_openai
from callsheet.evaluate.scenarios.document import Expected, Recalls, Request, Scenario
from callsheet.evaluate.scenarios.playing import played
from callsheet.evaluate.scenarios.stage import Played
from callsheet.evaluate.validity import Checker
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.sheet import Sheet
from callsheet.testing import ScriptedProvider
from callsheet.wire.tokens import TokenCounter, counter_for

NEAR = 0.05
"""How far the size of plain replay may be from the one that a scenario names."""


class Judged(Struct, frozen=True, kw_only=True):
    """One request of one scenario for one model."""

    scenario: str
    #: What tells the request from the others of the scenario; empty: nothing need.
    request: str
    provider: str
    model: str
    policy: str
    #: Of the policy set: turns that stay verbatim.
    turns: int
    tokenizer: str
    #: Whether the model's own tokenizer counted; else sizes are estimates, and are not judged.
    exact: bool
    replay: int
    replay_wanted: int | None
    sheet: int
    sheet_limit: int | None
    facts: int
    facts_wanted: int
    #: Records that stand, or do not, as it is expected.
    reasons: int
    reasons_wanted: int
    #: What is otherwise than expected.
    findings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything is as expected."""
        return not self.findings


def judge(scenario: Scenario) -> list[Judged]:
    """Play a scenario for each of its models and judge its requests.

    Raises `InputError`, with file, line and column, for a step that cannot happen or a name that nothing has.
    """
    return [
        judged for provider, model in scenario.models.items() for judged in _judged(played(scenario, provider, model))
    ]


def _judged(played: Played) -> Iterator[Judged]:
    with played.runtime:
        for place, request in zip(played.scenario.request_places, played.scenario.requests, strict=True):
            try:
                view, sheet = played.assemble(request)
                yield _Judging(played, request, view, sheet).judged()
            except CallsheetError as problem:
                raise InputError(f"{place}: this request cannot be made: {problem}") from problem


class _Judging:
    """One request beside what is expected of it."""

    def __init__(self, played: Played, request: Request, view: Conversation, sheet: Sheet) -> None:
        self._played = played
        self._request = request
        self._view = view
        self._sheet = sheet
        self._sent = sheet.request()
        self._text = "\n".join(_texts({key: value for key, value in self._sent.items() if key != "tools"}))

    @property
    def _expected(self) -> Expected:
        return self._request.expect

    def judged(self) -> Judged:
        expected = self._expected
        facts = [fact for fact in expected.facts if fact in self._text]
        standing = list(self._standing())
        replay, sheet = self._replay(), self._sheet.tokens
        findings = (
            *self._sizes(replay, sheet),
            *(f"{fact!r} does not stand in the request" for fact in expected.facts if fact not in facts),
            *self._absent(),
            *(finding for finding in standing if finding),
            *self._tools(),
            *self._recalled(),
            *self._refused(),
        )
        return Judged(
            scenario=self._played.scenario.name,
            request=self._request.about,
            provider=self._played.provider,
            model=self._played.model,
            policy=str(self._played.scenario.policy),
            turns=self._played.scenario.policy.turns,
            tokenizer=self._counter.name,
            exact=self._sheet.exact,
            replay=replay,
            replay_wanted=expected.replay,
            sheet=sheet,
            sheet_limit=expected.sheet,
            facts=len(facts),
            facts_wanted=len(expected.facts),
            reasons=sum(not finding for finding in standing),
            reasons_wanted=len(standing),
            findings=findings,
        )

    # ------------------------------------------------------------------ sizes

    @property
    def _counter(self) -> TokenCounter:
        return counter_for(self._played.provider, self._played.model)

    def _replay(self) -> int:
        """Tokens of a request that holds all that was said, called and given back, counted as the sheet is."""
        counter = self._counter
        messages = [from_openai(message) for message in self._played.said]
        calls = [call for message in messages for call in message.calls]
        texts = [message.text for message in messages] + [
            text for call in calls for text in (call.name, call.arguments)
        ]
        results = sum(message.role == "tool" for message in messages)
        framing = counter.framing.around(messages=len(messages), calls=len(calls), results=results)
        tools = counter.count_tools(json.dumps(tool) for tool in self._request.tools)
        return sum(map(counter.count, texts)) + framing + tools

    def _sizes(self, replay: int, sheet: int) -> Iterator[str]:
        wanted, limit = self._expected.replay, self._expected.sheet
        if not self._sheet.exact:
            return
        if wanted is not None and abs(replay - wanted) > NEAR * wanted:
            yield f"plain replay takes {replay:,} tokens, which is not within 5 % of {wanted:,}"
        if limit is not None and sheet > limit:
            yield f"the request takes {sheet:,} tokens, which is more than {limit:,}"

    # ------------------------------------------------------------------ what stands

    def _absent(self) -> Iterator[str]:
        whole = f"{self._text}\n{json.dumps(self._sent.get('tools'), ensure_ascii=False)}"
        for text in self._expected.absent:
            if text in whole:
                yield f"{text!r} stands in the request"

    def _standing(self) -> Iterator[str]:
        """For each expectation about a record what is otherwise; nothing where it is met."""
        levels = {selection.record: selection.level for selection in self._sheet.selections}
        for name, level in self._expected.selected.items():
            found = levels.get(self._id(name), Level.NONE)
            yield "" if found is level else f"{name!r} stands as {found.value}, and not as {level.value}"
        for name, reason in self._expected.left_out.items():
            why = self._view.why_not(self._sheet, self._id(name))
            gone = self._id(name) not in levels and why.reason is reason
            yield "" if gone else f"{name!r} is not left out as {reason.value}: {why.sentence}"
        sentences = {one.record: one.sentence for one in self._view.explain(self._sheet).records}
        for name, pattern in self._expected.explained.items():
            id = self._id(name)
            said = sentences.get(id) or self._view.why_not(self._sheet, id).sentence
            yield "" if _fits(pattern, said) else f"what is said of {name!r} does not fit {pattern!r}: {said}"

    def _id(self, name: str) -> RecordId:
        return RecordId(self._played.id(name))

    def _tools(self) -> Iterator[str]:
        wanted = self._expected.tools
        offered = tuple(_tool_name(tool) for tool in self._sheet.tools())
        if wanted is not None and offered != wanted:
            yield f"the tools are {', '.join(offered) or 'none'}, and not {', '.join(wanted) or 'none'}"

    # ------------------------------------------------------------------ exact evidence

    def _recalled(self) -> Iterator[str]:
        for recalls in self._expected.recalls:
            yield from self._refusal(recalls) if recalls.refused else self._evidence(recalls)

    def _evidence(self, recalls: Recalls) -> Iterator[str]:
        try:
            found = self._view.recall(
                self._id(recalls.record),
                rows=recalls.rows,
                lines=recalls.lines,
                pointer=recalls.pointer,
                search=recalls.search,
            )
        except CallsheetError as problem:
            yield f"{recalls.record!r} cannot be recalled: {problem}"
            return
        text = found.bytes.decode("utf-8", "surrogateescape")
        if recalls.equals is not None and text != recalls.equals:
            yield f"recalling {recalls.record!r} gives {text!r}, and not {recalls.equals!r}"
        for part in recalls.holds:
            if part not in text:
                yield f"{part!r} does not stand in what recalling {recalls.record!r} gives"

    def _refusal(self, recalls: Recalls) -> Iterator[str]:
        answer = self._view.answer_recall({"reference": self._id(recalls.record)})
        for part in (*recalls.holds, "(recall: "):
            if part not in answer:
                yield f"{part!r} does not stand in what a model gets that recalls {recalls.record!r}: {answer!r}"

    # ------------------------------------------------------------------ validity

    def _refused(self) -> Iterator[str]:
        """Why the provider would refuse it, by its own rules and by those that measures go by."""
        try:
            ScriptedProvider(["ok"], provider=self._played.provider).create(**self._sent)
        except InvalidMessage as problem:
            yield f"{self._played.provider} would refuse the request: {problem}"
        messages = [from_openai(message) for message in self._sheet.messages("openai")]
        for found in Checker().problems(messages):
            if self._played.provider in found.refusal.providers:
                yield f"{self._played.provider} would refuse message {found.at}: {found.refusal.value}"


def _fits(pattern: str, sentence: str) -> bool:
    try:
        return re.search(pattern, sentence) is not None
    except re.error as problem:
        raise InputError(f"{pattern!r} is no pattern: {problem}") from None


def _tool_name(tool: Mapping[str, object]) -> str:
    declared = tool.get("functionDeclarations")
    inner = declared[0] if isinstance(declared, list) and declared else tool.get("function")
    return str(inner.get("name") if isinstance(inner, Mapping) else tool.get("name"))


def _texts(value: object) -> Iterator[str]:
    """Every text of a request, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
