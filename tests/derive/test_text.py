"""Bytes are shown as text wherever they are mostly text, and what cannot be read is marked, never dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.text import binary_standin, readable

SCRIPTS = [
    "倉庫の温度計は三番が故障しています。",
    "三号仓库的温度计坏了",
    "창고 온도계",
    "Склад номер три",
    "مخزن رقم ثلاثة",
    "🦜🔥✔",
]


@pytest.mark.parametrize("text", SCRIPTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_one_cut_character_does_not_hide_all_the_others(text: str, encoding: str) -> None:
    whole = (text * 50).encode(encoding)
    shown = readable(whole[:-1])
    assert shown is not None
    assert text * 49 in shown
    assert text * 50 == readable(whole)


def test_single_bytes_of_another_encoding_can_be_read_back() -> None:
    assert "caf\\xe9 valve \\xff\\xfe open\n" == readable(b"caf\xe9 valve \xff\xfe open\n")


def test_a_byte_order_mark_is_no_text() -> None:
    assert "pump" == readable(b"\xef\xbb\xbfpump")


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, b"\xff\xfe" + b"\x00\xd8" * 100])
def test_what_is_no_text_is_not_shown_as_one(content: bytes) -> None:
    assert readable(content) is None
    assert "(image/png, 5,128 bytes, not shown)" == binary_standin("image/png", 5128)


@given(st.text())
def test_utf_8_is_itself(text: str) -> None:
    content = text.encode("utf-8", "ignore")
    if not content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        assert content.decode() == readable(content)


@given(st.binary())
def test_no_bytes_break_it(content: bytes) -> None:
    shown = readable(content)
    assert shown is None or shown == shown.encode("utf-8").decode("utf-8")
