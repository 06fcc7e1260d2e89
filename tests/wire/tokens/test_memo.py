"""A text seen before is not tokenized again, and memory for it is bounded."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from callsheet.wire.tokens import EncodingName, count, encode
from callsheet.wire.tokens.memo import Memo


@pytest.fixture
def tokenized(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that reach the tokenizer from here on."""
    reached: list[str] = []
    original = tiktoken.Encoding.encode_ordinary

    def recording(self: tiktoken.Encoding, text: str) -> list[int]:
        reached.append(text)
        return original(self, text)

    monkeypatch.setattr(tiktoken.Encoding, "encode_ordinary", recording)
    return reached


@pytest.mark.parametrize("length", [1, 1_000, 300_000])
def test_a_text_is_tokenized_once_for_each_encoding(tokenized: list[str], length: int) -> None:
    text = f"{uuid4()} " + "word " * length
    names: tuple[EncodingName, ...] = ("o200k_base", "cl100k_base")

    first = [count(text, name) for name in names]
    parts = len(tokenized)
    again = [count("".join(text), name) for name in names]

    assert again == first
    assert "".join(tokenized) == text * 2
    assert len(tokenized) == parts


def test_a_text_whose_ids_were_asked_for_needs_no_counting(tokenized: list[str]) -> None:
    text = f"ids of {uuid4()}"

    ids = encode(text, "o200k_base")

    assert count(text, "o200k_base") == len(ids)
    assert tokenized == [text]


def test_the_least_recently_used_is_forgotten_first() -> None:
    memo = Memo(limit_bytes=2 * 256)
    memo.put(b"a", 1)
    memo.put(b"b", 2)
    memo.get(b"a")
    memo.put(b"c", 3)

    assert (memo.get(b"a"), memo.get(b"b"), memo.get(b"c")) == (1, None, 3)


@given(st.lists(st.tuples(st.binary(max_size=2), st.integers(0, 9)), max_size=60))
def test_the_memo_never_grows_beyond_its_limit_and_never_answers_wrongly(puts: list[tuple[bytes, int]]) -> None:
    memo = Memo(limit_bytes=5 * 256)
    newest: dict[bytes, int] = {}
    for key, tokens in puts:
        memo.put(key, tokens)
        newest[key] = tokens

        assert len(memo) <= 5
        assert memo.get(key) == tokens
    assert all(memo.get(key) in {None, tokens} for key, tokens in newest.items())


def test_keys_tell_texts_and_encodings_apart() -> None:
    texts = ["", "a", "b", "\ud800", "\ufffd", "\udc00", "a\0", "o200k_base"]
    keys = {Memo.key(name, text) for name in ("o200k_base", "cl100k_base") for text in texts}

    assert len(keys) == 2 * len(texts)


def test_threads_may_share_a_memo() -> None:
    memo = Memo(limit_bytes=16 * 256)

    def work(seed: int) -> bool:
        keys = [bytes([seed + step & 31]) for step in range(2_000)]
        for key in keys:
            memo.put(key, key[0])
        return all(memo.get(key) in {None, key[0]} for key in keys)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert len(memo) == 16
