"""Reading the document of a scenario: whole or refused, with file, line and column of what is wrong."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from callsheet.errors import InputError, PolicyError
from callsheet.evaluate.scenarios.contents import KINDS, Data, Lines, Rows, made
from callsheet.evaluate.scenarios.document import MODELS, Request, Scenario
from callsheet.evaluate.scenarios.steps import VERBS, Result, Step
from callsheet.policy.sets import PolicySetDocument, policy_set
from callsheet.runtime.loading import parse_policy

if TYPE_CHECKING:
    from yaml.nodes import Node

LONGEST = 1_000_000
"""Characters of one document."""
DEEPEST = 24

_KEYS = ("name", "about", "policy", "models", "steps", "requests")
_PATH = re.compile(r" - at `(?:key in )?\$([^`]*)`$")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")
_VALUE = re.compile(r"Invalid enum value '([^']*)'")
_PIECE = re.compile(r"\.([^.\[\]]+)|\[([0-9]+|\.\.\.)\]")

_T = TypeVar("_T")


def load(path: Path) -> Scenario:
    """The scenario in a file. Raises `InputError`, also for what is not UTF-8, and `OSError`."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: not UTF-8 at byte {problem.start:,}") from None
    return read(text, file=str(path))


def read(text: str, *, file: str = "scenario") -> Scenario:
    """The scenario that a YAML document says. Raises `InputError` that names file, line and column."""
    source = _Source(text, file)
    root = source.entries(source.root, "the document", _KEYS)
    for key in ("name", "about", "policy", "steps", "requests"):
        if key not in root:
            raise source.problem(source.root, f"{key} is missing")
    steps = source.items(root["steps"], "steps")
    requests = source.items(root["requests"], "requests")
    if not requests:
        raise source.problem(root["requests"], "requests is empty; a scenario needs at least one")
    return Scenario(
        name=source.read(root["name"], str),
        about=source.read(root["about"], str),
        policy=_policy(source, root["policy"]),
        models=source.read(root["models"], dict[str, str]) if "models" in root else dict(MODELS),
        steps=tuple(_step(source, node) for node in steps),
        requests=tuple(source.read(node, Request) for node in requests),
        file=file,
        step_places=tuple(source.place(node) for node in steps),
        request_places=tuple(source.place(node) for node in requests),
    )


def _step(source: "_Source", node: "Node") -> Step:
    entries = source.entries(node, "a step")
    verbs = [key for key in entries if key in VERBS]
    kinds = [VERBS[verb] for verb in verbs]
    # A verb may be a field of another one: an edit says the branch that it begins.
    kinds = [kind for kind in kinds if all(verb in _fields(kind) for verb in verbs)] or kinds
    if len(kinds) != 1:
        said = (
            f"this one has {', '.join(verbs)}" if verbs else f"this one has none, but {', '.join(entries) or 'nothing'}"
        )
        raise source.problem(node, f"a step has one verb, and {said}; verbs are: {', '.join(VERBS)}")
    step = source.read(node, kinds[0])
    if isinstance(step, Result):
        _made(source, entries.get("content", node), step)
    return step


def _fields(kind: type[Step]) -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(kind))


def _made(source: "_Source", node: "Node", step: Result) -> None:
    try:
        content_text(step)
    except (ValueError, msgspec.ValidationError) as problem:
        raise source.problem(node, f"content: {_PATH.sub('', str(problem))}") from None


def content_text(step: Result) -> str:
    """What the call of a step gave back. Raises `ValueError`, `msgspec.ValidationError`."""
    pieces = step.content if isinstance(step.content, tuple) else (step.content,)
    return "\n".join(made(_piece(piece)) for piece in pieces)


def _piece(piece: str | Mapping[str, object]) -> str | Lines | Rows | Data:
    if isinstance(piece, str):
        return piece
    for kind, key in zip(KINDS, ("repeat", "rows", "json"), strict=True):
        if key in piece:
            return msgspec.convert(piece, kind)
    raise ValueError("it must be text, or have one of: repeat, rows, json")


def _policy(source: "_Source", node: "Node") -> PolicySetDocument:
    """A built-in set by its name, or a set that is written out: then its own errors name the place in this file."""
    try:
        if isinstance(node.value, str):
            return policy_set(source.read(node, str))
        begin, end = node.start_mark, node.end_mark
        padding = "\n" * begin.line + " " * begin.column
        return parse_policy(padding + source.text[begin.index : end.index], file=source.file)
    except PolicyError as problem:
        said = str(problem)
        raise InputError(said) if said.startswith(f"{source.file}:") else source.problem(node, said) from None


class _Source:
    """One document as nodes, which know where they stand."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.root = self._tree()

    def _tree(self) -> "Node":
        import yaml

        if len(self.text) > LONGEST:
            raise InputError(f"{self.file}: {len(self.text):,} characters; a scenario has at most {LONGEST:,}")
        depth = 0
        try:
            for event in yaml.parse(self.text, Loader=yaml.SafeLoader):
                if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
                    raise self._at(event.start_mark, "anchors and aliases are not allowed; write the value out")
                if getattr(event, "tag", None) is not None:
                    raise self._at(event.start_mark, "tags are not allowed")
                depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
                if depth > DEEPEST:
                    raise self._at(event.start_mark, f"nested deeper than {DEEPEST} levels")
            node = yaml.compose(self.text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            raise self._at(error.problem_mark, f"not YAML: {error.problem}") from None
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            raise InputError(f"{self.file}: not YAML: {str(error).splitlines()[0]}") from None
        if node is None:
            raise InputError(f"{self.file}:1:1: the document is empty; it needs {', '.join(_KEYS)}")
        return node

    def _at(self, mark: object, problem: str) -> InputError:
        line, column = getattr(mark, "line", None), getattr(mark, "column", None)
        where = f":{line + 1}:{column + 1}" if isinstance(line, int) and isinstance(column, int) else ""
        return InputError(f"{self.file}{where}: {problem}")

    def problem(self, node: "Node", problem: str) -> InputError:
        """The error to raise for this node."""
        return self._at(node.start_mark, problem)

    def place(self, node: "Node") -> str:
        """File, line and column."""
        return f"{self.file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"

    def entries(self, node: "Node", name: str, allowed: tuple[str, ...] | None = None) -> dict[str, "Node"]:
        """The entries of a mapping; with `allowed`, no others."""
        from yaml.nodes import MappingNode

        if not isinstance(node, MappingNode):
            raise self.problem(node, f"{name} must be a mapping, such as `key: value`")
        found: dict[str, Node] = {}
        for key, value in node.value:
            text = key.value if isinstance(key.value, str) else ""
            if allowed is not None and text not in allowed:
                raise self.problem(key, f"unknown key {text!r}; allowed are: {', '.join(allowed)}")
            if text in found:
                raise self.problem(key, f"{text!r} stands twice")
            found[text] = value
        return found

    def items(self, node: "Node", name: str) -> list["Node"]:
        """The items of a list."""
        from yaml.nodes import SequenceNode

        if not isinstance(node, SequenceNode):
            raise self.problem(node, f"{name} must be a list, such as `- one`")
        return list(node.value)

    def read(self, node: "Node", kind: type[_T]) -> _T:
        """The value of a node as this type."""
        try:
            return msgspec.convert(self.plain(node), kind)
        except msgspec.ValidationError as problem:
            said = str(problem)
            found = _PATH.search(said)
            raise self.problem(_inside(node, found[1] if found else "", said), _PATH.sub("", said)) from None

    def plain(self, node: "Node") -> object:
        """The value of a node as plain data; keys that stand twice are refused."""
        from yaml.nodes import MappingNode, SequenceNode

        if isinstance(node, MappingNode):
            return {key: self.plain(value) for key, value in self.entries(node, "this").items()}
        if isinstance(node, SequenceNode):
            return [self.plain(item) for item in node.value]
        return self._scalar(node)

    def _scalar(self, node: "Node") -> object:
        import yaml

        kind = node.tag.rpartition(":")[2]
        if kind not in ("null", "bool", "int", "float"):
            return node.value
        try:
            return yaml.SafeLoader("").construct_object(node)  # type-checked above: a number, a truth value or nothing
        except ValueError:
            raise self.problem(node, f"{node.value[:60]!r} is no number") from None


def _inside(node: "Node", path: str, said: str) -> "Node":
    """The node that a path of msgspec names, as far as it leads; of an unknown key the key itself."""
    from yaml.nodes import MappingNode, SequenceNode

    current = node
    for key, index in _PIECE.findall(path):
        if key and isinstance(current, MappingNode):
            current = next((value for name, value in current.value if name.value == key), current)
        elif index.isdigit() and isinstance(current, SequenceNode) and int(index) < len(current.value):
            current = current.value[int(index)]
    if isinstance(current, MappingNode):
        unknown, value = _UNKNOWN.search(said), _VALUE.search(said)
        for name, held in current.value:
            if unknown is not None and name.value == unknown[1]:
                current = name
                break
            if value is not None and held.value == value[1]:
                current = held
                break
    return current
