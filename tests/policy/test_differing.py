"""What differs between two sets, in words: one line for each thing, and none for what is the same."""

from callsheet.policy.differing import differences
from callsheet.policy.document import parse
from callsheet.policy.sets import BALANCED, BUILT_IN

FERRY = """
name: ferry
version: 1
turns: 8
high_water: {tokens: 30000}
weights: {recency: 0.5}
privacy:
  secret: none
  google_derived: {default: safe, gemini: raw}
freshness:
  volatile: never
tools:
  tide: {freshness: volatile, recheck: [tide]}
rules:
  - name: roster
    about: visibility
    when: >
      record.tool == 'roster'
      && boundary.task == ''
    then: leave_out
    reason: It is for the crew.
retention:
  operational:
    - {after: 60, action: truncate}
    - {after: 600, action: delete}
"""


def test_each_thing_that_differs_takes_one_line() -> None:
    assert list(differences(BALANCED, parse(FERRY))) == [
        "~ turns: 6 -> 8",
        "~ high_water: 60,000 tokens or 80% of the budget -> 30,000 tokens",
        "~ weights.recency: 0.35 -> 0.5",
        "~ privacy secret: as metadata only -> not at all",
        "+ privacy google_derived to gemini: with its values",
        "~ freshness volatile: stale after 900 seconds -> never by time alone",
        "+ tool tide: freshness volatile, recheck tide",
        "+ rule roster: (visibility) where record.tool == 'roster' && boundary.task == '': it is left out. "
        "Why: It is for the crew.",
        "+ retention operational: truncate after 60 seconds, delete after 600 seconds",
    ]


def test_what_goes_and_what_changes_is_told_apart() -> None:
    ferry, other = parse(FERRY), parse(FERRY.replace("freshness: volatile", "idempotent: true"))
    back = list(differences(ferry, BALANCED))
    assert [line[0] for line in back] == ["~", "~", "~", "~", "-", "~", "-", "-", "-"]
    assert list(differences(ferry, other)) == [
        "~ tool tide: freshness volatile, recheck tide -> idempotent true, recheck tide"
    ]


def test_sets_that_say_the_same_differ_in_nothing() -> None:
    for document in BUILT_IN.values():
        assert list(differences(document, document)) == []
        others = [other for other in BUILT_IN.values() if other is not document]
        assert all(list(differences(document, other)) for other in others)
