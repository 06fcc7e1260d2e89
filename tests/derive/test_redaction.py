import json
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.derived import index_result, unpack
from callsheet.derive.redaction import Redaction
from callsheet.derive.secrets import find
from tests.derive.test_secrets import EVERY

KEYED = Redaction(b"pottery")
KEEP = ["9c1e5d0a7b44f00d9c1e5d0a7b44f00d9c1e5d0a", "6f1c2e1a-7b1d-4a55-9d0e-000000000042", "ORD-7F3A-00912"]


def test_markers_tell_the_type_and_the_rest_is_unchanged() -> None:
    token = EVERY[0][1]
    text = KEYED.text(f"a {token} b {token} c {' '.join(KEEP)}")
    marker = KEYED.marker(token, "github-token")
    assert text == f"a {marker} b {marker} c {' '.join(KEEP)}"
    assert marker.startswith("[secret:github-token#")


def test_the_same_secret_has_the_same_marker_under_one_key_and_another_under_another() -> None:
    token = EVERY[0][1]
    assert Redaction(b"pottery").text(token) == KEYED.text(token)
    assert Redaction(b"joinery").text(token) != KEYED.text(token)


def test_a_password_that_was_told_once_is_gone_everywhere() -> None:
    text = KEYED.text("mysql://kiln:gL4ze-Of7@db/x\nlogin failed for gL4ze-Of7")
    assert "gL4ze-Of7" not in text
    assert text.count("[secret:url-password#") == 2


def test_text_without_secrets_is_the_same_object() -> None:
    text = "cone 6, " + " ".join(KEEP)
    assert KEYED.text(text) is text
    content = text.encode()
    assert KEYED.content(content) is content
    picture = bytes(range(256)) * 40
    assert KEYED.content(picture) is picture


def test_bytes_in_other_encodings_are_looked_through_too() -> None:
    token = EVERY[0][1]
    assert token.encode() not in KEYED.content(f"Töpfer {token}".encode("latin-1"))
    assert token not in KEYED.content(f"key {token} end".encode("utf-16")).decode("utf-8", "replace").replace("\0", "")
    assert token.encode() not in KEYED.content(b"\x89PNG\0\1\2" * 30 + token.encode() + b"\0\xff" * 50)


@given(st.sampled_from(EVERY), st.text(max_size=40), st.text(max_size=40))
def test_marking_twice_changes_nothing_more(known: tuple[str, str], before: str, after: str) -> None:
    once = KEYED.text(f"{before} {known[1]} {after}")
    assert known[1] not in once
    assert KEYED.text(once) == once


SHAPES = {
    "json": lambda s: json.dumps([{"id": n, "note": s if n == 3 else "glaze"} for n in range(9)]),
    "nested": lambda s: json.dumps({"log": json.dumps({"deep": json.dumps({"env": s})})}),
    "csv": lambda s: "id,note\n" + "".join(f"{n},{json.dumps(s) if n == 7 else 'ok'}\n" for n in range(40)),
    "log": lambda s: "".join(f"2026-01-0{n} 10:00:00 INFO pot {n} {s if n == 4 else 'ok'}\n" for n in range(1, 9)),
    "trace": lambda s: f'Traceback (most recent call last):\n  File "kiln.py", line 3, in fire\nValueError: bad {s}',
    "html": lambda s: f"<!doctype html><html><body><h1>Kiln</h1><p>{s}</p></body></html>",
    "lines": lambda s: "\n".join(json.dumps({"n": n, "v": s}) for n in range(5)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("kind", "secret"), EVERY)
def test_nothing_that_is_derived_holds_a_secret(shape: str, kind: str, secret: str) -> None:
    content = SHAPES[shape](secret)
    index = index_result(content, tool="dump", arguments=json.dumps({"q": secret}), count=len, redaction=KEYED)
    derived = unpack(index.derived)
    assert derived is not None
    assert derived.secrets
    body = secret.replace("\n", "\\n").split("\\n")[min(1, secret.count("\n"))]
    held = repr(index) + derived.gist
    assert body not in held
    assert body.casefold() not in held.casefold()


def test_an_oracle_finds_nothing_in_what_is_left() -> None:
    scan = import_module("detect_secrets.core.scan")
    settings = import_module("detect_secrets.settings")
    by_chance = ("Hex High Entropy String", "Base64 High Entropy String", "Secret Keyword")
    text = KEYED.text("\n".join(secret for _, secret in EVERY))
    with settings.default_settings():
        for line in text.splitlines():
            assert not [one for one in scan.scan_line(line) if one.type not in by_chance], line
        seen = [one for _, secret in EVERY for line in secret.splitlines() for one in scan.scan_line(line)]
        assert len({one.type for one in seen} - {*by_chance}) >= 4


def test_what_is_found_again_is_nothing() -> None:
    for _, secret in EVERY:
        assert find(KEYED.text(f"x {secret} y")) == []


@pytest.mark.parametrize(("kind", "secret"), EVERY)
def test_a_secret_that_texts_hold_together_is_a_marker_where_it_begins(kind: str, secret: str) -> None:
    for cut in range(1, len(secret), max(1, len(secret) // 7)):
        texts = ["a ", secret[:cut], "", secret[cut:], " b"]
        told = KEYED.across(texts)
        assert len(told) == len(texts)
        assert secret not in "".join(told)
        assert find("".join(told)) == []
        assert told[0] == "a "
        assert told[-1] in (" b", "")  # a key without an end takes what could still be it
    if kind != "private-key":  # one without an end takes what could still be it
        assert KEYED.across(["a ", secret, " b"]) == ["a ", secret, " b"]  # one text's own is found in it
    assert KEYED.across(["x", "y"]) == ["x", "y"]
