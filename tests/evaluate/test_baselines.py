"""What the candidates that everything is compared with send, on conversations small enough to check by eye."""

from collections.abc import Sequence
from functools import partial

from callsheet.evaluate.baselines import CLEARED, NOT_NEEDED, Clearing, LookAhead, PlainReplay, Window
from callsheet.evaluate.billing import Meter
from callsheet.evaluate.candidates import CandidateFactory, Opening, Step
from callsheet.evaluate.evidence import Evidence
from callsheet.evaluate.trajectory import Trajectory
from tests.evaluate.conversations import Words, call, calls, order_desk, result, says, system, trajectory, user


def requests(talk: Trajectory, factory: CandidateFactory) -> dict[int, list[str | None]]:
    """By step, the contents that the candidate sends."""
    meter = Meter(Words())
    candidate = factory(Opening(id=talk.id, system=talk.system, tools=talk.tools, meter=meter))
    needs = Evidence(talk).needs
    sent = {}
    for at in talk.steps:
        step = Step(at=at, history=talk.messages[:at], foreseen=needs[at])
        sent[at] = [message.content for message in candidate.request(step).messages]
    return sent


def contents(talk: Trajectory, positions: Sequence[int]) -> list[str | None]:
    return [*(message.content for message in talk.system), *(talk.messages[at].content for at in positions)]


def test_plain_replay_sends_everything() -> None:
    talk = order_desk()
    assert requests(talk, PlainReplay) == {at: contents(talk, range(at)) for at in talk.steps}


LINES = trajectory(system("s"), *(message for n in range(1, 8) for message in (user(f"u{n} x"), says(f"a{n} x"))))
"""One token of instructions, then messages of two tokens each; steps 1, 3, 5, 7, 9, 11 and 13."""


def test_a_window_drops_down_to_half_and_keeps_that_cut_until_it_is_full_again() -> None:
    sent = requests(LINES, partial(Window, limit=12))
    assert sent[5] == contents(LINES, range(5))
    # 15 tokens: with the instructions and the first user message, one more fits into six.
    assert sent[7] == contents(LINES, [0, 6])
    assert sent[9] == contents(LINES, [0, 6, 7, 8])
    assert sent[11] == contents(LINES, [0, 10])
    assert sent[13] == contents(LINES, [0, 10, 11, 12])


def test_a_window_keeps_the_first_user_message_in_its_place() -> None:
    talk = trajectory(says("welcome here"), user("u1"), says("a1"), user("u2"), says("a2"))
    sent = requests(talk, partial(Window, limit=4))
    assert sent == {2: ["welcome here", "u1"], 4: ["u1", "u2"]}


def test_a_window_never_parts_a_call_from_its_results() -> None:
    talk = trajectory(
        user("u"),
        calls(call("a", "t"), call("b", "t")),
        result("a", "x " * 9),
        result("b", "y " * 9),
        says("."),
        user("v"),
        says("."),
    )
    # The newest call stands whole although it is over the limit; later it goes whole.
    sent = requests(talk, partial(Window, limit=8))
    assert sent[4] == contents(talk, range(4))
    assert sent[6] == contents(talk, [0, 4, 5])


def test_clearing_keeps_the_newest_results_once_the_conversation_is_long() -> None:
    talk = trajectory(
        user("u"),
        *(message for n in range(4) for message in (calls(call("a", "t")), result("a", f"result {n}"))),
        says("."),
    )
    sent = requests(talk, partial(Clearing, over=14, keep=2))
    # Each call with its result is four tokens.
    assert sent[7] == contents(talk, range(7))
    assert sent[9] == ["u", None, CLEARED, None, CLEARED, None, "result 2", None, "result 3"]
    assert requests(talk, partial(Clearing, over=14, keep=0))[9][-1] == CLEARED


def test_the_bound_brings_back_only_what_the_step_will_use() -> None:
    talk = order_desk()
    sent = requests(talk, LookAhead)
    assert sent[7] == contents(talk, [0, 5, 6])
    assert sent[9] == contents(talk, [0, 1, 2, 7, 8])


def test_the_bound_takes_the_shortest_source_and_blanks_the_other_results_of_its_call() -> None:
    talk = trajectory(
        user("u"),
        calls(call("a", "t"), call("b", "t")),
        result("a", "nothing here"),
        result("b", "K-100 is it"),
        says("I found K-100 among very many other things"),
        user("v"),
        says("."),
        user("w"),
        says("."),
        user("x"),
        says("K-100"),
    )
    assert requests(talk, LookAhead)[10] == ["u", None, NOT_NEEDED, "K-100 is it", ".", "x"]
