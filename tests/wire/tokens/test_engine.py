"""Counts are exact, offline, and come for any text whatever."""

import base64
import gzip
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha1
from importlib import import_module
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.errors import CallsheetError
from callsheet.wire.tokens import EncodingName, count, encode, encoding, engine
from tests.recordings import needs_recordings
from tests.wire.tokens import texts
from tests.wire.tokens.oracle import oracle

NAMES: tuple[EncodingName, ...] = ("o200k_base", "cl100k_base")
both = pytest.mark.parametrize("name", NAMES)


@both
@pytest.mark.parametrize("text", texts.BY_NAME.values(), ids=texts.BY_NAME.keys())
def test_ids_equal_those_of_an_independent_implementation(name: EncodingName, text: str) -> None:
    expected = oracle(name).encode(text)

    assert list(encode(text, name)) == expected
    assert count(text, name) == len(expected)


@both
@needs_recordings
def test_ids_of_real_tool_outputs_equal_those_of_an_independent_implementation(name: EncodingName) -> None:
    for id, content in texts.tool_outputs(longest=40_000).items():
        assert list(encode(content, name)) == oracle(name).encode(content), id


@both
@given(text=st.text())
@settings(max_examples=150)
def test_ids_of_any_text_equal_those_of_an_independent_implementation(name: EncodingName, text: str) -> None:
    assert list(encode(text, name)) == oracle(name).encode(text)


@both
def test_definitions_are_those_of_tiktoken(name: EncodingName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # tiktoken reads a rank file from its cache folder where it is there already, so nothing is downloaded.
    ours = encoding(name)
    ranks = {token: ours.encode_single_token(token) for token in ours.token_byte_values()}
    lines = (
        f"{base64.b64encode(token).decode()} {rank}\n"
        for token, rank in sorted(ranks.items(), key=lambda pair: pair[1])
    )
    url = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    (tmp_path / sha1(url.encode()).hexdigest()).write_text("".join(lines))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))

    theirs = import_module("tiktoken_ext.openai_public").ENCODING_CONSTRUCTORS[name]()

    assert theirs["pat_str"] == engine.DEFINITIONS[name].pattern
    assert theirs["special_tokens"] == engine.DEFINITIONS[name].special_tokens
    assert theirs["mergeable_ranks"] == ranks


@both
def test_what_looks_like_a_special_token_is_ordinary_text(name: EncodingName) -> None:
    special = set(engine.DEFINITIONS[name].special_tokens.values())

    assert len(encode("<|endoftext|>", name)) > 1
    assert not special & set(encode(texts.SPECIAL, name))


@both
@pytest.mark.parametrize(
    ("text", "counts_as"),
    [
        ("\ud800", "\ufffd"),
        ("a\udc00b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("x\ud83d", "x\ufffd"),
    ],
    ids=ascii,
)
def test_a_lone_surrogate_counts_as_the_replacement_character_and_a_pair_as_its_character(
    name: EncodingName, text: str, counts_as: str
) -> None:
    assert encode(text, name) == encode(counts_as, name)
    assert count(text, name) == count(counts_as, name)


@both
@pytest.mark.parametrize("blank", [" ", "\t", "\n"], ids=ascii)
def test_three_megabytes_of_white_space_count_a_little_on_the_safe_side(name: EncodingName, blank: str) -> None:
    text = "x" + blank * 3_000_000 + "x"
    exact = len(oracle(name).encode(text))

    assert exact <= count(text, name) <= exact + 16


@pytest.mark.parametrize("blank", ["\r\n", "\n ", "\xa0", "\u3000"], ids=ascii)
def test_long_white_space_of_other_kinds_counts_a_little_on_the_safe_side(blank: str) -> None:
    text = "x" + blank * (1_100_000 // len(blank)) + "x"
    exact = len(oracle("o200k_base").encode(text))

    assert exact <= count(text, "o200k_base") <= exact + 16


def test_the_engine_alone_panics_on_long_white_space() -> None:
    """Why long white space is cut. Once this fails, it no longer has to be."""
    with pytest.raises(BaseException, match="StackOverflow") as caught:
        encoding("o200k_base").encode_ordinary(" " * 1_000_000)

    assert not isinstance(caught.value, Exception)


@both
@pytest.mark.parametrize("text", ["a" * 1_000_000, "Aa1" * 400_000, "中" * 600_000], ids=["a", "Aa1", "zh"])
def test_a_megabyte_without_white_space_is_exact(name: EncodingName, text: str) -> None:
    assert count(text, name) == len(oracle(name).encode(text))


def test_fifty_megabytes_are_counted_exactly_in_bounded_memory() -> None:
    # In a process of its own, so that what other tests have used is not measured. Linux counts KiB, macOS bytes.
    program = (
        "import resource\n"
        "from callsheet.wire.tokens import count\n"
        "line = 'The quick brown fox, 42 times: {} \\u00fcber \\u4e09\\u53f7\\n'\n"
        "text = ''.join(line.replace('{}', str(i % 1000)) for i in range(1_050_000))\n"
        "count('warm', 'o200k_base')\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "tokens = count(text, 'o200k_base')\n"
        "print(len(text.encode()), tokens, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    size, tokens, grown = (int(figure) for figure in done.stdout.split())
    unit = 1 if sys.platform == "darwin" else 1024

    lines = [f"The quick brown fox, 42 times: {i} über 三号\n" for i in range(1000)]
    assert size > 50_000_000
    assert tokens == 1_050 * len(oracle("o200k_base").encode("".join(lines)))
    assert grown * unit < 250_000_000


def test_importing_loads_neither_the_tokenizer_nor_a_rank_file() -> None:
    program = "import sys, callsheet.wire.tokens; print('tiktoken' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_threads_that_ask_at_once_get_one_and_the_same_encoding() -> None:
    start = threading.Barrier(8)
    engine._load.cache_clear()

    def ask(_: int) -> tiktoken.Encoding:
        start.wait()
        return encoding("cl100k_base")

    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(ask, range(8)))

    assert len({id(one) for one in got}) == 1
    assert engine._load.cache_info().misses == 1


@pytest.mark.parametrize(
    "content",
    [None, b"not gzip", gzip.compress(b"IQ== 0\n"), gzip.compress(b"IQ== 0\n")[:-6]],
    ids=["missing", "not gzip", "another file", "cut off"],
)
def test_a_rank_file_that_is_missing_or_wrong_is_an_error_that_says_how_to_build_it(
    content: bytes | None, tmp_path: Path
) -> None:
    file = tmp_path / "o200k_base.tiktoken.gz"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(CallsheetError, match=r"o200k_base\.tiktoken\.gz.*python tools/build_ranks\.py"):
        engine.read_ranks(file, sha256=engine.DEFINITIONS["o200k_base"].sha256)
