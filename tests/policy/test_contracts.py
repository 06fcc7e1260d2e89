"""Tool contracts: who goes over whom."""

import pytest

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Privacy
from callsheet.policy.contracts import ToolContract, classes, contracts


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
