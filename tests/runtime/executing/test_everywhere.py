"""Whose a call is: all that wait for a person in one list, decided from anywhere; and what people said, read back."""

import pytest

import callsheet
from callsheet import ArtifactStatus, Conversation, ToolContract
from callsheet.errors import CallDecided, NotFound
from callsheet.runtime.executing.auditing import How
from callsheet.testing import memory_runtime
from tests.runtime.executing.acts import Gate, HandPace, artifacts, ask, join_tools, shown, talking, texts


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("quarry")


@callsheet.tool(contract=ToolContract(name="blast", needs_approval=True))
def blast(face: str) -> str:
    """Blast a face."""
    return f"{face} is blasted"


def everyone(talk: Conversation) -> tuple[Conversation, Conversation, Conversation]:
    """Calls that wait: one of nobody's, one of a participant's, one of a sub-agent's, and one inherited by a branch."""
    talking(talk, a=("blast", {"face": "A"}))
    talk.execute([blast])
    branch = talk.branch(name="other")
    critic = talk.participant("critic")
    ask(critic, b=("blast", {"face": "B"}))
    critic.execute([blast], calls=["b"])
    child = talk.spawn("Blast C.", name="miner")
    ask(child, c=("blast", {"face": "C"}))
    child.execute([blast])
    return branch, critic, child


def test_all_that_wait_are_listed_with_whose_they_are(talk: Conversation) -> None:
    everyone(talk)
    found = [(one.provider_id, one.branch, one.owner, one.child) for one in talk.approvals(everywhere=True)]
    assert sorted(found, key=str) == sorted(
        [
            ("a", "main", None, None),
            ("b", "main", "critic", None),
            ("c", "miner", None, "miner"),
            ("a", "other", None, None),
        ],
        key=str,
    )
    assert [one.provider_id for one in talk.approvals()] == ["a"]
    assert len(talk.participant("critic").approvals(everywhere=True)) == 4
    talk.child("miner").fail("rain")
    assert [one.child for one in talk.approvals(everywhere=True)] == [None, None, None]


def test_each_of_them_can_be_decided_from_anywhere(talk: Conversation) -> None:
    branch, critic, child = everyone(talk)
    for request in talk.approvals(everywhere=True):
        if request.branch == "other":
            talk.refuse(request, by="kim", reason="not twice")
        else:
            talk.approve(request, by="kim", arguments=request.arguments)
    assert talk.approvals(everywhere=True) == ()
    for view in (talk, critic, child):
        view.execute([blast])
    assert {"A is blasted"} <= set(texts(talk))
    assert "B is blasted" in texts(critic)
    assert texts(child)[-1] == "C is blasted"
    assert branch.pending() == ()
    assert "not twice" in texts(branch)[-1]
    assert artifacts(child)[-1].status is ArtifactStatus.OK


def test_a_call_of_somebody_else_is_said_to_be_theirs(talk: Conversation) -> None:
    branch, critic, child = everyone(talk)
    theirs = {view: view.approvals()[-1].call for view in (critic, child)}
    ask(branch, e=("blast", {"face": "E"}))
    for act in (talk.approve, talk.refuse, talk.give_up, talk.repeat):
        with pytest.raises(NotFound, match=r"is participant 'critic''s: .* talk\.participant\('critic'\)"):
            act(theirs[critic], by="kim")
        with pytest.raises(NotFound, match=r"is sub-agent 'miner''s: .* talk\.child\('miner'\)"):
            act(theirs[child], by="kim")
        with pytest.raises(NotFound, match="stands on branch 'other'"):
            act(branch.pending()[-1].id, by="kim")
    critic.approve("b", by="kim")


def test_what_people_said_is_read_back_with_who_and_why(talk: Conversation) -> None:
    ids = dict.fromkeys("abcd", ("blast", {"face": "A"}))
    talking(talk, **ids)
    talk.execute([blast])
    talk.approve("a", by="kim")
    talk.refuse("b", by="lee", reason="too near")
    talk.settle("c", "it was done by hand", by="max", reason="I was there")
    talk.give_up("d", by="noa", reason="the face is gone")
    said = {one.provider_id: [(word.how, word.by, word.reason) for word in one.decisions] for one in talk.executions()}
    assert said == {
        "a": [(How.APPROVED, "kim", "")],
        "b": [(How.REFUSED, "lee", "too near")],
        "c": [(How.SETTLED, "max", "I was there")],
        "d": [(How.GIVEN_UP, "noa", "the face is gone")],
    }
    assert {one.provider_id: one.state.value for one in talk.executions()} == {
        "a": "approved", "b": "answered", "c": "answered", "d": "abandoned",
    }  # fmt: skip


def test_a_call_that_was_given_up_says_by_whom_and_why(talk: Conversation) -> None:
    talking(talk, a=("blast", {"face": "A"}), b=("survey", {}))
    talk.execute([blast], calls=["a"])
    talk.give_up("a", by="noa", reason="the face is gone")
    talk.give_up("b", by="noa")
    assert shown(talk) == {
        "a": "Given up on by noa: the face is gone. It was not run.",
        "b": "Given up on by noa. No result is known; it may or may not have taken effect.",
    }
    for id in ("a", "b"):
        with pytest.raises(CallDecided, match="was answered or given up on before"):
            talk.settle(id, "done", by="kim")


@pytest.mark.parametrize(("limit", "told"), [(1.0, "within 1 second."), (2.0, "within 2 seconds.")])
def test_a_time_limit_is_told_in_plain_words_that_do_not_contradict_each_other(
    talk: Conversation, limit: float, told: str
) -> None:
    pace = HandPace()

    gate = Gate()

    def hang() -> str:
        pace.advance(100.0)
        gate.wait()
        return "late"

    tool = callsheet.tool(contract=ToolContract(name="hang", side_effects=False, time_limit=limit))(hang)
    talking(talk, a=("hang", {}))
    talk.execute([tool], pace=pace)
    text = shown(talk)["a"]
    gate.open()
    join_tools()
    assert told in text
    assert "no attempts left" in text
    assert "tried again" not in text
