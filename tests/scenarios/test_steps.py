"""Each verb does what it says: branches, gifts, marks, skills and sub-agents, as the next request shows."""

import pytest

from callsheet.errors import InputError
from callsheet.evaluate.scenarios.judging import judge
from callsheet.evaluate.scenarios.reading import read
from callsheet.evaluate.scenarios.steps import VERBS

BEGIN = """\
name: Bakery
about: What stands?
policy: balanced
models: {openai: gpt-5.2}
steps:
  - system: You run a bakery.
  - user: How much flour is left?
    as: first
  - assistant: null
    calls: [{call: flour, tool: weigh, arguments: {bin: 4}}]
  - result: flour
    content: Bin 4 holds 81 kilograms of rye.
  - assistant: 81 kilograms.
    as: answer
"""

PEOPLE = """\
  - participant: Mara
    persona: You count sacks.
  - participant: Joss
    persona: You order sacks.
  - assistant: null
    by: Mara
    calls: [{call: sacks, tool: count_sacks}]
  - result: sacks
    by: Mara
    content: Forty-four sacks in the loft.
  - assistant: I have counted.
    by: Mara
  - user: Go on, Joss.
"""

JOSS = "by: Joss\n    expect: "
MORE = "  - user: And now?\n    as: last\n"

PLAYED: list[tuple[str, str, str]] = [
    (
        "edit",
        "  - edit: first\n    text: How much salt is left?\n    branch: salt\n    as: said\n",
        "on: salt\n    expect: {facts: ['How much salt is left?'], absent: [flour], left_out: {answer: branch}}",
    ),
    ("regenerate", "  - {regenerate: answer, branch: again}\n", "on: again\n    expect: {absent: ['81 kilograms.']}"),
    (
        "merge",
        "  - {branch: side, at: first}\n  - {assistant: The side speaks., on: side, as: aside}\n"
        "  - {merge: side, as: merged}\n" + MORE,
        "expect: {facts: [The side speaks.]}",
    ),
    (
        "merge of one",
        "  - {branch: side, at: first}\n  - {assistant: The side speaks., on: side, as: aside}\n"
        "  - {merge: side, records: [aside]}\n" + MORE,
        "expect: {facts: [The side speaks.]}",
    ),
    ("nothing given", PEOPLE, JOSS + "{absent: [Forty-four], left_out: {sacks: participant_private}}"),
    (
        "share",
        PEOPLE + "  - {share: sacks, to: Joss, by: Mara}\n",
        JOSS + "{recalls: [{record: sacks, holds: [Forty-four]}]}",
    ),
    (
        "release",
        PEOPLE + "  - {release: [sacks], to: [Joss], by: Mara}\n",
        JOSS + "{recalls: [{record: sacks, holds: [Forty-four]}]}",
    ),
    (
        "withdraw",
        PEOPLE + "  - {release: sacks, to: Joss, by: Mara}\n  - {withdraw: sacks, to: Joss, by: Mara}\n",
        JOSS + "{absent: [Forty-four sacks]}",
    ),
    ("stale", "  - {stale: flour, reason: sold}\n" + MORE, "expect: {absent: [of rye], selected: {flour: stale}}"),
    ("reclassify", "  - {reclassify: flour, privacy: secret}\n" + MORE, "expect: {selected: {flour: safe}}"),
    ("pin", "  - pin: flour\n" + MORE, "expect: {facts: [of rye]}"),
    (
        "offer",
        "  - {skill: knead, summary: Knead dough., instructions: Twelve minutes.}\n  - offer: knead\n" + MORE,
        "expect: {facts: ['knead: Knead dough.'], absent: [Twelve minutes.], tools: [use_skill]}",
    ),
    (
        "wait",
        "  - wait: 7200\n" + MORE,
        "expect: {facts: ['And now?']}",
    ),
    ("ask", MORE + "  - {ask: now, as: asked}\n  - assistant: Now.\n" + MORE, "expect: {facts: ['And now?']}"),
    ("arguments as text", "  - {assistant: Hm., calls: [{call: x, tool: y, arguments: '{'}]}\n" + MORE, "expect: {}"),
]


@pytest.mark.parametrize(("verb", "steps", "request_"), PLAYED, ids=[case[0] for case in PLAYED])
def test_a_verb_does_what_it_says(verb: str, steps: str, request_: str) -> None:
    (one,) = judge(read(f"{BEGIN}{steps}requests:\n  - recall: false\n    {request_}\n"))
    assert one.findings == (), verb


IMPOSSIBLE: list[tuple[str, str, str]] = [
    (
        "a memory without locators",
        "  - {promote: flour, summary: Some., as: some}\n  - misplace: some\n",
        "no memory with",
    ),
    ("no memory", "  - misplace: flour\n", "no memory with locators"),
    ("a check that comes otherwise", "  - {promote: flour, as: m}\n  - {check: m, gives: stale}\n", "gives 'whole'"),
    ("a class that there is not", "  - {reclassify: flour, privacy: odd}\n", "'odd' is not a valid Privacy"),
    ("endless time", "  - wait: .inf\n", "inf seconds cannot pass"),
    ("no time", "  - {user: Hm., after: .nan}\n", "nan seconds cannot pass"),
    ("no sub-agent", "  - {complete: main, report: Done.}\n", "'main' is no sub-agent"),
    ("a name that is taken by nobody", "  - {share: flour, to: Nobody}\n", "Nobody"),
    (
        "a resumption that comes otherwise",
        "  - checkpoint: here\n  - {resume: here, waits: true}\n",
        "resuming gives waits: False",
    ),
]


@pytest.mark.parametrize(("why", "steps", "says"), IMPOSSIBLE, ids=[case[0] for case in IMPOSSIBLE])
def test_a_step_that_cannot_happen_says_why(why: str, steps: str, says: str) -> None:
    with pytest.raises(InputError, match=r"scenario:1[5-9]:5: this step cannot happen") as caught:
        judge(read(f"{BEGIN}{steps}requests:\n  - expect: {{}}\n"))
    assert says in str(caught.value), why


def test_playing_twice_gives_the_same_figures() -> None:
    scenario = read(f"{BEGIN}{PEOPLE}requests:\n  - expect: {{}}\n")
    assert judge(scenario) == judge(scenario)


def test_all_verbs_are_known() -> None:
    assert len(VERBS) == 33
