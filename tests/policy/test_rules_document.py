"""Rules and retention in the YAML: what they say, and that what is wrong is named by its place in the file."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.engines.cel import Cel
from callsheet.errors import PolicyError
from callsheet.graph.ports import Condition, Flaw
from callsheet.policy.changed import Setting, changed
from callsheet.policy.context import ContextClass
from callsheet.policy.described import text
from callsheet.policy.document import parse
from callsheet.policy.keeping import Keeping
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import Retention
from tests.policy.writing import dump

CEL = Cel()
FERRY = """\
name: ferry
version: 3
rules:
  - name: crew_only
    about: visibility
    when: record.tool == 'roster' && !('crew' in boundary.scopes)
    then: leave_out
    reason: Who works when is for the crew.
  - name: cargo
    about: privacy
    when: |
      record.kind == 'artifact' &&
        record.tool == 'cargo_list'
    then: raw
    loosens: true
retention:
  operational:
    - {after: 86400, action: truncate}
    - {after: 864000, action: hash_only}
"""


def parsed(document: str) -> PolicySetDocument:
    return parse(document, file="ferry.yaml", conditions=CEL)


def test_rules_and_retention_are_read() -> None:
    assert parsed(FERRY) == replace(
        BALANCED,
        name="ferry",
        version="3",
        rules=(
            Rule(
                name="crew_only",
                about=About.VISIBILITY,
                when="record.tool == 'roster' && !('crew' in boundary.scopes)",
                then=Then.LEAVE_OUT,
                reason="Who works when is for the crew.",
            ),
            Rule(
                name="cargo",
                about=About.PRIVACY,
                when="record.kind == 'artifact' &&\n  record.tool == 'cargo_list'\n",
                then=Then.RAW,
                loosens=True,
            ),
        ),
        retention=(
            Keeping(of=ContextClass.OPERATIONAL, after=86_400, action=Retention.TRUNCATE),
            Keeping(of=ContextClass.OPERATIONAL, after=864_000, action=Retention.HASH_ONLY),
        ),
    )


def test_what_is_written_out_reads_back_equal() -> None:
    ferry = parsed(FERRY)
    assert parsed(dump(ferry)) == ferry


def test_rules_are_inherited_and_one_of_the_same_name_stands_instead() -> None:
    ferry = parsed(FERRY)
    more = "name: night\nversion: 1\nextends: ferry\nrules:\n"
    own = "  - {name: cargo, about: privacy, when: 'false', then: safe}\n"
    night = parse(more + own, known={"ferry": ferry}, conditions=CEL)
    assert [rule.name for rule in night.rules] == ["crew_only", "cargo"]
    assert night.rules[1].then is Then.SAFE
    kept = "name: night\nversion: 1\nextends: ferry\nretention: {operational: []}\n"
    assert parse(kept, known={"ferry": ferry}).retention == ()


def place(document: str, at: str) -> str:
    """Line and column of a text in the document, from 1."""
    before = document[: document.index(at)].split("\n")
    return f"{len(before)}:{len(before[-1]) + 1}"


#: How an expression can stand in YAML.
STYLES = [
    "when: record.kind == 'a' && record.hull",
    "when: 'record.kind == ''a'' && record.hull'",
    "when: \"record.kind == '\\u0061' && record.hull\"",
    "when: \"record.kind == 'a' && \\\n      record.hull\"",
    "when: |\n      record.kind == 'a'\n        && record.hull",
    "when: >\n      record.kind == 'a'\n\n      && record.hull",
    "when: >-\n        record.kind == 'a'\n        && record.hull",
    "when: record.kind == 'a'\n      && record.hull",
    "when: 'record.kind == ''a''\n\n      && record.hull'",
    "when:\n      record.hull",
    "when: \"\\trecord.kind == 'é𝄞' && record.hull\"",
]


@pytest.mark.parametrize("written", STYLES)
def test_a_wrong_condition_is_named_where_it_stands(written: str) -> None:
    document = f"name: ferry\nversion: 1\nrules:\n  - name: own\n    about: privacy\n    {written}\n    then: safe\n"
    where = place(document, "record.hull")
    with pytest.raises(PolicyError, match=rf"^ferry\.yaml:{where}: .*rule 'own': record has no 'hull'"):
        parsed(document)


RULE = "name: ferry\nversion: 1\nrules:\n  - {name: own, about: privacy, when: 'true', then: safe}\n"


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("about: privacy", "about: secrecy", "secrecy", "rules[0].about is 'secrecy'; it must be one of: visibility"),
        ("then: safe", "then: hide", "hide", "rules[0].then is 'hide'; it must be one of: raw, safe, leave_out"),
        ("then: safe", "then: raw", "{name", "rule 'own': then: raw gives out what the set keeps back"),
        ("about: privacy", "about: visibility", "{name", "rule 'own': a rule about visibility can only say leave_out"),
        ("'true'", "[1, 2]", "[1", "rules[0].when is a sequence; it must be printable text"),
        ("'true'", "''", "''", "rules[0].when is ''"),
        ("when: 'true', ", "", "{name", "rules[0] has no when; a rule needs name, about, when and then"),
        ("then: safe", "then: safe, if: x", "if: x", "unknown key 'rules[0].if'; allowed are: name, about, when"),
        ("then: safe", "then: raw, then: safe", "then: safe", "'rules[0].then' stands twice"),
        ("then: safe", "then: safe, loosens: .nan", ".nan", "rules[0].loosens is '.nan'; it must be true or false"),
        ("name: own", "name: Own", "{name", "the name of a rule is 'Own'"),
        ("name: own", "name: &a own", "&a", "anchors and aliases are not allowed"),
        ("{name", "*bomb {name", "*bomb", "anchors and aliases are not allowed"),
        ("rules:", "rules: []\nrule:", "rule:", "unknown key 'rule'"),
        ("'true'", "'true &&'", "', then", "rules[0].when of rule 'own': it ends too early"),
        (
            "safe}",
            "safe}\n  - {about: privacy, name: own, when: 'true', then: safe}",
            "{about",
            "rule 'own' stands twice",
        ),
        (
            "safe}",
            "safe}\nretention: {recovery: []}",
            "recovery",
            "unknown key 'retention.recovery'; allowed are: conv",
        ),
        (
            "safe}",
            "safe}\nretention: {planning: [{after: 1}]}",
            "{after",
            "retention.planning[0] needs after (seconds)",
        ),
        (
            "safe}",
            "safe}\nretention: {planning: [{after: 1e9, action: keep}]}",
            "1e9",
            "retention.planning[0].after is",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(old: str, new: str, at: str, message: str) -> None:
    assert old in RULE
    document = RULE.replace(old, new, 1)
    where = place(document, at)
    with pytest.raises(PolicyError, match=rf"^ferry\.yaml:{where}: {re.escape(message)}"):
        parsed(document)


def test_two_stages_of_one_age_are_refused() -> None:
    stages = "name: f\nversion: 1\nretention: {planning: [{after: 1, action: keep}, {after: 1, action: delete}]}\n"
    with pytest.raises(PolicyError, match="two stages begin after 1 seconds"):
        parsed(stages)


def test_too_many_rules_are_refused() -> None:
    rules = "".join(f"  - {{name: own{n}, about: privacy, when: 'true', then: safe}}\n" for n in range(65))
    with pytest.raises(PolicyError, match="65 rules; a policy set has at most 64"):
        parsed(f"name: f\nversion: 1\nrules:\n{rules}")


class Anywhere:
    """A language in which everything is wrong, at a given place."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def compiled(self, expression: str) -> Condition | Flaw:
        return Flaw(problem="wrong", offset=self.offset)


@given(when=st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=40), data=st.data())
def test_a_place_is_always_within_the_document(when: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(when)))
    document = dump(replace(BALANCED, name="f", rules=()))
    try:
        rule = Rule(name="own", about=About.PRIVACY, when=when, then=Then.SAFE)
    except PolicyError:
        return
    document = dump(replace(BALANCED, name="f", rules=(rule,)))
    with pytest.raises(PolicyError) as raised:
        parse(document, file="f", conditions=Anywhere(offset))
    found = re.match(r"f:(\d+):(\d+): ", str(raised.value))
    assert found is not None
    lines = re.split("\r\n|[\n\r\x85\u2028\u2029]", document)
    assert 1 <= int(found[1]) <= len(lines)
    assert 1 <= int(found[2]) <= len(lines[int(found[1]) - 1]) + 1


def test_what_differs_is_named_by_its_path() -> None:
    ferry = parsed(FERRY)
    other = replace(ferry, version="4", turns=2, rules=(replace(ferry.rules[0], reason="x"),))
    found = {setting.path: setting for setting in changed(ferry, other)}
    assert found["turns"] == Setting(path="turns", before="6", after="2")
    assert found["rules.crew_only.reason"].after == '"x"'
    assert (found["rules.cargo.then"].before, found["rules.cargo.then"].after) == ('"raw"', None)
    assert changed(ferry, replace(ferry, name="a", version="9")) == ()


def test_a_set_in_words_names_its_rules_and_what_is_not_usual() -> None:
    said = text(parsed(FERRY.replace("version: 3", "version: 3\nfreshness: {volatile: 60}")))
    assert "crew_only (visibility): where" in said
    assert "it is left out. Why: Who works when is for the crew." in said
    assert "after 60 seconds   (not as in balanced)" in said
    assert "operational        hash_only after 864,000 seconds" in said
    assert "the record is left out" in said
