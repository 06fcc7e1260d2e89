"""A credential is known by a digest, and nothing else of it is kept."""

import stat
from pathlib import Path

import pytest

from callsheet.errors import StoreError
from callsheet.serve.proxy.credentials import Credentials, credentials_of, folder_of, secret_of
from callsheet.serve.proxy.settings import Format, Key, Settings


@pytest.mark.parametrize(
    ("headers", "query", "found"),
    [
        ({"authorization": "Bearer sk-1"}, "", ["sk-1"]),
        ({"authorization": "bearer  sk-1 "}, "", ["sk-1"]),
        ({"authorization": "Basic abc"}, "", ["Basic abc"]),
        ({"x-api-key": "sk-1"}, "", ["sk-1"]),
        ({"x-goog-api-key": "sk-1"}, "", ["sk-1"]),
        ({"api-key": "sk-1"}, "", ["sk-1"]),
        ({}, "alt=sse&key=sk%2D1", ["sk-1"]),
        ({}, "alt=sse", []),
        ({"authorization": "Bearer sk-1", "x-api-key": "sk-2", "api-key": "sk-1"}, "", ["sk-1", "sk-2"]),
        ({"authorization": "Bearer sk-1, Bearer sk-2"}, "key=sk-3&key=sk-4", ["sk-1", "sk-2", "sk-3", "sk-4"]),
    ],
)
def test_where_credentials_stand(headers: dict[str, str], query: str, found: list[str]) -> None:
    assert credentials_of(headers, query) == tuple(found)


def test_that_of_its_provider_stands_first() -> None:
    every = {"authorization": "a", "x-api-key": "b", "x-goog-api-key": "c"}
    assert {format.value: credentials_of(every, "key=d", format)[0] for format in Format} == {
        "openai": "a",
        "anthropic": "b",
        "gemini": "c",
    }
    assert credentials_of({"authorization": "a"}, "key=d", Format.GEMINI) == ("d", "a")


def test_the_same_key_is_the_same_asker_and_another_is_not() -> None:
    known = Credentials(b"s" * 32, Settings())
    one = known.asker({"authorization": "Bearer sk-1"}, "")
    assert known.asker({"x-api-key": "sk-1"}, "").scope == one.scope
    assert known.asker({"x-api-key": "sk-2"}, "").scope != one.scope
    assert known.asker({}, "").scope != one.scope
    assert Credentials(b"t" * 32, Settings()).asker({"x-api-key": "sk-1"}, "").scope != one.scope
    assert "sk-1" not in repr(one)


def test_a_key_may_have_a_tenant_and_a_name() -> None:
    digest = Credentials(b"s" * 32, Settings()).digest("sk-1")
    known = Credentials(b"s" * 32, Settings(keys=(Key(digest=digest, name="alice", tenant="team"),)))
    one, other = known.asker({"x-api-key": "sk-1"}, ""), known.asker({"x-api-key": "sk-2"}, "")
    assert (one.name, one.tenant, one.scope) == ("alice", "team", f"team/{digest}")
    assert (other.tenant, len(other.name)) == ("local", 12)


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    folder = folder_of(str(tmp_path / "agent.db"))
    assert folder == tmp_path / "agent.db.proxy"
    secret = secret_of(folder)
    assert secret_of(folder) == secret
    assert len(secret) == 32
    assert [file.name for file in folder.iterdir()] == ["secret"]
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_damaged_secret_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "agent.db.proxy"
    folder.mkdir()
    (folder / "secret").write_bytes(b"short")
    with pytest.raises(StoreError, match="not a secret"):
        secret_of(folder)
    assert (folder / "secret").read_bytes() == b"short"


def test_a_store_in_memory_has_no_folder() -> None:
    assert folder_of(":memory:") is None
    assert secret_of(None) != secret_of(None)
