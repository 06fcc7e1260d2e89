"""A short run of what `tools/proxy_endurance.py` runs for long."""

from pathlib import Path

from tests.serve.enduring import endure, judge


def test_nothing_is_lost_or_doubled_when_everything_goes_wrong_at_times(tmp_path: Path) -> None:
    run = endure(tmp_path, requests=250, clients=8, kills=2)
    judge(run)
    assert run.kills == 2
    assert {"429 or 500", "broken", "left"} <= run.seen.keys()
    assert run.answered > 100
