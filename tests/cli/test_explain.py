"""``explain``: sentences for people, codes for programs, and an exit code where a request comes out otherwise."""

from pathlib import Path

import pytest

import callsheet
from callsheet.serve.proxy.credentials import folder_of, secret_of
from callsheet.serve.proxy.journal import Begun, Ended, Journal, Outcome, Sent
from tests.cli.running import Run
from tests.explain.making import readings, tended


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], list[str]]:
    """A store with a conversation that was written anew, its sheets and its results."""
    path = tmp_path_factory.mktemp("garden") / "agent.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("greenhouse")
        sheets = [str(sheet.id) for sheet in tended(talk, range(1, 11))]
        results = [str(record.id) for record in talk.history()[0] if record.header.kind == "artifact"]
    return path, sheets, results


def test_a_sentence_for_each_record(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, results = garden
    ran = run("explain", sheets[-1], "--store", path)
    assert ran.code == 0
    assert f"- result {results[-1]} of moisture, recorded on the active branch" in ran.out
    assert "policy set tight@1" in ran.out
    assert readings(1).splitlines()[0] not in ran.out


def test_codes_for_programs(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, _ = garden
    document = run("explain", sheets[-1], "--store", path, "--json").document
    records = document["records"]
    assert isinstance(records, list)
    assert document["sheet"] == sheets[-1]
    assert {"record", "level", "reason", "rule", "turn", "note", "sentence"} <= set(records[0])


def test_an_answer_stands_for_its_sheet(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, _ = garden
    with callsheet.open(path) as runtime:
        answer = runtime.existing("greenhouse").history()[0][-1].id
    assert run("explain", answer, "--store", path, "--json").document["sheet"] == sheets[-1]


def test_why_not(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, results = garden
    ran = run("explain", sheets[0], "--why-not", results[-1], "--store", path)
    assert (ran.code, ran.out.count("\n")) == (0, 1)
    assert "and the request saw up to" in ran.out
    unknown = run("explain", sheets[0], "--why-not", "nothing", "--store", path, "--json")
    assert (unknown.code, unknown.document["outcome"]) == (5, "unknown")


def test_every_candidate_with_what_each_policy_said(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, results = garden
    ran = run("explain", sheets[-1], "--trace", "--store", path)
    assert ran.code == 0
    assert f"+ result {results[-1]} of moisture" in ran.out
    assert "rehydration.compact_is_enough <= dense" in ran.out
    assert "It took, when it was assembled: graph query " in ran.out
    document = run("explain", sheets[-1], "--trace", "--store", path, "--json").document
    assert document["same"] is True
    candidates = document["candidates"]
    assert isinstance(candidates, list)
    assert {"known", "verdicts", "unasked", "level", "reason", "rule", "weights"} <= set(candidates[0])


def test_ids_of_people_are_named_for_people(run: Run, tmp_path: Path) -> None:
    with callsheet.open(tmp_path / "agent.db") as runtime:
        talk = runtime.conversation("greenhouse")
        talk.record({"role": "user", "content": "Who weeds?"})
        weeder = talk.participant("weeder")
        sheet = weeder.assemble(provider="openai", model="gpt-5.2")
    ran = run("explain", str(sheet.id), "--store", tmp_path / "agent.db")
    assert ran.out.endswith(f"Names: {weeder.participant_id} is weeder.\n")


def test_what_changed(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, results = garden
    ran = run("explain", sheets[0], "--diff", sheets[1], "--store", path)
    assert ran.code == 0
    assert f"+ result {results[0]} of moisture" in ran.out
    assert run("explain", sheets[0], "--diff", sheets[1], "--store", path, "--json").document["went"] == []


def test_made_again(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, _ = garden
    ran = run("explain", sheets[-1], "--rebuild", "--store", path)
    assert ran.code == 0
    assert "The same records came of it" in ran.out
    document = run("explain", sheets[-1], "--rebuild", "--store", path, "--json").document
    assert (document["same"], document["formatting"], document["same_blocks"]) == (True, False, document["blocks"])


@pytest.mark.parametrize("arguments", [("sheet_nowhere",), ("sheet_nowhere", "--why-not", "x")])
def test_a_sheet_that_is_not_there_is_not_found(
    run: Run, garden: tuple[Path, list[str], list[str]], arguments: tuple[str, ...]
) -> None:
    assert run("explain", *arguments, "--store", garden[0]).code == 5


def test_two_questions_at_once_are_refused(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, _ = garden
    assert run("explain", sheets[0], "--diff", sheets[1], "--rebuild", "--store", path).code == 2


def test_an_unanswered_message_has_no_sheet(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, _, _ = garden
    with callsheet.open(path) as runtime:
        asked = runtime.existing("greenhouse").history()[0][0].id
    assert run("explain", asked, "--store", path).code == 5


def test_a_request_of_the_proxy_stands_for_its_sheet(run: Run, garden: tuple[Path, list[str], list[str]]) -> None:
    path, sheets, _ = garden
    folder = folder_of(str(path))
    secret_of(folder)
    journal = Journal(folder)
    for request, tenant, sheet in (("0a", "local", sheets[-1]), ("0b", "local", ""), ("0c", "other", sheets[-1])):
        journal.begin(
            Begun(
                request=request, at=1, tenant=tenant, digest="d", key="k", route="chat", upstream="openai",
                provider="openai", model="gpt-5.2",
            )
        )  # fmt: skip
        journal.end(request, Ended(at=2, sent=Sent.SHEET, outcome=Outcome.ANSWERED, status=200, sheet=sheet))
    journal.close()
    assert run("explain", "0a", "--store", path, "--json").document["sheet"] == sheets[-1]
    assert run("explain", sheets[0], "--diff", "0a", "--store", path).out == run(
        "explain", sheets[0], "--diff", sheets[-1], "--store", path
    ).out  # fmt: skip
    for request, said in (("0b", "nothing was assembled"), ("0c", "no record"), ("0d", "no record")):
        ran = run("explain", request, "--store", path)
        assert (ran.code, said in ran.err) == (5, True)
