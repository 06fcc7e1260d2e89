"""``show`` on the command line: the list, a transcript, a record, a sheet."""

import json
from pathlib import Path

import callsheet
from tests.cli.running import Run

ODD = '{"id": "odd", "messages": [{"role": "user", "content": "red \\u001b[31m \\u0008 \\ud800", "name": "mia"}]}'


def test_the_list_tells_what_each_conversation_has_come_to(run: Run, store: Path) -> None:
    header, _, row = run("show", "--store", store).out.splitlines()

    assert header.startswith("conversation  status  turns  messages  calls  results  branches  last turn (UTC)")
    assert row.split() == ["support-desk", "active", "259", "260", "136", "136", "2", "2026-03-02", "17:29"]


def test_the_list_as_json_lines(run: Run, store: Path) -> None:
    (line,) = run("show", "--store", store, "--json").lines

    assert (line["conversation"], line["turns"], line["branches"]) == ("support-desk", 259, ["main", "edited-address"])
    assert line["last_turn_at"] == "2026-03-02T17:29:33+00:00"


def test_a_transcript_shows_messages_and_tools_with_their_ids(run: Run, store: Path) -> None:
    lines = run("show", "support-desk", "--store", store).out.splitlines()

    assert lines[0] == "support-desk, user callsheet-demo, branch main (of: main, edited-address), times in UTC"
    assert any(line.startswith("2026-03-02 09:00:20  user  msg_") for line in lines)
    assert any(line.startswith("2026-03-02 09:00:25  tool search_log  call_") for line in lines)
    assert any(line.startswith("    → failed: art_") for line in lines)
    assert lines[-1].startswith("newest sheet: sheet_")


def test_a_transcript_of_a_branch_as_json_lines(run: Run, store: Path) -> None:
    items = run("show", "support-desk", "--branch", "edited-address", "--store", store, "--json").lines

    assert {item["type"] for item in items} == {"message", "tool"}
    assert len(items) == len({item["id"] for item in items})
    assert items[0]["role"] == "system"


def test_a_record_is_shown_with_header_and_body(run: Run, store: Path) -> None:
    items = run("show", "support-desk", "--store", store, "--json").lines
    large = max((item for item in items if item["type"] == "tool"), key=lambda item: int(str(item["size"])))
    artifact = str(large["result"])

    text = run("show", "support-desk", artifact, "--store", store).out
    document = run("show", "support-desk", artifact, "--store", store, "--json").document

    header, body = document["header"], document["body"]
    assert isinstance(header, dict)
    assert isinstance(body, dict)
    assert (header["id"], header["kind"], str(header["at"])[:11]) == (artifact, "artifact", "2026-03-02T")
    assert len(body["content"][0]["text"]["content"].encode()) == large["size"]
    assert "characters more; --json prints all)" in text


def test_a_sheet_is_shown_with_its_request(run: Run, store: Path) -> None:
    newest = run("show", "support-desk", "--store", store).out.split()[-1]

    document = run("show", "support-desk", newest, "--store", store, "--json").document

    request = document["request"]
    assert isinstance(request, dict)
    assert request["model"] == "gpt-5.2"
    body = document["body"]
    assert isinstance(body, dict)
    assert len(request["messages"]) == body["messages_assembled"] > 0


def test_an_answer_names_what_the_model_saw_and_a_result_shows_its_text(run: Run, store: Path) -> None:
    items = run("show", "support-desk", "--store", store, "--json").lines
    answer = next(item["id"] for item in items if item["type"] == "message" and item["role"] == "assistant")
    card = next(item for item in items if item["type"] == "tool")

    seen = run("show", "support-desk", answer, "--store", store, "--json").document["sheet"]
    text = run("show", "support-desk", card["result"], "--store", store).out

    header = run("show", "support-desk", str(seen), "--store", store, "--json").document["header"]
    assert isinstance(header, dict)
    assert header["kind"] == "assembly"
    assert f"the result, {card['size']:,} bytes:" in text


def test_control_characters_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(ODD)
    run("import", tmp_path / "log.jsonl", "--store", tmp_path / "agent.db")

    text = run("show", "odd", "--store", tmp_path / "agent.db").out

    assert "user (mia)" in text
    assert "red ␛[31m ␈ \\ud800" in text


def test_no_name_of_a_conversation_or_file_reaches_the_terminal_raw(run: Run, tmp_path: Path) -> None:
    name = "a\x1b[31m\x9b1m"
    log = tmp_path / "log\x1b[31m.jsonl"
    log.write_text(json.dumps({"id": name, "messages": [{"role": "user", "content": name}]}) + "\n[[]]\n")
    store = tmp_path / "agent.db"

    ran = [
        run("import", log, "--store", store),
        *(run("show", *what, "--store", store, *form) for what in ([], [name]) for form in ([], ["--json"])),
        run("show", name, "\x1b[31m", "--store", store),
        run("export", name, "--store", store),
        run("verify", "--heads", "--store", store),
    ]

    for each in ran:
        assert not set("\x1b\x9b") & set(each.out + each.err)
    assert ran[1].out.count("a␛[31m") == 1
    assert [line["conversation"] for line in ran[2].lines] == [name]
    assert ran[3].out.startswith("a␛[31m\ufffd1m, user")


def test_records_of_other_conversations_are_not_shown(run: Run, store: Path, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(ODD)
    run("import", tmp_path / "log.jsonl", "--store", store)
    other = str(run("show", "odd", "--store", store, "--json").lines[0]["id"])

    assert run("show", "odd", other, "--store", store).code == 0
    assert run("show", "support-desk", other, "--store", store).code == 5


def test_names_are_listed_whole_and_ids_lead_to_them(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "desk.db"
    beginning = "proxy/" + "0" * 32 + "/"
    with callsheet.open(store) as runtime:
        ids = {name: runtime.conversation(name).id for name in (f"{beginning}{end}" for end in ("one", "two"))}
    listed = run("show", "--store", store).out
    for name, id in ids.items():
        assert name in listed
        assert run("show", id, "--store", store).out.startswith(f"{name}, user")
    assert run("show", "sgvveybr", "--store", store).code == 5
    with callsheet.open(store) as runtime:
        assert runtime.conversations() == list(ids)


def test_conversations_of_the_proxy_are_told_apart_by_model_and_first_words(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "desk.db"
    asked = {"one": "How is the\nweather?", "two": f"Draw a map of the harbour. {'It is large. ' * 50}"}
    with callsheet.open(store) as runtime:
        for name, text in asked.items():
            talk = runtime.conversation(f"proxy/{'0' * 32}/{name}")
            talk.record([{"role": "system", "content": "Be kind."}, {"role": "user", "content": text}])
            talk.assemble(provider="openai", model=f"gpt-{name}")
        runtime.conversation(f"proxy/{'0' * 32}/three")
        runtime.conversation("harbour").record({"role": "user", "content": "Which ships are there?"})
    header, _, *rows = run("show", "--store", store).out.splitlines()
    assert header.endswith("  about")
    assert rows[0].endswith("  gpt-one: How is the weather?")
    assert "  gpt-two: Draw a map of the harbour. It is large." in rows[1]
    assert all(len(row) < 200 for row in rows)
    assert "Which ships" not in rows[3]
    found = run("show", "--store", store, "--json").lines
    assert [one.get("model") for one in found] == ["gpt-one", "gpt-two", "", None]
    assert [str(one.get("begins"))[:10] for one in found] == ["How is the", "Draw a map", "", "None"]


def test_first_words_do_not_tell_secrets(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "desk.db"
    with callsheet.open(store) as runtime:
        talk = runtime.conversation(f"proxy/{'0' * 32}/one")
        talk.record({"role": "user", "content": "Use AKIAIOSFODNN7EXAMPLE to look."})
    out = run("show", "--store", store).out
    assert "Use " in out
    assert "AKIAIOSFODNN7EXAMPLE" not in out
