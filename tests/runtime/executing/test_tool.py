"""Functions as tools: what a model is told of them, and what is refused when they are registered."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Literal

import msgspec
import pytest

import callsheet
from callsheet import ToolContract
from callsheet.errors import InvalidOption, PolicyError
from callsheet.runtime.executing.arguments import read_arguments
from callsheet.testing import memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems


class Glaze(Enum):
    ASH = "ash"
    TIN = "tin"


@dataclass
class Slot:
    shelf: int
    column: int = 0


class Doc:
    def __init__(self, documentation: str) -> None:
        self.documentation = documentation


@callsheet.tool
def fire(
    slots: list[Slot],
    glaze: Annotated[Glaze, "what it is covered with"],
    degrees: Annotated[int, msgspec.Meta(ge=0, le=1300), Doc("in Celsius")] = 1180,
    *,
    day: date | None = None,
    mode: Literal["slow", "fast"] = "slow",
    tags: list[str] = [],  # noqa: B006 (what a registered function may have)
) -> str:
    """Fire a kiln.

    It takes a night.
    """
    return f"{slots} {glaze} {degrees} {day} {mode} {tags}"


SCHEMA = {
    "type": "object",
    "properties": {
        "slots": {"type": "array", "items": {"$ref": "#/$defs/Slot"}},
        "glaze": {"description": "what it is covered with", "$ref": "#/$defs/Glaze"},
        "degrees": {"description": "in Celsius", "type": "integer", "minimum": 0, "maximum": 1300, "default": 1180},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
        "mode": {"enum": ["fast", "slow"], "default": "slow"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["slots", "glaze"],
    "additionalProperties": False,
}


def test_annotations_and_docstring_become_the_schema() -> None:
    shape = fire.schema()
    function = msgspec.convert(shape["function"], dict[str, object])
    assert (function["name"], function["description"]) == ("fire", "Fire a kiln.\n\nIt takes a night.")
    schema = msgspec.convert(function["parameters"], dict[str, object])
    definitions = msgspec.convert(schema.pop("$defs"), dict[str, object])
    assert schema == SCHEMA
    assert definitions.keys() == {"Slot", "Glaze"}
    other = fire.schema("anthropic")
    assert other["name"] == "fire"
    assert other["input_schema"] == function["parameters"]


def test_requests_offer_functions_and_schemas_alike() -> None:
    def stoke(wood: str) -> None:
        """Put wood on."""

    given = {"type": "function", "function": {"name": "given", "parameters": {"type": "object", "properties": {}}}}
    talk = memory_runtime().conversation("kiln")
    talk.record({"role": "user", "content": "Fire it."})
    for provider, model in (("openai", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5")):
        sheet = talk.assemble(provider=provider, model=model, tools=[fire, stoke, given])
        assert not problems(sheet.request(), Wire(provider))
        assert sheet.record.boundary.tools == ("fire", "stoke", "given")


def nothing() -> None: ...


def test_arguments_come_as_the_annotated_types_and_defaults_stay_the_functions() -> None:
    read = read_arguments(fire, b'{"slots":[{"shelf":2}],"glaze":"ash","day":"2026-05-01"}')
    assert read == {"slots": [Slot(2)], "glaze": Glaze.ASH, "day": date(2026, 5, 1)}
    assert read_arguments(callsheet.tool(nothing), b" ") == {}


@pytest.mark.parametrize("written", [b"\xff", b'{"slots": "\\ud800"}', b"null", b'"x"', b"1", b"{}", b"[" * 100_000])
def test_whatever_a_model_writes_is_told_and_never_raises(written: bytes) -> None:
    told = read_arguments(fire, written)
    assert isinstance(told, str)
    assert told.startswith("The arguments of fire are not valid, it was not run: ")


@pytest.mark.parametrize(
    "written", [b'{"slots": [{"shelf', b'{"slots":[{"shelf":2}],"glaze":"ash","day":"2026-05-01"}']
)
def test_a_call_that_was_cut_off_is_told_to_be(written: bytes) -> None:
    told = read_arguments(fire, written, cut_off=True)
    assert isinstance(told, str)
    assert told.startswith("The call of fire was cut off at the token limit of the answer, it was not run.")


def test_the_idempotency_key_is_not_shown_and_not_taken_from_the_model() -> None:
    contract = ToolContract(name="pay", idempotency_key="key")

    @callsheet.tool(contract=contract)
    def pay(amount: int, key: str) -> str:
        return key

    assert list(msgspec.convert(pay.signature.schema["properties"], dict[str, object])) == ["amount"]
    assert "unknown field `key`" in str(read_arguments(pay, b'{"amount":1,"key":"mine"}'))
    with pytest.raises(InvalidOption, match="no parameter 'key'"):
        callsheet.tool(contract=contract)(lambda amount: amount)


def test_a_tool_is_still_the_function() -> None:
    assert fire([], Glaze.TIN).startswith("[] Glaze.TIN 1180")


def test_methods_partials_and_callable_objects_are_tools_under_a_name() -> None:
    class Kiln:
        def heat(self, degrees: int) -> int:
            return degrees

        def __call__(self, zone: int) -> int:
            return zone

    def add(one: int, two: int) -> int:
        return one + two

    assert callsheet.tool(Kiln().heat).name == "heat"
    made = callsheet.tool(contract=ToolContract(name="zone"))(Kiln())
    assert "zone" in str(made.schema())
    part = callsheet.tool(contract=ToolContract(name="add_two"))(functools.partial(add, two=2))
    assert part(1) == 3
    with pytest.raises(InvalidOption, match="the name of the tool"):
        callsheet.tool(functools.partial(add, two=2))


def _no_annotation(zone: int) -> None: ...


del _no_annotation.__annotations__["zone"]


def _many(*zones: int) -> None: ...


def _positional(zone: int, /) -> None: ...


def _strange(zone: Callable[[], int]) -> None: ...


def _missing(zone: int) -> None: ...


_missing.__annotations__["zone"] = "Nowhere"


@pytest.mark.parametrize("function", [_no_annotation, _many, _positional, _strange, _missing, 5])
def test_what_has_no_schema_is_refused_by_name(function: Callable[..., object]) -> None:
    with pytest.raises(InvalidOption):
        callsheet.tool(function)


@pytest.mark.parametrize(
    "terms", [{"time_limit": 0}, {"time_limit": float("nan")}, {"attempts": 0}, {"backoff": -1.0}, {"attempts": 999}]
)
def test_terms_out_of_range_are_refused(terms: dict[str, float]) -> None:
    with pytest.raises(PolicyError):
        msgspec.convert({"name": "fire", **terms}, ToolContract)


def test_a_parameter_that_no_struct_can_hold_is_refused_by_the_name_of_the_tool() -> None:
    def weigh(crate: str, __scale: int = 1) -> str:
        raise AssertionError(crate, __scale)

    with pytest.raises(InvalidOption, match="tool 'weigh' has a parameter that no schema can be made of"):
        callsheet.tool(weigh)
