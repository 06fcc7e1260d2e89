"""Agents of others finish a task of many steps through the proxy, as they do without it, while old results leave."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.serve.clients import hunt, logbook
from tests.serve.clients.sides import KEY, proxied
from tests.upstream import Upstream

ROOT = Path(__file__).parents[3]


def finished(python: str, script: str, arguments: tuple[str, ...], base: str) -> str:
    """What the agent says in the end. All that it is told of the proxy are addresses."""
    told = {
        "PYTHONPATH": str(ROOT),
        "OPENAI_BASE_URL": f"{base}/v1",
        "ANTHROPIC_BASE_URL": base,
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_API_KEY": KEY,
    }
    command = [python, str(Path(__file__).parent / f"{script}.py"), *arguments]
    done = subprocess.run(command, env=os.environ | told, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("agents_sdk", ("chat", "streamed")),
        ("agents_sdk", ("responses",)),
        # The provider keeps the history and bills it: it goes out assembled.
        ("agents_sdk", ("chained",)),
        ("pydantic_agent", ("anthropic:claude-haiku-4-5", "streamed")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_an_agent_finishes_its_task_as_it_does_without_the_proxy(
    frameworks: str, tmp_path: Path, script: str, arguments: tuple[str, ...]
) -> None:
    with Upstream(rules=False) as upstream:
        upstream.otherwise(lambda received: hunt.plays(received, upstream))
        plain = finished(frameworks, script, arguments, upstream.url)
        without = len(upstream.received)
    with proxied(tmp_path, plays=hunt.plays) as (upstream, proxy):
        assert finished(frameworks, script, arguments, proxy.base) == plain == logbook.answer()
        assert [received.refused for received in upstream.received] == [None] * without
    rows = proxy.rows()
    assert len({row["conversation"] for row in rows}) == 1
    assert hunt.leaves(rows)
