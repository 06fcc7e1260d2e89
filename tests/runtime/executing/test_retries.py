"""Attempts of one call are alike, whatever the function did before."""

import callsheet
from callsheet import ToolContract
from callsheet.testing import memory_runtime
from tests.runtime.executing.acts import HandPace


def test_what_a_function_does_to_its_arguments_does_not_reach_the_next_attempt() -> None:
    given: list[dict[str, int]] = []

    @callsheet.tool(contract=ToolContract(name="weigh", side_effects=False, attempts=3))
    def weigh(crate: dict[str, int]) -> str:
        """Weigh."""
        given.append(dict(crate))
        crate["evil"] = 1
        if len(given) < 3:
            raise OSError("the scale slips")
        return "41 kg"

    with memory_runtime() as runtime:
        talk = runtime.conversation("dock")
        talk.record({"role": "user", "content": "Weigh it."})
        arguments = '{"crate": {"a": 1}}'
        asked = {"id": "w", "type": "function", "function": {"name": "weigh", "arguments": arguments}}
        talk.record({"role": "assistant", "content": None, "tool_calls": [asked]})
        talk.execute([weigh], pace=HandPace())
    assert given == [{"a": 1}] * 3
