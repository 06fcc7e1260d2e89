"""Tokens of a request that stand in none of its texts."""

import pytest

from callsheet.wire.tokens import counter_for, framing

#: The worked example of OpenAI's cookbook, with the prompt tokens that its API reported.
EXAMPLE = [
    (
        "",
        "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
    ),
    ("example_user", "New synergies will help drive top-line growth."),
    ("example_assistant", "Things working well together will increase revenue."),
    (
        "example_user",
        "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
    ),
    ("example_assistant", "Let's talk later when we're less busy about how to do better."),
    ("", "This late pivot means we don't have time to boil the ocean for the client deliverable."),
]


@pytest.mark.parametrize(("model", "reported"), [("gpt-4o", 124), ("gpt-4", 129), ("gpt-3.5-turbo", 129)])
def test_messages_count_as_openai_reports_them(model: str, reported: int) -> None:
    counter = counter_for("openai", model)
    names = [name for name, _ in EXAMPLE if name]
    inside = sum(counter.count(text) for _, text in EXAMPLE) + sum(counter.count(name) for name in names)

    assert inside + counter.framing.around(messages=len(EXAMPLE), names=len(names)) == reported


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "mistral"])
def test_every_part_of_a_request_adds_to_it(provider: str) -> None:
    parts = framing(provider)

    assert parts.around(messages=0) == parts.request
    assert parts.around(messages=3, names=1, calls=2, results=2) == (
        parts.request + 3 * parts.message + parts.name + 2 * parts.call + 2 * parts.result
    )
    assert parts.around_tools(0) == 0
    assert parts.around_tools(2) - parts.around_tools(1) == parts.tool
