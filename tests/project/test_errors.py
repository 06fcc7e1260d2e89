"""Every error stands in the tree at the top of `callsheet.errors`, with a stable code and words of its own."""

import re
from collections import Counter

import pytest

from callsheet import errors
from callsheet.errors import CallsheetError
from tests.project.source import modules

_DRAWN = re.compile(r"^(?P<indent>    [\s│├└─]*)(?P<name>[A-Z]\w+)\s+(?P<code>[a-z][a-z_.]*)")
_STEP = 4


def _all_errors() -> list[type[CallsheetError]]:
    modules()  # an error that some other module defines counts too
    found: list[type[CallsheetError]] = [CallsheetError]
    for error in found:
        found.extend(error.__subclasses__())
    return found


def _drawn() -> dict[str, tuple[str, str | None]]:
    """Of each error in the drawing: its code, and the error that it hangs from."""
    drawn: dict[str, tuple[str, str | None]] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := _DRAWN.match(line):
            depth = len(match["indent"]) // _STEP - 1
            above = [*above[:depth], match["name"]]
            drawn[match["name"]] = (match["code"], above[depth - 1] if depth else None)
    return drawn


def test_the_drawing_is_the_tree() -> None:
    real = {
        error.__name__: (error.code, error.__bases__[0].__name__ if error is not CallsheetError else None)
        for error in _all_errors()
    }

    assert _drawn() == real


def test_codes_are_unique_and_follow_the_tree() -> None:
    counted = Counter(error.code for error in _all_errors())

    assert {code: number for code, number in counted.items() if number > 1} == {}


def test_all_errors_are_defined_in_one_place() -> None:
    assert {error.__module__ for error in _all_errors()} == {"callsheet.errors"}


@pytest.mark.parametrize("error", _all_errors(), ids=lambda error: error.__name__)
def test_every_error_has_words_and_a_code_of_its_own(error: type[CallsheetError]) -> None:
    assert (error.__doc__ or "").strip()
    assert "code" in vars(error)


@pytest.mark.parametrize("error", _all_errors(), ids=lambda error: error.__name__)
def test_an_error_without_a_message_says_what_its_class_says(error: type[CallsheetError]) -> None:
    if error.__init__ is not CallsheetError.__init__:
        return  # it needs to be told what happened
    assert str(error()) == (error.__doc__ or "").strip()
