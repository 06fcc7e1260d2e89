"""Measures of search on sets of documents and questions with known answers, through the public face.

A set is recorded as the product is used: what was said in a conversation as messages in their order, other documents as
results of a tool. Each question is then asked of the conversation that it is about, once for each arm alone and once
with all of them, and the order of what is found is compared with what answers the question.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import callsheet
from callsheet.errors import InvalidLine
from callsheet.evaluate.files import Recording, objects

K = 10
"""Findings that are judged."""

LONGEST = 1_000
"""Characters of a question that are asked: a search takes no more."""

HYBRID = "hybrid"

ARMS: Mapping[str, tuple[str, ...]] = {"words": ("words",), "meaning": ("meaning",), HYBRID: ("words", "meaning")}
"""What is measured: each arm alone, and all together."""

_APART = "documents"
"""The conversation of documents that belong to none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """Something that can be found."""

    id: str
    text: str
    #: The conversation in which it was said; None: it is the result of a tool.
    conversation: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Something that is asked, with the documents that answer it."""

    id: str
    query: str
    relevant: frozenset[str]
    conversation: str | None = None
    #: Questions of one group get figures of their own.
    group: str = ""
    #: Ids in the query that their documents hold to the letter.
    literal: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalSet:
    """Documents in the order in which they are recorded, and questions about them."""

    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    #: Lines that hold neither.
    refused: tuple[InvalidLine, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Measures:
    """Means over questions, each from 0 to 1."""

    questions: int
    precision: float
    recall: float
    #: Normalised discounted cumulative gain; every document that answers gains the same.
    ndcg: float
    #: Mean of one by the rank of the first that answers; 0 where none is among those found.
    mrr: float


Found: TypeAlias = Sequence[str]
"""Ids of documents, the best first."""


def load(paths: Iterable[Path]) -> RetrievalSet:
    """Read a set from files of one JSON object a line, plain or compressed: documents and questions, in any order.

    A document has ``id`` and ``text``, and ``conversation`` where it was said in one; a question has ``id``, ``query``
    and ``relevant_ids``, and may have ``conversation``, ``group`` and ``literal_ids``.
    """
    documents: list[Document] = []
    questions: list[Question] = []
    refused: list[InvalidLine] = []
    for path in paths:
        for entry in objects(path):
            one = entry if isinstance(entry, InvalidLine) else _read(entry, path)
            if isinstance(one, Document):
                documents.append(one)
            elif isinstance(one, Question):
                questions.append(one)
            else:
                refused.append(one)
    return RetrievalSet(documents=tuple(documents), questions=tuple(questions), refused=tuple(refused))


def _read(entry: Recording, path: Path) -> Document | Question | InvalidLine:
    raw = entry.raw
    id, text, query = raw.get("id"), raw.get("text"), raw.get("query")
    conversation, group = raw.get("conversation"), raw.get("group", "")
    named = conversation is None or (isinstance(conversation, str) and conversation)
    if not isinstance(id, str) or not named or not isinstance(group, str):
        return InvalidLine("no id, or a conversation or group that is no text", file=str(path), line=entry.line)
    where = conversation if isinstance(conversation, str) else None
    if isinstance(text, str):
        return Document(id=id, text=text, conversation=where)
    relevant, literal = _ids(raw.get("relevant_ids")), _ids(raw.get("literal_ids", []))
    if not isinstance(query, str) or not query.strip() or relevant is None or literal is None:
        return InvalidLine(
            "neither a document (id, text) nor a question (id, query, relevant_ids)", file=str(path), line=entry.line
        )
    return Question(
        id=id, query=query, relevant=frozenset(relevant), conversation=where, group=group, literal=tuple(literal)
    )


def _ids(given: object) -> list[str] | None:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        return None
    return given


@dataclass(frozen=True, kw_only=True, slots=True)
class Shelf:
    """A set that was recorded and can be asked."""

    talks: Mapping[str, callsheet.Conversation]
    #: The document of each record that holds one.
    documents: Mapping[str, str]

    def ask(self, query: str, conversation: str | None, arms: Sequence[str], limit: int) -> list[str]:
        """The documents that are found, best first."""
        talk = self.talks.get(conversation or _APART)
        found = talk.search(query[:LONGEST], limit, arms=arms) if talk is not None else ()
        return [self.documents[one.reference] for one in found if one.reference in self.documents]


def record(runtime: callsheet.Runtime, documents: Sequence[Document]) -> Shelf:
    """Record the documents in a store, and do the background work that they need to be found."""
    talks: dict[str, callsheet.Conversation] = {}
    named: dict[str, str] = {}
    for place, document in enumerate(documents):
        name = document.conversation or _APART
        talk = talks.get(name)
        if talk is None:
            talk = talks[name] = runtime.conversation(name)
        messages = _said(document) if document.conversation is not None else _returned(document, place)
        done = talk.record(messages)
        named[done.ids[-1]] = document.id
    runtime.work()
    return Shelf(talks=talks, documents=named)


def _said(document: Document) -> list[dict[str, object]]:
    # Spoken to nobody who answers: of two people each is a user to the model, and no turn is open at the end.
    return [{"role": "assistant", "content": document.text}]


def _returned(document: Document, place: int) -> list[dict[str, object]]:
    # As an agent reads them: by the id, which need not stand in the text.
    asked = json.dumps({"id": document.id}, ensure_ascii=False)
    call = {"id": f"c{place}", "type": "function", "function": {"name": "read", "arguments": asked}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{place}", "content": document.text},
    ]


def measured(questions: Iterable[Question], found: Callable[[Question], Found], k: int = K) -> Measures:
    """The measures over those questions that something answers."""
    each = [_of_one(found(question)[:k], question.relevant, k) for question in questions if question.relevant]
    count = len(each)
    means = [sum(column) / count for column in zip(*each, strict=True)] if each else [0.0] * 4
    return Measures(questions=count, precision=means[0], recall=means[1], ndcg=means[2], mrr=means[3])


def _of_one(found: Found, relevant: frozenset[str], k: int) -> tuple[float, float, float, float]:
    """Precision, recall, nDCG and reciprocal rank of one answer. A document that is found twice counts once."""
    ranks = [rank for rank, id in enumerate(dict.fromkeys(found), start=1) if id in relevant]
    gained = sum(1 / math.log2(rank + 1) for rank in ranks)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    return len(ranks) / k, len(ranks) / len(relevant), gained / ideal, 1 / ranks[0] if ranks else 0.0


def groups(questions: Sequence[Question]) -> Iterator[tuple[str, list[Question]]]:
    """All questions, then those of each group where there are several."""
    yield "all", list(questions)
    names = dict.fromkeys(question.group for question in questions)
    for name in names if len(names) > 1 else ():
        yield name or "(none)", [question for question in questions if question.group == name]


def exact(shelf: Shelf, questions: Iterable[Question]) -> tuple[int, list[str]]:
    """Look each literal id up by itself: how many there are, and those that are not the first to be found."""
    ids = {id: question.conversation for question in questions for id in question.literal}
    missed = [id for id, where in ids.items() if shelf.ask(id, where, ("words",), K)[:1] != [id]]
    return len(ids), missed
