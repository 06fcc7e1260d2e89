"""What the requests of a log cost, and what they would have cost as a candidate builds them.

As sent, a request counts as the log reports it; where it does not, as its texts are counted, with what the cache would
have served. As a candidate builds it, a request is its texts, counted alike, and beside them what the log does not show
of the one that was sent: the system prompt, tool schemas, pictures, which is what was reported less what was counted.
The answer is the same. The cache serves, of what begins as the request before did, the part that it served when the
request was sent; where that is not reported, all of it while it is remembered. The rest is new, and is written to the
cache where the agent wrote to it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from callsheet.audit.logs.values import Answered
from callsheet.evaluate.billing import Bill, Meter, Tokeniser
from callsheet.evaluate.costs import Cost, Model, Took
from callsheet.evaluate.logs import Asked, LoggedTrajectories, Told
from callsheet.evaluate.replay import Billed
from callsheet.evaluate.trajectory import Trajectory

_SECOND = 1_000_000


class Paid(Struct, frozen=True, kw_only=True):
    """One conversation or branch."""

    file: str
    conversation: str
    sent: Cost
    #: By candidate; of a conversation with nothing to measure, the same as was sent.
    candidates: Mapping[str, Cost]


class Paying:
    """Collects the requests that candidates build while a log is replayed, and prices them against those sent."""

    def __init__(self, tokeniser: Tokeniser, otherwise: Model) -> None:
        self._tokeniser = tokeniser
        #: What a request counts as whose model the log does not tell.
        self._otherwise = otherwise
        self._bills: dict[tuple[str, str], dict[str, dict[int, Bill]]] = defaultdict(lambda: defaultdict(dict))
        self._seen: set[tuple[str | None, str]] = set()
        #: Requests whose answers stand in the logs more than once; they count once.
        self.repeated = 0

    def billed(self, billed: Billed) -> None:
        """Take note of a request that a candidate built."""
        self._bills[billed.file, billed.recording][billed.candidate][billed.at] = billed.bill

    def paid(self, file: str, recordings: LoggedTrajectories, candidates: Iterable[str]) -> Iterator[Paid]:
        """Every conversation of a file that was replayed, in order."""
        names = list(candidates)
        for trajectory, all_told in recordings.told():
            bills = self._bills[file, trajectory.id]
            sizes = _Sizes(trajectory, self._tokeniser)
            told = self._once(all_told)
            sent, built = self._priced(told, sizes, {name: bills[name] for name in names})
            others = self._sum([] if told.by_turn and told.asked else told.others)
            yield Paid(
                file=file,
                conversation=trajectory.id,
                sent=sent + others,
                candidates={name: cost + others for name, cost in built.items()},
            )
        for conversation, answered in recordings.without_steps():
            cost = self._sum([one for one in answered if not self._known(one)])
            if cost.requests:
                yield Paid(file=file, conversation=conversation, sent=cost, candidates=dict.fromkeys(names, cost))

    def _once(self, told: Told) -> Told:
        asked = {at: one for at, one in told.asked.items() if not self._known(one.answered)}
        others = tuple(one for one in told.others if not self._known(one))
        return Told(asked=asked, others=others, by_turn=told.by_turn)

    def _known(self, answered: Answered) -> bool:
        if answered.response is None:
            return False
        key = answered.provider, answered.response
        if key in self._seen:
            self.repeated += 1
            return True
        self._seen.add(key)
        return False

    def _sum(self, answered: Iterable[Answered]) -> Cost:
        total = Cost()
        for one in answered:
            took = Took.reported(one)
            if took is not None:
                total += Model.of(one, self._otherwise).cost(took, reported=True)
        return total

    def _priced(
        self, told: Told, sizes: "_Sizes", bills: Mapping[str, Mapping[int, Bill]]
    ) -> tuple[Cost, dict[str, Cost]]:
        models = {at: Model.of(asked.answered, self._otherwise) for at, asked in sorted(told.asked.items())}
        logged = {at: model.converted(sizes.sent(at, told.asked[at])) for at, model in models.items()}
        if told.by_turn and told.others and models:
            answers = [sizes.answer(at) for at in models]
            shares = dict(zip(models, _shared_out(told.others, list(logged.values()), answers), strict=True))
        else:
            shares = {at: Took.reported(told.asked[at].answered) for at in models}
        sent, built = Cost(), dict.fromkeys(bills, Cost())
        before: _Request | None = None
        for at, model in models.items():
            answer = model.converted(sizes.answer(at))
            asked, shown = told.asked[at], logged[at]
            request = _request(asked, shares[at], model, logged=shown, answer=answer, before=before)
            sent += model.cost(request.took, reported=request.reported)
            for name, measured in bills.items():
                built[name] += model.cost(_built(measured[at], request, model, before), reported=request.reported)
            before = request
        return sent, built


def _shared_out(answered: Iterable[Answered], logged: Sequence[int], answers: Sequence[int]) -> list[Took | None]:
    """What requests took together shared out among them, in proportion to what the log shows of each."""
    whole = [took for one in answered if (took := Took.reported(one)) is not None]
    total, shown = sum(one.input for one in whole), sum(logged)
    unseen = _portions(total - shown, [1] * len(logged)) if total >= shown else None
    inputs = [sum(pair) for pair in zip(logged, unseen, strict=True)] if unseen else _portions(total, logged)
    # What begins as the request before can have come from the cache.
    common = [0, *map(min, pairwise(inputs))]
    fresh = [all - old for all, old in zip(inputs, common, strict=True)]
    cached = _portions(sum(one.cached for one in whole), common)
    written = _portions(sum(one.written for one in whole), fresh)
    outputs = _portions(sum(one.output for one in whole), answers)
    columns = zip(inputs, cached, written, outputs, strict=True)
    return [Took(input=input, cached=old, written=new, output=output) for input, old, new, output in columns]


def _portions(total: int, weights: Sequence[int]) -> list[int]:
    """A total in whole portions by weight, the rounding in the last; all alike where nothing has weight."""
    whole = sum(weights)
    weights = weights if whole else [1] * len(weights)
    found = [total * weight // (whole or len(weights)) for weight in weights]
    found[-1] += total - sum(found)
    return found


class _Request(Struct, frozen=True, kw_only=True):
    """A request as it was sent."""

    took: Took
    reported: bool
    #: Tokens that the log does not show.
    unseen: int
    dropped: int
    at: int | None
    #: Of what it shared with the beginning of the request before, the part that the provider's cache served.
    served: float


def _request(
    asked: Asked, took: Took | None, model: Model, *, logged: int, answer: int, before: _Request | None
) -> _Request:
    """A request of which the log shows so many tokens, and so many of its answer."""
    unseen = max(0, took.input - logged) if took is not None else 0
    total = took.input if took is not None else logged
    shared = 0
    if before is not None:
        # Where the agent compacted, what the log does not show is all that still begins alike.
        alike = before.dropped == asked.dropped
        shared = min(before.took.input, total) if alike else min(before.unseen, unseen)
    if took is not None:
        served = min(1.0, took.cached / shared) if shared else 0.0
    else:
        served = float(before is not None and _remembered(before.at, asked.at, model.life))
    return _Request(
        took=took or Took(input=total, cached=int(served * shared), output=answer),
        reported=took is not None,
        unseen=unseen,
        dropped=asked.dropped,
        at=asked.at,
        served=served,
    )


def _remembered(before: int | None, now: int | None, life: int) -> bool:
    return before is None or now is None or now - before <= life * _SECOND


def _built(bill: Bill, request: _Request, model: Model, before: _Request | None) -> Took:
    """What the request would have taken as a candidate builds it."""
    input = model.converted(bill.tokens) + request.unseen
    if before is None:
        # What the log does not show begins every conversation of the agent, so the first request may find it cached.
        cached = min(request.took.cached, request.unseen)
    else:
        cached = int(request.served * (model.converted(bill.cached) + min(before.unseen, request.unseen)))
    cached = min(cached, input)
    written = input - cached if request.took.written else 0
    return Took(input=input, cached=cached, written=written, output=request.took.output)


class _Sizes:
    """Tokens of a recording's texts, in ``o200k_base``."""

    def __init__(self, trajectory: Trajectory, tokeniser: Tokeniser) -> None:
        meter = Meter(tokeniser)
        self._system = meter.total(trajectory.system)
        self._sums = [0]
        for message in trajectory.messages:
            self._sums.append(self._sums[-1] + meter.tokens(message))

    def sent(self, at: int, asked: Asked) -> int:
        """Tokens of the request that the message at this position answers, as the agent sent it."""
        return self._system + self._sums[at] - self._sums[min(asked.dropped, at)]

    def answer(self, at: int) -> int:
        """Tokens of the message at this position."""
        return self._sums[at + 1] - self._sums[at]
