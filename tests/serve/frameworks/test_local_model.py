"""A real model, served locally by other people's code: too small to say anything true, so the wiring alone counts."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import openai
import pytest

from tests.serve.clients.sides import KEY
from tests.serve.proxy.proxies import Running, running, settings

SCRIPT = Path(__file__).parent / "small_model.py"


@pytest.fixture(scope="module")
def model(local_model: str) -> Iterator[str]:
    """The address of the model."""
    with subprocess.Popen(
        [local_model, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


@pytest.fixture
def proxy(model: str, tmp_path: Path) -> Iterator[Running]:
    made = settings(tmp_path, model)
    local = replace(made.upstreams[0], name="local", provider="llama.cpp")
    with running(replace(made, upstreams=(local,))) as found:
        yield found


def test_a_conversation_with_a_real_model(proxy: Running) -> None:
    with openai.OpenAI(api_key=KEY, base_url=f"{proxy.base}/v1", max_retries=0) as client:
        asked: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": "Say hello."}]
        whole = client.chat.completions.create(model="smollm2", messages=asked, max_tokens=8)
        said = whole.choices[0].message.content
        assert said
        asked += [{"role": "assistant", "content": said}, {"role": "user", "content": "Once more, please."}]
        stream = client.chat.completions.create(
            model="smollm2", messages=asked, max_tokens=8, stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
    texts = [choice.delta.content for chunk in chunks for choice in chunk.choices if choice.delta.content]
    assert len(texts) > 1
    assert whole.usage is not None
    assert chunks[-1].usage is not None
    first, second = proxy.rows()
    assert first["conversation"] == second["conversation"]
    assert [row["outcome"] for row in (first, second)] == ["answered"] * 2
    assert (first["input"], second["input"]) == (whole.usage.prompt_tokens, chunks[-1].usage.prompt_tokens)
    assert (first["output"], second["output"]) == (whole.usage.completion_tokens, chunks[-1].usage.completion_tokens)
