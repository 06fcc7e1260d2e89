"""What a view may not see is answered as what does not exist: sheets, messages and results of others."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest

from callsheet import Conversation, Sheet
from callsheet.errors import CallsheetError, InvalidOption, NotFound
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user


class World(NamedTuple):
    """A conversation with two participants and a sub-agent, and ids of what only one of them may see."""

    talk: Conversation
    ann: Conversation
    ben: Conversation
    kid: Conversation
    sheet: Sheet
    private: Mapping[str, str]


@pytest.fixture
def world() -> Iterator[World]:
    with memory_runtime() as runtime:
        talk = runtime.conversation("jetty")
        talk.record(user("Is the jetty sound?"))
        ann, ben = talk.participant("Ann", persona="PERSONA"), talk.participant("Ben")
        sheet = ask(ann)
        message = ann.record(asks(call("c1", "survey", "{}")), sheet=sheet).ids[0]
        found = ann.record(result("c1", "PRIVATE")).ids[0]
        kid = talk.spawn("Count the planks.", name="kid")
        counted = kid.record({"role": "assistant", "content": "41"}).ids[0]
        private = {
            "sheet": sheet.id,
            "message": message,
            "result": found,
            "run": ann.failed(ask(ann)),
            "checkpoint": ann.checkpoint(),
            "sub-agent's": counted,
            "sub-agent's run": kid.run_id,
        }
        yield World(talk, ann, ben, kid, sheet, private)


def ask(view: Conversation) -> Sheet:
    return view.assemble(provider="openai", model="gpt-5.2")


ASKED: dict[str, Callable[[Conversation, str], object]] = {
    "sheet": lambda view, id: view.sheet(id),
    "explain": lambda view, id: view.explain(id),
    "trace": lambda view, id: view.trace(id),
    "rebuild": lambda view, id: view.rebuild(id),
    "difference": lambda view, id: view.difference(id, id),
    "failed": lambda view, id: view.failed(id),
    "regenerate": lambda view, id: view.regenerate(id),
    "edit": lambda view, id: view.edit(id, "x"),
    "branch": lambda view, id: view.branch(at=id),
    "send": lambda view, id: view.send("x", parents=[id]),
    "send behind": lambda view, id: view.send("x", parents=[view.history()[0][0].id, id]),
    "recall": lambda view, id: view.recall(id),
    "share": lambda view, id: view.share(id, to=["Ann"]),
    "pin": lambda view, id: view.pin(id),
}


@pytest.mark.parametrize("asked", ASKED)
def test_what_a_view_may_not_see_is_answered_as_what_does_not_exist(world: World, asked: str) -> None:
    for id in world.private.values():
        nowhere = f"{id.partition('_')[0]}_{'a' * 26}"
        told = []
        for wanted in (id, nowhere):
            with pytest.raises(CallsheetError) as refused:
                ASKED[asked](world.ben, wanted)
            told.append((type(refused.value), str(refused.value).replace(wanted, "ID")))
        assert told[0] == told[1]


def test_a_view_has_its_own_sheets_and_the_conversation_itself_has_all(world: World) -> None:
    own = {view: [one.id for one in view.sheets()] for view in (world.ann, world.ben, world.kid)}
    assert own[world.ben] == own[world.kid] == []
    assert [one.id for one in world.ann.sheets(newest=1)] == own[world.ann][-1:]
    mine = ask(world.ben)
    assert [one.id for one in world.ben.sheets()] == [mine.id]
    assert [one.id for one in world.talk.sheets()] == [*own[world.ann], mine.id]
    assert "PERSONA" in str(world.talk.sheet(world.private["message"]).messages())
    assert world.ann.sheet(world.private["message"]).id == world.sheet.id
    for view, many in ((world.ben, 1), (world.ann, len(own[world.ann])), (world.kid, 0)):
        assert view.compare("balanced", "lean").sheets == many


def test_a_request_failed_for_whom_it_was_made(world: World) -> None:
    parents = ask(world.talk)
    branch = world.ann.branch()
    for view, sheet in ((world.ben, world.sheet), (world.talk, world.sheet), (world.kid, parents)):
        with pytest.raises(InvalidOption, match="assembled for another"):
            view.failed(sheet)
    with pytest.raises(InvalidOption, match="assembled for another"):
        world.ann.failed(ask(branch))
    with pytest.raises(NotFound):
        world.ben.failed(world.sheet.id)
    assert world.ann.failed(world.sheet.id).startswith("run")
    assert branch.failed(world.sheet).startswith("run")
