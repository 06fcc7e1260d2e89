"""OpenAI's two current encodings, offline: exact token ids and counts of any text.

The rank files are package data, put there by the build. What this process has learned (the loaded encodings, the
counts of texts seen before) changes how fast an answer comes and never the answer.
"""

import base64
import functools
import gzip
import hashlib
import threading
import zlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from callsheet.errors import CallsheetError
from callsheet.wire.tokens.alike import count_alike
from callsheet.wire.tokens.memo import Memo
from callsheet.wire.tokens.pieces import pieces

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import tiktoken

EncodingName = Literal["o200k_base", "cl100k_base"]


class Definition(NamedTuple):
    """What makes an encoding, as in tiktoken's own `tiktoken_ext.openai_public`."""

    pattern: str
    special_tokens: dict[str, int]
    #: Of the unpacked rank file.
    sha256: str


DEFINITIONS: dict[EncodingName, Definition] = {
    "o200k_base": Definition(
        pattern="|".join(
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": Definition(
        pattern="|".join(
            (
                r"'(?i:[sdmt]|ll|ve|re)",
                r"[^\r\n\p{L}\p{N}]?+\p{L}++",
                r"\p{N}{1,3}+",
                r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
                r"\s++$",
                r"\s*[\r\n]",
                r"\s+(?!\S)",
                r"\s",
            )
        ),
        special_tokens={
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}

_REPAIR = "In a checkout run `python tools/build_ranks.py` (needs bpe-openai); otherwise install Callsheet again."

_loading = threading.Lock()
_seen = Memo(limit_bytes=32 << 20)


def encoding(name: EncodingName) -> "tiktoken.Encoding":
    """The encoding, loaded once per process (some 0.3 s); nothing is ever downloaded.

    Raises `CallsheetError` when its rank file is missing from the package, or is not the one we count with.
    """
    with _loading:
        return _load(name)


def count(text: str, name: EncodingName, *, like: str = "") -> int:
    """Tokens of a text; a text seen before is not tokenized again, nor what it has in common with one it is `like`.

    Everything is ordinary text, also what looks like a special token. A surrogate pair counts as the character that it
    stands for, a lone surrogate as U+FFFD. Text of any length is counted in bounded memory; `pieces` says what
    that costs in exactness beyond 800,000 characters of white space.
    """
    key = Memo.key(name, text)
    tokens = _seen.get(key)
    if tokens is None:
        known = _seen.get(Memo.key(name, like)) if like else None
        tokens = _counted(text, name) if known is None else count_alike(text, like, known, partial(_counted, name=name))
        _seen.put(key, tokens)
    return tokens


def _counted(text: str, name: EncodingName) -> int:
    return sum(len(ids) for ids in _ids(text, name))


def encode(text: str, name: EncodingName) -> tuple[int, ...]:
    """The token ids of a text, under the rules of `count`; for comparing texts token by token."""
    ids = tuple(id for part in _ids(text, name) for id in part)
    _seen.put(Memo.key(name, text), len(ids))
    return ids


def _ids(text: str, name: EncodingName) -> Iterator[list[int]]:
    tokenizer = encoding(name)
    return (tokenizer.encode_ordinary(piece) for piece in pieces(text))


@functools.cache
def _load(name: EncodingName) -> "tiktoken.Encoding":
    from importlib.resources import files

    import tiktoken

    definition = DEFINITIONS[name]
    file = files("callsheet.wire.tokens") / "ranks" / f"{name}.tiktoken.gz"
    return tiktoken.Encoding(
        name,
        pat_str=definition.pattern,
        mergeable_ranks=read_ranks(file, sha256=definition.sha256),
        special_tokens=definition.special_tokens,
    )


def read_ranks(file: "Traversable", *, sha256: str) -> dict[bytes, int]:
    """The tokens of a packed rank file with their ranks. Raises `CallsheetError` when it is missing or another file."""
    try:
        content = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise CallsheetError(
            f"{file} cannot be read ({type(error).__name__}), so tokens cannot be counted. {_REPAIR}"
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise CallsheetError(f"{file} is not the file that it should be, so counts would be wrong. {_REPAIR}")
    lines = (line.split() for line in content.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}
