"""The edge of the proxy: addresses, credentials, bodies and heads that mean one thing here and another behind it."""

import json
import socket
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest

from callsheet.serve.proxy.credentials import Credentials, folder_of, secret_of
from callsheet.serve.proxy.settings import Format, Handling, Key, Settings, Spending, Upstream
from tests.serve.proxy.proxies import OPEN, Running, running, settings
from tests.serve.proxy.scripted import Provider, Says, chat, message
from tests.serve.proxy.test_proxy import KEY, asked
from tests.serve.proxy.test_trouble import connect
from tests.upstream.raw import RawUpstream

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
CHAT = "/v1/chat/completions"


def ask(
    proxy: Running, target: str, body: bytes, headers: Mapping[str, str] = KEY, *, method: str = "POST"
) -> tuple[int, bytes]:
    """What comes back for an address that is sent exactly so: clients would put it right."""
    said = {"host": "127.0.0.1", "connection": "close", "content-length": str(len(body)), **headers}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items()), "", ""]
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=30) as client:
        client.sendall("\r\n".join(lines).encode("latin-1") + body)
        found = b""
        while piece := client.recv(65_536):
            found += piece
    head, _, content = found.partition(b"\r\n\r\n")
    assert head, "not a byte came back"
    return int(head.split()[1]), content


# --------------------------------------------------------------------------- addresses


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize(
    "target",
    [
        "/v1/x/../chat/completions",
        "/v1/./chat/completions",
        "/v1/%2e/chat/completions",
        "/v1/chat/completions/.",
        "/v1/x/%2E./chat/completions",
        "/v1/x%2f..%2fchat/completions",
        "/v1/x/%252e%252e/chat/completions",
        "/v1/x\\..\\chat/completions",
        "/v1/x/..;a=b/chat/completions",
        "/openai/../v1/chat/completions",
        "/v1/../../team-b/keys",
    ],
)
def test_nothing_goes_around_what_is_looked_at(upstream: Provider, tmp_path: Path, method: str, target: str) -> None:
    upstream.script = lambda got: chat("Hello")
    with running(settings(tmp_path, upstream.address)) as proxy:
        status, content = ask(proxy, target, json.dumps(asked(SECRET)).encode(), method=method)
    assert (status, upstream.got) == (400, [])
    assert "dot segments" in json.loads(content)["error"]["message"]


def test_nothing_leaves_the_operators_own_part_of_a_gateway(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello")
    gateway = Upstream(
        name="gw",
        format=Format.OPENAI,
        address=f"{upstream.address}/team-a",
        provider="openai",
        fill={"authorization": "OPERATOR"},
    )
    with running(settings(tmp_path, "", upstreams=(gateway,)), {"OPERATOR": "Bearer op"}) as proxy:
        for target in (
            "/v1/../../team-b/keys",
            "/gw/../../admin/keys",
            "/../x",
            "//evil.example/v1/x",
            "/@evil/x",
            "*",
        ):
            ask(proxy, target, b"", method="OPTIONS")
    assert [got.target for got in upstream.got] == ["/team-a//evil.example/v1/x", "/team-a/@evil/x"]


@pytest.mark.parametrize("target", ["/v1/files/a..b", "/v1/files/...", "/v1/models/.hidden", "/v1/x?path=../y"])
def test_dots_that_are_no_steps_pass(upstream: Provider, tmp_path: Path, target: str) -> None:
    with running(settings(tmp_path, upstream.address)) as proxy:
        assert ask(proxy, target, b"", method="GET")[0] == 200
    assert [got.target for got in upstream.got] == [target]


# --------------------------------------------------------------------------- credentials


def claude(*said: str) -> bytes:
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
    return json.dumps({"model": "claude-haiku-4-5", "max_tokens": 9, "messages": messages}).encode()


ANSWER = "the answer is 42 as ever"
GATEWAY = {"authorization": "Bearer gateway"}


def test_who_shares_one_credential_and_has_another_is_another(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: message(ANSWER)
    with running(settings(tmp_path, upstream.address)) as proxy:
        ask(proxy, "/v1/messages", claude("hello"), {"x-api-key": "alice", **GATEWAY})
        ask(proxy, "/v1/messages", claude("hello", ANSWER, "more"), {"x-api-key": "bob", **GATEWAY})
        ask(proxy, "/v1/messages", claude("hello", ANSWER, "and"), {"x-api-key": "alice", **GATEWAY})
    alice, bob, again = proxy.rows()
    assert alice["key"] != bob["key"]
    assert alice["conversation"] != bob["conversation"]
    assert (again["key"], again["conversation"]) == (alice["key"], alice["conversation"])


def test_one_key_that_pays_for_several_is_no_bridge_between_them(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat(ANSWER)
    with running(settings(tmp_path, upstream.address)) as proxy:
        for who, said in (
            ("alice", ["hello"]),
            ("bob", ["hello", ANSWER, "more"]),
            ("alice", ["hello", ANSWER, "and"]),
        ):
            ask(proxy, CHAT, json.dumps(asked(*said)).encode(), {"x-api-key": who, **GATEWAY})
    alice, bob, again = proxy.rows()
    assert alice["conversation"] != bob["conversation"]
    assert again["conversation"] == alice["conversation"]


def test_keys_in_the_address_tell_askers_apart_beside_one_authorization(upstream: Provider, tmp_path: Path) -> None:
    body = json.dumps({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}).encode()
    with running(settings(tmp_path, upstream.address)) as proxy:
        for key in ("one", "two"):
            ask(proxy, f"/v1beta/models/gemini-2.5-flash:generateContent?key={key}", body, GATEWAY)
    first, second = proxy.rows()
    assert first["key"] != second["key"]
    assert first["conversation"] != second["conversation"]


@pytest.mark.parametrize(
    "beside",
    [
        {"authorization": "Bearer new"},
        {"x-api-key": "new, alice"},
        {"x-api-key": "new", "authorization": "Bearer alice"},
        {"x-api-key": "new", "x-goog-api-key": "alice"},
    ],
)
def test_a_limit_holds_whatever_stands_beside_the_key(
    upstream: Provider, tmp_path: Path, beside: dict[str, str]
) -> None:
    upstream.script = lambda got: message(ANSWER)
    database = str(tmp_path / "callsheet.db")
    digest = Credentials(secret_of(folder_of(database)), Settings()).digest("alice")
    keys = (Key(digest=digest, name="alice", tenant="team", spending=Spending(day=0.000_001)),)
    with running(settings(tmp_path, upstream.address, keys=keys)) as proxy:
        assert ask(proxy, "/v1/messages", claude("hello"), {"x-api-key": "alice"})[0] == 200
        assert ask(proxy, "/v1/messages", claude("hello"), {"x-api-key": "alice", **beside})[0] == 429
        assert ask(proxy, "/v1/messages", claude("hello"), {"x-api-key": "bob"})[0] == 200
    assert proxy.rows()[0]["tenant"] == "team"


def test_a_limit_for_all_keys_holds_for_the_one_that_pays(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: message(ANSWER)
    with running(settings(tmp_path, upstream.address, spending=Spending(day=0.000_001))) as proxy:
        assert ask(proxy, "/v1/messages", claude("hello"), {"x-api-key": "alice"})[0] == 200
        assert ask(proxy, "/v1/messages", claude("hello"), {"x-api-key": "alice", **GATEWAY})[0] == 429


# --------------------------------------------------------------------------- bodies


HI = '[{"role":"user","content":"Hi"}]'


@pytest.mark.parametrize(
    "body",
    [
        f'{{"model":"gpt-4o","messages":[{{"role":"user","content":"{SECRET}"}}],"messages":{HI}}}',
        f'{{"model":"gpt-4o","messages":[{{"role":"user","content":"{SECRET}","content":"Hi"}}]}}',
        f'{{"model":"gpt-4o","metadata":{{"a":"{SECRET}", "\\u0061":"b"}},"messages":{HI}}}',
    ],
)
@pytest.mark.parametrize("handling", [Handling(), Handling(policy=OPEN)], ids=["balanced", "replay"])
def test_what_is_judged_of_a_name_that_stands_twice_is_what_is_sent(
    upstream: Provider, tmp_path: Path, body: str, handling: Handling
) -> None:
    upstream.script = lambda got: chat("Hello")
    with running(settings(tmp_path, upstream.address, handling=handling)) as proxy:
        assert ask(proxy, CHAT, body.encode())[0] == 200
    (got,) = upstream.got
    assert got.json == json.loads(body)
    assert SECRET.encode() not in got.body
    assert got.header("content-length") == str(len(got.body))


def test_a_body_that_says_each_name_once_goes_as_it_came(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello")
    body = f'{{ "model": "gpt-4o",  "x": [{{"a": 1.0}}, {{"a": 1e0}}], "messages": {HI} }}\n'.encode()
    with running(settings(tmp_path, upstream.address)) as proxy:
        ask(proxy, CHAT, body)
    assert [got.body for got in upstream.got] == [body]


CALLED = {"functionCall": {"name": "look", "args": {}}}
NAMED = "hunter2-Kd83hs72"


@pytest.mark.parametrize(
    "part",
    [
        {"functionResponse": {"name": "look", "response": {SECRET: "active"}}},
        {"functionResponse": {"name": "look", "response": {"a": {"b": [{SECRET: 1}]}}}},
        {"functionResponse": {"name": "look", "response": {"password": NAMED}}},
        {"functionCall": {"name": "look", "args": {SECRET: "x"}}},
        {"functionCall": {"name": "look", "args": {"password": NAMED}}},
        {"executableCode": {"language": "PYTHON", "code": "x = 1", SECRET: "y"}},
    ],
)
def test_names_in_the_objects_of_a_request_are_judged_too(
    upstream: Provider, tmp_path: Path, part: dict[str, object]
) -> None:
    answers = "functionResponse" in part
    contents = [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [CALLED if answers else part]},
        {"role": "user", "parts": [part if answers else {"text": "and?"}]},
    ]
    body = json.dumps({"contents": contents}).encode()
    with running(settings(tmp_path, upstream.address)) as proxy:
        assert ask(proxy, "/v1beta/models/gemini-2.5-flash:generateContent", body, {"x-goog-api-key": "k"})[0] == 200
    (got,) = upstream.got
    assert SECRET.encode() not in got.body
    assert NAMED.encode() not in got.body
    assert b"[secret:" in got.body


def test_a_secret_as_the_name_of_a_parameter_is_refused_and_not_repeated(upstream: Provider, tmp_path: Path) -> None:
    with running(settings(tmp_path, upstream.address)) as proxy:
        status, content = ask(proxy, CHAT, json.dumps({**asked("Hi"), SECRET: 1}).encode())
    assert (status, upstream.got) == (400, [])
    assert SECRET.encode() not in content


# --------------------------------------------------------------------------- heads


BODY = chat("Hello").pieces[0]
WHOLE = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


@pytest.mark.parametrize("target", [CHAT, "/v1/files"])
@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 600 Odd\r\n",
        b"HTTP/1.1 999 Odd\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n",
        b"HTTP/1.1 200 OK\r\nx-a: a\x01b\r\n",
    ],
)
def test_a_head_that_no_server_may_send_on_is_an_error_of_the_upstream(
    tmp_path: Path, head: bytes, target: str
) -> None:
    with RawUpstream(head + WHOLE) as service, running(settings(tmp_path, service.url)) as proxy:
        status, content = ask(proxy, target, json.dumps(asked("Hi")).encode())
    assert status == 502
    assert json.loads(content)["error"]["message"]
    assert [(row["outcome"], row["status"]) for row in proxy.rows()] == [("unreached", 502)]


@pytest.mark.parametrize(
    ("head", "status", "found"),
    [
        (b"HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n", 204, b""),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", 304, b""),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            200,
            b"2\r\n{}\r\n0\r\n\r\n",
        ),
    ],
)
def test_a_length_that_the_body_does_not_have_is_not_passed_on(
    tmp_path: Path, head: bytes, status: int, found: bytes
) -> None:
    with RawUpstream(head) as service, running(settings(tmp_path, service.url)) as proxy:
        with httpx2.Client(base_url=proxy.base, trust_env=False) as client:
            answer = client.get("/v1/files")
            assert "content-length" not in answer.headers
            # The connection goes on where the answer ends.
            assert client.get("/healthz").status_code == 200
        assert ask(proxy, "/v1/files", b"", method="GET") == (status, found)


# --------------------------------------------------------------------------- observe-only

UNREAD = {
    "BOM": b"\xef\xbb\xbf" + json.dumps(asked("Hi")).encode(),
    "NaN": json.dumps(asked("Hi", top_p=float("nan"))).encode(),
    "deep": b'{"model":"gpt-4o","a":' + b"[" * 600 + b"]" * 600 + b"}",
    "empty": b"",
    "no JSON": b"Hi",
    "no object": b"[1]",
    "twice": b'{"model":"gpt-4o","messages":[],"messages":' + HI.encode() + b"}",
}
OBSERVING = Handling(observe_only=True)


@pytest.mark.parametrize("target", [CHAT, "/v1/messages/count_tokens"])
@pytest.mark.parametrize("name", UNREAD)
def test_where_all_passes_the_provider_judges_what_is_odd(
    upstream: Provider, tmp_path: Path, name: str, target: str
) -> None:
    refused = Says(status=400, pieces=[b'{"error":{"message":"odd"}}'])
    upstream.script = lambda got: refused
    with running(settings(tmp_path, upstream.address, handling=OBSERVING)) as proxy:
        status, content = ask(proxy, target, UNREAD[name])
    assert (status, b"odd" in content) == (400, True)
    assert [got.body for got in upstream.got] == [UNREAD[name]]


def test_what_cannot_be_read_does_not_pass_where_there_is_a_limit(upstream: Provider, tmp_path: Path) -> None:
    made = settings(tmp_path, upstream.address, handling=OBSERVING, spending=Spending(day=1.0))
    with running(made) as proxy:
        assert ask(proxy, CHAT, UNREAD["BOM"])[0] == 400
    assert upstream.got == []


# --------------------------------------------------------------------------- what is no HTTP


@pytest.mark.parametrize("said", [b"\x16\x03\x01\x02", b"GET / HTTP/1.1\r\nhost a\r\n\r\n"])
def test_what_is_no_http_gets_an_error_that_clients_can_read(upstream: Provider, tmp_path: Path, said: bytes) -> None:
    with running(settings(tmp_path, upstream.address)) as proxy, connect(proxy) as client:
        client.sendall(said)
        found = b""
        while piece := client.recv(65_536):
            found += piece
    head, _, content = found.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert json.loads(content)["error"]["type"] == "invalid_request_error"
