"""Expecting an error, without a test framework."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

Problem = TypeVar("Problem", bound=Exception)
Given = ParamSpec("Given")


def refused(error: type[Problem], work: Callable[Given, object], *given: Given.args, **named: Given.kwargs) -> Problem:
    """The error that a call must raise."""
    try:
        work(*given, **named)
    except error as problem:
        return problem
    raise AssertionError(f"{error.__name__} was not raised")
