"""Replay: at each recorded step every candidate builds its request, and it is compared with what was said next."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from callsheet.errors import InvalidOption
from callsheet.evaluate.baselines import PlainReplay
from callsheet.evaluate.billing import Bill, Meter, Tokeniser
from callsheet.evaluate.candidates import CandidateFactory, MissReason, Opening, Request, Step
from callsheet.evaluate.evidence import Evidence, Need
from callsheet.evaluate.messages import Message, Role
from callsheet.evaluate.presence import Presence
from callsheet.evaluate.reaching import Reaching
from callsheet.evaluate.report import Report, Row
from callsheet.evaluate.tally import Tally
from callsheet.evaluate.trajectory import Trajectory
from callsheet.evaluate.validity import Checker

PLAIN_REPLAY = "plain replay"


class Billed(Struct, frozen=True, kw_only=True):
    """What one candidate would have sent at one step."""

    file: str
    recording: str
    candidate: str
    #: The position of the answer in the trajectory's messages.
    at: int
    bill: Bill


class Progress(Struct, frozen=True, kw_only=True):
    """One more recording has been measured."""

    file: str
    recording: str
    #: Recordings of all files, measured and in total.
    done: int
    total: int


def replay(
    files: Mapping[str, Collection[Trajectory]],
    candidates: Mapping[str, CandidateFactory],
    *,
    tokeniser: Tokeniser,
    progress: Callable[[Progress], None] = lambda _: None,
    reachable: bool = False,
    billed: Callable[[Billed], None] = lambda _: None,
) -> Report:
    """Measure candidates by name on recordings by file. Plain replay is always measured too and comes first.

    With `reachable` each hard value that a request lacks is asked for, as its model could; that takes time. `billed`
    is told of every request of a candidate, in the order of the steps.

    Raises `InvalidOption` if a candidate takes the name of plain replay.
    """
    if PLAIN_REPLAY in candidates:
        raise InvalidOption(f"no candidate may be called {PLAIN_REPLAY!r}, which all are compared with; rename it")
    entrants: dict[str, CandidateFactory] = {PLAIN_REPLAY: PlainReplay, **candidates}
    total = sum(map(len, files.values()))
    done = 0
    rows: list[Row] = []
    for file, trajectories in files.items():
        tallies = {name: Tally() for name in entrants}
        for trajectory in trajectories:
            measured = _Measured(trajectory, tokeniser, reachable=reachable)
            for name, factory in entrants.items():
                for at, bill in measured.run(factory, tallies[name]):
                    billed(Billed(file=file, recording=trajectory.id, candidate=name, at=at, bill=bill))
            done += 1
            progress(Progress(file=file, recording=trajectory.id, done=done, total=total))
        plain = tallies[PLAIN_REPLAY]
        rows.extend(
            tally.row(file=file, candidate=name, recordings=len(trajectories), plain=plain, reachable=reachable)
            for name, tally in tallies.items()
        )
    return Report(rows=tuple(rows))


class _Measured:
    """One trajectory, and what all its candidates are measured with."""

    def __init__(self, trajectory: Trajectory, tokeniser: Tokeniser, *, reachable: bool) -> None:
        self._trajectory = trajectory
        self._evidence = Evidence(trajectory)
        self._presence = Presence(trajectory, self._evidence)
        self._meter = Meter(tokeniser)
        self._checker = Checker()
        self._reachable = reachable

    def run(self, factory: CandidateFactory, tally: Tally) -> Iterator[tuple[int, Bill]]:
        """Measure a candidate; gives the size of each request as it is measured."""
        trajectory = self._trajectory
        opening = Opening(id=trajectory.id, system=trajectory.system, tools=trajectory.tools, meter=self._meter)
        candidate = factory(opening)
        reaching = Reaching() if self._reachable else None
        previous: Sequence[Message] = ()
        for at in trajectory.steps:
            history = trajectory.messages[:at]
            step = Step(at=at, history=history, foreseen=self._evidence.needs[at])
            request = candidate.request(step)
            goes_on = history[-1].role == Role.ASSISTANT
            problems = self._checker.problems(request.messages, goes_on=goes_on)
            bill = self._meter.bill(request.messages, previous)
            tally.request(bill, problems, over_budget=request.over_budget)
            self._compare(request, step.foreseen, tally, reaching)
            previous = request.messages
            yield at, bill

    def _compare(self, request: Request, needs: Sequence[Need], tally: Tally, reaching: Reaching | None) -> None:
        blocks = self._presence.blocks(request.messages)
        for need in needs:
            holding = self._presence.holding(need.value, blocks)
            if holding:
                tally.held(need, in_place=need.hard and self._presence.in_place(need.value, holding))
                continue
            if need.hard and reaching is not None:
                tally.reached(reaching.reach(need.value, request.fetch))
            if request.why_missing is not None:
                tally.missed(need, request.why_missing(need.value))
            else:
                tally.missed(need, MissReason.BUDGET)
