"""Tool contracts: who goes over whom."""

import re
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Policy, Privacy, Reason
from callsheet.graph.times import Instant
from callsheet.policy.contracts import ToolContract, classes, contracts, stale_from
from callsheet.policy.deciding import decide
from callsheet.policy.document import parse
from callsheet.policy.hints import META
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import Manner, Retention
from tests.policy.making import RESULT, boundary
from tests.policy.writing import dump


def test_the_policy_set_goes_over_the_code_field_by_field() -> None:
    code = ToolContract(name="gauge", freshness=Freshness.DURABLE, idempotent=True)
    policy = ToolContract(name="gauge", freshness=Freshness.VOLATILE, shared_world=False)
    assert contracts([code], [policy]) == {
        "gauge": ToolContract(name="gauge", freshness=Freshness.VOLATILE, idempotent=True, shared_world=False)
    }


def test_tools_keep_their_order_and_do_not_touch_each_other() -> None:
    one, other = ToolContract(name="gauge", idempotent=True), ToolContract(name="horn", side_effects=True)
    assert list(contracts([one], [other]).items()) == [("gauge", one), ("horn", other)]


def test_a_false_is_said_and_a_none_is_not() -> None:
    found = contracts([ToolContract(name="gauge", idempotent=True)], [ToolContract(name="gauge", idempotent=False)])
    assert found["gauge"].idempotent is False


@pytest.mark.parametrize(
    ("contract", "content", "expected"),
    [
        (None, Privacy.PERSONAL, Privacy.PERSONAL),
        (ToolContract(name="gauge"), Privacy.PERSONAL, Privacy.PERSONAL),
        (ToolContract(name="gauge", privacy=Privacy.PUBLIC), Privacy.PERSONAL, Privacy.PUBLIC),
        (ToolContract(name="gauge", privacy=Privacy.PUBLIC), Privacy.SECRET, Privacy.SECRET),
        (ToolContract(name="gauge", privacy=Privacy.SECRET), Privacy.PUBLIC, Privacy.SECRET),
    ],
)
def test_the_contract_knows_the_class_unless_the_content_is_secret(
    contract: ToolContract | None, content: Privacy, expected: Privacy
) -> None:
    assert classes(contract, content, Freshness.SESSION) == (expected, Freshness.SESSION)


def test_the_contract_knows_how_its_results_age() -> None:
    contract = ToolContract(name="gauge", freshness=Freshness.VOLATILE)
    assert classes(contract, Privacy.PUBLIC, Freshness.DURABLE)[1] is Freshness.VOLATILE


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 513])
def test_a_contract_is_for_a_tool_with_a_readable_name(name: str) -> None:
    with pytest.raises(PolicyError, match="the tool of a contract"):
        ToolContract(name=name)


# ------------------------------------------------------------------ what a document declares

WHOLE = ToolContract(
    name="tide_gauge",
    freshness=Freshness.SESSION,
    stale_after=90,
    privacy=Privacy.PERSONAL,
    retention=Retention.HASH_ONLY,
    side_effects=False,
    idempotent=True,
    recheck=("tide_gauge", "harbour log"),
    reads_current_state=True,
    shared_world=False,
    narrowing=Manner.START,
)

WRITTEN = """\
name: pier
version: 1
tools:
  tide_gauge:
    freshness: session
    stale_after: 90
    privacy: personal
    retention: hash_only
    side_effects: false
    idempotent: true
    recheck: [tide_gauge, harbour log]
    reads_current_state: true
    shared_world: false
    narrowing: start
"""


def test_every_field_of_a_contract_can_be_written_and_reads_back() -> None:
    found = parse(WRITTEN)
    assert found.tools == (WHOLE,)
    assert parse(dump(found)) == found


@pytest.mark.parametrize(
    ("line", "wrong", "column", "message"),
    [
        (5, "fast", 16, "tools.tide_gauge.freshness is 'fast'; it must be one of: volatile, session, time_bounded"),
        (6, "-1", 18, "tools.tide_gauge.stale_after is '-1'; it must be a whole number from 0"),
        (6, "1e999", 18, "tools.tide_gauge.stale_after is '1e999'"),
        (6, "never", 18, "tools.tide_gauge.stale_after is 'never'"),
        (7, "mine", 14, "tools.tide_gauge.privacy is 'mine'; it must be one of: public, internal"),
        (8, "burn", 16, "tools.tide_gauge.retention is 'burn'; it must be one of: keep, truncate"),
        (9, "maybe", 19, "tools.tide_gauge.side_effects is 'maybe'; it must be true or false"),
        (10, "1", 17, "tools.tide_gauge.idempotent is '1'; it must be true or false"),
        (11, "[tide_gauge, '']", 27, "tools.tide_gauge.recheck[1] is ''; it must be printable text"),
        (12, "[]", 26, "tools.tide_gauge.reads_current_state is a sequence; it must be true or false"),
        (13, "'true'", 19, "tools.tide_gauge.shared_world is 'true'; it must be true or false"),
        (14, "middle", 16, "tools.tide_gauge.narrowing is 'middle'; it must be one of: start, start_end"),
    ],
)
def test_what_a_contract_says_wrongly_is_refused_with_its_place(
    line: int, wrong: str, column: int, message: str
) -> None:
    lines = WRITTEN.splitlines()
    lines[line - 1] = f"{lines[line - 1].partition(':')[0]}: {wrong}"
    with pytest.raises(PolicyError, match=re.escape(message)) as raised:
        parse("\n".join(lines), file="pier.yaml")
    assert str(raised.value).startswith(f"pier.yaml:{line}:{column}: ")


@pytest.mark.parametrize("freshness", [None, *Freshness])
@pytest.mark.parametrize(("age", "stale"), [(0, False), (89, False), (90, True), (10**6, True)])
def test_a_result_is_stale_after_the_time_that_its_contract_declares(
    freshness: Freshness | None, age: int, stale: bool
) -> None:
    contract = ToolContract(name="gauge", stale_after=90, freshness=freshness)
    observed = Instant(1_000_000_000)
    privacy, ages = classes(contract, Privacy.INTERNAL, None)
    now = Instant(observed + age * 1_000_000)
    candidate = replace(
        RESULT,
        privacy=privacy,
        freshness=ages,
        observed=observed,
        stale_after=stale_from(contract, observed),
        contract=contract,
    )
    decision = decide(candidate, replace(boundary(), now=now), BALANCED)
    (verdict,) = [one for one in decision.verdicts if one.policy is Policy.FRESHNESS]
    assert (verdict.reason is Reason.STALE) is stale


# ------------------------------------------------------------------ what an MCP server says


def mcp(*, meta: object = None, **hints: object) -> dict[str, object]:
    return {"name": "berth", "inputSchema": {"type": "object"}, "annotations": hints, "_meta": {META: meta}}


def test_hints_of_a_server_that_is_not_trusted_only_warn() -> None:
    loose = mcp(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False)
    strict = mcp(readOnlyHint=False, destructiveHint=True, idempotentHint=False, openWorldHint=True)
    assert ToolContract.from_mcp(loose) == ToolContract(name="berth")
    assert ToolContract.from_mcp(strict) == ToolContract(
        name="berth", side_effects=True, idempotent=False, shared_world=True
    )


def test_a_trusted_server_is_taken_at_its_word() -> None:
    said = mcp(readOnlyHint=True, openWorldHint=False, meta={"freshness": "durable", "recheck": ["berth"]})
    assert ToolContract.from_mcp(said, trusted=True) == ToolContract(
        name="berth",
        side_effects=False,
        idempotent=True,
        shared_world=False,
        freshness=Freshness.DURABLE,
        recheck=("berth",),
    )


@pytest.mark.parametrize("trusted", [False, True])
def test_of_two_hints_that_contradict_each_other_the_stricter_counts(trusted: bool) -> None:
    found = ToolContract.from_mcp(mcp(readOnlyHint=True, destructiveHint=True), trusted=trusted)
    assert found.side_effects is True


def test_what_a_server_declares_of_its_data_may_make_it_stricter_only() -> None:
    assert ToolContract.from_mcp(mcp(meta={"privacy": "public", "freshness": "permanent"})) == ToolContract(
        name="berth"
    )
    found = ToolContract.from_mcp(mcp(meta={"privacy": "secret", "freshness": "volatile", "recheck": ["x"]}))
    assert found == ToolContract(name="berth", privacy=Privacy.SECRET, freshness=Freshness.VOLATILE)


_LOOSER = {"side_effects": False, "idempotent": True, "shared_world": False}
_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from([*Privacy, *Freshness]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(WHOLE.__struct_fields__)), inner),
)


@given(hints=_JUNK, meta=_JUNK)
def test_whatever_a_server_says_loosens_nothing(hints: object, meta: object) -> None:
    said = {"name": "berth", "annotations": hints, "_meta": {META: meta}}
    found = ToolContract.from_mcp(said)
    assert not [name for name, loose in _LOOSER.items() if getattr(found, name) is loose]
    for content in Privacy:
        kept = classes(found, content, None)[0]
        assert kept is content or kept in (Privacy.CONNECTED_ACCOUNT, Privacy.SECRET)
    assert (found.retention, found.recheck, found.reads_current_state, found.stale_after) == (None,) * 4


@dataclass
class _Hints:
    """As the annotations of an SDK's tool are."""

    readOnlyHint: bool | None = None  # noqa: N815
    destructiveHint: bool | None = None  # noqa: N815
    idempotentHint: bool | None = None  # noqa: N815
    openWorldHint: bool | None = None  # noqa: N815


@dataclass
class _Tool:
    """As an SDK's tool is: what MCP names ``_meta`` is named ``meta``."""

    name: str = "berth"
    annotations: _Hints | None = None
    meta: dict[str, object] | None = field(default=None)


def test_an_object_of_an_sdk_is_read_like_its_dict() -> None:
    tool = _Tool(annotations=_Hints(readOnlyHint=False, openWorldHint=True), meta={META: {"privacy": "secret"}})
    assert ToolContract.from_mcp(tool) == ToolContract.from_mcp(
        mcp(readOnlyHint=False, openWorldHint=True, meta={"privacy": "secret"})
    )
    assert ToolContract.from_mcp(_Tool()) == ToolContract(name="berth")


@pytest.mark.parametrize("tool", [{}, {"name": 7}, None, 3, {"name": ""}, {"name": "a\nb"}])
def test_a_tool_without_a_readable_name_is_refused(tool: object) -> None:
    with pytest.raises(PolicyError, match="the tool of a contract"):
        ToolContract.from_mcp(tool)


def test_what_the_caller_and_the_policy_declare_goes_over_what_the_server_says() -> None:
    server = ToolContract.from_mcp(mcp(readOnlyHint=False, openWorldHint=True))
    own = ToolContract(name="berth", side_effects=False)
    assert contracts([server, own])["berth"] == ToolContract(name="berth", side_effects=False, shared_world=True)
