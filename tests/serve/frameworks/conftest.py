import pytest

from tests.serve.frameworks.environments import NotThere, python_of


@pytest.fixture(scope="session")
def frameworks(request: pytest.FixtureRequest) -> str:
    """The Python with the agents and frameworks of others."""
    return _python(request, "frameworks")


@pytest.fixture(scope="session")
def local_model(request: pytest.FixtureRequest) -> str:
    """The Python with a small model."""
    return _python(request, "local-model")


def _python(request: pytest.FixtureRequest, name: str) -> str:
    wanted = request.config.getoption("--frameworks")
    try:
        return str(python_of(name, make=wanted is not None))
    except NotThere as why:
        if wanted == "must":
            pytest.fail(str(why))
        pytest.skip(str(why))
