"""Branches inherit without copying, participants keep their work to themselves, and neither shapes another request."""

from collections.abc import Callable, Iterator

import pytest

from callsheet import Conversation, Runtime, Spoken
from callsheet.errors import EmptyRequest, InvalidOption
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, openai_reply, result, user


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("markers")


BOTH = pytest.mark.parametrize("policy", ["balanced", "replay"])


def request(talk: Conversation, policy: str = "balanced") -> tuple[bytes, ...]:
    return talk.assemble(provider="openai", model="gpt-5.2", policy=policy).blocks


def shown(talk: Conversation) -> list[str]:
    return [item.text for item in talk.transcript() if isinstance(item, Spoken)]


def say(talk: Conversation, *texts: str) -> list[str]:
    """User and assistant in turn; returns the ids of the messages."""
    ids: list[str] = []
    for number, text in enumerate(texts):
        message = user(text) if number % 2 == 0 else {"role": "assistant", "content": text}
        ids += talk.record(message).ids
    return ids


@BOTH
def test_an_edit_inherits_what_stood_before_and_leaves_the_old_branch_alone(talk: Conversation, policy: str) -> None:
    ids = say(talk, "A is heron.", "Noted A.", "B is otter.", "Noted B.", "C is stoat.")
    before = request(talk, policy)
    edited = talk.branch(before=ids[2], name="edit", reason="edit")
    edited.record(user("List all markers."))
    assert ["A is heron.", "Noted A.", "List all markers."] == shown(edited)
    assert ids[:2] == [item.id for item in edited.transcript()][:2]
    assert before == request(talk, policy)


def test_siblings_never_see_each_other(talk: Conversation) -> None:
    ids = say(talk, "A is heron.")
    one = talk.branch(at=ids[0], reason="regenerate")
    two = talk.branch(at=ids[0], reason="regenerate")
    one.record(openai_reply("otter"))
    two.record(openai_reply("stoat"))
    assert ["A is heron.", "otter"] == shown(one)
    assert ["A is heron.", "stoat"] == shown(two)
    assert ["A is heron."] == shown(talk)


def test_a_branch_of_a_branch_sees_both_up_to_the_forks(talk: Conversation) -> None:
    ids = say(talk, "one")
    middle = talk.branch(at=ids[0])
    inner = say(middle, "two")
    leaf = middle.branch(at=inner[0])
    say(leaf, "three")
    say(middle, "later on the middle")
    say(talk, "later on main")
    assert ["one", "two", "three"] == shown(leaf)
    deep = leaf.branch(at=ids[0])
    assert ["one"] == shown(deep)


def test_a_call_that_was_open_at_the_fork_stays_open_on_the_branch(talk: Conversation) -> None:
    talk.record(user("Weigh both."))
    (asked,) = talk.record(asks(call("a", "weigh"), call("b", "weigh"))).ids
    branch = talk.branch(at=asked)
    talk.record([result("a", "1 kg"), result("b", "2 kg")])
    assert () == talk.pending()
    assert ["a", "b"] == [each.provider_id for each in branch.pending()]
    branch.record(result("b", "3 kg"))
    assert ["a"] == [each.provider_id for each in branch.pending()]


def test_an_answer_on_the_branch_does_not_close_the_parents_call(talk: Conversation) -> None:
    talk.record([user("Weigh."), asks(call("a", "weigh"))])
    branch = talk.branch()
    branch.record(result("a", "3 kg"))
    assert () == branch.pending()
    assert ["a"] == [each.provider_id for each in talk.pending()]


def test_branches_are_found_by_name(talk: Conversation) -> None:
    say(talk, "one")
    made = talk.branch(name="draft")
    assert made.branch_id == talk.on("draft").branch_id
    assert ["main", "draft"] == list(talk.branches())
    with pytest.raises(InvalidOption, match="has a branch 'draft' already"):
        talk.branch(name="draft")
    with pytest.raises(InvalidOption, match="not both"):
        talk.branch(at="a", before="b")


def test_nothing_to_answer_is_an_error_and_stores_no_sheet(talk: Conversation) -> None:
    talk.record({"role": "system", "content": "Be brief."})
    with pytest.raises(EmptyRequest):
        request(talk)
    assert [] == talk.sheets()


@BOTH
def test_participants_share_answers_and_nothing_else(talk: Conversation, policy: str) -> None:
    talk.record(user("Is the pier sound?"))
    ana, ben = talk.participant("ana"), talk.participant("ben")
    ana.record([asks(call("a1", "inspect")), result("a1", "crack at pile 7")])
    before = request(ben, policy)
    ana.record(openai_reply("It is not sound."))
    assert before != request(ben, policy)
    text = b"".join(request(ben, policy))
    assert b"It is not sound." in text
    assert b"crack at pile 7" not in text
    assert b"a1" not in text
    assert b"crack at pile 7" in b"".join(request(ana, policy))
    assert () == ben.pending()


def test_a_participant_keeps_its_configuration(talk: Conversation) -> None:
    made = talk.participant("critic", provider="openai", model="gpt-5.2", persona="You doubt.")
    assert made.participant_id == talk.participant("critic").participant_id
    with pytest.raises(InvalidOption, match=r"'critic' has model 'gpt-5\.2'; use another name for 'gpt-4o'"):
        talk.participant("critic", provider="openai", model="gpt-4o")
    with pytest.raises(InvalidOption, match=r"'critic' has persona 'You doubt\.'"):
        talk.participant("critic", persona="You believe.")
    assert {"critic": made.participant_id} == talk.participants()


Hide = Callable[[Conversation], None]


def _sibling(talk: Conversation) -> None:
    branch = talk.branch()
    branch.record([user("secret"), asks(call("zz")), result("zz", "secret")])
    branch.assemble(provider="openai", model="gpt-5.2")


def _private(talk: Conversation) -> None:
    other = talk.participant("other")
    other.record([asks(call("a")), result("a", "secret")])
    other.assemble(provider="openai", model="gpt-5.2")


@BOTH
@pytest.mark.parametrize("hide", [_sibling, _private])
def test_hidden_records_change_no_byte(runtime: Runtime, hide: Hide, policy: str) -> None:
    requests = []
    for name, hidden in (("plain", False), ("with", True)):
        talk = runtime.conversation(name)
        talk.record([user("Weigh."), asks(call("a", "weigh"))])
        if hidden:
            hide(talk)
        talk.record(result("a", "41 kg"))
        if hidden:
            hide(talk) if hide is _sibling else None
        talk.record(user("Thanks."))
        requests.append(request(talk, policy))
    assert requests[0] == requests[1]
