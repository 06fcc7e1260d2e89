"""An independent implementation of the same encodings, to check against."""

import functools
import importlib
from typing import Protocol, cast

from callsheet.wire.tokens import EncodingName


class Oracle(Protocol):
    def encode(self, text: str) -> list[int]: ...


@functools.cache
def oracle(name: EncodingName) -> Oracle:
    return cast("Oracle", getattr(importlib.import_module("rs_bpe.bpe").openai, name)())
