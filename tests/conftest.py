"""What holds for every test: no network, and no silent skipping where the recordings are due."""

import logging
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests.network import NetworkGuard
from tests.recordings import DATA

_FOR_WANT_OF = ("needs the recorded trajectories", "reference measures")
"""What the reasons of such skips say."""

_GUARD = NetworkGuard()
_GUARD.install()

# The same code gets the same verdict; other examples each time are drawn by `make explore`.
settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-recordings",
        action="store_true",
        help="fail where a test would skip because the recorded trajectories are not there",
    )
    parser.addoption(
        "--frameworks",
        choices=("try", "must"),
        help="set up the environments of other people's agents from the package index; must: fail where that fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--require-recordings") and DATA is None:
        raise pytest.UsageError("--require-recordings: the recorded trajectories were not found")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    required = item.config.getoption("--require-recordings")
    if report.skipped and required and any(reason in str(report.longrepr) for reason in _FOR_WANT_OF):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skipped although the recordings are required: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def network_guard() -> Iterator[NetworkGuard]:
    """Fails a test that tried to reach the network, even where the code under test swallowed the refusal."""
    _GUARD.attempts.clear()
    yield _GUARD
    if _GUARD.attempts:
        pytest.fail("tried to reach the network: " + ", ".join(_GUARD.attempts))


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    """What a command says where its log goes holds for its process; here the next test has the same."""
    known = [logging.getLogger(name) for name in ("callsheet", "callsheet.serve", "uvicorn", "uvicorn.error")]
    before = [(one, list(one.handlers), one.propagate, one.level, one.disabled) for one in known]
    yield
    for one, handlers, propagate, level, disabled in before:
        one.handlers, one.propagate, one.disabled = handlers, propagate, disabled
        one.setLevel(level)
