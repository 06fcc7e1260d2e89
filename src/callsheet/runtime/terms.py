"""What one assembly is asked for, and what all its steps share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from callsheet.assemble.delta import Whole
from callsheet.assemble.needed import Needed
from callsheet.derive.redaction import Redaction
from callsheet.graph.cut import Lineage
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, ToolCall
from callsheet.graph.values import Digest, Payload
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.alluding import Questions
from callsheet.runtime.desk import Desk, bodies
from callsheet.runtime.documenting.announcing import Announced, nothing_announced
from callsheet.runtime.offering import in_shown_order
from callsheet.runtime.place import Place
from callsheet.runtime.redacting import shows_secrets
from callsheet.wire import formats


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What one assembly is asked for."""

    boundary: Boundary
    policy: PolicySetDocument
    #: Its hash, worked out once.
    policy_hash: Digest
    tools: Sequence[Mapping[str, object]]
    #: Whether the caller can serve the recall tool.
    recall: bool
    needed: Needed
    #: Whether the caller can answer SQL there too.
    sql: bool = False
    #: Whether there are documents that the recall tool finds.
    consults: bool = False
    #: What the recall tool is said to search: as an earlier request told it, or for None as it is now.
    documents: Callable[[ContextAssembly | None], Announced] = nothing_announced


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Of one assembly for a view."""

    place: Place
    lineage: Lineage
    order: Order
    desk: Desk
    #: What was shown last: what is decided goes on from it.
    base: Whole | None
    #: Calls without a result on this branch.
    open: frozenset[RecordId]
    #: Whether a request was shown before, also one that this one does not go on from.
    shown_before: bool = False
    #: Up to where the user's own stream counts; None: all of it.
    personal_upto: int | None = None
    #: What users ask, as vectors; None: what is meant plays no part.
    questions: Questions | None = None

    @property
    def meant(self) -> Questions | None:
        """What users ask, where the policy set lets it bring something back."""
        policy = self.order.policy
        return self.questions if policy.meaning and not policy.verbatim else None

    @property
    def read(self) -> Callable[[Payload], bytes]:
        """Content as the policy set lets it out to the provider: with markers for secrets, or as it was recorded."""
        return self.place.redacting if self.redaction is not None else self.place.read

    @property
    def redaction(self) -> Redaction | None:
        shown = shows_secrets(self.order.policy, self.order.boundary.provider)
        return None if shown else self.place.redacting.redaction

    @property
    def previous(self) -> Whole | None:
        """The sheet that was assembled last, shown or not: what is stored and billed extends it."""
        return self.desk.sheets[-1] if self.desk.sheets else self.base

    @property
    def tools(self) -> list[Mapping[str, object]]:
        """The caller's tools, in the order in which they were last shown."""
        return in_shown_order(self.order.tools, self.base.sheet.boundary.tools if self.base is not None else ())

    @cached_property
    def sent_tools(self) -> Sequence[Mapping[str, object]]:
        """The same as the provider's format offers them, whichever shape they were given in."""
        return formats.sent_tools([dict(tool) for tool in self.tools], self.wire)

    @property
    def wire(self) -> formats.Wire:
        """The format of the request."""
        return formats.wire_of(self.order.boundary.provider)

    @property
    def recall(self) -> bool:
        return self.order.recall and self.order.policy.recall

    @property
    def policy_hash(self) -> Digest:
        return self.order.policy_hash

    @property
    def replayed_before(self) -> int:
        return self.base.sheet.messages_replayed if self.base is not None else 0

    @cached_property
    def calls(self) -> dict[RecordId, ToolCall]:
        """The calls that are at hand, once all is gathered."""
        return bodies(self.desk.calls)
