"""An explanation says of every record why it stands as it does, and holds no content."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.assemble.plans import Rewrite
from callsheet.explain.facts import Worth, known
from callsheet.explain.sentences import about
from callsheet.explain.sheet import explain, text
from callsheet.explain.words import LEVELS, REASONS, REWRITES
from callsheet.graph.enums import ArtifactStatus, CallStatus, Level, Reason, Role
from callsheet.graph.ids import RecordId, StreamId, TenantId
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.record import Header, Record
from callsheet.graph.times import Instant
from callsheet.graph.values import Digest, Scope
from callsheet.policy.candidate import Candidate
from callsheet.policy.deciding import decide
from callsheet.policy.sets import BALANCED
from callsheet.policy.verdict import Decision
from tests.explain.making import assembly, boundary, fact, place

SHEET = RecordId("sheet_1")
OWNER = RecordId("part_weeder")


def decided(**candidate: object) -> Decision:
    return decide(replace(Candidate(record=RecordId("art_1"), kind="artifact"), **candidate), boundary(), BALANCED)


def sentence(level: Level = Level.DENSE, **more: object) -> str:
    known = fact("art_1", tool="moisture")
    found = explain(SHEET, assembly(), [place("art_1", level)], policy="balanced@1", known={known.record: known})
    return found.records[0].sentence


def test_a_memory_says_what_it_comes_from_by_what_way_and_why_its_raw_form_is_not_loaded() -> None:
    known = fact("mem_7", kind="tool_memory", branch=RecordId("spring"), sources=(RecordId("art_3"),))
    shown = explain(
        SHEET, assembly(participant="part_weeder"), [place("mem_7", turn=4)], policy="balanced@1",
        known={known.record: known},
    )  # fmt: skip
    said = shown.records[0].sentence
    assert said.startswith("memory mem_7 from artifact art_3, inherited by the active branch from spring, everybody's")
    assert "visible to this participant, policy set balanced@1" in said


def test_a_dense_result_says_that_it_tells_the_same() -> None:
    assert "result art_1 of moisture, recorded on the active branch" in sentence()
    assert "raw not loaded because the dense form tells the same" in sentence()


def test_every_level_and_reason_and_cause_has_its_words() -> None:
    assert set(LEVELS) == set(Level)
    assert set(REASONS) == set(Reason)
    assert set(REWRITES) == {"", *Rewrite}
    assert len({sentence(level) for level in Level}) == len(Level)


def test_the_rule_that_protects_a_record_is_named() -> None:
    known = fact("art_1", tool="moisture")
    decision = decided(call=CallStatus.OPEN, outcome=ArtifactStatus.FAILED, turn_age=40)
    found = explain(
        SHEET, assembly(), [place("art_1", Level.RAW)], known={known.record: known},
        decisions={known.record: decision},
    )  # fmt: skip
    assert "nothing later settled it (recovery.unresolved)" in found.records[0].sentence


def test_the_rule_that_limits_a_record_is_named_with_its_reason() -> None:
    known = fact("art_1", tool="moisture")
    decision = decided(marked_stale=True, turn_age=40)
    found = explain(
        SHEET, assembly(), [place("art_1", Level.STALE, reason=decision.reason)], known={known.record: known},
        decisions={known.record: decision},
    )  # fmt: skip
    assert found.records[0].rule == decision.rule
    assert f"because it is out of date ({decision.rule})" in found.records[0].sentence


def test_the_figures_behind_a_choice_are_told() -> None:
    known = fact("art_1", tool="moisture")
    worth = Worth(needed=0.25, age=12, size=900, saves=300.0, costs=1530.0)
    found = explain(
        SHEET, assembly(), [place("art_1", Level.GIST, note=1)], known={known.record: known},
        worths={known.record: worth},
    )  # fmt: skip
    assert "in note 1" in found.records[0].sentence
    assert "last used 12 turns ago, needed with P = 0.250" in found.records[0].sentence
    assert not worth.pays


def test_a_private_record_says_whose_it_is() -> None:
    known = fact("msg_1", role=Role.ASSISTANT, owner=OWNER)
    (own,) = explain(SHEET, assembly(participant=OWNER), [place("msg_1")], known={known.record: known}).records
    (other,) = explain(SHEET, assembly(participant="part_2"), [place("msg_1")], known={known.record: known}).records
    assert "this participant's own" in own.sentence
    assert f"{OWNER}'s, visible to this participant" in other.sentence


def test_other_branches_are_told_apart_from_what_was_left_out() -> None:
    omitted = ((Reason.NOT_RELEVANT, 4), (Reason.BRANCH, 9))
    found = explain(SHEET, assembly(omitted=omitted), [place("msg_1")], other_branches=9)
    assert found.omitted == ((Reason.NOT_RELEVANT, 4),)
    lines = text(found).splitlines()
    assert "Not inherited, whatever the budget: 9 (branch)." in lines
    assert lines[-1] == "Left out: 4 (not relevant)."
    none = explain(SHEET, assembly(), [place("msg_1")], other_branches=0)
    assert "Not inherited" not in text(none)


def test_the_cause_of_a_rewrite_is_told_with_its_code() -> None:
    assert "(pays)." in text(explain(SHEET, assembly(rewritten="pays"), []))
    assert "It was appended to" in text(explain(SHEET, assembly(), []))


def test_what_is_not_known_of_a_record_is_counted_and_has_no_sentence() -> None:
    found = explain(SHEET, assembly(), [place("msg_1"), place("art_9", Level.GIST, note=1)])
    assert found.records == ()
    assert found.levels == ((Level.RAW, 1), (Level.GIST, 1))


@given(
    metadata=st.one_of(
        st.binary(max_size=200),
        st.sampled_from(
            [
                b'{"sub_agent": "run_1", "sub_agent": 1e999}',
                b'{"sub_agent": "run_1\\n what was said"}',
                b'{"branch": {"record": "art_1"}}',
                b'{"branch": NaN}',
                b"[" * 900,
                b'["run_1"]',
                b'{"sub_agent": "' + b"x" * 5_000 + b'"}',
            ]
        ),
    )
)
def test_no_metadata_brings_content_into_an_explanation(metadata: bytes) -> None:
    body = ToolArtifact(tool="count\n\x1b[31m" + "x" * 5_000, metadata=metadata)
    header = Header(
        tenant=TenantId("local"),
        stream=StreamId("s"),
        position=1,
        id=RecordId("art_1"),
        kind="artifact",
        version=1,
        at=Instant(0),
        scope=Scope(),
        commitment=Digest("sha256:0"),
    )
    facts = known(Record(header=header, body=body))
    assert facts.report_of in (None, "run_1")
    assert facts.merged_from is None
    assert len(about(facts)) < 300
    assert about(facts).isprintable()
