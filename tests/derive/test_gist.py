import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.classify import failed
from callsheet.derive.entities import find
from callsheet.derive.fields import members
from callsheet.derive.gist import LIMIT, gist
from callsheet.derive.reading import read


def _gist(content: str, tool: str = "look_up", arguments: str = "{}", limit: int = LIMIT) -> str:
    document = read(content)
    return gist(
        document,
        tool=tool,
        arguments=arguments,
        failed=failed(document.text, document),
        found=find(document.text),
        limit_chars=limit,
    )


def test_a_small_object_is_told_by_its_members() -> None:
    line = _gist('{"pot_id": "P-7731", "glaze": "Winter Blue", "cone": 6}', "get_pot", '{"shelf": "B4"}')
    assert line == "get_pot(shelf: B4): pot_id: P-7731; glaze: Winter Blue; cone: 6"


def test_identifiers_stand_with_their_key() -> None:
    content = {"owner_id": "ruth_oake_3668", "pots": ["#P7731", "#P7732"], "note": "x" * 300}
    line = _gist(json.dumps(content))
    assert "owner_id: ruth_oake_3668" in line
    assert "pots: #P7731, #P7732" in line
    assert "xxx" not in line


def test_a_key_under_two_others_is_told_with_each() -> None:
    content = {"left": {"shelf": "S-1001", "n": [1]}, "right": {"shelf": "S-2002", "n": [2]}}
    line = _gist(json.dumps(content))
    assert "left.shelf: S-1001" in line
    assert "right.shelf: S-2002" in line


def test_measures_of_several_items_are_not_lined_up() -> None:
    content = [{"pot_id": f"P-77{n}1", "cone": n, "weight": 120.5 + n} for n in range(5)]
    line = _gist(json.dumps(content, indent=1))
    assert "pot_id: P-7701, P-7711" in line
    assert "5 items" in line
    assert "120.5" not in line


def test_what_was_asked_with_is_not_repeated_and_passwords_are_not_told() -> None:
    arguments = '{"pot_id": "P-7731", "password": "tR4!vq9", "body": {"deep": 1}}'
    line = _gist('{"pot_id": "P-7731", "owner_id": "ruth_oake_1", "tags": [1, 2]}', "get_pot", arguments)
    assert line.count("P-7731") == 1
    assert "tR4" not in line
    assert "ruth_oake_1" in line


def test_rows_are_told_under_the_names_of_their_columns() -> None:
    line = _gist("sku,bay,on_hand\nKLN-4471,B4,12\nKLN-4472,B5,7\n" * 1)
    assert "sku" in line
    rows = "".join(f"KLN-{n},B{n % 9},{n % 50}\n" for n in range(4000, 4400))
    line = _gist("sku,bay,on_hand\n" + rows)
    assert "400 rows" in line
    assert "sku: KLN-4000, KLN-4001" in line
    assert len(line) <= LIMIT


def test_text_is_told_by_its_first_sentence_and_by_names_in_their_words() -> None:
    text = (
        "The kiln plan has moved. "
        + "It was a long day for all of us here. " * 9
        + "The new host is oven-elm-1 since Monday."
    )
    line = _gist(text)
    assert "The kiln plan has moved." in line
    assert "host is oven-elm-1 since Monday" in line


def test_a_failed_run_says_so_with_its_error_and_status() -> None:
    log = ["$ weave build --all"] + [f"[{n:05d}] spun bobbin {n % 311} ok" for n in range(3000)]
    log += [
        "error: shuttle 7 jammed at pick 11981",
        "  at loom/drive.c:412",
        "weave: 1 error, 0 warnings",
        "exit status 3",
    ]
    line = _gist("\n".join(log), "run", '{"command": "weave build --all"}')
    assert line.startswith("run(command: weave build --all) failed (exit status 3): ")
    assert "error: shuttle 7 jammed at pick 11981" in line


@pytest.mark.parametrize("limit", [40, 90, 200, 400])
def test_a_failure_is_told_at_any_size(limit: int) -> None:
    arguments = json.dumps({"recipe": "celadon " * 40, "shelf": "B4 " * 40})
    line = _gist("Error: " + "the lid is open " * 60 + "\nexit status 3", "fire_the_kiln", arguments, limit)
    assert "failed" in line
    assert "lid" in line or limit < 90
    assert len(line) <= limit


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"error": "no such kiln", "code": 7}', "error: no such kiln"),
        ('{"success": false, "reason": "lid open"}', "reason: lid open"),
        ("Error: glaze is out of stock", "failed: Error: glaze is out of stock"),
        (
            'Traceback (most recent call last):\n  File "k.py", line 3, in f\n    g()\nValueError: too hot',
            "ValueError: too hot",
        ),
    ],
)
def test_errors_are_told_in_full(content: str, message: str) -> None:
    assert message in _gist(content)
    assert " failed: " in _gist(content)


def test_a_key_inside_a_string_names_nothing() -> None:
    content = json.dumps({"log": 'said "pot_id": "P-1111" twice', "pot_id": "P-2222"})
    assert [(field.key, field.value) for field in members(content) if field.key == "pot_id"] == [("pot_id", "P-2222")]


scalars = st.integers(-999, 99999) | st.text('aB1 "\\:{},é', max_size=9) | st.booleans()
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4)
    ),
    max_leaves=14,
)


def _pairs(value: object) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            for item in inner if isinstance(inner, list) else [inner]:
                if not isinstance(item, dict | list):
                    found.add((key, item if isinstance(item, str) else json.dumps(item)))
            found |= _pairs(inner)
    elif isinstance(value, list):
        for inner in value:
            found |= _pairs(inner)
    return found


@given(trees, st.booleans(), st.sampled_from([None, 1]))
def test_no_value_is_given_a_name_that_is_not_its_own(tree: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(tree, ensure_ascii=ascii_only, indent=indent)
    told = {(field.key, field.value) for field in members(text)}
    assert told <= _pairs(json.loads(text))


@given(st.text() | trees.map(json.dumps), st.text(max_size=40) | trees.map(json.dumps), st.integers(0, 500))
def test_the_gist_is_one_storable_line_within_its_limit(content: str, arguments: str, limit: int) -> None:
    line = _gist(content, "look_up", arguments, limit)
    assert len(line) <= limit
    assert line.isprintable() or "\n" not in line
    line.encode()


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("the pump in hall nine holds its pressure and " * 60, "the pump in hall nine holds its pressure and"),
        ("zone four steady, zone five steady, " * 60, "zone four steady, zone five steady,"),
        ("Zone four is steady" + " and stays so" * 60 + ". Nothing else.", "Zone four is steady and stays so"),
        ("die Pumpe in Halle neun hält den Druck und " * 60, "die Pumpe in Halle neun hält den Druck"),
        ("第四区很稳定而且" * 80, "第四区很稳定而且"),
    ],
    ids=["without a stop", "commas", "a long sentence", "german", "chinese"],
)
def test_prose_without_identifiers_is_told_by_its_beginning(text: str, begins: str) -> None:
    for limit in (100, 200, LIMIT):
        line = _gist(text, limit=limit)
        assert begins in line
        assert len(line) <= limit
    # Cut between words, where it has any.
    assert line.endswith("…")
    assert " " not in text or text.startswith(line.rpartition("; ")[2].removesuffix("…").strip())
    assert " " not in text or f"{line.rpartition('; ')[2].removesuffix('…')} " in text


def test_what_has_no_words_is_not_told_by_its_beginning() -> None:
    assert _gist("x" * 3_000) == "look_up(): 3,000 characters"
