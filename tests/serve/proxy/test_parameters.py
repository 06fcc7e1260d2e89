"""What a client puts beside its history is judged by the policy set too."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from callsheet.derive.redaction import Redaction
from callsheet.graph.enums import Level, Privacy
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import BALANCED, BUILT_IN, PolicySetDocument
from callsheet.policy.settings import ProviderForm
from callsheet.serve.proxy.parameters import judged
from callsheet.serve.proxy.settings import Handling
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.asked import read_request
from callsheet.wire.names import Wire
from tests.serve.proxy.proxies import running, settings
from tests.upstream import Upstream

SECRET = "AKIA" + "IOSFODNN7" + "EXAMPLE"
PERSON = "ada.lovelace@example.org"
SAYS = {"role": "user", "content": "Hi"}
BODIES: dict[Wire, dict[str, Any]] = {
    Wire.OPENAI: {"model": "gpt-4o", "messages": [SAYS]},
    Wire.OPENAI_RESPONSES: {"model": "gpt-4o", "input": [SAYS]},
    Wire.ANTHROPIC: {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [SAYS]},
    Wire.GEMINI: {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
}
PATHS = {
    Wire.OPENAI: "/v1/chat/completions",
    Wire.OPENAI_RESPONSES: "/v1/responses",
    Wire.ANTHROPIC: "/v1/messages",
    Wire.GEMINI: "/v1beta/models/gemini-2.5-flash:generateContent",
}
HEADERS = {
    Wire.ANTHROPIC: {"x-api-key": "k", "anthropic-version": "2023-06-01"},
    Wire.GEMINI: {"x-goog-api-key": "k"},
}
#: A parameter of each format that can hold any text, around it.
HOLDS: dict[Wire, Callable[[str], dict[str, Any]]] = {
    Wire.OPENAI: lambda text: {"prediction": {"type": "content", "content": [{"type": "text", "text": text}]}},
    Wire.OPENAI_RESPONSES: lambda text: {"metadata": {"note": text}},
    Wire.ANTHROPIC: lambda text: {"stop_sequences": [text]},
    Wire.GEMINI: lambda text: {"generationConfig": {"stopSequences": [text]}},
}


def keeps(privacy: Privacy) -> PolicySetDocument:
    """The default, with this class kept from everybody here."""
    kept = tuple(
        ProviderForm(provider=provider, privacy=privacy, form=Level.NONE)
        for provider in ("openai", "anthropic", "google")
    )
    made: PolicySetDocument = replace(BALANCED, name="own", version="1", providers=kept)
    return made


@pytest.mark.parametrize("wire", Wire)
def test_a_secret_in_a_parameter_goes_out_as_its_marker(tmp_path: Path, wire: Wire) -> None:
    body = BODIES[wire] | HOLDS[wire](f"the key {SECRET} is new")
    with (
        Upstream(rules=False) as upstream,
        running(settings(tmp_path, upstream.url)) as proxy,
        proxy.client() as client,
    ):
        found = client.post(PATHS[wire], json=body, headers=HEADERS.get(wire, {"authorization": "Bearer k"}))
    assert found.status_code == 200
    (sent,) = upstream.bodies
    assert SECRET not in json.dumps(sent)
    assert "the key [secret:aws-access-key#" in json.dumps(sent)
    assert proxy.rows()[0]["sent"] == "sheet"


@pytest.mark.parametrize("wire", Wire)
@pytest.mark.parametrize("privacy", [Privacy.SECRET, Privacy.PERSONAL])
def test_what_the_set_keeps_back_altogether_is_refused(tmp_path: Path, wire: Wire, privacy: Privacy) -> None:
    said = f"the key {SECRET} is new" if privacy is Privacy.SECRET else f"write to {PERSON}"
    body = BODIES[wire] | HOLDS[wire](said)
    with Upstream(rules=False) as upstream:
        made = settings(tmp_path, upstream.url, handling=Handling(policy=keeps(privacy)))
        with running(made) as proxy, proxy.client() as client:
            found = client.post(PATHS[wire], json=body, headers=HEADERS.get(wire, {"authorization": "Bearer k"}))
    (name,) = HOLDS[wire]("")
    assert found.status_code == 400
    assert f"'{name}' holds what the policy set keeps" in found.text
    assert SECRET not in found.text
    assert PERSON not in found.text
    assert upstream.bodies == []


RULE = Rule(name="own", about=About.PRIVACY, when="record.tool == 'x'", then=Then.SAFE)
WITH_RULES = replace(BALANCED, name="own", version="1", rules=(RULE,))
NO_PLAIN = replace(
    BALANCED,
    name="own",
    version="1",
    providers=(ProviderForm(provider="openai", privacy=Privacy.INTERNAL, form=Level.SAFE),),
)


@pytest.mark.parametrize(
    ("policy", "rest", "expected"),
    [
        (BALANCED, {"user": PERSON, "metadata": {"a": "b c"}}, None),
        (BALANCED, {"mcp_servers": [{"authorization_token": SECRET, "url": "https://x.example"}]}, None),
        (BALANCED, {"functions": [{"description": SECRET}], "temperature": 0.5, "stop": None, "n": True}, None),
        (BALANCED, {"metadata": {SECRET: "x"}}, "metadata"),
        (BUILT_IN["replay"], {"metadata": {SECRET: SECRET}}, None),
        (WITH_RULES, {"metadata": {"a": "plain words"}}, None),
        (WITH_RULES, {"user": PERSON}, "user"),
        (NO_PLAIN, {"service_tier": "auto", "prompt_cache_key": "b96f1f1c-50c6-4e9b-a9f9-2c8da77cbb29"}, None),
        (NO_PLAIN, {"metadata": {"a": "plain words"}}, "metadata"),
    ],
)
def test_parameters_are_as_they_came_or_refused(
    policy: PolicySetDocument, rest: dict[str, object], expected: str | None
) -> None:
    asked = read_request(BODIES[Wire.OPENAI] | rest, Wire.OPENAI)
    if expected is None:
        assert judged(asked, policy, "openai", Redaction(b"k")) == asked.rest
    else:
        with pytest.raises(Turned, match=f"'{expected}' holds") as caught:
            judged(asked, policy, "openai", Redaction(b"k"))
        assert caught.value.status == 400
