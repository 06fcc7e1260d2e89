"""What the policies look at: one record as values, without content.

Relations and states are those that are visible at the boundary; whoever makes a candidate leaves out what is not.
"""

from callsheet.graph.enums import ArtifactStatus, CallStatus, Freshness, Privacy, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.times import Instant
from callsheet.graph.values import DEFAULT_PRIVACY, Attribute, Count, RetryContract, Scope, Value
from callsheet.policy.contracts import ToolContract
from callsheet.policy.settings import Retention


class Candidate(Value):
    """One record that may stand in a request."""

    record: RecordId
    #: The tag of its body, such as ``message``, ``call``, ``artifact``, ``tool_memory``.
    kind: str
    scope: Scope = Scope()
    #: Its class now, after any `Reclassified`.
    privacy: Privacy = DEFAULT_PRIVACY
    #: Of a message.
    role: Role | None = None
    #: Turns since: 0 is the newest turn.
    turn_age: Count = 0

    #: None: it does not age, such as what a person said.
    freshness: Freshness | None = None
    #: None: its time is not known; then one turn counts as one minute.
    observed: Instant | None = None
    #: When it goes stale; None: as the policy set says for its class.
    stale_after: Instant | None = None
    marked_stale: bool = False
    #: Its session has ended.
    session_over: bool = False

    tool: str | None = None
    contract: ToolContract | None = None
    #: Of a call, or of the call that an artifact answers.
    call: CallStatus | None = None
    outcome: ArtifactStatus | None = None
    retry: RetryContract | None = None
    #: What failed or stayed open is settled by something later.
    resolved: bool = False

    #: Visible replacements, by a record that is visible itself.
    superseded_by: tuple[RecordId, ...] = ()
    conflicts_with: tuple[RecordId, ...] = ()
    pinned: bool = False
    #: The recorded promotion decision; None: there is none.
    promoted: bool | None = None
    #: A release to this reader that is in force (True) or was taken back (False); None: as its scope says.
    released: bool | None = None
    #: It was put on this reader's share list after it was recorded.
    shared: bool = False
    erased: bool = False
    retention: Retention = Retention.KEEP

    #: Its filterable properties.
    attributes: tuple[Attribute, ...] = ()
    #: Whether it rests on output of tools; None: not known.
    tainted: bool | None = None

    tokens: Count = 0
    bytes: Count = 0
    #: The exact bytes were asked for, by the caller, by reference or by a user turn.
    exact_wanted: bool = False
