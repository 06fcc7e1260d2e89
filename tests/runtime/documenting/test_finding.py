"""Finding passages: narrowed first, exact names before words and meaning, and shaped by nothing that is hidden."""

import json
from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callsheet import Runtime
from callsheet.policy.document import parse
from callsheet.runtime.documenting.finding import Passage
from callsheet.runtime.documenting.lexical import OCCURRENCES
from tests.hashing import Hashing
from tests.runtime.documenting.shop import RETURNS_2, fill, opened


@pytest.fixture(params=[False, True], ids=["words", "vectors"])
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    with opened(embedder=Hashing() if request.param else None) as made:
        fill(made)
        made.work()
        yield made


def names(found: Sequence[Passage]) -> list[str]:
    return [f"{passage.document}@{passage.version}" for passage in found]


def test_a_passage_says_where_it_is_from(runtime: Runtime) -> None:
    passage = runtime.knowledge.search("warranty of kilns")[0]
    assert (passage.document, passage.version, passage.title, passage.heading) == (
        "WAR-03", "1", "Warranty", "Warranty",
    )  # fmt: skip
    assert "two years" in passage.text
    assert passage.document_id == runtime.knowledge.get("WAR-03").id
    assert (passage.locale, passage.attributes, passage.replaced_by) == ("en", {"about": "kilns"}, None)


@pytest.mark.parametrize("name", ["KIL-7781", "kil-7781", "WAR-03", "ret-01", "SHP-02"])
def test_an_exact_name_comes_first(runtime: Runtime, name: str) -> None:
    expected = {"KIL-7781": "WAR-03", "kil-7781": "WAR-03"}.get(name, name.upper())
    found = runtime.knowledge.search(name)
    assert found[0].document == expected
    assert found[0].exact
    assert not any(passage.exact for passage in found[1:])
    assert [passage.document for passage in found] == [expected]


def test_an_exact_name_comes_first_whatever_else_is_asked(runtime: Runtime) -> None:
    found = runtime.knowledge.search("goods that arrive broken, KIL-7781")
    assert [found[0].document, found[0].exact] == ["WAR-03", True]
    assert "RET-01@1" in names(found)


@pytest.mark.parametrize(
    ("filters", "allowed"),
    [
        ({"locale": "de"}, {"SHP-02"}),
        ({"attributes": {"about": "kilns"}}, {"WAR-03", "SHP-02"}),
        ({"attributes": {"about": "kilns", "version": "3"}}, {"SHP-02"}),
        ({"attributes": {"about": "kilns"}, "locale": "en"}, {"WAR-03"}),
        ({"document": "RET-01"}, {"RET-01"}),
        ({"version": "3"}, {"SHP-02"}),
        ({"version": "9"}, set()),
        ({"attributes": {"nothing": "x"}}, set()),
    ],
)
def test_what_is_asked_narrows_first(runtime: Runtime, filters: Mapping[str, object], allowed: set[str]) -> None:
    query = "goods kilns warranty Öfen WAR-03"
    found = runtime.knowledge.search(query, **filters)  # type: ignore[arg-type]
    assert {passage.document for passage in found} == allowed
    assert len({passage.document for passage in runtime.knowledge.search(query)}) == 3


def test_the_newest_version_alone_is_found_unless_another_is_named(runtime: Runtime) -> None:
    newer = runtime.knowledge.replace("RET-01", RETURNS_2, version="2", title="Return policy")
    runtime.work()
    query = "goods go back within days"
    assert names(runtime.knowledge.search(query, document="RET-01")) == ["RET-01@2"]
    (older,) = runtime.knowledge.search(query, document="RET-01", version="1")
    assert (older.version, older.replaced_by) == ("1", newer)
    assert "30 days" in older.text


def test_k_is_how_many_are_given(runtime: Runtime) -> None:
    assert len(runtime.knowledge.search("goods kilns Öfen", k=2)) == 2


def test_words_of_titles_and_headings_count_more_than_those_of_a_text() -> None:
    with opened() as runtime:
        runtime.knowledge.add("one", "The glaze is told about beside many other things here.", title="Kilns")
        runtime.knowledge.add("two", "The kiln is told about beside many other things here.", title="Glaze")
        runtime.knowledge.add("three", "# Glaze\n\nIt is told about beside many other things.", title="Things")
        found = runtime.knowledge.search("glaze")
        assert {passage.document for passage in found[:2]} == {"two", "three"}
        assert found[1].score > found[2].score


def test_a_common_word_is_looked_for_beyond_what_does_not_count() -> None:
    """However many newer chunks do not count, the ones that do are found."""
    with opened() as runtime:
        runtime.knowledge.add("small", "A kiln stands here.", locale="en")
        many = "\n\n".join(f"A kiln number {at} of many kilns stands there. " * 24 for at in range(OCCURRENCES + 300))
        assert runtime.knowledge.version(runtime.knowledge.add("large", many, locale="de")).chunks > OCCURRENCES
        assert names(runtime.knowledge.search("kiln", locale="en")) == [
            f"small@{runtime.knowledge.get('small').version}"
        ]
        assert len(runtime.knowledge.search("kiln")) == 20


def test_what_stands_under_a_word_is_found_however_many_newer_ones_hold_it() -> None:
    with opened() as runtime:
        runtime.knowledge.add("old", "# Kilns\n\nThey stand here.", title="Kilns")
        many = "\n\n".join(f"A kiln number {at} of many kilns stands there. " * 24 for at in range(OCCURRENCES + 50))
        runtime.knowledge.add("new", many)
        assert "old" in {passage.document for passage in runtime.knowledge.search("kiln", k=2 * OCCURRENCES)}
        assert not any(passage.exact for passage in runtime.knowledge.search("\x1fkiln"))


# ---------------------------------------------------------------------------------------------- policies


@pytest.mark.parametrize(
    ("privacy", "provider", "found"),
    [("internal", "openai", True), ("connected_account", "openai", False), ("secret", "openai", False)],
)
def test_a_class_that_may_not_go_to_a_provider_is_not_found_for_it(privacy: str, provider: str, found: bool) -> None:
    with opened() as runtime:
        runtime.knowledge.add("a", "The kiln is hot.", privacy=privacy)
        assert bool(runtime.knowledge.search("kiln", provider=provider)) is found
        assert len(runtime.knowledge.search("kiln")) == 1


def test_rules_of_a_policy_set_see_attributes_and_scopes() -> None:
    rules = """
name: desk
version: 1.0.0
extends: balanced
rules:
  - name: staff_only
    about: visibility
    when: record.tags.audience == 'staff' && !('staff' in boundary.scopes)
    then: leave_out
    reason: This is for staff.
"""
    policy = parse(rules)
    with opened() as runtime:
        runtime.knowledge.add("a", "The kiln is hot.", attributes={"audience": "staff"})
        runtime.knowledge.add("b", "The kiln is red.", attributes={"audience": "all"})
        for scopes, expected in (((), {"b"}), (("staff",), {"a", "b"})):
            found = runtime.knowledge.search("kiln", provider="openai", policy=policy, scopes=scopes)
            assert {passage.document for passage in found} == expected


def test_a_newer_version_that_may_not_be_read_stands_in_nobody_s_place() -> None:
    with opened() as runtime:
        first = runtime.knowledge.add("a", "The kiln is hot.", version="1")
        runtime.knowledge.replace("a", "The kiln is cold.", version="2", privacy="secret")
        (passage,) = runtime.knowledge.search("kiln", provider="openai")
        assert (passage.document_id, passage.replaced_by) == (first, None)
        assert names(runtime.knowledge.search("kiln")) == ["a@2"]


# ---------------------------------------------------------------------------------------------- what is hidden

_WORDS = ["kiln", "glaze", "Öfen", "ofen", "warranty", "AB-1234", "KIL-7", "goods", "釉薬", "Brennofen", "returned"]
_TEXTS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join)
_HIDDEN = st.sampled_from([None, None, "other tenant", "connected_account", "secret"])
_SHELVES = st.lists(st.tuples(_TEXTS, _HIDDEN, st.integers(0, 4)), min_size=1, max_size=8)


def _told(found: Sequence[Passage]) -> str:
    """All that a search says but for ids, which count what else there is."""
    rows = [
        (
            one.document,
            one.version,
            one.title,
            one.heading,
            one.text,
            one.exact,
            one.score,
            one.arms,
            one.replaced_by is None,
        )
        for one in found
    ]
    return json.dumps(rows)


def _searched(shelf: Sequence[tuple[str, str | None, int]], query: str, *, vectors: bool) -> str:
    with opened(embedder=Hashing() if vectors else None) as runtime:
        other = Runtime(runtime.ledger, tenant="other", ids=runtime._ids, clock=runtime._clock)
        for at, (text, hidden, name) in enumerate(shelf):
            knowledge = (other if hidden == "other tenant" else runtime).knowledge
            there = {one.document for one in knowledge.list()}
            put = knowledge.replace if f"doc-{name}" in there else knowledge.add
            privacy = hidden if hidden in ("connected_account", "secret") else "internal"
            put(f"doc-{name}", f"# {text}\n\n{text} {text}", version=f"v{at}", privacy=privacy)
        runtime.work()
        return _told(runtime.knowledge.search(query, provider="openai"))


@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(shelf=_SHELVES, query=_TEXTS)
def test_what_is_hidden_changes_nothing_of_what_is_found(
    vectors: bool, shelf: list[tuple[str, str | None, int]], query: str
) -> None:
    numbered = [(at, *one) for at, one in enumerate(shelf)]
    everything = _searched(shelf, query, vectors=vectors)
    visible = [(text, hidden, name) for _, text, hidden, name in numbered if hidden is None]
    renamed = _searched(visible, query, vectors=vectors)
    # Versions are numbered by place; without the hidden ones they have other places.
    places = [at for at, _, hidden, _ in numbered if hidden is None]
    for place, at in reversed(list(enumerate(places))):
        renamed = renamed.replace(f'"v{place}"', f'"v{at}"')
    assert everything == renamed


@pytest.mark.parametrize(
    "query", ["\0", "\ud800 kiln", "釉", "🫖", "x" * 1000, "%_*[](){}", "kiln " * 150, "'; DROP TABLE record"]
)
def test_odd_queries_are_answered(runtime: Runtime, query: str) -> None:
    found = runtime.knowledge.search(query)
    assert len(found) <= 3
    assert not any(passage.exact for passage in found)


def test_what_says_the_same_in_another_document_comes_behind_what_is_new() -> None:
    with opened() as runtime:
        same = "Kilns must cool for twelve hours before anybody opens them."
        for at in range(4):
            runtime.knowledge.add(f"copy {at}", same, title="Handbook")
        runtime.knowledge.add("new", "Many other things are told of kilns, which stand in hall five and weigh a lot.")
        found = runtime.knowledge.search("kilns cool twelve hours", k=3)
        assert [passage.document for passage in found][:2] == ["copy 3", "new"]


def test_four_wordings_without_a_title_leave_room_for_other_facts() -> None:
    told = (
        "The east gate opens at six in the morning.",
        "At six in the morning the east gate opens.",
        "In the morning at six the east gate opens.",
        "East gate: opens at six, in the morning",
        "The gate to the harbour is locked with a green key.",
        "Gates are painted every spring.",
    )
    with opened() as runtime:
        for at, text in enumerate(told):
            runtime.knowledge.add(f"D-{at}", text)
        found = [passage.document for passage in runtime.knowledge.search("When does the gate open?", k=3)]
    assert {"D-4", "D-5"} < set(found)
