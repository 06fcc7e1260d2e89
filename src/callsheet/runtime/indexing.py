"""What each record is found by, made when it is recorded and again when projections are rebuilt."""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble.contents import Read, result_text, text_of
from callsheet.assemble.stated import MARK, stated
from callsheet.derive.calling import call_terms
from callsheet.derive.derived import index_message, index_result
from callsheet.derive.redaction import Redaction
from callsheet.graph.enums import FAILURES
from callsheet.graph.index import Index
from callsheet.graph.nodes import Fact, Message, Milestone, ToolArtifact, ToolCall, UserMemory
from callsheet.graph.record import Body
from callsheet.graph.values import Media, Text
from callsheet.runtime.personalising.subject import USER, statement, subject

SAID = "~"
"""Before an entity that somebody said or asked for: so the results that hold an entity are found by it alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Indexing:
    """Makes the index of a record from its body and what it is read by."""

    read: Read
    count: Callable[[str], int]
    #: Nothing that is derived, and so nothing that is found, holds a secret.
    redaction: Redaction

    def of(self, body: Body, call: ToolCall | None = None) -> Index | None:
        """The index of a record; None for the kinds that are not searched. `call` is the call of an artifact."""
        if isinstance(body, Message):
            texts = [text_of(self.read(part.text)) for part in body.parts if isinstance(part, Text)]
            return _said(self.redaction.text("\n".join(texts)))
        if isinstance(body, ToolCall):
            return self._asked(body)
        if isinstance(body, ToolArtifact):
            return index_result(
                result_text(body, self.read),
                mime=_mime(body),
                tool=(call.tool if call is not None else body.tool) or "",
                arguments=text_of(self.read(call.arguments)) if call is not None else "",
                count=self.count,
                failed=body.status in FAILURES,
                redaction=self.redaction,
            )
        if isinstance(body, UserMemory):
            return self._kept(body)
        if isinstance(body, Milestone | Fact):
            index = index_message(self.redaction.text(stated(self.read(body.value)).text))
            terms = tuple((MARK + term, often) for term, often in index.terms)
            return replace(index, entities=tuple(MARK + entity for entity in index.entities), terms=terms)
        return None

    def _asked(self, body: ToolCall) -> Index:
        """A call is found by the words of its arguments, and by what it asks for of whom as a call alone is."""
        arguments = self.redaction.text(text_of(self.read(body.arguments)))
        index = _said(arguments)
        asked = call_terms(body.tool, arguments)
        return replace(index, terms=(*index.terms, *((term, 1) for term in asked)))

    def _kept(self, body: UserMemory) -> Index:
        """A memory is found by what it is about too, by its subject, and by all of what it says as one name."""
        text = text_of(self.read(body.value))
        whom = body.entity if body.entity != USER else None
        index = index_message(self.redaction.text("\n".join(filter(None, (whom, body.attribute, text)))))
        names = filter(None, (subject(body), statement(body, text)))
        return replace(index, entities=(*index.entities, *names))


def _said(text: str) -> Index:
    index = index_message(text)
    return replace(index, entities=tuple(SAID + entity for entity in index.entities))


def _mime(body: ToolArtifact) -> str:
    return next((part.mime for part in body.content if isinstance(part, Media)), "") if len(body.content) == 1 else ""
