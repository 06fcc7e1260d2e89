"""A short run of what `tools/proxy_endurance.py` runs for long, and whether its judge would notice what goes wrong."""

from pathlib import Path

import pytest

from tests.serve.breaking import WAYS
from tests.serve.enduring import endure, judge


def test_nothing_is_lost_or_doubled_when_everything_goes_wrong_at_times(tmp_path: Path) -> None:
    run = endure(tmp_path, requests=250, clients=8, kills=2)
    judge(run)
    assert run.kills == 2
    assert {"429 or 500", "broken", "left"} <= run.seen.keys()
    assert run.answered > 100


@pytest.mark.parametrize(
    ("way", "noticed"),
    [
        ("loses", "has 0 runs"),
        ("doubles", "has 2 runs"),
        ("mixes_up", "recorded in another conversation"),
        ("sends_anothers", "a request held what is not its client's"),
    ],
)
def test_the_judge_notices_a_proxy_that_is_broken(tmp_path: Path, way: str, noticed: str) -> None:
    assert way in WAYS
    run = endure(tmp_path, requests=100, clients=4, kills=0, program=("-m", "tests.serve.breaking", way))
    assert run.answered > 30
    with pytest.raises(AssertionError, match=noticed):
        judge(run)
