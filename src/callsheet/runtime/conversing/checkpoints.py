"""Checkpoints: the runtime state to go on from, kept and taken up."""

from collections.abc import Sequence

from callsheet.graph.ids import RecordId
from callsheet.runtime import checkpointing
from callsheet.runtime.checkpointing import Checkpoint
from callsheet.runtime.conversing.view import Viewed


class Resumes(Viewed):
    """Keeps checkpoints and resumes from them."""

    def checkpoint(self, reason: str = "", *, references: Sequence[str] = (), batch: str | None = None) -> RecordId:
        """Record the runtime state to go on from, and return the checkpoint's id.

        It holds the run, open calls, failures with their terms of retry, the state of skills, the sub-agents that are
        waited for (of a `batch`, or all), the newest sheet, and `references` to keep in view; no messages.
        """
        wanted = (references,) if isinstance(references, str) else tuple(references)
        return checkpointing.checkpoint(self._session, self._view, reason=reason, references=wanted, batch=batch)

    def resume(self, checkpoint: str) -> Checkpoint:
        """What a checkpoint restores, as it stands now, also in another process; the resumption is recorded.

        Go on with ``assemble(mode="continuation", checkpoint=...)``. Raises `NotFound`.
        """
        return checkpointing.resume(self._session, self._view, checkpoint, self._policy_hash())

    def checkpoints(self) -> list[RecordId]:
        """The checkpoints that may be resumed here, oldest first."""
        return checkpointing.checkpoints(self._session, self._view)
