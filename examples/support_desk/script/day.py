"""The order of the day: which scene when, and where the second branch leaves the first."""

from pathlib import Path

from examples.support_desk.desk import Desk
from examples.support_desk.script import (
    accounting,
    aubert,
    closing,
    ferrer,
    hagedorn,
    lund,
    marsh,
    okonkwo,
    opening,
    purchasing,
    reid,
    vandijk,
    walkin,
    weidner,
    zielinski,
)

INSTRUCTIONS = Path(__file__).with_name("instructions.md")


def main_branch(desk: Desk) -> int:
    """Play the whole day. Returns the index of the message that the other branch edits."""
    desk.system(INSTRUCTIONS.read_text(encoding="utf-8").strip())
    _morning(desk)
    _noon(desk)
    fork = _early_afternoon(desk)
    _late_afternoon(desk)
    return fork


def edited_branch(desk: Desk) -> None:
    """The evening, on a desk that remembers the day only up to the edited message."""
    desk.clock.until(17, 52)
    hagedorn.edited(desk)
    hagedorn.corrected(desk)
    hagedorn.still_stands(desk)
    hagedorn.reopened(desk)


def _morning(desk: Desk) -> None:
    opening.errors(desk)
    opening.coupon(desk)
    opening.apology(desk)
    desk.clock.until(9, 13)
    okonkwo.crack(desk)
    okonkwo.friday(desk)
    okonkwo.parked(desk)
    desk.clock.until(9, 32)
    weidner.silence(desk)
    weidner.holding(desk)
    desk.clock.until(9, 47)
    vandijk.on_paper(desk)
    vandijk.live(desk)
    vandijk.price(desk)
    vandijk.quoted(desk)
    desk.clock.until(10, 9)
    zielinski.twice(desk)
    zielinski.really(desk)
    zielinski.asked(desk)
    desk.clock.until(10, 22)
    walkin.wrong_number(desk)
    walkin.depot(desk)
    desk.clock.until(10, 31)
    ferrer.refused(desk)
    ferrer.page(desk)
    desk.clock.until(10, 49)
    weidner.neighbour(desk)
    weidner.kept_open(desk)


def _noon(desk: Desk) -> None:
    desk.clock.until(11, 5)
    reid.warranty(desk)
    reid.pictures_asked(desk)
    desk.clock.until(11, 17)
    walkin.kowalke(desk)
    desk.clock.until(11, 28)
    okonkwo.replacement(desk)
    okonkwo.label(desk)
    purchasing.printer(desk)
    desk.clock.until(11, 41)
    hagedorn.size(desk)
    hagedorn.swap(desk)
    desk.clock.until(12, 4)
    vandijk.reserved(desk)
    vandijk.invoice(desk)
    desk.clock.until(12, 12)
    marsh.burgled(desk)
    marsh.value(desk)
    desk.clock.until(12, 23)
    zielinski.lost_answer(desk)
    zielinski.mail(desk)


def _early_afternoon(desk: Desk) -> int:
    desk.clock.until(13, 18)
    fork = hagedorn.address(desk)
    hagedorn.thanks(desk)
    desk.clock.until(13, 26)
    purchasing.run_out(desk)
    purchasing.thin(desk)
    desk.clock.until(13, 34)
    accounting.february(desk)
    accounting.january(desk)
    accounting.largest(desk)
    desk.clock.until(14, 3)
    lund.blue(desk)
    lund.kroner(desk)
    lund.sleeping_on_it(desk)
    desk.clock.until(14, 21)
    aubert.search(desk)
    aubert.pair(desk)
    desk.clock.until(14, 43)
    ferrer.weeks_ago(desk)
    ferrer.scanned(desk)
    ferrer.refunded(desk)
    return fork


def _late_afternoon(desk: Desk) -> None:
    desk.clock.until(15, 2)
    reid.letter_o(desk)
    reid.zero(desk)
    reid.successor(desk)
    desk.clock.until(15, 19)
    weidner.corrected(desk)
    weidner.replaced(desk)
    weidner.letter(desk)
    desk.clock.until(15, 41)
    lund.keeps(desk)
    lund.closed(desk)
    desk.clock.until(15, 52)
    vandijk.four_more(desk)
    vandijk.three_more(desk)
    desk.clock.until(16, 8)
    okonkwo.surcharge(desk)
    okonkwo.tracking(desk)
    desk.clock.until(16, 22)
    hagedorn.what_comes(desk)
    walkin.cart(desk)
    desk.clock.until(16, 30)
    marsh.police(desk)
    desk.clock.until(16, 37)
    zielinski.nervous(desk)
    reid.form(desk)
    desk.clock.until(16, 55)
    ferrer.postage(desk)
    aubert.third(desk)
    aubert.cartridge(desk)
    desk.clock.until(17, 14)
    accounting.british(desk)
    purchasing.low_tents(desk)
    desk.clock.until(17, 26)
    closing.handover(desk)
    closing.written(desk)
    closing.paid_back(desk)
    closing.good_night(desk)
