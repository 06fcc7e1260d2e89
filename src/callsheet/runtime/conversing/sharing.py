"""What one participant or branch gives to others."""

from collections.abc import Sequence

from callsheet.graph.ids import RecordId
from callsheet.runtime import giving
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import remark, texts


class Shares(Viewed):
    """Gives records to others, and brings theirs here."""

    def share(self, *references: str, to: Sequence[str], reason: str = "") -> RecordId:
        """Put own private records on the share list of participants, by name or id.

        Like the next two it returns the id of the record that says so, and raises `NotFound` for what or whom there is
        not, and `InvalidOption` for a record that belongs to somebody else; then nothing has changed.
        """
        return giving.share(self._session, self._view, self._gift(references, to, reason))

    def release(self, *references: str, to: Sequence[str], reason: str = "") -> RecordId:
        """Let participants, or whoever is on a branch, see own private records from here on.

        Like what is shared they stand in requests under their owner's name, as quoted data, where there is room.
        """
        return giving.release(self._session, self._view, self._gift(references, to, reason))

    def withdraw(self, *references: str, to: Sequence[str], reason: str = "") -> RecordId:
        """Take a release or a share back. It leaves every later request at once, whatever that costs."""
        return giving.withdraw(self._session, self._view, self._gift(references, to, reason))

    def merge(self, branch: str, *references: str) -> tuple[RecordId, ...]:
        """Bring results of another branch here: its newest finished answer, or the records that are named.

        They stand here as labelled data of their own, in the class of what they were. Returns the ids of the results.
        What was merged here before is not brought again. Raises `NotFound` for what may not be seen there, and
        `InvalidOption` for this branch itself.
        """
        return giving.merge(self._session, self._view, self._branch_named(branch), references)

    def _gift(self, references: Sequence[str], to: Sequence[str], reason: str) -> giving.Gift:
        readers = texts(to, "to")
        policy = self._policy_hash()
        return giving.Gift(references=tuple(references), to=readers, reason=remark(reason), policy_set=policy)
