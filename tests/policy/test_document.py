"""The YAML document: what it says, where it is wrong, and that hostile ones are refused cheaply."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Level, Privacy
from callsheet.policy.context import ContextClass
from callsheet.policy.contracts import ToolContract
from callsheet.policy.document import parse
from callsheet.policy.keeping import NEVER_AGED, Keeping
from callsheet.policy.positions import LONGEST
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import BALANCED, BUILT_IN, LEAN, PolicySetDocument
from callsheet.policy.settings import (
    FORMS,
    HISTORY_LEVELS,
    ClassForms,
    Fill,
    Manner,
    Narrowing,
    ProviderForm,
    Retention,
    StaleAfter,
    Water,
    Weights,
)
from tests.policy.writing import dump

HARBOUR = """\
# What the harbour office lets its assistant see.
name: harbour
version: 1.10
extends: lean
turns: 5
low_water: {tokens: 2000}
narrowing:
  manner: start
privacy:
  secret: none
  google_derived: {default: none, gemini: raw}
freshness: {volatile: 60, time_bounded: never}
tools:
  read gauge:
    freshness: volatile
    recheck: [read gauge, phone]
    reads_current_state: true
  blow_horn: {side_effects: true, idempotent: false}
"""


def test_a_document_changes_what_it_names_and_keeps_the_rest() -> None:
    assert parse(HARBOUR) == replace(
        LEAN,
        name="harbour",
        version="1.10",
        turns=5,
        low_water=Water(tokens=2_000),
        narrowing=Narrowing(limit=800, manner=Manner.START),
        privacy=ClassForms(secret=Level.NONE, google_derived=Level.NONE),
        providers=(ProviderForm(provider="gemini", privacy=Privacy.GOOGLE_DERIVED, form=Level.RAW),),
        freshness=StaleAfter(volatile=60, time_bounded=None),
        tools=(
            ToolContract(
                name="read gauge",
                freshness=Freshness.VOLATILE,
                recheck=("read gauge", "phone"),
                reads_current_state=True,
            ),
            ToolContract(name="blow_horn", side_effects=True, idempotent=False),
        ),
    )


def test_without_extends_it_is_balanced() -> None:
    assert parse("name: quay\nversion: 2\n") == replace(BALANCED, name="quay", version="2")


def test_a_document_can_extend_another_and_its_contracts() -> None:
    harbour = parse(HARBOUR)
    text = (
        "name: pier\nversion: 1\nextends: harbour\n"
        "tools: {read gauge: {shared_world: true}}\nprivacy: {google_derived: {vertex: raw}}"
    )
    found = parse(text, known={"harbour": harbour})
    assert [tool.name for tool in found.tools] == ["read gauge", "blow_horn"]
    assert found.tools[0] == replace(harbour.tools[0], shared_world=True)
    assert [item.provider for item in found.providers] == ["gemini", "vertex"]
    assert found.privacy == harbour.privacy


@pytest.mark.parametrize("document", BUILT_IN.values(), ids=str)
def test_built_in_sets_can_be_written_out(document: PolicySetDocument) -> None:
    assert document == parse(dump(document))


WRONG = [
    ("turns: many", "3:8", "turns is 'many'; it must be a whole number from 0 to 64"),
    ('turns: "6"', "3:8", "turns is '6'; it must be a whole number"),
    ("turns: 65", "3:8", "turns is '65'"),
    ("turns: 6.0", "3:8", "turns is '6.0'"),
    ("turns: [6]", "3:8", "turns is a sequence"),
    ("miss: 1e999", "3:7", "miss is '1e999'"),
    ("miss: " + "9" * 5_000, "3:7", "miss is '999"),
    ("weights: {recency: .nan}", "3:20", "weights.recency is '.nan'; it must be a number from 0 to 1"),
    ("weights: {recency: 1e999}", "3:20", "weights.recency is '1e999'"),
    ("high_water: {share: 0.1}", "3:13", "low_water is above high_water"),
    ("trun: 5", "3:1", "unknown key 'trun'; allowed are: name, version, extends, history"),
    ("narrowing: {limits: 5}", "3:13", "unknown key 'narrowing.limits'; allowed are: limit, manner"),
    ("recall: yes", "3:9", "recall is 'yes'; it must be true or false"),
    ("history: stale", "3:10", "history is 'stale'; it must be one of: raw, dense, focus, gist"),
    (
        "high_water: {}",
        "3:13",
        "high_water is a mapping; it must be tokens, a share of the budget, a share of the history, or several",
    ),
    ("low_water: {tokens: 90000}", "3:12", "low_water is above high_water"),
    ("privacy: {secret: gist}", "3:19", "privacy.secret is 'gist'; it must be one of: raw, safe, none"),
    ("privacy: {secrets: raw}", "3:11", "unknown key 'privacy.secrets'; allowed are: public, internal"),
    ("privacy: {secret: {openai: gist}}", "3:28", "privacy.secret.openai is 'gist'"),
    ("privacy: {secret: [raw]}", "3:19", "privacy.secret is a sequence; it must be a mapping"),
    ("freshness: {volatile: -1}", "3:23", "'never' or seconds"),
    ("tools: [gauge]", "3:8", "tools is a sequence; it must be a mapping"),
    ("tools: {gauge: {recheck: horn}}", "3:26", "tools.gauge.recheck is 'horn'; it must be a list"),
    ("tools: {gauge: {recheck: [[horn]]}}", "3:27", "tools.gauge.recheck[0] is a sequence"),
    ("tools: {gauge: {fresh: volatile}}", "3:17", "unknown key 'tools.gauge.fresh'"),
    ("tools: {gauge: {}, gauge: {}}", "3:20", "'tools.gauge' stands twice"),
    ("extends: me", "3:10", "extends is 'me'; it must be one of: balanced, faithful, lean, replay"),
    ("name: other", "3:1", "'name' stands twice"),
    ("? [a]\n: 1", "3:3", "a key is a sequence; it must be printable text"),
    ("<<: {turns: 5}", "3:1", "unknown key '<<'"),
    ("turns: &six 6", "3:8", "anchors and aliases are not allowed"),
    ("miss: *six", "3:7", "anchors and aliases are not allowed"),
    ("turns: !!int 6", "3:8", "tags are not allowed"),
    ("turns: !!python/object/apply:os.getcwd []", "3:8", "tags are not allowed"),
    ("---\nturns: 5", "3:1", "a second document begins"),
    ("turns: {", "4:1", "not YAML"),
    ("turns:\t5\n\t- x", "3:7", "not YAML"),
]


@pytest.mark.parametrize(("line", "place", "message"), WRONG, ids=[case[0][:40] for case in WRONG])
def test_an_error_names_file_line_column_value_and_what_is_allowed(line: str, place: str, message: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(message)) as raised:
        parse(f"name: quay\nversion: 1\n{line}\n", file="quay.yaml")
    assert str(raised.value).startswith(f"quay.yaml:{place}: ")
    assert len(str(raised.value)) < 500


def test_a_name_that_could_not_be_told_from_a_version_is_refused_in_place() -> None:
    with pytest.raises(PolicyError, match=r"quay.yaml:2:10: version is '1@2'; it must be without '@'"):
        parse("name: quay\nversion: 1@2\n", file="quay.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "- a",
        "just words",
        "turns: 5",
        "name: \nversion: 1",
        'name: "a\\nb"\nversion: 1',
        "name: a@b\nversion: 1",
        "\0",
        "\ud800",
        "name: \ud800",
        '"\\UFFFFFFFF"',
        "%YAML " + "9" * 5_000 + ".1\n---\na: b",
        "[" * 100_000,
        "- " * 50_000,
        "{a: " * 25_000,
        "x" * (LONGEST + 1),
        "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]",
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_hostile_documents_are_refused(text: str) -> None:
    with pytest.raises(PolicyError):
        parse(text)


@settings(max_examples=60)
@given(text=st.text(max_size=200) | st.text(alphabet="nametursio: 16{}[]&*!|>-?'\"\\%@\n\t#,", max_size=80))
def test_whatever_stands_in_a_file_raises_nothing_else(text: str) -> None:
    try:
        parse(text)
        parse(f"name: quay\nversion: 1\n{text}")
    except PolicyError:
        pass


# --------------------------------------------------------------------------- round trip

_characters = st.characters(exclude_categories=("C", "Z"), exclude_characters="@") | st.just(" ")
_labels = st.text(_characters, min_size=1, max_size=20)
_shares = st.floats(0, 1, allow_subnormal=False)
_maybe = st.booleans() | st.none()
_seconds = st.none() | st.integers(0, 10**9)
_contracts = st.builds(
    ToolContract,
    name=_labels,
    freshness=st.none() | st.sampled_from(Freshness),
    privacy=st.none() | st.sampled_from(Privacy),
    retention=st.none() | st.sampled_from(Retention),
    side_effects=_maybe,
    idempotent=_maybe,
    recheck=st.none() | st.lists(_labels, max_size=2).map(tuple),
    reads_current_state=_maybe,
    shared_world=_maybe,
    narrowing=st.none() | st.sampled_from(Manner),
    idempotency_key=st.none() | _labels,
    time_limit=st.none() | st.floats(0.001, 86_400),
    attempts=st.none() | st.integers(1, 20),
    backoff=st.none() | st.floats(0, 86_400),
    needs_approval=_maybe,
)
_exceptions = st.builds(
    ProviderForm,
    provider=_labels.filter(lambda text: text != "default"),
    privacy=st.sampled_from(Privacy),
    form=st.sampled_from(FORMS),
)
_rules = st.builds(
    Rule,
    name=st.from_regex(r"[a-z][a-z0-9_-]{0,20}", fullmatch=True),
    about=st.sampled_from([About.PRIVACY, About.PROVIDER]),
    when=st.sampled_from(["true", "record.kind == 'a'\n  && record.age > 1\n", "'ä: #' in boundary.scopes", "a\tb"]),
    then=st.sampled_from([Then.SAFE, Then.LEAVE_OUT]),
    reason=st.just("") | _labels.filter(lambda text: " ".join(text.split()) == text and len(text) <= 300),
)
_keepings = st.builds(
    Keeping,
    of=st.sampled_from([of for of in ContextClass if of not in NEVER_AGED]),
    after=st.integers(0, 10**10),
    action=st.sampled_from(Retention),
)
_documents = st.builds(
    PolicySetDocument,
    name=_labels,
    version=_labels,
    history=st.sampled_from(HISTORY_LEVELS),
    instructions_in_place=st.booleans(),
    verbatim=st.booleans(),
    turns=st.integers(0, 64),
    horizon=st.integers(1, 1_000),
    miss=st.integers(0, 10**9),
    high_water=st.builds(Water, tokens=st.integers(100, 10**9), share=st.just(1.0)),
    low_water=st.builds(Water, tokens=st.none() | st.integers(0, 100), share=_shares),
    fill=st.sampled_from(Fill),
    narrowing=st.builds(Narrowing, limit=st.integers(1, 10**9), manner=st.sampled_from(Manner)),
    privacy=st.builds(ClassForms, secret=st.sampled_from(FORMS), public=st.sampled_from(FORMS)),
    providers=st.lists(_exceptions, max_size=4, unique_by=lambda item: (item.privacy, item.provider)).map(
        # Written by class, so they come back in the order of the classes.
        lambda items: tuple(sorted(items, key=lambda item: list(Privacy).index(item.privacy)))
    ),
    freshness=st.builds(StaleAfter, volatile=_seconds, session=_seconds, durable=_seconds),
    recall=st.booleans(),
    meaning=st.integers(0, 30),
    weights=st.builds(Weights, recency=_shares, half_life=st.floats(1, 10**8)),
    rehydrate=st.integers(0, 10**12),
    tools=st.lists(_contracts, max_size=3, unique_by=lambda tool: tool.name).map(tuple),
    rules=st.lists(_rules, max_size=3, unique_by=lambda rule: rule.name).map(tuple),
    retention=st.lists(_keepings, max_size=4, unique_by=lambda one: (one.of, one.after)).map(
        # Written by class, so they come back class by class.
        lambda items: tuple(sorted(items, key=lambda one: list(ContextClass).index(one.of)))
    ),
)


@settings(max_examples=40)
@given(document=_documents)
def test_what_is_written_reads_back_equal(document: PolicySetDocument) -> None:
    assert document == parse(dump(document))
    assert document.hash == parse(dump(document)).hash


def test_all_that_is_wrong_is_found_in_one_reading_in_the_order_of_the_document() -> None:
    wrong = """\
name: ferry
version: 1
turnz: 3
horizon: 0
high_water: {tokens: -1, share: 2}
privacy: {secret: nine, personal: {default: raw, gemini: rough}}
tools:
  tide: {freshness: fast, idempotent: maybe}
  berth: {privacy: own}
rules:
  - {name: one, about: visibility, when: "true", then: safe}
  - {name: two, about: views, when: "true", then: leave_out}
  - {name: three, about: privacy, when: "true", then: safe}
retention:
  operational: [{after: soon, action: keep}, {after: 5, action: eat}]
"""
    with pytest.raises(PolicyError) as raised:
        parse(wrong, file="ferry.yaml")
    places = [problem.split(":")[1] for problem in raised.value.problems]
    assert places == ["3", "4", "5", "5", "6", "6", "8", "8", "9", "11", "12", "15", "15"]
    assert str(raised.value) == raised.value.problems[0]
    assert "unknown key 'turnz'" in raised.value.problems[0]
    assert raised.value.place == (3, 1)


def test_a_document_that_is_wrong_all_over_is_told_in_part() -> None:
    with pytest.raises(PolicyError) as raised:
        parse("name: ferry\nversion: 1\n" + "".join(f"key{place}: 1\n" for place in range(2_000)))
    assert len(raised.value.problems) == 50
    assert "unknown key 'key0'" in raised.value.problems[0]
    assert "unknown key 'key49'" in raised.value.problems[49]


def test_one_error_alone_is_all_that_is_told() -> None:
    with pytest.raises(PolicyError) as raised:
        parse("name: ferry\nvershun: 1\n")
    assert [problem.partition(": ")[2][:21] for problem in raised.value.problems] == ["unknown key 'vershun'"]
