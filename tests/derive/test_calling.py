"""What a call is found by, and which calls a text means."""

import pytest

from callsheet.derive.calling import LIMIT, Asked, Said, call_terms

FLIGHT = '{"origin": "Berlin", "dest": "Rome", "date": "2026-05-03"}'


@pytest.mark.parametrize(
    ("text", "tool", "arguments", "means"),
    [
        ("What was the strongest wind on day 14?", "weather", '{"day": 14}', True),
        ("What was the strongest wind on day 14?", "weather", '{"day": 15}', False),
        ("the gust at hour 5 of day 23", "weather", '{"day": 23}', True),
        ("the gust at hour 5 of day 23", "weather", '{"day": 5}', False),
        ("days 3 and 7", "weather", '{"day": 7}', True),
        ("largest draught at quay 11", "berths", '{"quay": 11}', True),
        ("the weather in Berlin", "get_weather", '{"city": "Berlin"}', True),
        ("the weather in Rome", "get_weather", '{"city": "Berlin"}', False),
        ("Berlin is nice", "get_weather", '{"city": "Berlin"}', False),
        ("Wie war das Wetter in Berlin?", "wetter", '{"ort": "Berlin"}', True),
        ("search flights Berlin to Rome 2026-05-03", "search_flights", FLIGHT, True),
        ("search flights to Rome 2026-05-03", "search_flights", FLIGHT, False),
        ("day 14", "weather", "{}", False),
        ("day 14", "weather", '{"day": 14, "more": [' + '"x1",' * 30 + "1]}", False),
    ],
)
def test_a_text_means_the_calls_whose_values_it_says(text: str, tool: str, arguments: str, means: bool) -> None:
    assert Said(text).means(Asked.of(call_terms(tool, arguments))) is means


@pytest.mark.parametrize(
    "arguments", ["", "no json", "[" * 3000, '{"a":' * 50 + "1" + "}" * 50, '{"t": "' + "w1 " * 9000 + '"}']
)
def test_any_arguments_have_few_terms(arguments: str) -> None:
    found = call_terms("tool", arguments)
    assert len(found) <= LIMIT
    assert len(set(found)) == len(found)
