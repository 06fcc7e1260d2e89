"""A model service on a loopback port that the tests start: it says what a script says, in every provider's format, and
refuses what the providers refuse.

    with Upstream() as upstream:
        upstream.will(Reply(text="Hello"), Reply(calls=(Called("f", {"x": 1}),)), Failing(429, retry_after=3))
        client = openai.OpenAI(api_key="k", base_url=f"{upstream.url}/v1")
        ...
        assert upstream.received[0].body["model"] == "m"
"""

from tests.upstream.scripts import Broken, Called, Failing, Gate, Received, Reply, Step
from tests.upstream.server import Upstream

__all__ = ["Broken", "Called", "Failing", "Gate", "Received", "Reply", "Step", "Upstream"]
