"""What a chunk of a document is found by: its words and those of its headings and title, and what all of them name."""

from callsheet.derive import entities, terms
from callsheet.graph.index import Index
from callsheet.graph.nodes import KnowledgeChunk, KnowledgeDocument
from callsheet.graph.record import StreamKey
from callsheet.runtime.documenting.texts import Marked, Texts

BETWEEN = " > "
"""Stands between two headings."""

ABOVE = "\x1f"
"""Before a term of the title or headings among the entities: what stands under a word is found by that alone. No name
and no query begins with it."""

TITLE = 3
"""How often a word of the title counts: it says what the whole document is about."""

HEADING = 2
"""How often a word of a heading counts."""


def above(document: KnowledgeDocument, chunk: KnowledgeChunk, text: Marked) -> tuple[str, str]:
    """What a chunk stands under: the title of its document and its headings, with markers in the place of secrets."""
    return text.beside(document.title), text.beside(chunk.heading)


def index_chunk(document: KnowledgeDocument, chunk: KnowledgeChunk, text: Marked) -> Index:
    """The index of a chunk. The name of a document is found like an identifier, in each of its chunks."""
    title, heading = above(document, chunk, text)
    whole = "\n".join(filter(None, (title, heading, text.piece(*chunk.byte_range))))
    named = dict.fromkeys([entities.normal(document.document), *entities.entities(whole)])
    counts = dict(terms.counted(whole))
    language = terms.language_of(whole)
    under: dict[str, None] = {}
    for field, weight in ((title, TITLE), (heading, HEADING)):
        for term in terms.terms(field, language):
            under[ABOVE + term] = None
            if term in counts:
                counts[term] += weight - 1
    return Index(entities=(*named, *under), terms=tuple(counts.items()))


def index_stored(key: StreamKey, chunk: KnowledgeChunk, texts: Texts) -> Index:
    """The same of a chunk that is in the store. Raises `BodyErased`, `Damaged`."""
    return index_chunk(texts.document(key, chunk.document), chunk, texts.marked(key, chunk.document))
