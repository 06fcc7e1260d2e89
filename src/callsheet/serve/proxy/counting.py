"""Counts of tokens that clients ask for: passed through, or answered here where the content may not go out unseen."""

from callsheet.serve.proxy.weighing import Scales
from callsheet.wire.asked import read_request
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.tokens import TokenCounter


def counted(body: Fields, wire: Wire, model: str | None, counter: TokenCounter, scales: Scales) -> Fields:
    """The count of a request, in the shape in which its provider answers. `model`: where the address names it.

    Raises `InvalidMessage` for what is no request.
    """
    request = body.get("generateContentRequest")
    whole = request if isinstance(request, dict) else body
    read_request(whole, wire, model=model, stream=False)
    tokens = scales.weigh(whole, wire, counter).tokens + counter.framing.request
    if wire is Wire.ANTHROPIC:
        return {"input_tokens": tokens}
    if wire is Wire.OPENAI_RESPONSES:
        return {"object": "response.input_tokens", "input_tokens": tokens}
    return {"totalTokens": tokens}
