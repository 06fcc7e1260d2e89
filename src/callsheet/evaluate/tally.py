"""The running sums of one candidate over one file."""

from collections import Counter
from collections.abc import Iterable

from callsheet.evaluate.billing import Bill
from callsheet.evaluate.candidates import MissReason
from callsheet.evaluate.evidence import Need
from callsheet.evaluate.reaching import Fetched, Unfetched
from callsheet.evaluate.report import Kept, Reachable, Refused, Row
from callsheet.evaluate.validity import Problem, Provider, Refusal


class Tally:
    """Whole numbers only, so the order of the recordings changes nothing."""

    def __init__(self) -> None:
        self._steps = 0
        self._tokens = 0
        self._cached = 0
        self._needed: Counter[str] = Counter()
        self._kept: Counter[str] = Counter()
        self._misses: Counter[MissReason] = Counter()
        self._hard_misses: Counter[MissReason] = Counter()
        self._over_budget = 0
        self._fetched: Counter[Fetched] = Counter()
        self._unfetched: Counter[Unfetched] = Counter()
        self._refused: Counter[Provider] = Counter()
        self._refusals: dict[Provider, Counter[Refusal]] = {provider: Counter() for provider in Provider}

    def request(self, bill: Bill, problems: Iterable[Problem], *, over_budget: bool = False) -> None:
        """Count the request of one step."""
        self._steps += 1
        self._over_budget += over_budget
        self._tokens += bill.tokens
        self._cached += bill.cached
        refusals = {problem.refusal for problem in problems}
        for provider in Provider:
            reasons = [refusal for refusal in refusals if provider in refusal.providers]
            self._refusals[provider].update(reasons)
            self._refused[provider] += bool(reasons)

    def held(self, need: Need, *, in_place: bool) -> None:
        """Count a needed value that stood in the request."""
        measures = _measures(need)
        self._needed.update(measures)
        self._kept.update(measures)
        self._kept["in_place"] += in_place

    def missed(self, need: Need, reason: MissReason) -> None:
        """Count a needed value that did not."""
        self._needed.update(_measures(need))
        self._misses[reason] += 1
        self._hard_misses[reason] += need.hard

    def reached(self, outcome: Fetched | Unfetched) -> None:
        """Count what fetching a hard value came to that did not stand in the request."""
        if isinstance(outcome, Fetched):
            self._fetched[outcome] += 1
        else:
            self._unfetched[outcome] += 1

    def row(self, *, file: str, candidate: str, recordings: int, plain: "Tally", reachable: bool = False) -> Row:
        """The means and shares, compared with plain replay over the same steps; `reachable`: fetches were tried."""
        bill, plain_bill = self._bill(), plain._bill()
        return Row(
            file=file,
            candidate=candidate,
            recordings=recordings,
            steps=self._steps,
            tokens=_ratio(bill.tokens, self._steps),
            billed=_ratio(bill.billed, self._steps),
            tokens_percent=100 * _ratio(bill.tokens, plain_bill.tokens),
            billed_percent=100 * _ratio(bill.billed, plain_bill.billed),
            all=self._evidence("all"),
            old=self._evidence("old"),
            hard=self._evidence("hard"),
            in_place=Kept(needed=self._needed["hard"], kept=self._kept["in_place"]),
            refused={
                provider: Refused(requests=self._refused[provider], reasons=dict(reasons))
                for provider, reasons in self._refusals.items()
            },
            misses=dict(self._misses),
            hard_misses=dict(+self._hard_misses),
            over_budget=self._over_budget,
            reachable=self._reachable() if reachable else None,
        )

    def _reachable(self) -> Reachable:
        hard = self._evidence("hard")
        return Reachable(
            needed=hard.needed, shown=hard.kept, fetched=dict(self._fetched), unfetched=dict(self._unfetched)
        )

    def _bill(self) -> Bill:
        return Bill(tokens=self._tokens, cached=self._cached)

    def _evidence(self, measure: str) -> Kept:
        return Kept(needed=self._needed[measure], kept=self._kept[measure])


def _measures(need: Need) -> list[str]:
    return ["all", *(["old"] if need.old else []), *(["hard"] if need.hard else [])]


def _ratio(part: float, whole: float) -> float:
    """A share; 0 of 0 is 0, as in a file without steps."""
    return part / whole if whole else 0.0
