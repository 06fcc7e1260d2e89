"""Who sees what, as a table: description, scope, boundary, expected reason."""

import pytest

from callsheet.graph.enums import Isolation, Reason, Visibility
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId
from callsheet.graph.nodes import Boundary
from callsheet.graph.record import Header
from callsheet.graph.times import Instant
from callsheet.graph.values import Scope
from callsheet.policy.visibility import refusal

ANA, BEN, RUN = RecordId("ana"), RecordId("ben"), RecordId("run")
PRIVATE = Visibility.PARTICIPANT

CASES: list[tuple[str, Scope, RecordId | None, Reason | None]] = [
    ("branch context is for everyone", Scope(owner=BEN), ANA, None),
    ("conversation context is for everyone", Scope(owner=BEN, visibility=Visibility.CONVERSATION), ANA, None),
    ("private state is for its owner", Scope(owner=ANA, visibility=PRIVATE), ANA, None),
    ("and for nobody else", Scope(owner=BEN, visibility=PRIVATE), ANA, Reason.PARTICIPANT_PRIVATE),
    ("not even for nobody in particular", Scope(owner=BEN, visibility=PRIVATE), None, Reason.PARTICIPANT_PRIVATE),
    ("private state without owner belongs to the branch", Scope(visibility=PRIVATE), ANA, None),
    (
        "a share list admits those on it",
        Scope(owner=BEN, visibility=PRIVATE, isolation=Isolation.SHARE_LIST, shared_with=(ANA,)),
        ANA,
        None,
    ),
    (
        "and nobody else",
        Scope(owner=BEN, visibility=PRIVATE, isolation=Isolation.SHARE_LIST, shared_with=(RecordId("cy"),)),
        ANA,
        Reason.PARTICIPANT_PRIVATE,
    ),
    (
        "a share list means nothing while the record is isolated",
        Scope(owner=BEN, visibility=PRIVATE, shared_with=(ANA,)),
        ANA,
        Reason.PARTICIPANT_PRIVATE,
    ),
    ("open isolation shows", Scope(owner=BEN, visibility=PRIVATE, isolation=Isolation.OPEN), ANA, None),
    (
        "audit is for no model, its owner's included",
        Scope(owner=ANA, visibility=Visibility.AUDIT),
        ANA,
        Reason.AUDIT_ONLY,
    ),
    ("a sub-agent's state is its own until released", Scope(sub_agent=RecordId("child")), ANA, Reason.NOT_RELEASED),
    ("the sub-agent itself sees it", Scope(sub_agent=RUN), ANA, None),
    ("a release shows it", Scope(sub_agent=RecordId("child"), releases=(RecordId("d"),)), ANA, None),
]


@pytest.mark.parametrize(("description", "scope", "participant", "expected"), CASES, ids=[case[0] for case in CASES])
def test_visibility(description: str, scope: Scope, participant: RecordId | None, expected: Reason | None) -> None:
    header = Header(
        tenant=TenantId("t"),
        stream=StreamId("s"),
        position=1,
        id=RecordId("r"),
        kind="message",
        version=1,
        at=Instant(0),
        scope=scope,
        commitment="sha256:0",
    )
    boundary = Boundary(
        conversation=StreamId("s"),
        branch=ROOT_BRANCH,
        participant=participant,
        run=RUN,
        provider="openai",
        model="m",
        budget=1,
        now=Instant(0),
    )
    assert expected is refusal(header, boundary)
