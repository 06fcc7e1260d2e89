"""What every part of a conversation stands on: the open session and the view of one branch and participant."""

from collections.abc import Sequence

from callsheet.errors import NotFound
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import ContextAssembly, ModelRun
from callsheet.graph.record import Record
from callsheet.graph.values import Digest, Scope
from callsheet.policy.sets import DEFAULT, policy_set
from callsheet.runtime.drafting import NOBODYS
from callsheet.runtime.options import label
from callsheet.runtime.seeing import newest_sheet
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import own_branches
from callsheet.runtime.typed import all_checked


class Viewed:
    """A branch of an open conversation as one participant sees it."""

    def __init_subclass__(cls) -> None:
        """Every part of the public face refuses arguments of wrong types."""
        super().__init_subclass__()
        all_checked(cls)

    def __init__(
        self,
        session: Session,
        branch: RecordId = ROOT_BRANCH,
        participant: RecordId | None = None,
        carries: Scope = NOBODYS,
    ) -> None:
        self._session = session
        self._view = View(branch, participant, carries)

    @property
    def name(self) -> str:
        """The name that it was opened by."""
        return self._session.conversation.name

    @property
    def id(self) -> str:
        """The id of its stream."""
        return self._session.conversation.id

    @property
    def user(self) -> str | None:
        """Who owns it."""
        return self._session.conversation.user

    @property
    def branch_id(self) -> RecordId:
        """The branch that this view records on and assembles from."""
        return self._view.branch

    @property
    def participant_id(self) -> RecordId | None:
        """The participant that this view acts for; None: nobody in particular."""
        return self._view.participant

    def _get(self, ids: Sequence[RecordId]) -> list[Record]:
        return self._session.ledger.get(self._session.conversation.key, tuple(ids)) if ids else []

    def _branch_named(self, branch: str) -> RecordId:
        """The id of a branch, by name or id. Raises `NotFound`."""
        label(branch, "branch")
        known = own_branches(self._session.ledger, self._session.conversation.key, self._view.carries.sub_agent)
        for id, body in known.items():
            if branch in (id, body.name):
                return id
        names = ", ".join(sorted(body.name for body in known.values()))
        raise NotFound(f"no branch {branch!r} in conversation {self.name!r}; there are: {names}")

    def _reads(self, sheet: ContextAssembly) -> bool:
        """Whether a sheet exists for this view: that of nobody in particular has all, every other its own."""
        run = self._view.carries.sub_agent
        if self.participant_id is None and run is None:
            return True
        return (sheet.boundary.participant, sheet.boundary.run) == (self.participant_id, run)

    def _stored_sheet(self, id: str) -> Record:
        """The record of a sheet of this view, by its id or that of a message or run that answers it.

        Raises `NotFound`, for a sheet of somebody else as for none.
        """
        session = self._session
        found = session.ledger.get(session.sheets.key, (self._sheet_of(RecordId(id)),))
        if not found or not isinstance(found[0].body, ContextAssembly) or not self._reads(found[0].body):
            raise NotFound(f"no sheet {id!r} in conversation {self.name!r}, nor one that it answers")
        return found[0]

    def _sheet_of(self, id: RecordId) -> RecordId:
        """The sheet that a message or run answers; the id itself where it is neither."""
        for record in self._get((id,)):
            if isinstance(record.body, ModelRun):
                return record.body.sheet or id
            if record.header.scope.run is not None:
                return self._sheet_of(record.header.scope.run)
        return id

    def _shown(self) -> ContextAssembly | None:
        """The sheet that the newest message answers, else the newest sheet of this view."""
        session = self._session
        last = session.tail(self._view, fresh=True).last_message
        if last is not None:
            found = session.ledger.get(session.sheets.key, (self._sheet_of(last),))
            if found and isinstance(found[0].body, ContextAssembly):
                return found[0].body
        newest = newest_sheet(session, self._view)
        return newest.sheet if newest is not None else None

    def _policy_hash(self) -> Digest:
        """The policy set of the sheet last shown; before a participant's first, that of the conversation itself."""
        shown = self._shown()
        if shown is None and self._view.participant is not None and self._view.carries.sub_agent is None:
            newest = newest_sheet(self._session, View(self._view.branch))
            shown = newest.sheet if newest is not None else None
        return shown.pins.policy_set if shown is not None else policy_set(DEFAULT).hash
