"""Before chat opens: what the weekend left in the application log."""

import re
from collections import Counter

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import count
from examples.support_desk.toolset import search_log


def errors(desk: Desk) -> None:
    desk.user(
        "Morning! Chat opens at a quarter past. Is there anything in the application log since Saturday that "
        "customers will ask us about? Errors and warnings, please.",
        after=20,
    )
    text = desk.call(search_log, pattern="ERROR|WARN", since="2026-02-28", limit=100)
    parts = Counter(re.findall(r"ERROR \[(\w[\w-]*)\]", text))
    unknown = re.search(r"capture for (SO-\d+) failed, state unknown", text)
    harmless = text.count("no money moved")
    assert unknown is not None
    desk.say(
        f"{sum(parts.values())} errors since Saturday 00:00, in three groups:\n\n"
        f"1. **Checkout, {parts['checkout']}.** The code SPRING15 failed, from Saturday morning until Sunday, a "
        "little after eight. Nothing since.\n"
        f"2. **Payments, {parts['payments']}.** All on Sunday evening within a quarter of an hour. "
        f"{count(harmless).capitalize()} of them say that no money moved. The other one does not: the capture for "
        f"{unknown[1]} ended with *state unknown*. If that customer writes, it will be about money.\n"
        f"3. **Mailer, {parts['mailer']}.** Newsletter bounces, nothing for us.\n\n"
        "The warnings are house matters: stock counts that differ by a piece or two, and a label printer that keeps "
        "going offline.\n\n"
        "So expect SPRING15, and possibly one customer who paid and does not know it, or paid twice."
    )


def coupon(desk: Desk) -> None:
    desk.user("SPRING15 hangs on every tram stop in Hamburg. How many people ran into it, and is it really fixed?")
    with desk.together() as step:
        attempts = step.call(search_log, pattern=r"coupon SPRING15|\[deploy\]", since="2026-02-28")
        trace = step.call(search_log, pattern="coupon SPRING15", context=8, limit=2)
    customers = Counter(re.findall(r"customer=(C-\d{4})", attempts))
    cause = re.search(r"KeyError: ('[\w-]+')", trace)
    release = re.search(r"release ([\d.]+) rolled out", attempts)
    assert cause is not None
    assert release is not None
    often, times = customers.most_common(1)[0]
    desk.say(
        f"{sum(customers.values())} attempts by {len(customers)} customers: {', '.join(sorted(customers))}. {often} "
        f"tried {count(times)} times.\n\n"
        "The code was right, our rules were not: the campaign was missing in the pricing table (`KeyError: "
        f"{cause[1]}`). Release {release[1]} added it on Sunday morning as a hotfix. After that the log has not a "
        "single failed attempt, so I would call it fixed. What I cannot see is who gave up without an account."
    )


def apology(desk: Desk) -> None:
    desk.user("Two or three sentences we can send to those people, please. No grovelling.")
    desk.say(
        "> You tried to use SPRING15 with us at the weekend and our checkout refused it. That was our mistake: the "
        "campaign had not been switched on properly. It works since Sunday morning, and the code is valid until the "
        "end of March. Your cart is still there.\n\n"
        "Two things in it I cannot prove from the log: *until the end of March*, and that every cart is still "
        "there. Please check both with the shop team, or strike them."
    )
