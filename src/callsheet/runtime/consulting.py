"""The documents of the workspace as a view consults them: found beside what was said and done, read by reference.

What a policy set keeps from a boundary is not there for it, in what is found, in what is read and in what is refused.
"""

from callsheet.recall.serving import Source
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.documenting.admitting import Admission
from callsheet.runtime.documenting.finding import Passage
from callsheet.runtime.documenting.library import Located
from callsheet.runtime.naming import AROUND
from callsheet.runtime.seeing import Sight


def passages(seen: Sight, query: str, limit: int) -> list[Passage]:
    """The passages that answer best and may be read here, at most `limit`."""
    return seen.session.library.find(query, limit, _admission(seen), secrets=seen.secrets)


def located(seen: Sight, reference: str) -> Located | None:
    """The document or chunk that a reference names; None: nothing that may be read here goes by it."""
    wanted = reference.strip(AROUND)
    if not wanted or any("\ud800" <= character <= "\udfff" for character in wanted):
        return None
    return seen.session.library.locate(wanted, _admission(seen))


def named(seen: Sight, reference: str) -> Located | None:
    """The document that is called so; None: there is none that may be read here."""
    wanted = reference.strip(AROUND) if reference.isprintable() else ""
    return seen.session.library.named(wanted, _admission(seen)) if wanted else None


def source_of(seen: Sight, found: Located) -> Source:
    """Its text, to serve parts of. Raises `BodyErased`, `Damaged`."""
    text = seen.session.library.read(found, secrets=seen.secrets)
    return Source(reference=found.id, raw=text.encode("utf-8", "surrogatepass"), text=text, exact=True)


def passage_source(passage: Passage) -> Source:
    """The text of a passage."""
    return Source(reference=passage.reference, raw=passage.text.encode(), text=passage.text, exact=True)


def note_of(seen: Sight, found: Located) -> str:
    """A line about what it is and how far it still holds."""
    body = found.version.body
    said = [f"document {body.document}, version {body.version}"]
    heading = seen.session.library.heading(found)
    if heading:
        said.append("under " + " ".join(heading.split()))  # a heading may hold signs that end a line
    if found.current is not None:
        said.append(f"replaced since: now version {found.current.body.version}, {found.current.id}")
    return "(" + "; ".join(said) + ")"


def origin_of(passage: Passage) -> str:
    """What a passage that was found is of, as findings say it."""
    return f"document {passage.document}, version {passage.version}"


def _admission(seen: Sight) -> Admission | None:
    """None: visibility alone decides, and what a workspace holds is for all of its tenant."""
    if not isinstance(seen.admit, Admitting):
        return None
    return Admission(boundary=seen.boundary, policy=seen.admit.policy)
