"""The configuration is read whole or refused, with the place of all that is wrong in it."""

from pathlib import Path

import pytest

from callsheet.errors import ConfigError
from callsheet.policy.sets import BUILT_IN
from callsheet.serve.proxy.config import load, parse
from callsheet.serve.proxy.settings import PUBLIC, Format, Price, Settings

WHOLE = """\
listen: "[::1]:9000"
database: here.db
tenant: team
observe_only: true
policy: lean
budget: 50000
operator: OPERATOR_TOKEN
pass_others: false
upstreams:
  - name: main
    format: openai
    address: https://api.openai.com/v1/
    models: [gpt-*, o3]
    headers:
      drop: [X-Internal]
      from_environment: {Authorization: OPENAI_KEY}
    timeouts: {connect: 3, answer: 60.5}
  - name: local
    format: openai
    address: http://localhost:11434
    provider: ollama
models:
  - match: gpt-4o*
    budget: 20000
    recall: false
    observe_only: false
    price: {input: 2.5, output: 10, cached: 1.25}
limits: {body: 1000, streams: 3, head_seconds: 2}
spending: {day: 1}
keys:
  - {name: alice, digest: "DIGEST", tenant: other, day: 2.5, month: 10}
""".replace("DIGEST", "ab" * 32)


def test_nothing_said_is_this_machine_before_the_public_addresses() -> None:
    assert parse("") == Settings()
    assert parse("# nothing\n") == Settings()
    assert (Settings().host, Settings().port, Settings().upstreams) == ("127.0.0.1", 8377, PUBLIC)


def test_all_that_can_be_said_is_understood(tmp_path: Path) -> None:
    made = parse(WHOLE, folder=tmp_path)
    assert (made.host, made.port, made.tenant) == ("::1", 9000, "team")
    assert made.database == str(tmp_path / "here.db")
    assert (made.handling.policy, made.handling.budget) == (BUILT_IN["lean"], 50_000)
    assert made.handling.observe_only
    main, local = made.upstreams
    assert (main.address, main.drop, main.fill) == (
        "https://api.openai.com/v1",
        ("x-internal",),
        {"authorization": "OPENAI_KEY"},
    )
    assert (main.timeouts.connect, main.timeouts.answer, main.timeouts.silence) == (3, 60.5, 300)
    assert (local.format, local.provider, local.models) == (Format.OPENAI, "ollama", ("*",))
    own = made.handling_of("gpt-4o-mini")
    assert (own.budget, own.recall, own.observe_only, own.policy) == (20_000, False, False, BUILT_IN["lean"])
    assert own.price == Price(input=2.5, output=10, cached=1.25)
    assert made.handling_of("o3") == made.handling
    assert (made.limits.body, made.limits.streams, made.limits.head_seconds) == (1000, 3, 2)
    assert made.spending.day == 1
    assert (made.keys[0].name, made.keys[0].spending.month) == ("alice", 10)
    assert made.tenants == ("team", "other")


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("listen: here", "1:9", "a host and a port"),
        ("listen: 1.2.3.4:99999", "1:9", "a host and a port"),
        ("tenant: a\nlimit: {}", "2:1", "unknown key 'limit'"),
        ("limits: {body: 0}", "1:16", "a whole number from 1"),
        ("limits:\n  body: 10\n  bodies: 1", "3:3", "unknown key 'limits.bodies'"),
        ("policy: nosuch", "1:9", "one of: balanced"),
        ("upstreams: []", "1:12", "is empty"),
        ("upstreams:\n  - {name: a, format: openai}", "2:5", "has no address"),
        ("upstreams:\n  - {name: v1, format: openai, address: 'http://a'}", "2:12", "none of"),
        ("upstreams:\n  - {name: a, format: grpc, address: 'http://a'}", "2:23", "one of: openai"),
        ("upstreams:\n  - {name: a, format: openai, address: 'ftp://a'}", "2:40", "an http or https address"),
        ("upstreams:\n  - {name: a, format: openai, address: 'http://a:b'}", "2:40", "an http or https address"),
        ("upstreams:\n  - {name: a, format: openai, address: 'http://a b'}", "2:40", "spaces"),
        ("upstreams:\n  - {name: a, format: openai, address: 'http://a/../b'}", "2:40", "dot segments"),
        ("upstreams:\n  - {name: a, format: openai, address: 'http://a/b/%2e%2E'}", "2:40", "dot segments"),
        ("upstreams:\n  - {name: a, format: anthropic, address: 'http://a', provider: openai}", "2:65", "anthropic"),
        ("upstreams:\n  - {name: a, format: openai, address: 'http://a', provider: anthropic}", "2:62", "not begin"),
        (
            "upstreams:\n  - {name: a, format: openai, address: 'http://a'}\n"
            "  - {name: a, format: openai, address: 'http://b'}",
            "3:5",
            "stands twice",
        ),
        ("models:\n  - {budget: 1}", "2:5", "has no match"),
        ("models:\n  - {match: a, price: {input: 1}}", "2:23", "has no output"),
        ("keys:\n  - {name: a}", "2:5", "has no digest"),
        ("observe_only: 'true'", "1:15", "true or false"),
        ("a: 1\n---\nb: 2", "2:1", "one configuration"),
        ("- listen", "1:1", "a mapping"),
        ("listen: &a b", "1:9", "anchors"),
        ("listen: [", "1:10", "not YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        parse(text, file="proxy.yaml")
    assert str(caught.value).startswith(f"proxy.yaml:{place}: ")


@pytest.mark.parametrize("name", ["Host", "content-length", "transfer-encoding", "connection", "expect"])
def test_what_belongs_to_one_connection_comes_from_no_environment(name: str) -> None:
    text = "upstreams:\n  - {name: a, format: openai, address: 'http://a', headers: {from_environment: {%s: X}}}"
    with pytest.raises(ConfigError, match="says itself"):
        parse(text % name)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse("listen: x\nlimits: {body: 0}\nnope: 1\n")
    assert [problem.split(": ")[0] for problem in caught.value.problems] == [
        "configuration:1:9",
        "configuration:2:16",
        "configuration:3:1",
    ]


def test_what_stands_twice_is_told_beside_all_else_that_is_wrong() -> None:
    digest = "0" * 64
    with pytest.raises(ConfigError) as caught:
        parse(
            "upstreams:\n"
            "  - {name: a, format: grpc, address: 'http://a'}\n"
            "  - {name: a, format: openai}\n"
            "  - {name: a, format: openai, address: 'http://c'}\n"
            "keys:\n"
            f"  - {{name: k, digest: '{digest}', day: -1}}\n"
            f"  - {{name: k, digest: short}}\n"
            f"  - {{name: l, digest: '{digest}'}}\n"
            "limits: {body: 0}\n"
        )
    told = [problem.removeprefix("configuration:") for problem in caught.value.problems]
    assert [problem.split(": ", 1)[1] for problem in told if "twice" in problem] == [
        "an upstream named 'a' stands twice",
        "an upstream named 'a' stands twice",
        "a key with this name stands twice",
        "a key with this digest stands twice",
    ]
    places = {problem.split(": ", 1)[0] for problem in told}
    assert places == {"2:23", "3:5", "4:5", "6:96", "7:5", "7:23", "8:5", "9:16"}


@pytest.mark.parametrize(
    "text",
    [
        "keys:\n  - {name: a, digest: sk-ant-CANARY-0123456789abcdef}",
        "operator: sk-CANARY!",
        "upstreams:\n  - {name: a, format: openai, address: 'http://user:CANARY@host'}",
        "upstreams:\n  - name: a\n    format: openai\n    address: http://a\n"
        "    headers: {from_environment: {authorization: Bearer sk-CANARY}}",
    ],
)
def test_a_key_in_the_wrong_place_is_not_shown(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert "CANARY" not in "".join(caught.value.problems)


def test_a_file_and_the_policy_set_beside_it(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("name: own\nversion: '1'\nextends: lean\nturns: 3\n")
    (tmp_path / "proxy.yaml").write_text("policy: own.yaml\n")
    assert str(load(tmp_path / "proxy.yaml").handling.policy) == "own@1"
    (tmp_path / "own.yaml").write_text("name: own\nturns: 3\n")
    with pytest.raises(ConfigError, match=r"proxy\.yaml:1:9: .*own\.yaml:1:1: version is missing"):
        load(tmp_path / "proxy.yaml")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"listen: a\ntenant: \xff\n")
    with pytest.raises(ConfigError, match=r"bad\.yaml:2:9: not UTF-8"):
        load(tmp_path / "bad.yaml")
