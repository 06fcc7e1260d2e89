"""An agent of Pydantic AI. The addresses come from the environment, as the providers' SDKs read them.

    python pydantic_agent.py PROVIDER:MODEL [streamed]

It prints what the agent said in the end,"""

import asyncio
import sys
from collections.abc import AsyncIterable

from pydantic_ai import Agent
from pydantic_ai.usage import UsageLimits

from tests.serve.clients import logbook

agent = Agent(sys.argv[1], instructions="You read logbooks.")


@agent.tool_plain
def read_page(number: int) -> str:
    """Read a page of the logbook."""
    return logbook.page(number)


async def passed(_: object, events: AsyncIterable[object]) -> None:
    async for _event in events:
        pass


async def run(*, streamed: bool) -> str:
    limits = UsageLimits(request_limit=logbook.PAGES + 2)
    # With a handler of events the model is asked for streams.
    result = await agent.run(logbook.TASK, usage_limits=limits, event_stream_handler=passed if streamed else None)
    return result.output


if __name__ == "__main__":
    print(asyncio.run(run(streamed="streamed" in sys.argv)))
