"""The steps of a scenario: each is a mapping with one verb, and what belongs to it."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from callsheet.evaluate.scenarios.contents import Piece


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"named": "as"}):
    """What every step may say beside its verb."""

    #: The branch or sub-agent that it happens on; default: the main branch.
    on: str | None = None
    #: The participant who does it; default: nobody in particular.
    by: str | None = None
    #: How later steps and expectations call the record.
    named: str | None = None
    #: Seconds that pass before it; default: 60 before what user or assistant say, else none.
    after: float | None = None


class System(Step, frozen=True, kw_only=True):
    """A system message."""

    system: str


class User(Step, frozen=True, kw_only=True):
    """What the user says."""

    user: str


class Called(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of an assistant's message."""

    call: str
    tool: str
    arguments: dict[str, object] | str = {}


class Assistant(Step, frozen=True, kw_only=True):
    """What the assistant says, calls, or both."""

    assistant: str | None
    calls: tuple[Called, ...] = ()


class Result(Step, frozen=True, kw_only=True):
    """What a call gave back. Without a name of its own it is called as its call is."""

    #: The call that it answers.
    result: str
    content: Piece | tuple[Piece, ...] = ""
    status: str | None = None


class Promote(Step, frozen=True, kw_only=True):
    """Results become a memory."""

    promote: tuple[str, ...] | str
    summary: str | None = None
    payload: object = None
    extractor: str = "rule"
    confidence: float | None = None


class Supersede(Step, frozen=True, kw_only=True, rename={"named": "as", "current": "with"}):
    """Records are replaced by another one."""

    supersede: tuple[str, ...] | str
    current: str
    reason: str = ""


class Conflict(Step, frozen=True, kw_only=True):
    """Two records contradict each other."""

    conflict: tuple[str, str]
    reason: str = ""


class Stale(Step, frozen=True, kw_only=True):
    """Records no longer speak for the present."""

    stale: tuple[str, ...] | str
    reason: str = ""


class Reclassify(Step, frozen=True, kw_only=True):
    """Records belong to another privacy class."""

    reclassify: tuple[str, ...] | str
    privacy: str


class Pin(Step, frozen=True, kw_only=True):
    """Records are kept in view."""

    pin: tuple[str, ...] | str


class Misplace(Step, frozen=True, kw_only=True):
    """The locators of a memory point where its values do not stand, as after a faulty extraction."""

    misplace: str


class Check(Step, frozen=True, kw_only=True):
    """The locators of a memory are checked and, where they are broken, repaired."""

    check: str
    #: What comes of it.
    gives: Literal["whole", "repaired", "stale"]


class Instruct(Step, frozen=True, kw_only=True):
    """An instruction and whom it governs."""

    instruct: str
    scope: str = "conversation"


class Branch(Step, frozen=True, kw_only=True):
    """A branch begins, after a record or before one."""

    branch: str
    at: str | None = None
    before: str | None = None


class Edit(Step, frozen=True, kw_only=True):
    """Something else is said in place of a message, on a branch of that name."""

    edit: str
    text: str
    branch: str


class Regenerate(Step, frozen=True, kw_only=True):
    """An assistant's message is to be made again, on a branch of that name."""

    regenerate: str
    branch: str


class Send(Step, frozen=True, kw_only=True):
    """The user says something in answer to given messages, on a branch of that name where one begins."""

    send: str
    parents: tuple[str, ...]
    branch: str


class Merge(Step, frozen=True, kw_only=True):
    """Records of another branch, or its newest answer, are brought here."""

    merge: str
    records: tuple[str, ...] = ()


class Participant(Step, frozen=True, kw_only=True):
    """Somebody takes part from here on."""

    participant: str
    persona: str | None = None
    provider: str | None = None
    model: str | None = None


class Share(Step, frozen=True, kw_only=True):
    """Own records go on the share list of others."""

    share: tuple[str, ...] | str
    to: tuple[str, ...] | str


class Release(Step, frozen=True, kw_only=True):
    """Own records may be seen by others from here on."""

    release: tuple[str, ...] | str
    to: tuple[str, ...] | str


class Withdraw(Step, frozen=True, kw_only=True):
    """A release is taken back."""

    withdraw: tuple[str, ...] | str
    to: tuple[str, ...] | str


class Spawn(Step, frozen=True, kw_only=True):
    """A sub-agent begins; later steps happen on it by its name."""

    spawn: str
    goal: str
    role: str | None = None
    constraints: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    context: tuple[str, ...] = ()
    call: str | None = None
    batch: str | None = None
    task: str | None = None


class Complete(Step, frozen=True, kw_only=True, rename={"named": "as", "files": "release"}):
    """A sub-agent ends and gives something back."""

    complete: str
    report: str | None = None
    files: tuple[str, ...] = ()


class Fail(Step, frozen=True, kw_only=True):
    """A sub-agent ends without a report."""

    fail: str
    error: str
    status: str = "failed"


class Checkpoint(Step, frozen=True, kw_only=True):
    """The runtime state is recorded, to go on from; called by its name."""

    checkpoint: str
    reason: str = ""
    references: tuple[str, ...] = ()
    batch: str | None = None


class Resume(Step, frozen=True, kw_only=True):
    """A checkpoint is taken up again."""

    resume: str
    #: Whether something that it waits for is still open.
    waits: bool = False
    #: The sub-agents that it waited for, by name, with how they stand.
    children: dict[str, str] = {}


class Skill(Step, frozen=True, kw_only=True):
    """The workspace has a skill."""

    skill: str
    summary: str
    instructions: str
    tools: tuple[dict[str, object], ...] = ()


class Offer(Step, frozen=True, kw_only=True):
    """Skills are put into the catalogue."""

    offer: tuple[str, ...] | str


class Activate(Step, frozen=True, kw_only=True):
    """A skill is loaded."""

    activate: str


class Deactivate(Step, frozen=True, kw_only=True):
    """A skill is unloaded."""

    deactivate: str


class Wait(Step, frozen=True, kw_only=True):
    """Seconds pass."""

    wait: float


class Ask(Step, frozen=True, kw_only=True):
    """A request is assembled and sent; what the assistant says next answers it."""

    ask: str
    mode: str | None = None


VERBS: Mapping[str, type[Step]] = {
    kind.__name__.lower(): kind
    for kind in (
        System,
        User,
        Assistant,
        Result,
        Promote,
        Supersede,
        Conflict,
        Stale,
        Reclassify,
        Pin,
        Misplace,
        Check,
        Instruct,
        Branch,
        Edit,
        Regenerate,
        Send,
        Merge,
        Participant,
        Share,
        Release,
        Withdraw,
        Spawn,
        Complete,
        Fail,
        Checkpoint,
        Resume,
        Skill,
        Offer,
        Activate,
        Deactivate,
        Wait,
        Ask,
    )
}
"""The kinds of step by the key that says what happens."""
