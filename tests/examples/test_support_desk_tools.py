"""The support desk's tools: what they refuse, what they promise when they are called twice, and how they fail."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples.support_desk.shop.money import cents, euros, share
from examples.support_desk.shop.shop import Shop, build
from examples.support_desk.tools.errors import CarrierUnavailable
from examples.support_desk.tools.toolbox import Outcome, tool
from examples.support_desk.toolset import (
    check_stock,
    create_refund,
    definitions,
    get_order,
    list_orders,
    read_policy,
    reserve_stock,
    search_log,
    search_products,
    track_parcel,
    update_address,
    update_ticket,
)

Runs = Callable[[Shop, str], Outcome]
MORNING = datetime(2026, 3, 2, 9, 20, tzinfo=UTC)


class Desk:
    """A shop on a clock that a test sets."""

    def __init__(self, folder: Path) -> None:
        self.now = MORNING
        self.shop: Shop = build(folder, lambda: self.now)

    def rows(self) -> list[str]:
        return list(self.shop.db.iterdump())


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    with closing(desk.shop.db):
        yield desk


def test_two_builds_of_the_shop_are_the_same(tmp_path: Path) -> None:
    folders = (tmp_path / "one", tmp_path / "two")
    dumps = []
    for folder in folders:
        folder.mkdir()
        desk = Desk(folder)
        with closing(desk.shop.db):
            dumps.append((desk.rows(), desk.shop.log.read_bytes(), desk.shop.nightly_stock.read_bytes()))

    assert dumps[0] == dumps[1]


BAD_CALLS: list[tuple[Runs, str, str]] = [
    (
        get_order.run,
        '{"order_id":"20682"}',
        "InvalidArguments: Expected `str` matching regex '^SO-\\\\d{5}$' - at `$.order_id`",
    ),
    (get_order.run, "{}", "InvalidArguments: Object missing required field `order_id`"),
    (
        get_order.run,
        '{"order_id":"SO-20682","verbose":true}',
        "InvalidArguments: Object contains unknown field `verbose`",
    ),
    (get_order.run, "[1]", "InvalidArguments: Expected `object`, got `array`"),
    (get_order.run, "", "InvalidArguments: Input data was truncated"),
    (
        get_order.run,
        '{"order_id":"SO-99999"}',
        "NotFound: there is no order SO-99999; numbers run from SO-20417 to SO-20715",
    ),
    (
        check_stock.run,
        '{"sku":"TNT-SKARV2-BLUE"}',
        "NotFound: there is no article TNT-SKARV2-BLUE; did you mean TNT-SKARV2-GRN, TNT-SKARV2-RED, TNT-SKARV2-SND?",
    ),
    (read_policy.run, '{"code":"RET-01","version":9}', "NotFound: there is no policy RET-01 v9; there are ADR-05 v1,"),
    (search_log.run, '{"pattern":"((("}', "InvalidArguments: pattern '(((' is no regular expression:"),
    (search_products.run, '{"category":"Shoes"}', "InvalidArguments: Invalid enum value 'Shoes' - at `$.category`"),
    (list_orders.run, '{"customer_id":"C-1001","limit":0}', "InvalidArguments: Expected `int` >= 1 - at `$.limit`"),
    (track_parcel.run, '{"tracking_number":"NP0000000000XX"}', "NotFound: no carrier knows NP0000000000XX"),
    (
        reserve_stock.run,
        '{"sku":"TNT-SKARV2-GRN","warehouse":"LEI","quantity":1,"reference":"x","idempotency_key":"test-key-1"}',
        "Refused: LEI has 0 of TNT-SKARV2-GRN available, not 1",
    ),
    (
        update_address.run,
        '{"order_id":"SO-20711","expected_version":7,"street":"Weg 1","postcode":"50968","city":"Ulm"}',
        "Refused: SO-20711 is at version 1, not 7; read it again first",
    ),
    (
        update_address.run,
        '{"order_id":"SO-20682","expected_version":1,"street":"Weg 1","postcode":"50968","city":"Ulm"}',
        "Refused: SO-20682 is delivered; only the carrier can redirect it now",
    ),
    (
        update_ticket.run,
        '{"ticket_id":"T-2101","idempotency_key":"test-key-1"}',
        "InvalidArguments: nothing to do: give note, status or add_tags",
    ),
]


@pytest.mark.parametrize(("runs", "arguments", "says"), BAD_CALLS)
def test_a_bad_call_fails_with_a_clear_error_and_changes_nothing(
    desk: Desk, runs: Runs, arguments: str, says: str
) -> None:
    before = desk.rows()

    outcome = runs(desk.shop, arguments)

    assert outcome.failed
    assert outcome.content.startswith(says)
    assert desk.rows() == before


def _refund(amount: str, key: str = "test-refund-1") -> str:
    payment = "pay_25bkbt8ivv5jbf"
    return create_refund.arguments(
        order_id="SO-20714", payment_id=payment, amount=amount, reason="goodwill", note="a test", idempotency_key=key
    )


def test_a_refund_cannot_exceed_what_is_left_on_the_payment(desk: Desk) -> None:
    assert not create_refund.run(desk.shop, _refund("300.00")).failed

    outcome = create_refund.run(desk.shop, _refund("8.01", "test-refund-2"))

    assert outcome.content == "Refused: EUR 8.01 is more than is left on pay_25bkbt8ivv5jbf: EUR 8.00"


def test_the_same_key_gives_the_first_result_again_and_changes_nothing(desk: Desk) -> None:
    first = create_refund.read(create_refund.run(desk.shop, _refund("10.00")).content)
    after_first = desk.rows()

    again = create_refund.read(create_refund.run(desk.shop, _refund("10.00")).content)

    assert (first.replayed, again.replayed) == (False, True)
    assert again.refund_id == first.refund_id
    assert desk.rows() == after_first


def test_a_key_cannot_be_used_for_something_else(desk: Desk) -> None:
    create_refund.run(desk.shop, _refund("10.00"))

    assert create_refund.run(desk.shop, _refund("11.00")).content.startswith(
        "InvalidArguments: key test-refund-1 was used"
    )


def test_a_slow_gateway_books_the_refund_and_loses_the_answer(desk: Desk) -> None:
    desk.now = datetime(2026, 3, 2, 12, 25, tzinfo=UTC)

    lost = create_refund.run(desk.shop, _refund("10.00"))
    booked = create_refund.read(create_refund.run(desk.shop, _refund("10.00")).content)

    assert lost.failed
    assert lost.content.startswith("GatewayTimeout: ")
    assert booked.replayed
    assert search_log.run(desk.shop, '{"pattern":"test-refund-1"}').content.startswith("shop-api.log: 2 of ")


def test_a_carrier_answers_again_when_its_outage_is_over_and_corrects_itself_later(desk: Desk) -> None:
    arguments = track_parcel.arguments(tracking_number="PL1442296979DE")

    down = track_parcel.run(desk.shop, arguments)
    desk.now = datetime(2026, 3, 2, 11, tzinfo=UTC)
    back = track_parcel.read(track_parcel.run(desk.shop, arguments).content)
    desk.now = datetime(2026, 3, 2, 15, tzinfo=UTC)
    later = track_parcel.read(track_parcel.run(desk.shop, arguments).content)

    assert down.content.startswith(f"{CarrierUnavailable.__name__}: ParcelLine ")
    assert later.events[:-1] == back.events
    assert later.events[-1].code == "COR"


def test_without_a_version_a_policy_is_read_as_it_is_in_force_that_day(desk: Desk) -> None:
    arguments = read_policy.arguments(code="RET-01")
    today = read_policy.run(desk.shop, arguments).content
    desk.now = datetime(2026, 1, 31, tzinfo=UTC)

    assert "Version 2" in today
    assert "Version 1" in read_policy.run(desk.shop, arguments).content


def test_only_tool_errors_become_results(desk: Desk) -> None:
    @tool
    def broken(shop: Shop) -> str:
        """A tool with a mistake in it."""
        raise KeyError("mistake")

    with pytest.raises(KeyError, match="mistake"):
        broken.run(desk.shop, "{}")


@pytest.mark.parametrize("definition", definitions(), ids=lambda one: str(one["function"]["name"]))
def test_a_definition_describes_the_tool_and_closes_its_arguments(definition: dict[str, object]) -> None:
    function = msgspec.convert(definition["function"], dict[str, object])
    parameters = msgspec.convert(function["parameters"], dict[str, object])

    assert definition["type"] == "function"
    assert function["description"]
    assert parameters["type"] == "object"
    assert parameters["additionalProperties"] is False
    assert set(msgspec.convert(parameters["required"], list[str])) <= set(
        msgspec.convert(parameters["properties"], dict[str, object])
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arguments=st.text(max_size=40)
    | st.dictionaries(
        st.sampled_from(["order_id", "sku", "code", "x"]), st.none() | st.integers() | st.text(max_size=12)
    ).map(json.dumps)
)
def test_whatever_a_model_writes_as_arguments_is_answered_with_text(desk: Desk, arguments: str) -> None:
    for called in (get_order, check_stock, read_policy):
        outcome = called.run(desk.shop, arguments)

        assert outcome.content
        assert outcome.failed


@given(amount=st.integers(0, 10**8), percent=st.integers(0, 100))
def test_amounts_survive_their_text_and_a_share_is_rounded_to_the_nearest_cent(amount: int, percent: int) -> None:
    assert cents(euros(amount)) == amount
    assert abs(share(amount, percent) * 100 - amount * percent) <= 50
