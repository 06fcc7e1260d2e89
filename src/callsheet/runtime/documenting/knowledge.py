"""`Knowledge`: the documents of a tenant as a program sees them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from callsheet.derive.redaction import Redaction
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.enums import Privacy
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId
from callsheet.graph.nodes import Boundary
from callsheet.graph.ports import Clock, Ids, Ledger
from callsheet.graph.times import isoformat
from callsheet.policy.sets import PolicySetDocument
from callsheet.recall.request import beginning
from callsheet.runtime.documenting.admitting import Admission
from callsheet.runtime.documenting.finding import MOST_FOUND, Filters, Passage
from callsheet.runtime.documenting.library import Library
from callsheet.runtime.documenting.shelf import Contents, Version
from callsheet.runtime.documenting.writing import Writing, given, tagged
from callsheet.runtime.options import label, positive, remark
from callsheet.runtime.policies import document_of
from callsheet.runtime.redacting import redaction_of
from callsheet.runtime.ruling import granted
from callsheet.runtime.typed import all_checked

_NO_ATTRIBUTES: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One version of a document, without its text."""

    #: The record of this version.
    id: RecordId
    document: str
    version: str
    title: str
    locale: str | None
    attributes: Mapping[str, str]
    privacy: Privacy
    #: Bytes of its text, and the chunks that it is cut into.
    size: int
    chunks: int
    #: When it was recorded, as ISO 8601.
    at: str
    #: The version that stands in its place; None: it is the newest.
    replaced_by: RecordId | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Document(Entry):
    """One version of a document."""

    #: With markers in the place of secrets.
    text: str


@all_checked
class Knowledge:
    """Documents that the conversations of a tenant share: added, replaced by newer versions, removed, found."""

    def __init__(self, library: Library, ledger: Ledger, tenant: TenantId, ids: Ids, clock: Clock) -> None:
        self._library = library
        self._writing = Writing(ledger=ledger, tenant=tenant, ids=ids, clock=clock, shelf=library.shelf)
        self._clock = clock

    def add(
        self,
        document: str,
        text: str,
        *,
        version: str | None = None,
        title: str | None = None,
        locale: str | None = None,
        attributes: Mapping[str, str] = _NO_ATTRIBUTES,
        privacy: Privacy | str = Privacy.INTERNAL,
    ) -> RecordId:
        """Add a document, and return the id of its version.

        `document` names it in all its versions; `version` defaults to one made from the text, `title` to the name.
        `attributes` are texts by name, such as the product it is about; by them, `locale` and `version` a search can be
        narrowed. `privacy` is the class of data that its text is; the policy set of a request decides what that means.
        The text is cut by headings and paragraphs, and found from then on. Adding the same again changes nothing.

        Raises `InvalidOption` for what no document can be, and where another document has that name.
        """
        new = given(document, text, version=version, title=title, locale=locale, attributes=attributes, privacy=privacy)
        return self._writing.put(new, replacing=False)

    def replace(
        self,
        document: str,
        text: str,
        *,
        version: str | None = None,
        title: str | None = None,
        locale: str | None = None,
        attributes: Mapping[str, str] = _NO_ATTRIBUTES,
        privacy: Privacy | str = Privacy.INTERNAL,
    ) -> RecordId:
        """Add a newer version of a document, which is found from then on in place of the one before.

        That one stays readable, by its id and by its version, and is named as replaced. See `add`; nothing is taken
        over from the version before. Raises `NotFound` where there is no such document.
        """
        new = given(document, text, version=version, title=title, locale=locale, attributes=attributes, privacy=privacy)
        return self._writing.put(new, replacing=True)

    def remove(self, document: str, *, by: str = "", reason: str = "") -> RecordId:
        """Erase a document in all its versions, for good, and return the id of the record that says so.

        Texts, indexes and vectors go; the record names ids, `by` and `reason`. What a request or the answer of a recall
        quoted of it is a record of that conversation and stays there. Raises `NotFound`, after finishing a removal that
        was interrupted, and `StoreBusy` where it is gone but readers keep old pages in use: remove it again later.
        """
        who = label(by, "by") if by else ""
        try:
            return self._writing.remove(label(document, "document"), by=who, reason=remark(reason))
        finally:
            self._library.texts.forget()

    def get(self, document: str, *, version: str | None = None) -> Document:
        """The newest version of a document, or the one that is named. Raises `NotFound`."""
        contents = self._library.shelf.look()
        known = contents.of(label(document, "document"))
        wanted = label(version, "version") if version is not None else None
        found = [one for one in known if wanted in (None, one.body.version)]
        if not found:
            there = ", ".join(one.body.version for one in known)
            raise NotFound(_no_version(document, version, there) if known else f"no document {document!r}")
        return self._read(contents, found[-1])

    def version(self, id: str) -> Document:
        """One version by its id. Raises `NotFound`."""
        contents = self._library.shelf.look()
        found = contents.by_id(RecordId(label(id, "id")))
        if found is None:
            raise NotFound(f"there is no version {id!r} of a document")
        return self._read(contents, found)

    def search(
        self,
        query: str,
        *,
        k: int = MOST_FOUND,
        document: str | None = None,
        version: str | None = None,
        locale: str | None = None,
        attributes: Mapping[str, str] = _NO_ATTRIBUTES,
        provider: str | None = None,
        model: str = "",
        scopes: Sequence[str] = (),
        policy: str | PolicySetDocument | None = None,
    ) -> list[Passage]:
        """The `k` passages that answer a query best, of the newest version of each document.

        What is asked narrows first: the document, its locale, its attributes, its version; a version that is named is
        searched also where a newer one stands in its place. With `provider` those documents alone are looked at whose
        content may go to it under `policy` (default: the built-in ``balanced``). Then passages that hold an identifier
        of the query to the letter come first, then the others by their words and, where the store was opened with an
        embedder, by their meaning, and in the order of the reranker, where there is one. Nothing that was narrowed out
        plays a part in order or scores. A query without words finds nothing; of one of more than 1,000 characters the
        beginning is looked for.

        Raises `InvalidOption`.
        """
        filters = Filters(
            document=label(document, "document") if document is not None else None,
            version=label(version, "version") if version is not None else None,
            locale=label(locale, "locale") if locale is not None else None,
            attributes=dict(tagged(attributes)),
        )
        admission = self._admission(provider, model, scopes, policy)
        asked, most = beginning(query), positive(k, "k")
        return self._library.best(asked, most, admission, filters) if asked.strip() else []

    def list(self, *, document: str | None = None) -> list[Entry]:
        """The newest version of each document, in the order in which they first came; with a name all its versions."""
        contents = self._library.shelf.look()
        found = contents.newest.values() if document is None else contents.of(label(document, "document"))
        redaction = redaction_of(contents.stream) if contents.stream is not None else Redaction()
        return [_entry(version, redaction.text(version.body.title)) for version in found]

    def _admission(
        self, provider: str | None, model: str, scopes: Sequence[str], policy: str | PolicySetDocument | None
    ) -> Admission | None:
        if provider is None:
            if policy is not None or scopes or model:
                raise InvalidOption("policy, scopes and model say what may go to a provider; name the provider too")
            return None
        boundary = Boundary(
            conversation=_NOWHERE,
            branch=ROOT_BRANCH,
            provider=label(provider, "provider"),
            model=label(model, "model") if model else "",
            scopes=granted(scopes),
            budget=0,
            now=self._clock.now(),
        )
        return Admission(boundary=boundary, policy=document_of(policy))

    def _read(self, contents: Contents, version: Version) -> Document:
        if contents.stream is None:
            raise NotFound(f"no document {version.name!r}")
        text = self._library.texts.marked(contents.stream.key, version.id)
        entry = _entry(version, text.beside(version.body.title))
        return Document(text=text.piece(), **{one.name: getattr(entry, one.name) for one in fields(entry)})


_NOWHERE = StreamId("")
"""A search outside of any conversation has none to name."""


def _entry(version: Version, title: str) -> Entry:
    body = version.body
    return Entry(
        id=version.id,
        document=body.document,
        version=body.version,
        title=title,
        locale=body.locale,
        attributes={attribute.name: attribute.value for attribute in body.attributes},
        privacy=version.privacy,
        size=body.text.size,
        chunks=body.chunks,
        at=isoformat(version.at),
        replaced_by=version.replaced_by,
    )


def _no_version(document: str, version: str | None, there: str) -> str:
    return f"document {document!r} has no version {version!r}; it has: {there}"
