"""The runner: every document in this folder is played for each of its models, and each request is as expected."""

from pathlib import Path

import pytest

from callsheet.evaluate.scenarios.judging import judge
from callsheet.evaluate.scenarios.reading import load

FILES = sorted(Path(__file__).parent.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_requests_are_as_the_scenario_says(file: Path) -> None:
    judged = judge(load(file))
    assert judged
    assert [f"{one.provider} {one.request}: {finding}" for one in judged for finding in one.findings] == []


def test_the_names_of_scenarios_are_their_own() -> None:
    names = [load(file).name for file in FILES]
    assert len(set(names)) == len(names)
