"""Files of recordings are read line by line; a line that holds none is refused with its place, and the rest goes on."""

import gzip
import json
from pathlib import Path

from callsheet.evaluate.files import Recording, load, read, short_name
from tests.evaluate.conversations import says, user

TALK = {"id": "t1", "source": "here", "messages": [user("u"), says("a")]}


def test_bad_lines_are_refused_with_file_and_line_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    nameless = {"messages": TALK["messages"]}
    lines = [json.dumps(TALK), "", "{broken", "[]", '{"messages": "hi"}', "[" * 100_000, json.dumps(nameless)]
    path.write_text("\n".join(lines), encoding="utf-8")
    loaded = load(path)
    assert [talk.id for talk in loaded.trajectories] == ["t1", "talks.jsonl:7"]
    assert [(refused.file, refused.line) for refused in loaded.refused] == [(str(path), line) for line in (3, 4, 5, 6)]


def test_a_recording_that_is_nested_too_deeply_refuses_its_line_only(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    part, end = '[{"type": "tool_result", "content": ', "}]"
    deep = '{"messages": [{"role": "user", "content": ' + part * 400 + '"x"' + end * 400 + "}]}"
    path.write_text(deep + "\n" + json.dumps(TALK), encoding="utf-8")
    loaded = load(path)
    assert [refused.line for refused in loaded.refused] == [1]
    assert len(loaded.trajectories) == 1


def test_bytes_that_are_no_utf_8_refuse_their_line_only(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_bytes(b'{"messages": "\xff"}\n' + json.dumps(TALK).encode())
    loaded = load(path)
    assert [refused.line for refused in loaded.refused] == [1]
    assert len(loaded.trajectories) == 1


def test_gzip_files_read_like_plain_ones(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(TALK).encode()))
    assert list(read(path)) == [Recording(line=1, raw=TALK)]
    assert load(path).name == "talks"


def test_a_gzip_file_that_breaks_off_keeps_what_was_whole(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl.gz"
    whole = gzip.compress(json.dumps(TALK).encode() + b"\n")
    path.write_bytes(whole + gzip.compress(json.dumps(TALK).encode() + b"\n")[:-12])
    loaded = load(path)
    assert len(loaded.trajectories) == 1
    assert [refused.line for refused in loaded.refused] == [2]


def test_a_file_that_is_no_gzip_is_refused_at_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl.gz"
    path.write_text("plain")
    assert [refused.line for refused in load(path).refused] == [1]


def test_a_recording_without_a_step_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps({"messages": [user("u")]}))
    loaded = load(path)
    assert loaded.trajectories == ()
    assert loaded.refused == ()


def test_names_lose_folder_and_endings() -> None:
    assert [short_name(Path(name)) for name in ("a/b.jsonl.gz", "c.jsonl", "d.json", "e.f")] == ["b", "c", "d", "e.f"]


def test_a_branch_is_read_with_what_it_inherits(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    edit = {"name": "edit", "parent": "main", "at": 2}
    again = {"name": "again", "parent": "edit", "at": 3}
    lines = [
        {"id": "t1", "messages": [user("u"), says("a"), user("left out"), says("b")]},
        {"id": "t1", "branch": edit, "messages": [user("edited"), says("c")]},
        {"id": "t1", "branch": again, "messages": [says("d")]},
        {"id": "lost", "branch": edit, "messages": [user("alone"), says("e")]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    read_back = {talk.id: [message.text for message in talk.messages] for talk in load(path).trajectories}
    assert read_back == {
        "t1": ["u", "a", "left out", "b"],
        "t1/edit": ["u", "a", "edited", "c"],
        "t1/again": ["u", "a", "edited", "d"],
        "lost": ["alone", "e"],
    }
