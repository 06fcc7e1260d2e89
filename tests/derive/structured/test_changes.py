"""What the changes between two objects must say: enough to make the new one of the old one."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.derive.structured import decode
from callsheet.derive.structured.changes import changes
from callsheet.derive.structured.inline import write
from callsheet.derive.structured.reading import parse
from callsheet.derive.structured.values import Json
from tests.derive.structured.test_dense import json_values

_KEYS = ("hive", "frames", "without", "a, b", "lot no", "", "|3", "[2]", "keeper", "- x", "5")
_OBJECTS = st.dictionaries(st.sampled_from(_KEYS), json_values, max_size=8).map(lambda found: tuple(found.items()))
_GONE = re.compile(r'"(?:[^"\\]|\\.)*"|[^",]+')


def _applied(text: str, old: Json) -> dict[str, str]:
    """Old with the changes made, each value as JSON."""
    assert isinstance(old, tuple)
    members = {key: write(value) for key, value in old}
    if text.startswith("without: "):
        line, _, text = text.partition("\n")
        for found in _GONE.findall(line.removeprefix("without: ")):
            if found != " ":
                gone = found.strip()
                del members[json.loads(gone) if gone.startswith('"') else gone]
    changed = decode(text) if text else ()
    assert isinstance(changed, tuple)
    return members | {key: write(value) for key, value in changed}


@settings(max_examples=80, deadline=None)
@given(_OBJECTS, _OBJECTS, st.sets(st.sampled_from(_KEYS)))
def test_changes_put_into_the_old_object_give_the_new_one(one: Json, other: Json, same: set[str]) -> None:
    assert isinstance(one, tuple)
    assert isinstance(other, tuple)
    kept = dict(one)
    new = tuple((key, kept[key] if key in same and key in kept else value) for key, value in other)
    found = changes(write(new), write(one))
    if found is not None:
        assert _applied(found, one) == {key: write(value) for key, value in new}


def test_only_what_changed_is_shown_and_what_is_gone_is_named() -> None:
    old = {"boat": "Heron", "berth": 4, "crew": ["Ada", "Bo"], "legs": [{"from": "Oban", "to": "Mull"}], "fee": 1}
    new = {"boat": "Heron", "crew": ["Ada", "Bo"], "legs": [{"from": "Oban", "to": "Mull"}], "paid": True, "fee": 1.0}
    assert changes(json.dumps(new, indent=1), json.dumps(old)) == "without: berth\npaid: true\nfee:1.0"
    assert changes(json.dumps(new), json.dumps(new)) == ""


def test_a_changed_table_stands_with_its_header() -> None:
    tides = [{"hour": hour, "metres": 2} for hour in (3, 9)]
    old = {"port": "Oban, by the pier at the north end of the harbour", "tides": tides}
    new = old | {"tides": [*tides, {"hour": 15, "metres": 3}]}
    assert changes(json.dumps(new), json.dumps(old)) == "tides[3]{hour metres}:\n3|2\n9|2\n15|3"


def test_where_most_is_new_there_are_no_changes_to_show() -> None:
    assert changes('{"a":"one","b":"two","c":"x"}', '{"a":"six","b":"ten","c":"x"}') is None


@pytest.mark.parametrize(
    ("new", "old"),
    [("[1]", "{}"), ("{}", "[1]"), ('{"a":1', '{"a":1}'), ('{"a":1,"a":1}', '{"a":1}'), ("", ""), ("{}", "\x00")],
)
def test_what_is_no_object_or_repeats_a_key_has_no_changes(new: str, old: str) -> None:
    assert changes(new, old) is None


def test_any_depth_is_compared() -> None:
    deep = "[" * 10_000 + "]" * 10_000
    assert changes(f'{{"a":{deep},"b":2}}', f'{{"a":{deep},"b":1}}') == "b:2"
    assert parse(deep)
