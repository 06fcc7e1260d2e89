"""Packed bodies are undone in bounded memory, and what is none is refused."""

import gzip
import sys
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.serve.proxy.packing import unpacked
from callsheet.serve.proxy.turned import Turned

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", lambda content: zlib.compress(content)[2:-4]),
    "zstd": ("zstd", zstd.compress),
    "twice": ("gzip, zstd", lambda content: zstd.compress(gzip.compress(content))),
    "not at all": ("identity", bytes),
}
LIMIT = 1_000_000


@pytest.mark.parametrize("way", PACKED)
@given(content=st.binary(max_size=300).map(lambda piece: piece * 600))
def test_what_was_packed_comes_back(way: str, content: bytes) -> None:
    name, pack = PACKED[way]
    assert unpacked(pack(content), name, LIMIT) == content


@pytest.mark.parametrize("way", ["gzip", "zstd"])
def test_several_members_are_one_body(way: str) -> None:
    name, pack = PACKED[way]
    assert unpacked(pack(b"one") + pack(b"two"), name, LIMIT) == b"onetwo"


@pytest.mark.parametrize("way", [way for way in PACKED if way != "not at all"])
def test_a_bomb_is_too_large(way: str) -> None:
    name, pack = PACKED[way]
    with pytest.raises(Turned) as caught:
        unpacked(pack(bytes(50 * LIMIT)), name, LIMIT)
    assert caught.value.status == 413


@pytest.mark.parametrize("way", [way for way in PACKED if way != "not at all"])
@pytest.mark.parametrize("spoil", [lambda packed: packed[:-9], lambda packed: b"nonsense" * 9], ids=["cut", "other"])
def test_what_is_not_packed_so_is_refused(way: str, spoil: Callable[[bytes], bytes]) -> None:
    name, pack = PACKED[way]
    with pytest.raises(Turned) as caught:
        unpacked(spoil(pack(bytes(range(256)) * 50)), name, LIMIT)
    assert caught.value.status == 400


def test_other_ways_of_packing_are_named() -> None:
    with pytest.raises(Turned, match="gzip"):
        unpacked(b"", "br", LIMIT)
    with pytest.raises(Turned, match="more than"):
        unpacked(b"", "gzip,gzip,gzip,gzip", LIMIT)
