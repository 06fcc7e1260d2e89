from collections.abc import Iterator

import pytest

from tests.serve.proxy.scripted import Provider, provider


@pytest.fixture
def upstream() -> Iterator[Provider]:
    """A provider that says what the test wants."""
    with provider() as made:
        yield made
