"""Addresses: what they mean, and where they lead."""

import pytest

from callsheet.serve.proxy.routes import Kind, address_of, route, upstream_for
from callsheet.serve.proxy.settings import Format, Settings, Upstream
from callsheet.wire.names import Wire

ANTHROPIC = {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "kind", "wire"),
    [
        ("POST", "/v1/chat/completions", {}, Kind.ANSWER, Wire.OPENAI),
        ("POST", "/v1/chat/completions/", {}, Kind.ANSWER, Wire.OPENAI),
        ("POST", "/v1//chat/completions", {}, Kind.ANSWER, Wire.OPENAI),
        ("POST", "/v1/chat%2Fcompletions", {}, Kind.ANSWER, Wire.OPENAI),
        ("POST", "/openai/v1/chat/completions", {}, Kind.ANSWER, Wire.OPENAI),
        ("POST", "/openai/chat/completions", {}, Kind.ANSWER, Wire.OPENAI),
        ("GET", "/v1/chat/completions", {}, Kind.PASS, Wire.OPENAI),
        ("POST", "/v1/responses", {}, Kind.ANSWER, Wire.OPENAI_RESPONSES),
        ("POST", "/v1/responses/input_tokens", {}, Kind.COUNT, Wire.OPENAI_RESPONSES),
        ("POST", "/v1/responses/resp_1/cancel", {}, Kind.PASS, Wire.OPENAI),
        ("POST", "/v1/messages", {}, Kind.ANSWER, Wire.ANTHROPIC),
        ("POST", "/v1/messages?beta=true", {}, Kind.ANSWER, Wire.ANTHROPIC),
        ("POST", "/v1/messages/count_tokens", {}, Kind.COUNT, Wire.ANTHROPIC),
        ("POST", "/v1/messages/batches", {}, Kind.PASS, Wire.ANTHROPIC),
        ("POST", "/v1/chat/completions", {"x-api-key": "k"}, Kind.ANSWER, Wire.OPENAI),
        ("POST", "/v1//messages", {}, Kind.ANSWER, Wire.ANTHROPIC),
        ("GET", "/v1/models", ANTHROPIC, Kind.PASS, Wire.ANTHROPIC),
        ("GET", "/v1/models", {}, Kind.PASS, Wire.OPENAI),
        ("GET", "/v1/models?key=k", {}, Kind.PASS, Wire.GEMINI),
        ("GET", "/v1beta/models", {}, Kind.PASS, Wire.GEMINI),
        ("POST", "/v1beta/models/gemini-2.5-flash:generateContent", {}, Kind.ANSWER, Wire.GEMINI),
        ("POST", "/v1/models/gemini-2.5-flash:generateContent?key=k", {}, Kind.ANSWER, Wire.GEMINI),
        ("POST", "/v1beta/models/gemini-2.5-flash%3AstreamGenerateContent", {}, Kind.ANSWER, Wire.GEMINI),
        ("POST", "/v1beta/models/gemini-2.5-flash:countTokens", {}, Kind.COUNT, Wire.GEMINI),
        ("POST", "/v1beta/models/text-embedding:embedContent", {}, Kind.PASS, Wire.GEMINI),
        ("POST", "/v1/completions", {}, Kind.PASS, Wire.OPENAI),
        ("POST", "/", {}, Kind.PASS, Wire.OPENAI),
    ],
)
def test_what_an_address_means(method: str, path: str, headers: dict[str, str], kind: Kind, wire: Wire) -> None:
    path, _, query = path.partition("?")
    found = route(Settings(), method, path, query, headers)
    assert (found.kind, found.wire) == (kind, wire)


def test_gemini_says_model_and_streaming_in_the_address() -> None:
    found = route(Settings(), "POST", "/v1beta/models/gemini-2.5-flash:streamGenerateContent", "alt=sse", {})
    assert (found.model, found.stream, found.query) == ("gemini-2.5-flash", True, "alt=sse")
    tuned = route(Settings(), "POST", "/v1beta/tunedModels/mine:generateContent", "", {})
    assert (tuned.model, tuned.stream) == ("tunedModels/mine", False)


@pytest.mark.parametrize(
    ("address", "path", "query", "found"),
    [
        ("https://a", "/v1/models", "", "https://a/v1/models"),
        ("https://a/v1", "/v1/models", "x=%20", "https://a/v1/models?x=%20"),
        ("https://a/api", "/v1/models", "", "https://a/api/v1/models"),
        ("https://a/api/v1", "/v1", "", "https://a/api/v1"),
        ("https://a/v1", "/v1beta/models", "", "https://a/v1/v1beta/models"),
        ("https://a/v1beta", "/v1beta/models", "", "https://a/v1beta/models"),
        ("https://a/v1", "/models", "", "https://a/v1/models"),
        ("https://a", "/v1/a%2Fb/%C3%A4", "", "https://a/v1/a%2Fb/%C3%A4"),
    ],
)
def test_where_an_address_leads(address: str, path: str, query: str, found: str) -> None:
    upstream = Upstream(name="main", format=Format.OPENAI, address=address, provider="openai")
    known = route(Settings(upstreams=(upstream,)), "GET", f"/main{path}", query, {})
    assert address_of(upstream, known) == found


def test_the_first_upstream_that_serves_a_model() -> None:
    def named(name: str, *models: str) -> Upstream:
        return Upstream(name=name, format=Format.OPENAI, address="https://a", provider="openai", models=models)

    made = Settings(upstreams=(named("small", "gpt-*-mini", "o3"), named("big", "gpt-*")))
    chat = route(made, "POST", "/v1/chat/completions", "", {})
    big = route(made, "POST", "/big/v1/chat/completions", "", {})
    claude = route(made, "POST", "/v1/messages", "", {})

    def chosen(model: str) -> str | None:
        found = upstream_for(made, chat, model)
        return found.name if found is not None else None

    assert [chosen(model) for model in ("gpt-4o-mini", "gpt-4o", "o3", "llama", "")] == [
        "small",
        "big",
        "small",
        None,
        "small",
    ]
    # Named in the address, it serves what it serves, also what another one would get without its name, and no more.
    assert upstream_for(made, big, "gpt-4o-mini") is made.upstreams[1]
    assert upstream_for(made, big, "") is made.upstreams[1]
    assert upstream_for(made, big, "whatever") is None
    assert upstream_for(made, claude, "claude") is None
