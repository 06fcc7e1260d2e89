"""Laws of payloads: kept to the byte, once per owner, fetched whole or by range, named only when they are there."""

import hashlib
import itertools

from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InputError
from callsheet.graph.nodes import Skill, ToolArtifact
from callsheet.graph.ports import Owner
from callsheet.graph.values import BlobRef, Media, Payload, Text
from callsheet.ledger.contract.bodies import examples
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject
from callsheet.ledger.prepare import owner_of
from callsheet.ledger.vault import INLINE_LIMIT

_LARGE = bytes(range(256)) * 100


def small_content_stays_inline(subject: Subject) -> None:
    """Content up to the limit stays within the record, with a digest when asked; one byte more does not."""
    ledger, owner = subject.ledger, Owner(tenant=Making().tenant)
    content = b"x" * INLINE_LIMIT
    assert ledger.stash(owner, content) == Payload(size=INLINE_LIMIT, inline=content)
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    assert ledger.stash(owner, content, digest=True).digest == digest
    larger = ledger.stash(owner, content + b"x")
    assert larger.inline is None
    assert larger.blob is not None
    assert larger.size == INLINE_LIMIT + 1


def content_comes_back_whole_or_by_range(subject: Subject) -> None:
    """Whatever was stashed is fetched to the byte, and any range of it is that range."""
    ledger, owner = subject.ledger, Owner(tenant=Making().tenant)
    sizes = st.sampled_from([0, 1, INLINE_LIMIT, INLINE_LIMIT + 1, 3 * INLINE_LIMIT])

    @examples(25)
    @given(st.binary(max_size=64), sizes, st.integers(0, 30_000), st.none() | st.integers(0, 30_000))
    def check(seed: bytes, size: int, start: int, stop: int | None) -> None:
        content = bytes(itertools.islice(itertools.cycle(seed or b"\0"), size))
        payload = ledger.stash(owner, content)
        assert payload.size == size
        assert ledger.fetch(owner, payload) == content
        assert ledger.fetch(owner, payload, start, stop) == content[start:stop]
        if payload.blob is not None:
            assert payload.digest == "sha256:" + hashlib.sha256(content).hexdigest()

    check()


def equal_content_of_an_owner_is_kept_once(subject: Subject) -> None:
    """Stashing the same bytes again gives the same payload; compressible bytes take less room than they have."""
    ledger, owner = subject.ledger, Owner(tenant=Making().tenant)
    payload = ledger.stash(owner, _LARGE)
    assert ledger.stash(owner, _LARGE) == payload
    assert payload.blob is not None
    assert payload.blob.address == ledger.address(owner, _LARGE)
    assert payload.blob.address.partition(":")[0] == "hmac-sha256"
    assert payload.blob.stored < payload.size


def a_record_names_what_is_there(subject: Subject) -> None:
    """A record may name blobs that were stashed by its stream's owner, wherever in its body; others are refused."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    owner = owner_of(stream)
    contents = [_LARGE + bytes([number]) for number in range(4)]
    text, data, first, second = (ledger.stash(owner, content) for content in contents)
    artifact = ToolArtifact(content=(Text(text=text), Media(data=data)))
    skill = Skill(name="s", version="1", summary="", instructions=first, tools=second)
    put(ledger, stream, making.draft(artifact), making.draft(skill))
    for payload, content in zip((text, data, first, second), contents, strict=True):
        assert ledger.fetch(owner, payload) == content
    unknown = Payload(size=9000, blob=BlobRef(address=ledger.address(owner, b"never stashed"), stored=9))
    problem = refused(InputError, put, ledger, stream, making.said_payload(unknown))
    assert "never" not in str(problem)


def an_address_is_the_content_s(subject: Subject) -> None:
    """Equal content has one address, different content has another, and the content cannot be told from it."""
    ledger, owner = subject.ledger, Owner(tenant=Making().tenant)
    assert ledger.address(owner, b"a") == ledger.address(owner, b"a")
    assert ledger.address(owner, b"a") != ledger.address(owner, b"b")
    assert hashlib.sha256(b"a").hexdigest() not in ledger.address(owner, b"a")
