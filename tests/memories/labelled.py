"""Labelled promotions: what results became as memories, and which of their values were located, against the labels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from callsheet.derive.locators import resolve
from callsheet.errors import InvalidOption
from callsheet.graph.changes import Reclassified, Superseded
from callsheet.graph.enums import Level, Privacy, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolMemory
from callsheet.policy.contracts import ToolContract
from callsheet.policy.promotion import METADATA_ONLY, Promotable
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import ClassForms
from callsheet.runtime.checking import parts_of
from callsheet.runtime.conversation import Conversation
from callsheet.testing import memory_runtime

_TOOL = "source"


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"as_": "as"}):
    """One labelled result."""

    name: str
    #: Its content: text, or data that is written as JSON.
    result: object = ""
    #: Instead of `result`: text so many lists deep.
    nested: int = 0
    status: str | None = None
    #: Of the contract of its tool.
    tool: Mapping[str, object] = {}
    #: Forms of classes under the policy set, where they are other than by default.
    forms: Mapping[str, str] = {}
    reclassified: Privacy | None = None
    replaced: bool = False
    summary: str | None = None
    payload: object = None
    extractor: str = "rule"
    as_: Literal["memory", "metadata", "audit_only", "none"]
    #: The values that stand at exactly one place, and those that are stated and do not.
    located: tuple[str | int | float, ...] = ()
    lost: tuple[str | int | float, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Came:
    """What came of one case."""

    case: Case
    as_: Promotable
    #: What stands where its locators point.
    located: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """Counts against labels."""

    right: int
    found: int
    labelled: int

    @property
    def precision(self) -> float:
        """Of what was found, the share that is right."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Of what is right, the share that was found."""
        return self.right / self.labelled if self.labelled else 1.0


def load(path: Path) -> tuple[Case, ...]:
    """The cases of a file. Raises `msgspec.ValidationError` for what is no case."""
    return msgspec.yaml.decode(path.read_bytes(), type=tuple[Case, ...])


def judge(case: Case) -> Came:
    """Record the result in a conversation of its own and promote it."""
    policy = _policy(case)
    with memory_runtime() as runtime:
        talk = runtime.conversation("labelled")
        talk.record({"role": "user", "content": "Look it up."})
        talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
        source = _recorded(talk, case)
        if case.reclassified is not None:
            changed = Reclassified(records=(source,), privacy=case.reclassified)
            talk._session.append(talk._view, lambda drafting: drafting.add(changed, kind="reclassified"))
        if case.replaced:
            replaced = Superseded(current=_recorded(talk, case), replaced=(source,))
            talk._session.append(talk._view, lambda drafting: drafting.add(replaced, kind="superseded"))
        try:
            summary = case.summary or "Noted."  # a gist would state values of its own
            id = talk.promote(source, summary=summary, payload=case.payload, extractor=case.extractor)
        except InvalidOption:
            return Came(case=case, as_=Promotable.NONE, located=frozenset())
        return _came(talk, case, id)


def _policy(case: Case) -> PolicySetDocument:
    contract = msgspec.convert({"name": _TOOL, **case.tool}, ToolContract)
    forms = replace(ClassForms(), **{name: Level(form) for name, form in case.forms.items()})
    return replace(BALANCED, name="labelled", version="1", tools=(contract,), privacy=forms)


def _recorded(talk: Conversation, case: Case) -> RecordId:
    call = {"id": "c", "type": "function", "function": {"name": _TOOL, "arguments": "{}"}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
    content = f'{"[" * case.nested}"core-77"{"]" * case.nested}' if case.nested else case.result
    text = content if isinstance(content, str) else msgspec.json.encode(content).decode()
    return talk.record({"role": "tool", "tool_call_id": "c", "content": text}, status=case.status).ids[-1]


def _came(talk: Conversation, case: Case, id: RecordId) -> Came:
    (record,) = talk._session.ledger.get(talk._session.conversation.key, (id,))
    body = record.body
    assert isinstance(body, ToolMemory)
    if record.header.scope.visibility is Visibility.AUDIT:
        return Came(case=case, as_=Promotable.AUDIT_ONLY, located=frozenset())
    if METADATA_ONLY in body.limits:
        return Came(case=case, as_=Promotable.METADATA, located=frozenset())
    sources = talk._session.ledger.get(talk._session.conversation.key, body.sources)
    parts = {(part.source, part.part): part.content for one in sources for part in parts_of(talk._session, one)}
    stand = (resolve(locator, parts[locator.source, locator.part]) for locator in body.locators)
    words = frozenset(what.decode("utf-8", "replace").strip('"') for what in stand if what is not None)
    return Came(case=case, as_=Promotable.MEMORY, located=words)


def promotions(came: Iterable[Came]) -> Tally:
    """Of memories that a model sees, against those that are labelled so."""
    found = list(came)
    memories = [one for one in found if one.as_ is Promotable.MEMORY]
    return Tally(
        right=sum(one.case.as_ == "memory" for one in memories),
        found=len(memories),
        labelled=sum(one.case.as_ == "memory" for one in found),
    )


def locations(came: Iterable[Came]) -> Tally:
    """Of located values, against those that are labelled as standing at one place."""
    right = found = labelled = 0
    for one in came:
        wanted = {str(value) for value in one.case.located}
        right += len(one.located & wanted)
        found += len(one.located)
        labelled += len(wanted)
    return Tally(right=right, found=found, labelled=labelled)
