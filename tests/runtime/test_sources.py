"""Ids are random and of one form."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from callsheet.runtime.sources import RandomIds


@given(st.binary(min_size=15, max_size=15))
def test_an_id_is_its_random_bytes_in_small_base_32(drawn: bytes) -> None:
    written = base64.b32encode(drawn).decode().lower()
    assert RandomIds(lambda size: drawn[:size]).stream() == written
    assert RandomIds(lambda size: drawn[:size]).record("message") == f"msg_{written}"
