"""The participants of a conversation, and the instructions that govern them."""

from callsheet.graph.enums import InstructionScope, Role
from callsheet.graph.ids import RecordId
from callsheet.runtime import instructing
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import choice
from callsheet.runtime.participating import participants


class Instructs(Viewed):
    """Tells who takes part and what governs them."""

    def participants(self) -> dict[str, RecordId]:
        """The participants of the conversation by name, in the order in which they came."""
        return participants(self._session)

    def instruct(
        self,
        text: str,
        *,
        scope: InstructionScope | str = InstructionScope.CONVERSATION,
        role: Role | str = Role.SYSTEM,
    ) -> RecordId:
        """Record an instruction and whom it governs; it replaces the older one of its scope. Returns its id.

        ``conversation`` and ``moderator`` instructions are for everyone on the branch, a ``participant`` one is for
        the participant of this view alone, beside its persona's, which it replaces. `role` is ``system`` or
        ``developer``. Raises `InvalidOption`.
        """
        chosen = choice(InstructionScope, scope, "scope")
        return instructing.instruct(self._session, self._view, text, chosen, choice(Role, role, "role"))
