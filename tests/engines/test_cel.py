"""CEL behind the port: what is wrong is told with its place, what cannot be told is None, and all of it ends."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.engines.cel import LONGEST, Cel
from callsheet.errors import MissingExtra
from callsheet.graph.ports import Condition, Flaw

VALUES: dict[str, dict[str, object]] = {
    "record": {"kind": "artifact", "tool": "sonar", "age": 90, "size": 4_096, "tags": {"deck": "two"}, "stale": False},
    "boundary": {"provider": "north", "scopes": ["bridge", "galley"]},
}


def flaw(expression: str) -> Flaw:
    found = Cel().compiled(expression)
    assert isinstance(found, Flaw)
    return found


def asked(expression: str) -> bool | None:
    found = Cel().compiled(expression)
    assert not isinstance(found, Flaw), found
    return found.holds(VALUES)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("record.kind == 'artifact' && record.age > 60", True),
        ("'galley' in boundary.scopes", True),
        ("boundary.scopes.exists(scope, scope.startsWith('eng'))", False),
        ("record.tags.deck == 'two'", True),
        ("has(record.tags.cabin)", False),
        ("record.size / 1024 >= 4", True),
        ("record.kind == 'message' || record.tags.cabin == 'x'", None),
        ("record.kind == 'artifact' || record.tags.cabin == 'x'", True),
        ("record.kind == 'message' && record.tags.cabin == 'x'", False),
    ],
)
def test_conditions_are_answered(expression: str, expected: bool | None) -> None:
    assert asked(expression) is expected


@pytest.mark.parametrize(
    "expression",
    [
        "record.tags.cabin == 'x'",
        "record.owner == 'mine'",
        "record.age > 'sixty'",
        "record.age / 0 > 1",
        "9223372036854775807 + record.age > 1",
        "record.age",
        "'yes'",
        "[1][3] == 1",
        "int('many') == 1",
    ],
)
def test_what_is_missing_fails_or_is_no_truth_value_cannot_be_told(expression: str) -> None:
    assert asked(expression) is None


@pytest.mark.parametrize(
    ("expression", "offset", "problem"),
    [
        ("record.age >", 12, "ends too early"),
        ("record.age > 5 &&& true", 17, "token recognition"),
        ("record.kind == 'ERROR: <input>:9:9: x' &&\n  record.age >> 5", 56, "extraneous input"),
        ("now() > 5", 0, "no function 'now'"),
        ("record.kind.matches('a+')", 12, "no function 'matches'"),
        ("true || recrd.age > 5", 8, "no variable 'recrd'"),
        ("[1].all(a, [2].all(b, b == a))", 15, "a second 'all'"),
        ("[1].all // x\n // y\n (a, [2].exists(b, b == a))", 28, "a second 'exists'"),
        ("[1].all(a, a + 1 > 0)", 13, "'+' too often; a condition with 'all' has none"),
        ("1" + " + 1" * 21 + " > 1", 82, "'+' too often; a condition has at most 20"),
        ("size([1].map(x, x)) == 1", 9, "'map' is not allowed"),
        ("[1].filter (x, true) == [1]", 4, "'filter' is not allowed"),
        ("true\x00", 4, "cannot stand in a condition"),
        ("'\ud800' == 'a'", 1, "cannot stand in a condition"),
        ("", 0, ""),
        ("(" * 400 + "true" + ")" * 400, 96, "nested too deeply"),
        ("true" + " " * LONGEST, LONGEST, "at most 2,000"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(expression: str, offset: int, problem: str) -> None:
    found = flaw(expression)
    assert problem in found.problem
    assert found.offset == offset
    assert "\n" not in found.problem


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cel", None)
    with pytest.raises(MissingExtra, match=r"pip install 'callsheet\[policies\]'"):
        Cel()


PIECES = [
    *(
        "record",
        "boundary",
        ".kind",
        ".age",
        ".tags",
        ".x",
        "[0]",
        "['a']",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "?",
    ),
    *("&&", "||", "!", "-", "+", "*", "/", "%", "==", "!=", "<", ">=", " in ", "has(", "size(", ".all(", "int(", "map"),
    *(
        "'a'",
        '"b"',
        "1",
        "-9223372036854775808",
        "9223372036854775807",
        "1e308",
        "1u",
        "0x1F",
        "null",
        "true",
        "b'\\xff'",
    ),
    *("'\\ud800'", "string(", "double(", ".contains(", ".startsWith(", "//c\n", "e", "\n", " ", "é", "𝄞", "r'\\'"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_nothing_that_is_written_breaks_it(expression: str) -> None:
    found = Cel().compiled(expression)
    if isinstance(found, Flaw):
        assert 0 <= found.offset <= len(expression)
        return
    condition: Condition = found
    assert condition.holds(VALUES) in (True, False, None)
    assert condition.holds({"record": {}, "boundary": {}}) in (True, False, None)
