"""The document of a scenario: what happens, the requests that follow, and what is expected of each."""

from msgspec import Struct

from callsheet.evaluate.scenarios.steps import Step
from callsheet.graph.enums import Level, Reason
from callsheet.policy.sets import PolicySetDocument


class Recalls(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Exact evidence that can be fetched: one part of a record, and the text that it must be."""

    record: str
    rows: tuple[int, int | None] | None = None
    lines: tuple[int, int | None] | None = None
    pointer: str | None = None
    search: str | None = None
    #: The whole text; with `holds` a part of it.
    equals: str | None = None
    holds: tuple[str, ...] = ()
    #: Whether the model is refused it, by the policy set of the request.
    refused: bool = False


class Expected(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one request must come to."""

    #: Tokens of plain replay, within 5 %.
    replay: int | None = None
    #: Most tokens of the whole request.
    sheet: int | None = None
    #: Texts that stand in it, to the letter.
    facts: tuple[str, ...] = ()
    #: Texts that stand nowhere in it.
    absent: tuple[str, ...] = ()
    #: Records that stand in it, by name, each with its level.
    selected: dict[str, Level] = {}
    #: Records that do not, by name, each with the reason.
    left_out: dict[str, Reason] = {}
    #: By record a pattern that the sentence about it fits: why it stands so, or why it does not.
    explained: dict[str, str] = {}
    recalls: tuple[Recalls, ...] = ()
    #: Names of the tools that it offers, in their order.
    tools: tuple[str, ...] | None = None


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The boundary that a request is assembled for."""

    #: What tells it from the others of the scenario.
    about: str = ""
    on: str | None = None
    by: str | None = None
    mode: str | None = None
    checkpoint: str | None = None
    budget: int | None = None
    recall: bool = True
    tools: tuple[dict[str, object], ...] = ()
    expect: Expected


class Scenario(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One document, read and checked."""

    name: str
    #: What a person would be asked, and what it takes to answer.
    about: str
    policy: PolicySetDocument
    #: The models by provider that it is played for.
    models: dict[str, str]
    steps: tuple[Step, ...]
    requests: tuple[Request, ...]
    #: For errors: the file, and line and column of each step and request.
    file: str
    step_places: tuple[str, ...]
    request_places: tuple[str, ...]


MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}
"""Where a document names none."""
