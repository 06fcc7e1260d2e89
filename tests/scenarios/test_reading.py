"""Documents that are wrong are refused with file, line and column; what is made from a rule is what the rule says."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InputError
from callsheet.evaluate.scenarios.contents import Data, Lines, Rows, filled, made
from callsheet.evaluate.scenarios.judging import Judged, judge
from callsheet.evaluate.scenarios.reading import load, read
from callsheet.evaluate.scenarios.steps import VERBS, Edit, Result, User

GOOD = """\
name: Kettle
about: Which kettle boils first?
policy: lean
models: {openai: gpt-5.2}
steps:
  - user: Read both kettles.
  - assistant: null
    calls: [{call: k, tool: read_kettles, arguments: {floor: 2}}]
  - result: k
    content: {rows: "KT-{n:2},{n*10}", header: "kettle,degrees", count: 2}
  - user: Which is hotter?
    as: question
requests:
  - expect:
      facts: [KT-02]
"""


def judged(text: str) -> Judged:
    (one,) = judge(read(text))
    return one


def test_a_right_document_is_played_and_judged() -> None:
    one = judged(GOOD)
    assert (one.ok, one.facts, one.provider, one.policy) == (True, 1, "openai", "lean@1")
    assert one.exact
    assert one.replay > 0


# What stands in the document, what stands there instead, and what the error says.
WRONG: list[tuple[str, str, str, str]] = [
    (
        "a step without verb",
        "- user: Read both",
        "- says: Read both",
        "6:5: a step has one verb, and this one has none",
    ),
    (
        "two verbs",
        "- user: Which is hotter?",
        "- user: Which?\n    system: Now.",
        "11:5: a step has one verb, and this",
    ),
    ("an unknown key", "    as: question", "    called: question", "12:5: Object contains unknown field `called`"),
    ("a wrong type", "count: 2}", "count: two}", "10:14: content: Expected `int`, got `str`"),
    ("too many rows", "count: 2}", "count: 9999999}", "10:14: content: count is 9,999,999"),
    ("no known content", "{rows: ", "{lines: ", "10:14: content: it must be text, or have one of"),
    ("an unknown level", "facts: [KT-02]", "selected: {k: big}", "15:21: Invalid enum value 'big'"),
    ("a wrong size", "facts: [KT-02]", "replay: many", "15:15: Expected `int | null`, got `str`"),
    ("an unknown policy set", "policy: lean", "policy: thin", "3:9: no policy set 'thin'"),
    ("a wrong policy set", "policy: lean", "policy: {name: a, version: b, turn: 1}", "3:31: unknown key 'turn'"),
    ("an unknown section", "about: Which", "why: Which", "2:1: unknown key 'why'"),
    ("a missing section", "requests:\n  - expect:\n      facts: [KT-02]\n", "", "1:1: requests is missing"),
    ("no request", "requests:\n  - expect:\n      facts: [KT-02]\n", "requests: []", "13:11: requests is empty"),
    ("no expectation", "expect:\n      facts: [KT-02]", "about: x", "14:5: Object missing required field `expect`"),
    ("steps that are no list", "steps:\n", "steps: {a: b}\nother:\n", "6:1: unknown key 'other'"),
    ("a key twice", "policy: lean", "policy: lean\npolicy: lean", "4:1: 'policy' stands twice"),
    ("a tag", "policy: lean", "policy: !!python/name:os.system x", "3:9: tags are not allowed"),
    ("an alias", "policy: lean", "policy: &a lean", "3:9: anchors and aliases are not allowed"),
    ("no YAML", "policy: lean", "policy: [", "not YAML"),
    ("nothing", GOOD, "", "1:1: the document is empty"),
]


@pytest.mark.parametrize(("why", "stands", "instead", "says"), WRONG, ids=[case[0] for case in WRONG])
def test_a_wrong_document_is_refused_with_line_and_column(why: str, stands: str, instead: str, says: str) -> None:
    assert stands in GOOD, why
    with pytest.raises(InputError) as caught:
        read(GOOD.replace(stands, instead), file="kettle.yaml")
    assert str(caught.value).startswith("kettle.yaml:"), why
    assert says in str(caught.value), why


IMPOSSIBLE: list[tuple[str, str, str, str]] = [
    (
        "a branch that there is not",
        "    as: question",
        "    on: attic",
        "11:5: this step cannot happen: there is no branch",
    ),
    ("a record that there is not", "    as: question", "  - pin: kettle", "12:5: this step cannot happen: no record"),
    ("nothing to name", "    as: question", "  - pin: k\n    as: pinned", "12:5: this step cannot happen: nothing"),
    (
        "a status that there is not",
        "- result: k",
        "- result: k\n    status: fine",
        "9:5: this step cannot happen: status",
    ),
    ("a mode that there is not", "- expect:", "- mode: dream\n    expect:", "14:5: this request cannot be made: mode"),
    (
        "a name that there is not",
        "facts: [KT-02]",
        "left_out: {q: stale}",
        "14:5: this request cannot be made: no record",
    ),
    (
        "a checkpoint that is none",
        "- expect:",
        "- checkpoint: k\n    expect:",
        "14:5: this request cannot be made: no check",
    ),
    ("a budget too small", "- expect:", "- budget: 3\n    expect:", "14:5: this request cannot be made:"),
    (
        "no pattern",
        "facts: [KT-02]",
        "explained: {question: '('}",
        "14:5: this request cannot be made: '(' is no pattern",
    ),
]


@pytest.mark.parametrize(("why", "stands", "instead", "says"), IMPOSSIBLE, ids=[case[0] for case in IMPOSSIBLE])
def test_what_cannot_happen_is_told_with_line_and_column(why: str, stands: str, instead: str, says: str) -> None:
    assert stands in GOOD, why
    with pytest.raises(InputError) as caught:
        judge(read(GOOD.replace(stands, instead), file="kettle.yaml"))
    assert str(caught.value).startswith(f"kettle.yaml:{says}"), why


UNMET: list[tuple[str, str, str]] = [
    ("a fact", "facts: [KT-77]", "'KT-77' does not stand in the request"),
    ("an absence", "absent: [KT-01]", "'KT-01' stands in the request"),
    ("a size", "sheet: 1", "more than 1"),
    ("a replay", "replay: 10", "not within 5 % of 10"),
    ("a level", "selected: {k: safe}", "'k' stands as dense, and not as safe"),
    ("a reason", "left_out: {k: stale}", "'k' is not left out as stale"),
    ("an explanation", "explained: {question: replaced}", "does not fit 'replaced'"),
    ("a tool", "tools: [boil]", "the tools are none, and not boil"),
    ("an exact text", "recalls: [{record: k, rows: [0, 1], equals: KT-05}]", "gives 'KT-01,10', and not 'KT-05'"),
    ("a part", "recalls: [{record: k, search: KT-01, holds: [steam]}]", "'steam' does not stand in what"),
    ("a place", "recalls: [{record: k, pointer: /a/b, equals: x}]", "'k' cannot be recalled"),
    ("a refusal", "recalls: [{record: k, refused: true}]", "'(recall: ' does not stand in what a model gets"),
]


@pytest.mark.parametrize(("why", "expects", "says"), UNMET, ids=[case[0] for case in UNMET])
def test_what_is_not_met_is_a_finding(why: str, expects: str, says: str) -> None:
    one = judged(GOOD.replace("facts: [KT-02]", expects))
    assert not one.ok, why
    assert any(says in finding for finding in one.findings), (why, one.findings)


def test_an_edit_is_read_as_one_though_it_says_its_branch() -> None:
    edit = "  - edit: question\n    text: Which is colder?\n    branch: colder\nrequests:\n"
    scenario = read(GOOD.replace("requests:\n", edit))
    assert [type(step) for step in scenario.steps[-2:]] == [User, Edit]


def test_every_verb_is_the_first_field_of_its_kind() -> None:
    assert all(verb in kind.__struct_fields__ for verb, kind in VERBS.items())


def test_deep_and_long_documents_are_refused() -> None:
    with pytest.raises(InputError, match="nested deeper than"):
        read("[" * 200)
    with pytest.raises(InputError, match="a scenario has at most"):
        read("x" * 1_000_001)


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"name: \xff")
    with pytest.raises(InputError, match="not UTF-8 at byte 6"):
        load(tmp_path / "a.yaml")


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(InputError):
        read(text)


@given(st.text(max_size=60), st.integers(0, 10_000))
def test_any_template_makes_a_line(template: str, number: int) -> None:
    assert isinstance(filled(template, number), str)


def test_rules_make_what_they_say() -> None:
    assert made(Lines(repeat="{n:3} {a|b|c} {n*7%10+1}", count=3)) == "001 b 8\n002 c 5\n003 a 2"
    assert made(Rows(header="a,b", rows="{n},{n+1}", count=2, first=5)) == "a,b\n5,6\n6,7"
    assert made(Data(json={"a": [1, None]})) == '{"a": [1, null]}'
    assert filled('{"id": "{n}", "x": "{m}"}', 4) == '{"id": "4", "x": "{m}"}'


def test_a_content_of_several_pieces_has_them_one_below_the_other() -> None:
    scenario = read(GOOD.replace("    content: {rows", "    content:\n      - First.\n      - {rows"))
    assert isinstance(scenario.steps[2], Result)
    assert "First.\\nkettle,degrees" in repr(judged_text(scenario.steps[2]))


def judged_text(step: Result) -> str:
    from callsheet.evaluate.scenarios.reading import content_text

    return content_text(step)
