"""What the proxy tells of a request in its log, and where a reader finds what it means."""

import logging
import re
from pathlib import Path

import pytest

from callsheet.serve.proxy.journal import Ended, Outcome, Sent
from callsheet.serve.proxy.observing import Observer, Told
from callsheet.serve.proxy.placed import How

PAGE = (Path(__file__).parents[3] / "docs" / "proxy.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("how", How)
def test_all_that_a_line_tells_is_described(how: How, caplog: pytest.LogCaptureFixture) -> None:
    ended = Ended(
        at=0, sent=Sent.SHEET, outcome=Outcome.ANSWERED, status=200, conversation="c", sheet="s", how=how.value,
        asked=9, assembled=5, reported=True, input=5, cached=1, output=1,
    )  # fmt: skip
    told = Told(
        request="r", route="chat", upstream="u", model="m", key="k", ended=ended, seconds=0.3, prepared=0.1, first=0.2,
        error="record:ValueError",
    )  # fmt: skip
    with caplog.at_level(logging.INFO, "callsheet.serve"):
        Observer().over(told)
    (line,) = caplog.messages
    fields = dict(re.findall(r"(\S+?)=(\S+)", line))
    assert fields["how"] == how.value
    assert {name for name in (*fields, how.value) if f"`{name}`" not in PAGE} == set()
