"""Every error that Callsheet raises on purpose.

    CallsheetError                     callsheet
    ├── InputError                     input                       refused; nothing was changed
    │   ├── InvalidMessage             input.message               a message is not of its provider's shape
    │   ├── InvalidOption              input.option                an argument has a value it cannot have
    │   ├── InvalidTime                input.time                  a time without zone, or not a time
    │   ├── InvalidLine                input.line                  one line of a file cannot be imported
    │   ├── PolicyError                input.policy                a policy set is unknown or inconsistent
    │   └── ConfigError                input.config                a file of settings is wrong
    ├── NotFound                       not_found                   no such record, or none that may be seen
    ├── RecallRefused                  recall_refused              a policy keeps this content from this provider
    ├── ToolError                      tool
    │   ├── CallTaken                  tool.taken                  another execution is running these calls
    │   ├── CallDecided                tool.decided                the call was answered or decided on before
    │   └── NotApplied                 tool.not_applied            what a call would have done did not happen
    ├── AssemblyError                  assembly
    │   ├── BudgetTooSmall             assembly.budget_too_small   what must appear does not fit
    │   ├── EmptyRequest               assembly.empty              there is nothing to answer
    │   └── AmbiguousSheet             assembly.ambiguous_sheet    several open sheets, none was named
    ├── StoreError                     store
    │   ├── StoreClosed                store.closed
    │   ├── StoreBusy                  store.busy                  other writers kept the lock too long
    │   ├── StoreFull                  store.full                  the disk or a quota is exhausted
    │   ├── NotAStore                  store.not_a_store           the file is something else
    │   ├── StoreTooNew                store.too_new               written by a newer version
    │   ├── PositionConflict           store.position              another writer was first
    │   ├── Damaged                    store.damaged               stored bytes are not what was stored
    │   └── BodyErased                 store.erased                the content was erased on purpose
    └── MissingExtra                   missing_extra               an optional part is not installed

Codes are stable; programs match on ``error.code`` or the class, never on the text. The class docstring is the
default message. A message names the offending value, where it stood, and the next step.
"""

from collections.abc import Mapping
from typing import ClassVar


class CallsheetError(Exception):
    """Something in Callsheet failed."""

    code: ClassVar[str] = "callsheet"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class InputError(CallsheetError):
    """The input was refused; nothing was changed."""

    code = "input"


class InvalidMessage(InputError):
    """A message is not of the shape that its provider defines."""

    code = "input.message"

    def __init__(self, problem: str, *, where: str = "") -> None:
        #: JSON-Pointer-like path of the offending value inside the input, such as ``messages[3].content``.
        self.where = where
        super().__init__(f"{where}: {problem}" if where else problem)


class InvalidOption(InputError):
    """An argument has a value that it cannot have."""

    code = "input.option"


class InvalidTime(InputError):
    """A time needs a zone: pass an aware datetime, ISO 8601 text with offset, or epoch seconds."""

    code = "input.time"


class InvalidLine(InputError):
    """One line of a file cannot be imported."""

    code = "input.line"

    def __init__(self, problem: str, *, file: str, line: int) -> None:
        self.file = file
        self.line = line
        self.problem = problem
        super().__init__(f"{file}:{line}: {problem}")


class PolicyError(InputError):
    """A policy set is unknown or inconsistent."""

    code = "input.policy"

    def __init__(
        self, message: str | None = None, *, place: tuple[int, int] | None = None, problems: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        #: The line and column of the document, from 1; None: it is no matter of one place.
        self.place = place
        #: All that is wrong with a document, each with its place, in its order; the message is the first of them.
        self.problems = problems or (str(self),)


class ConfigError(InputError):
    """A file of settings is wrong; nothing was started."""

    code = "input.config"

    def __init__(self, message: str | None = None, *, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        #: All that is wrong, each with file, line and column, in the order of the file; the message is the first.
        self.problems = problems or (str(self),)


class NotFound(CallsheetError):
    """No such record, or none that may be seen from here."""

    code = "not_found"


class RecallRefused(CallsheetError):
    """A policy keeps this content from this provider."""

    code = "recall_refused"

    def __init__(self, *, privacy: str, provider: str, safe: str, rule: str = "") -> None:
        #: The class of the data.
        self.privacy = privacy
        self.provider = provider
        #: The rule of the policy set that says so, where users wrote one; empty: its tables do.
        self.rule = rule
        #: What may be told of it: metadata, never content.
        self.safe = safe
        said = f"data of class {privacy!r} may not go to {provider!r} under the policy set of this request"
        if rule:
            said = f"the rule {rule!r} of the policy set of this request keeps this from {provider!r}"
        super().__init__(f"{said}; what may be told of it: {safe}")


class ToolError(CallsheetError):
    """A tool call cannot be dealt with in this way."""

    code = "tool"


class CallTaken(ToolError):
    """Another execution is running these calls; nothing was started. Wait for its results."""

    code = "tool.taken"

    def __init__(self, *, calls: tuple[str, ...], holder: str, until: str) -> None:
        #: The ids of the calls that are taken.
        self.calls = calls
        #: The process that runs them, by host and process id.
        self.holder = holder
        #: When they are free again if it does not report, in ISO 8601.
        self.until = until
        named = ", ".join(calls[:3])
        super().__init__(
            f"{holder} is running {len(calls)} of these calls ({named}); nothing was started. Wait for their results, "
            f"or until that process is gone, at the latest {until}"
        )


class CallDecided(ToolError):
    """The call was answered, approved, refused or begun before; nothing was changed."""

    code = "tool.decided"


class NotApplied(ToolError):
    """What the call would have done did not happen. Raised by a reconcile function; then the call may be run."""

    code = "tool.not_applied"


class AssemblyError(CallsheetError):
    """The request could not be assembled."""

    code = "assembly"


_NAMED = 5
"""Pinned records that a message names; an error holds all."""


class BudgetTooSmall(AssemblyError):
    """The records that must appear do not fit the budget.

    Raise the budget, unpin what need not stand in every request, offer fewer tools, or choose a policy set that may
    show less.
    """

    code = "assembly.budget_too_small"

    def __init__(
        self,
        *,
        budget: int,
        sizes: dict[str, int],
        policy: str,
        exact: bool = True,
        pins: Mapping[str, int] | None = None,
        at_most: bool = False,
    ) -> None:
        #: Tokens that the request may take.
        self.budget = budget
        #: Tokens by part: ``system``, ``tools``, ``history`` and whatever else had to appear. Their sum is the smallest
        #: budget that is enough.
        self.sizes = sizes
        #: Whether less may be enough: older history would be compacted first, which was not done in vain here.
        self.at_most = at_most
        self.policy = policy
        #: About how many of these tokens each record takes that stands for no other reason than that it is pinned,
        #: the most first.
        self.pins = dict(sorted((pins or {}).items(), key=lambda pin: (-pin[1], pin[0])))
        parts = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        total = sum(sizes.values())
        super().__init__(
            f"policy set {policy!r} must show {'at most ' if at_most else ''}{total:,} tokens ({parts}"
            f"{'' if exact else '; estimates, each with its margin'}) but the budget is {budget:,}. "
            f"{self._pinned()}Raise the budget, offer fewer tools, or choose a policy set that may show less."
        )

    def _pinned(self) -> str:
        if not self.pins:
            return ""
        named = ", ".join(f"{id} {size:,}" for id, size in list(self.pins.items())[:_NAMED])
        more = f", and {len(self.pins) - _NAMED:,} more" if len(self.pins) > _NAMED else ""
        return f"Of these, about {sum(self.pins.values()):,} are pinned ({named}{more}): unpin what is not needed. "


class EmptyRequest(AssemblyError):
    """There is nothing to answer: the branch shows no message but instructions."""

    code = "assembly.empty"

    def __init__(self, *, policy: str = "", left_out: Mapping[str, int] | None = None) -> None:
        #: The policy set that leaves out all that there is; empty: there is nothing.
        self.policy = policy
        #: How many records each of its rules leaves out, as ``visibility.rule.own`` or ``privacy.secret``.
        self.left_out = dict(left_out or {})
        if not self.left_out:
            super().__init__()
            return
        rules = ", ".join(f"{count:,} by {rule}" for rule, count in self.left_out.items())
        super().__init__(
            f"There is nothing to answer: policy set {policy!r} leaves out all messages and results ({rules}). "
            "Change the rule, or choose another policy set."
        )


class AmbiguousSheet(AssemblyError):
    """Several sheets are unanswered: pass the one that was sent as record(reply, sheet=sheet)."""

    code = "assembly.ambiguous_sheet"


class StoreError(CallsheetError):
    """The store could not do what was asked."""

    code = "store"


class StoreClosed(StoreError):
    """The store is closed. Open it again with callsheet.open(...)."""

    code = "store.closed"


class StoreBusy(StoreError):
    """Other writers kept the store locked too long; nothing was written. Try again."""

    code = "store.busy"


class StoreFull(StoreError):
    """The disk or a quota is exhausted; nothing was written."""

    code = "store.full"


class NotAStore(StoreError):
    """The file is not a Callsheet store."""

    code = "store.not_a_store"


class StoreTooNew(StoreError):
    """The store was written by a newer version of Callsheet. Upgrade Callsheet to open it."""

    code = "store.too_new"


class PositionConflict(StoreError):
    """Another writer appended first; read what is new and decide again."""

    code = "store.position"

    def __init__(self, *, stream: str, expected: int, actual: int) -> None:
        self.stream = stream
        self.expected = expected
        self.actual = actual
        super().__init__(
            f"stream {stream} is at position {actual}, not {expected}: another writer appended first. "
            "Read what is new and decide again."
        )


class Damaged(StoreError):
    """Stored bytes are not what was stored. Run callsheet verify; restore from a backup."""

    code = "store.damaged"


class BodyErased(StoreError):
    """The content of this record was erased on purpose; its header and the erasure record remain."""

    code = "store.erased"


class MissingExtra(CallsheetError, ImportError):
    """An optional part is not installed."""

    code = "missing_extra"

    def __init__(self, extra: str, *, purpose: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs an optional part. Install it with: pip install 'callsheet[{extra}]'")
