"""Writes the reference pages from the code: docs/reference/api.md and docs/reference/errors.md.

    python tools/build_reference.py

A test compares the pages with what this would write, so they cannot fall behind.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import msgspec

import callsheet
from callsheet import errors, testing
from callsheet.errors import CallsheetError
from callsheet.explain.absence import WhyNot
from callsheet.explain.sheet import Explained
from callsheet.explain.trace import Trace
from callsheet.graph.ports import Embedder, Pruner, Summariser
from callsheet.graph.values import Vector
from callsheet.ledger import contract
from callsheet.runtime.compacting import Compaction
from callsheet.runtime.documenting.finding import Passage
from callsheet.runtime.documenting.knowledge import Document, Knowledge
from callsheet.runtime.gauging import Gauge, Uncompacted
from callsheet.runtime.personalising.forgetting import Forgotten
from callsheet.runtime.personalising.listing import KeptMemory
from callsheet.runtime.working.draining import Worked

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"

_GENERATED = "<!-- Written by tools/build_reference.py. Change the docstrings, then run it. -->"

_GROUPS = {
    "Opening a store": ("open", "open_async", "Runtime"),
    "Signing": ("HmacSigner", "Ed25519Signer"),
    "Conversations": ("Conversation", "Recorded", "PendingCall"),
    "Tools": ("tool",),
    "Requests": ("Sheet", "Reference"),
    "Policies": ("load_policy", "PolicySetDocument", "ToolContract"),
    "Exact evidence": ("Recalled", "Finding", "Checked"),
    "Reading": ("Spoken", "ToolCard", "Counters"),
    "Closed sets": ("ArtifactStatus", "Role"),
    "The asynchronous face": ("AsyncRuntime", "AsyncConversation"),
    "The rest": ("CallsheetError", "__version__"),
}


_RETURNED: tuple[type, ...] = (
    Knowledge,
    Document,
    Passage,
    KeptMemory,
    Forgotten,
    Gauge,
    Uncompacted,
    Compaction,
    Worked,
    Explained,
    WhyNot,
    Trace,
)
"""What methods of public names return, which is no public name itself."""

_GIVEN: tuple[type, ...] = (Embedder, Vector, Summariser, Pruner)
"""What objects of the program's own must be able to do."""


def pages() -> dict[Path, str]:
    """Every generated page by its path."""
    return {FOLDER / "api.md": api_page(), FOLDER / "errors.md": errors_page()}


# --------------------------------------------------------------------------- public names


def api_page() -> str:
    """The public names with their signatures and docstrings."""
    lines = [_GENERATED, "", "# Public names", ""]
    lines += [
        "Everything here comes from `import callsheet`. What is not on this page or on the page of [errors](errors.md) "
        "is internal and may change in any release.",
        "",
    ]
    for title, names in _GROUPS.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += _named(name)
    lines += ["## What methods return", ""]
    lines += ["These are read, not made: `import callsheet` does not have them. Fields may be added.", ""]
    for cls in _RETURNED:
        lines += _described(cls.__name__, cls)
    lines += ["## What may be given", ""]
    lines += ["What an object of your own must be able to do. It needs no base class.", ""]
    for cls in _GIVEN:
        lines += _described(cls.__name__, cls)
    lines += ["## callsheet.testing", "", _prose(inspect.getdoc(testing)), ""]
    for name in ("FixedClock", "SequenceIds", "memory_runtime"):
        lines += _described(name, getattr(testing, name))
    lines += ["## callsheet.ledger.contract", "", _literal(_prose(inspect.getdoc(contract))), ""]
    return _joined(lines)


def _named(name: str) -> list[str]:
    if name == "__version__":
        return ["### `__version__`", "", "The release, as text.", ""]
    if name.startswith("Async"):
        twin = name.removeprefix("Async")
        return [
            f"### `{name}`",
            "",
            f"The same names as [`{twin}`](#{twin.lower()}), each awaited and run in a worker thread.",
            "",
        ]
    return _described(name, getattr(callsheet, name))


def _described(name: str, value: object) -> list[str]:
    lines = [f"### `{name}`", ""]
    if inspect.isclass(value):
        lines += _class(name, value)
    elif inspect.isfunction(value):
        lines += [*_signature(name, value), _prose(inspect.getdoc(value)), ""]
    return lines


def _class(name: str, cls: type) -> list[str]:
    doc = inspect.getdoc(cls)
    lines = [_prose(doc), ""]
    if cls.__module__ == testing.__name__ and "__init__" in vars(cls):
        lines = [*_signature(name, vars(cls)["__init__"]), *lines]
    if issubclass(cls, Enum):
        return lines + [f"- `{member.value}`{_note(cls, member.name)}" for member in cls] + [""]
    if dataclasses.is_dataclass(cls):
        lines += [f"- `{found.name}: {_type(found.type)}`{_note(cls, found.name)}" for found in _public_fields(cls)]
        lines += [""]
    if issubclass(cls, msgspec.Struct):
        lines += [f"- `{one.name}: {_type(one.type)}`{_note(cls, one.name)}" for one in msgspec.structs.fields(cls)]
        lines += [""]
    for member, value in _members(cls).items():
        if member.startswith("_") or (name == "CallsheetError"):
            continue
        if isinstance(value, property) and value.fget is not None:
            lines += [
                f"#### `{name}.{member}`",
                "",
                f"`{_returned(value.fget)}`",
                "",
                _prose(inspect.getdoc(value)),
                "",
            ]
        elif inspect.isfunction(value):
            lines += [f"#### `{name}.{member}`", "", *_signature(member, value), _prose(inspect.getdoc(value)), ""]
    return lines


def _members(cls: type) -> dict[str, object]:
    """What a class has to offer, also by way of the classes of the package that it is composed of."""
    found: dict[str, object] = {}
    for base in cls.__bases__:
        if base.__module__.startswith(f"{callsheet.__name__}."):
            found |= _members(base)
    return found | vars(cls)


def _public_fields(cls: type) -> list["dataclasses.Field[object]"]:
    return [found for found in dataclasses.fields(cls) if not found.name.startswith("_")]


def _note(cls: type, name: str) -> str:
    """The ``#:`` comment above a field or member, where it has one."""
    lines = inspect.getsource(cls).splitlines()
    for index, line in enumerate(lines):
        if re.match(rf"\s+{re.escape(name)}\s*[:=]", line):
            above: list[str] = []
            for before in reversed(lines[:index]):
                if not before.strip().startswith("#:"):
                    break
                above.insert(0, before.strip().removeprefix("#:").strip())
            return f": {_prose(' '.join(above))}" if above else ""
    return ""


def _signature(name: str, function: object) -> list[str]:
    assert inspect.isfunction(function)
    signature = inspect.signature(function)
    given = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    shown = [_parameter(parameter) for parameter in given]
    variadic = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in given)
    starred = next((at for at, parameter in enumerate(given) if parameter.kind is parameter.KEYWORD_ONLY), None)
    if starred is not None and not variadic:
        shown.insert(starred, "*")
    returned = f" -> {_type(signature.return_annotation)}"
    flat = f"{name}({', '.join(shown)}){returned}"
    broken = "\n".join([f"{name}(", *(f"    {part}," for part in shown), f"){returned}"])
    return ["```text", flat if len(flat) <= 100 else broken, "```", ""]


def _parameter(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
    stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    return f"{stars}{parameter.name}: {_type(parameter.annotation)}{default}"


def _default(value: object) -> str:
    return repr(value.value) if isinstance(value, Enum) else repr(value)


def _returned(function: object) -> str:
    assert inspect.isfunction(function)
    return _type(inspect.signature(function).return_annotation)


def _type(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = text.replace("datetime.datetime | str | int | float", "Time").replace("NoneType", "None")
    text = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)
    text = re.sub(r"\bAnnotated\[(\w+), Meta\([^()]*\)\]", r"\1", text)
    return re.sub(r"\bOptional\[(\w+)\]", r"\1 | None", text)  # as some releases of Python write it


# --------------------------------------------------------------------------- errors


def errors_page() -> str:
    """The tree of errors with codes and words."""
    lines = [_GENERATED, "", "# Errors", ""]
    lines += [
        "Input from outside (messages, files, arguments) raises nothing but these, and a refused input changes "
        "nothing. Programs match on the class or on `error.code`, never on the text; codes are stable.",
        "",
        "```text",
        *_drawing(),
        "```",
        "",
    ]
    for error in _walk(CallsheetError):
        lines += [f"## `{error.__name__}`", "", f"Code `{error.code}`. {_prose(inspect.getdoc(error))}", ""]
        carried = sorted(name for name in inspect.signature(error).parameters if name not in ("message", "problem"))
        if carried:
            lines += ["Carries " + ", ".join(f"`{name}`" for name in carried) + ".", ""]
    return _joined(lines)


def _drawing() -> list[str]:
    return [line.removeprefix("    ") for line in (errors.__doc__ or "").splitlines() if line.startswith("    ")]


def _walk(error: type[CallsheetError]) -> Iterator[type[CallsheetError]]:
    yield error
    for child in error.__subclasses__():
        yield from _walk(child)


def _prose(doc: str | None) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", doc or "")


def _literal(prose: str) -> str:
    """Text in which indented lines are a fenced block."""
    return re.sub(
        r"((?:^    .*\n|^\n(?=    ))+)", lambda found: f"\n```text\n{_outdented(found[1])}```\n", prose, flags=re.M
    )


def _outdented(text: str) -> str:
    return re.sub(r"^    ", "", text.strip("\n"), flags=re.M) + "\n"


def _joined(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
