"""An agent of the OpenAI Agents SDK. The address comes from the environment, as the SDK reads it.

    python agents_sdk.py chat|responses|chained [streamed]

It prints what the agent said in the end.
"""

import asyncio
import sys

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled

from tests.serve.clients import logbook


@function_tool
def read_page(number: int) -> str:
    """Read a page of the logbook."""
    return logbook.page(number)


async def run(api: str, *, streamed: bool) -> str:
    agent = Agent(name="Reader", instructions="You read logbooks.", tools=[read_page], model="gpt-5.2")
    # Chained, the provider keeps the history and each request names the response before it.
    chained = {"auto_previous_response_id": True} if api == "chained" else {}
    turns = logbook.PAGES + 2
    if not streamed:
        return str((await Runner.run(agent, logbook.TASK, max_turns=turns, **chained)).final_output)
    result = Runner.run_streamed(agent, logbook.TASK, max_turns=turns, **chained)
    async for _ in result.stream_events():
        pass
    return str(result.final_output)


if __name__ == "__main__":
    set_tracing_disabled(True)
    set_default_openai_api("chat_completions" if sys.argv[1] == "chat" else "responses")
    print(asyncio.run(run(sys.argv[1], streamed="streamed" in sys.argv)))
