"""SQL through a conversation: under the same policies as any recall, over what may be seen of the content alone."""

import json
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

import callsheet
from callsheet import Conversation, Runtime, Sheet
from callsheet.audit.erasing import erase
from callsheet.errors import BodyErased, InvalidOption, MissingExtra, NotFound
from callsheet.graph.enums import Level, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import ProviderForm
from callsheet.recall.tool import SQL
from callsheet.runtime import querying
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, openai_reply, result, tool, user

STOCK = "part,shelf,price\n" + "\n".join(f"P{at:05d},{at % 40},{at / 4:.2f}" for at in range(3_000))
COUNT = "sql SELECT count(*) AS n FROM t"


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


def read(talk: Conversation, content: object, *, name: str = "read_stock", id: str = "c") -> str:
    talk.record(asks(call(id, name)))
    return talk.record(result(id, content)).ids[-1]


def begun(runtime: Runtime, content: object = STOCK, *, name: str = "read_stock") -> tuple[Conversation, str]:
    talk = runtime.conversation("shop")
    talk.record(user("How many parts are there?"))
    return talk, read(talk, content, name=name)


def test_a_program_asks_a_result(runtime: Runtime) -> None:
    talk, id = begun(runtime)
    found = talk.recall(id, sql="SELECT shelf, sum(price) AS worth FROM t GROUP BY shelf ORDER BY worth DESC LIMIT 2")
    assert found.bytes.decode() == "shelf|worth\n39|28481.25\n38|28462.50"
    assert (found.unit, found.shown, found.total, found.more) == ("rows", 2, 2, None)
    assert found.text.startswith(f"({id}, sql over t (3,000 rows): 2 rows)\n")


def test_slices_of_an_answer_joined_are_the_answer(runtime: Runtime) -> None:
    talk, id = begun(runtime)
    rows: list[str] = []
    found = talk.recall(id, sql="SELECT part FROM t WHERE shelf < 20", limit=6_000)
    while True:
        rows += found.bytes.decode().split("\n")[1:]
        if found.more is None:
            break
        found = talk.recall(id, sql=found.more.sql, rows=found.more.rows, limit=6_000)
    assert rows == [f"P{at:05d}" for at in range(3_000) if at % 40 < 20]


def test_the_answer_is_a_result_that_recalls_and_is_not_captured_again(runtime: Runtime) -> None:
    talk, id = begun(runtime)
    talk.record(asks(call("r", "recall", json.dumps({"reference": id, "part": COUNT}))))
    (pending,) = talk.pending()
    text = talk.answer_recall(pending)
    assert text == f"({id}, sql over t (3,000 rows): 1 row)\nn\n3000"
    (given,) = talk.record(result("r", text)).ids
    (record,) = talk._get((RecordId(given),))
    assert isinstance(record.body, ToolArtifact)
    assert record.body.recalls == id
    assert record.body.size == len(text)
    assert given not in {one.reference for one in talk.search("3000 P00007")}


@pytest.mark.parametrize(
    "part",
    [
        "sql DROP TABLE t",
        "sql SELECT * FROM read_text('/etc/passwd')",
        "SELECT nothing FROM t",
        "sql SELECT 1; SELECT 2",
        "sql SELEC 1",
    ],
)
def test_a_model_is_told_what_was_wrong_and_what_there_is(runtime: Runtime, part: str) -> None:
    talk, id = begun(runtime)
    text = talk.answer_recall({"reference": id, "part": part})
    assert text.startswith("(recall: sql: ")
    assert "t has 3,000 rows of part VARCHAR, shelf BIGINT, price DECIMAL(5,2)" in text
    assert len(text) < 700


# ---------------------------------------------------------------------------------------------- policies


def closed(*, rehydrate: int = 65_536, providers: tuple[ProviderForm, ...] = ()) -> PolicySetDocument:
    tools = (ToolContract(name="ledger", privacy=Privacy.CONNECTED_ACCOUNT),)
    version = f"{rehydrate}-{len(providers)}"
    return replace(BALANCED, name="closed", version=version, tools=tools, rehydrate=rehydrate, providers=providers)


def test_a_class_that_may_not_go_to_the_provider_is_told_by_metadata_alone(runtime: Runtime) -> None:
    talk, id = begun(runtime, name="ledger")
    talk.assemble(provider="openai", model="gpt-5.2", policy=closed())
    text = talk.answer_recall({"reference": id, "part": COUNT})
    assert text == talk.answer_recall({"reference": id})
    assert "'connected_account' may not go to 'openai'" in text
    opened = ProviderForm(provider="openai", privacy=Privacy.CONNECTED_ACCOUNT, form=Level.RAW)
    talk.assemble(provider="openai", model="gpt-5.2", policy=closed(providers=(opened,)))
    assert talk.answer_recall({"reference": id, "part": COUNT}).endswith("\n3000")


def test_a_query_sees_markers_in_the_place_of_secrets(runtime: Runtime) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    rows = "\n".join(f"svc{at},{token if at == 2 else 'none'}" for at in range(5))
    talk, id = begun(runtime, f"service,token\n{rows}\n")
    text = talk.recall(id, sql="SELECT token, length(token), token LIKE 'ghp%' FROM t WHERE service = 'svc2'").text
    assert token not in text
    assert "ghp_" not in text
    assert text.endswith("|false")
    talk.assemble(provider="openai", model="gpt-5.2", policy="balanced")
    for part in ("sql SELECT token FROM t", f"sql SELECT count(*) FROM t WHERE token = '{token}'"):
        assert token not in talk.answer_recall({"reference": id, "part": part}).replace(part, "")
    assert talk.answer_recall(
        {"reference": id, "part": f"sql SELECT count(*) n FROM t WHERE token = '{token}'"}
    ).endswith("n\n0")
    shown = replace(BALANCED, name="open", version="1", privacy=replace(BALANCED.privacy, secret=Level.RAW))
    talk.assemble(provider="openai", model="gpt-5.2", policy=shown)
    assert talk.answer_recall({"reference": id, "part": "sql SELECT token FROM t"}).count(token) == 1


def test_a_hidden_result_is_answered_like_one_that_is_not_there(runtime: Runtime) -> None:
    talk = runtime.conversation("auction")
    talk.record(user("Compare."))
    id = read(talk.participant("critic"), STOCK)
    writer = talk.participant("writer")
    answers = {
        writer.answer_recall({"reference": one, "part": COUNT}).replace(one, "X") for one in (id, "artifact_none")
    }
    assert len(answers) == 1
    with pytest.raises(NotFound):
        writer.recall(id, sql="SELECT 1")
    assert talk.participant("critic").recall(id, sql="SELECT count(*) FROM t").bytes.endswith(b"3000")


def test_what_was_erased_is_gone(runtime: Runtime) -> None:
    talk, id = begun(runtime)
    erase(talk._session, [RecordId(id)])
    with pytest.raises(BodyErased):
        talk.recall(id, sql="SELECT 1 FROM t")


def test_the_byte_budget_of_the_policy_set_bounds_an_answer(runtime: Runtime) -> None:
    talk, id = begun(runtime)
    talk.assemble(provider="openai", model="gpt-5.2", policy=closed(rehydrate=900))
    talk.record(
        openai_reply(
            asks(*(call(f"r{at}", "recall", json.dumps({"reference": id, "part": "sql FROM t"})) for at in range(3)))
        )
    )
    given = []
    for pending in talk.pending():
        given.append(talk.answer_recall(pending))
        talk.record(result(pending.provider_id, given[-1]))
    assert len(given[0].encode()) <= 900 + 200
    assert 'to read on: "part": "rows ' in given[0]
    assert "used up" in given[2]


# ---------------------------------------------------------------------------------------------- what is offered


def offers(sheet: Sheet) -> str:
    """What the recall tool is said to take in a request; empty: it is not offered."""
    sent = sheet.request().get("tools")
    found = [one for one in sent if "recall" in json.dumps(one)[:80]] if isinstance(sent, list) else []
    return json.dumps(found)


def grown(talk: Conversation, content: str, *, sql: bool, recall: bool = True, policy: str = "lean") -> Sheet:
    """A conversation in which a large result stands shortened."""
    talk.record(user("How many parts are there?"))
    read(talk, content)
    return talk.assemble(provider="openai", model="gpt-5.2", policy=policy, budget=9_000, sql=sql, recall=recall)


PROSE = "\n\n".join(f"Paragraph {at} tells of the harbour and of nothing that one could count." for at in range(2_000))


@pytest.mark.parametrize("content", [STOCK, json.dumps([{"part": f"P{at}", "n": at} for at in range(3_000)])])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_sql_is_offered_where_a_table_is_shortened(runtime: Runtime, content: str, provider: str) -> None:
    talk = runtime.conversation("shop")
    talk.record(user("How many parts are there?"))
    read(talk, content)
    sheets = [
        talk.assemble(provider=provider, model="m", policy="lean", budget=9_000, sql=sql) for sql in (False, True)
    ]
    assert [SQL in offers(sheet) for sheet in sheets] == [False, True]
    assert [sheet.record.recall_sql for sheet in sheets] == [False, True]
    for sheet in sheets:
        again = talk.rebuild(sheet.id)
        assert again.same
        assert again.same_blocks == again.blocks


def test_sql_is_not_offered_where_nothing_could_be_asked(runtime: Runtime) -> None:
    assert SQL not in offers(grown(runtime.conversation("prose"), PROSE, sql=True))
    assert "recall" in offers(
        runtime.conversation("prose").assemble(provider="openai", model="m", policy="lean", budget=9_000)
    )
    small = grown(runtime.conversation("small"), "part,n\nP1,1\nP2,2\nP3,3\n", sql=True)
    assert offers(small) == "[]"
    assert offers(grown(runtime.conversation("mute"), STOCK, sql=True, recall=False)) == "[]"


def test_sql_stays_offered_until_the_next_rewrite(runtime: Runtime) -> None:
    talk = runtime.conversation("shop")
    first = grown(talk, STOCK, sql=True)
    talk.record(openai_reply("There are 3,000."), sheet=first)
    talk.record(user("Thanks. And what is a shelf?"))
    second = talk.assemble(provider="openai", model="gpt-5.2", policy="lean", budget=9_000, sql=True)
    assert second.record.rewritten == ""
    assert SQL in offers(second)
    assert second.record.recall_sql
    again = talk.rebuild(second.id)
    assert again.same
    assert again.same_blocks == again.blocks


def test_a_table_that_is_shortened_later_changes_no_tool_before_the_next_rewrite(runtime: Runtime) -> None:
    talk = runtime.conversation("shop")
    wide = {"provider": "openai", "model": "gpt-5.2", "policy": "lean", "budget": 90_000, "sql": True}
    talk.record(user("What is told of the harbour?"))
    read(talk, PROSE)
    first = talk.assemble(**wide)  # type: ignore[arg-type]
    talk.record(openai_reply(asks(call("d", "read_stock"))), sheet=first)
    talk.record(result("d", STOCK))
    second = talk.assemble(**wide)  # type: ignore[arg-type]
    assert second.record.rewritten == ""
    assert any(one.level is Level.FOCUS for one in second.selections)
    assert offers(first) == offers(second) != "[]"
    assert SQL not in offers(second)


def test_a_table_that_stands_in_full_needs_no_query(runtime: Runtime) -> None:
    talk = runtime.conversation("shop")
    talk.record(user("What is told of the harbour?"))
    read(talk, PROSE)
    read(talk, "part,n\nP1,1\nP2,2\nP3,3\n")
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy="lean", budget=90_000, sql=True)
    assert offers(sheet) != "[]"
    assert SQL not in offers(sheet)


def test_other_tools_stand_beside_it(runtime: Runtime) -> None:
    talk = runtime.conversation("shop")
    talk.record(user("How many parts are there?"))
    read(talk, STOCK)
    sheet = talk.assemble(
        provider="openai", model="m", policy="lean", budget=9_000, sql=True, tools=[tool("read_stock")]
    )
    assert SQL in offers(sheet)
    assert len(sheet.tools()) == 2


def test_without_the_library_it_is_refused_and_a_model_is_told(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk, id = begun(runtime)
    querying.engine.cache_clear()
    monkeypatch.setattr("callsheet.engines.sql.duck.find_spec", lambda name: None)
    monkeypatch.setattr(querying, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"callsheet\[sql\]"):
        talk.recall(id, sql="SELECT 1")
    with pytest.raises(MissingExtra, match=r"callsheet\[sql\]"):
        talk.assemble(provider="openai", model="m", sql=True)
    assert (
        talk.answer_recall({"reference": id, "part": COUNT})
        == "(recall: there is no SQL here; ask for rows, or search)"
    )


async def test_the_asynchronous_face_asks_too() -> None:
    async with await callsheet.open_async(":memory:") as runtime:
        talk = await runtime.conversation("shop")
        await talk.record(user("Read."))
        await talk.record(asks(call("c", "read_stock")))
        id = (await talk.record(result("c", STOCK))).ids[-1]
        assert (await talk.recall(id, sql="SELECT max(part) FROM t")).bytes.endswith(b"P02999")


# ---------------------------------------------------------------------------------------------- what is out of bounds


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"part": "lines 9000:"}, "there are 3,001 lines, counted from 0; 9,000 is behind the last"),
        ({"part": "rows 3000:3001"}, "there are 3,000 rows, counted from 0; 3,000 is behind the last"),
        ({"part": "bytes 999999:"}, "bytes, counted from 0; 999,999 is behind the last"),
        ({"part": "characters 999999:"}, "characters, counted from 0; 999,999 is behind the last"),
        ({"part": "lines 5:5"}, "'from' must be at least 0 and below 'to'"),
        ({"lines": [-1, 4]}, "'from' must be at least 0"),
        ({"rows": [10**30, None]}, "no content has more than 1,000,000,000,000 of them"),
        ({"bytes": [10**12, None]}, "bytes, counted from 0; 1,000,000,000,000 is behind the last"),
        ({"part": "rows -1 to 2"}, "a range is one of lines, rows, bytes or characters"),
        (
            {"part": "/part/3"},
            "has nothing at /part/3: the document is neither object nor array; ask for lines, or search",
        ),
        (
            {"part": "sql SELECT part FROM t", "rows": [3_000]},
            "the query has 3,000 rows, counted from 0; 3,000 is behind",
        ),
        ({"part": "sql SELECT part FROM t WHERE false", "rows": [1]}, "the query has 0 rows"),
    ],
)
def test_a_part_out_of_bounds_says_what_there_is(runtime: Runtime, part: dict[str, object], said: str) -> None:
    talk, id = begun(runtime)
    text = talk.answer_recall({"reference": id, **part})
    assert text.startswith("(recall: ")
    assert said in text
    assert len(text) < 300


def test_a_pointer_out_of_bounds_says_what_there_is(runtime: Runtime) -> None:
    talk, id = begun(runtime, '{"items": [{"a": 1}], "n": 7}')
    said = {
        part: talk.answer_recall({"reference": id, "part": part}) for part in ("/items/9", "/item", "/n/x", "/items/-1")
    }
    assert "/items has 1 items, counted from 0" in said["/items/9"]
    assert "has 2 keys: items, n" in said["/item"]
    assert "/n is neither object nor array" in said["/n/x"]
    assert "/items has 1 items" in said["/items/-1"]


def test_what_holds_no_table_says_so(runtime: Runtime) -> None:
    talk, id = begun(runtime, "The harbour is quiet.")
    with pytest.raises(NotFound, match="holds no table that can be asked; ask for lines, or search"):
        talk.recall(id, sql="SELECT 1")
    with pytest.raises(InvalidOption, match="sql is ''"):
        talk.recall(id, sql="")
