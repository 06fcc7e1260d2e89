"""The same program run again and again under one credential: copies of one history, and what tells them apart."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from callsheet.serve.proxy.hashing import Chain
from callsheet.serve.proxy.journal import Ended, Outcome, Sent
from callsheet.serve.proxy.observing import LOG, Observer, Told
from callsheet.serve.proxy.recognising import How, Placed
from tests.serve.proxy.clients import Fields, Service, model, result, shows, texts, user

LONG = "line of a log " * 40
CLEARED = "[cleared]"


@dataclass(kw_only=True)
class Script:
    """A program that asks, has a result looked up, and asks on; the model says the same in each run of it."""

    service: Service
    #: Makes the ids of calls, of the number of the call.
    ids: Callable[[int], str] | None = None
    #: Whether it clears its older results at each step.
    cuts: bool = False
    #: What a result tells beside what all tell.
    told: str = ""
    held: list[Fields] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)

    def step(self, number: int) -> None:
        self.held.append(user(f"ask {number}"))
        if self.ids is not None:
            id = self.ids(number)
            self._turn(model(None, (id, "read", {"n": number})))
            self.held.append(result(id, f"{LONG}{number}{self.told}"))
        self._turn(model(f"answer {number}"))
        if self.cuts:
            self.held = [{**one, "content": CLEARED} if one["role"] == "tool" else one for one in self.held]

    def _turn(self, answer: Fields) -> None:
        placed, self.held = self.service.turn(self.held, answer)
        self.placed.append(placed)

    def run(self, steps: int) -> "Script":
        for number in range(steps):
            self.step(number)
        return self

    @property
    def conversations(self) -> set[str]:
        return {placed.talk.id for placed in self.placed}


WAYS: dict[str, Callable[[int], Callable[[int], str] | None]] = {
    "without calls": lambda run: None,
    "calls with the same ids": lambda run: lambda number: f"call_{number}",
    "calls with ids of their own": lambda run: lambda number: f"call_{run}_{number}",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("stored", [False, True])
def test_each_run_of_a_script_is_one_conversation(
    way: Callable[[int], Callable[[int], str] | None], stored: bool, tmp_path: Path
) -> None:
    service = Service(tmp_path / "store.db" if stored else None)
    seen: set[str] = set()
    for run in range(3):
        script = Script(service=service, ids=way(run)).run(5)
        assert [placed.how for placed in script.placed] == [How.BEGUN] + [How.CONTINUED] * (len(script.placed) - 1)
        assert len(script.conversations) == 1
        assert seen.isdisjoint(script.conversations)
        seen |= script.conversations
        if stored:
            service.restart()


@pytest.mark.parametrize("cuts", [False, True])
def test_runs_at_the_same_time_are_told_apart_by_the_ids_of_their_calls(cuts: bool) -> None:
    service = Service()
    scripts = [
        Script(service=service, ids=lambda number, run=run: f"call_{run}_{number}", cuts=cuts, told=f" of {run}")  # type: ignore[misc]
        for run in range(3)
    ]
    for number in range(4):
        for script in scripts:
            script.step(number)
    assert [len(script.conversations) for script in scripts] == [1, 1, 1]
    for run, script in enumerate(scripts):
        told = [str(said[1]) for said in shows(script.placed[-1].talk) if said[0] == "result"]
        assert all(text.endswith((f" of {run}", CLEARED)) for text in told)
        if cuts:
            assert How.CUT in {placed.how for placed in script.placed}


def test_a_longer_run_begins_once_more_where_the_shorter_one_ended() -> None:
    """Both may be the one that waited there; the next answer tells them apart."""
    service = Service()
    Script(service=service).run(3)
    second = Script(service=service).run(6)
    assert [placed.how for placed in second.placed].count(How.AMBIGUOUS) == 1
    assert len(second.conversations) == 2


def test_a_run_goes_on_when_its_request_failed_and_is_sent_again() -> None:
    service = Service()
    Script(service=service).run(3)
    second = Script(service=service).run(1)
    asked = [*second.held, user("ask 1")]
    failed = service.ask(asked)
    service.recogniser.failed(failed)
    again = service.ask(asked)
    assert (again.how, again.appended, again.talk.id) == (How.REPEATED, 0, failed.talk.id)


def test_ids_tell_whose_an_answer_without_calls_is() -> None:
    service = Service()
    scripts = [Script(service=service, ids=lambda number, run=run: f"{run}{number}").run(1) for run in range(2)]  # type: ignore[misc]
    for script in scripts:
        placed = service.ask([*script.held, user("thanks")])
        assert (placed.how, placed.talk.id) == (How.CONTINUED, script.placed[0].talk.id)


def test_made_up_ids_are_evidence_for_nobody() -> None:
    service = Service()
    scripts = [Script(service=service, ids=lambda number, run=run: f"{run}{number}").run(1) for run in range(2)]  # type: ignore[misc]
    renamed = [user("ask 0"), model(None, ("new", "read", {"n": 0})), result("new", f"{LONG}0"), model("answer 0")]
    assert service.ask([*renamed, user("thanks")]).how is How.AMBIGUOUS
    service.ask([*scripts[0].held, user("on")])
    assert service.ask([*renamed, user("thanks")]).talk.id == scripts[1].placed[0].talk.id


def test_what_another_was_given_in_the_place_of_a_cut_result_is_never_shown() -> None:
    service = Service()
    scripts = [
        Script(service=service, ids=lambda number: f"call_{number}", told=f" of {run}").run(1) for run in range(2)
    ]
    held = []
    for script in scripts:
        cleared = [{**one, "content": CLEARED} if one["role"] == "tool" else one for one in script.held]
        _, said = service.turn([*cleared, user("more")], "fine")
        held.append(said)
    # The second waits, the first has gone on, and goes back.
    service.turn([*held[0], user("further")], "good")
    back = service.ask([*held[0], user("otherwise")])
    assert not any(" of 1" in text for text in texts(back.talk))


def test_a_chain_that_was_kept_without_ids_is_read() -> None:
    old = msgspec.msgpack.encode((b"w", None, ("a", None)))
    assert Chain.unpacked(old, b"k") == Chain(b"k", b"w", None, ("a", None), b"")
    assert Chain.unpacked(Chain(b"k", b"w", b"o", (), b"i").packed(), b"k").ids == b"i"


@pytest.mark.parametrize("how", [How.AMBIGUOUS, How.CONTINUED])
def test_the_log_warns_of_an_ambiguous_request_and_names_the_header(
    how: How, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LOG, "propagate", True)
    ended = Ended(at=1, sent=Sent.SHEET, outcome=Outcome.ANSWERED, status=200, how=how.value)
    with caplog.at_level(logging.INFO, logger=LOG.name):
        Observer().over(Told(request="r", route="chat", upstream="u", model="m", key="k", ended=ended, seconds=0.1))
    (line,) = caplog.records
    warned = how is How.AMBIGUOUS
    assert (line.levelno == logging.WARNING) is warned
    assert ("x-callsheet-conversation" in line.getMessage()) is warned
    assert all("=" in part for part in line.getMessage().split(" "))
