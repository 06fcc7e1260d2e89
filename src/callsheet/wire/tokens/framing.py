"""Tokens of a request that stand in none of its texts: around messages, calls and tools."""

from typing import NamedTuple

from callsheet.wire.tokens.providers import Family, family


class Framing(NamedTuple):
    """Tokens that a provider adds, beside those of the texts. OpenAI's first three are documented, as is Anthropic's
    `toolset`; all the rest are estimates.
    """

    #: Once in every request.
    request: int
    #: For every message, its role included.
    message: int
    #: For a message with a name, beside the name's own text.
    name: int
    #: For every call and every result, beside the texts of its tool name, arguments or content.
    call: int
    result: int
    #: For every tool offered, beside the JSON text of its definition.
    tool: int
    #: Once where any tool is offered.
    toolset: int

    def around(self, *, messages: int, names: int = 0, calls: int = 0, results: int = 0) -> int:
        """Tokens around the messages of one request."""
        return self.request + self.message * messages + self.name * names + self.call * calls + self.result * results

    def around_tools(self, tools: int) -> int:
        """Tokens around the tools of one request."""
        return self.toolset + self.tool * tools if tools else 0


def framing(provider: str) -> Framing:
    """The framing of a provider's requests."""
    match family(provider):
        case Family.OPENAI:
            # OpenAI's cookbook: 3 a message and 1 for its role, 1 for a name, 3 to prime the reply. Its models see
            # tools as terser text than JSON, so the JSON text of a definition already counts a little too much.
            return Framing(request=3, message=4, name=1, call=8, result=4, tool=8, toolset=12)
        case Family.ANTHROPIC:
            # Documented: 346 for the instructions on tools that it adds. A call is written out at length: about 40
            # beside its texts in public recordings, where one message alone took 8.
            return Framing(request=4, message=4, name=1, call=40, result=8, tool=8, toolset=346)
        case Family.GEMINI | Family.OTHER:
            return Framing(request=4, message=4, name=1, call=8, result=4, tool=8, toolset=16)
