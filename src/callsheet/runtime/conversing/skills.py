"""Skills that a view is offered and uses."""

from callsheet.graph.ids import RecordId
from callsheet.runtime import skilling
from callsheet.runtime.calling import arguments_of
from callsheet.runtime.conversing.calls import PendingCall
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import label
from callsheet.runtime.skilling import SkillsInUse
from callsheet.runtime.skills import Skill


class UsesSkills(Viewed):
    """Offers skills, and loads and unloads them."""

    def offer_skills(self, *names: str) -> RecordId:
        """Put skills of `Runtime.skills` into the catalogue of this view: a line each in every request from here on.

        Without names all there are. A newer catalogue replaces the older one. With it requests offer the tool
        ``use_skill``, whose calls `answer_skill` answers. Returns the id of the catalogue. Raises `NotFound`.
        """
        return skilling.offer(self._session, self._view, self._session.skills, names)

    def activate(self, skill: str) -> Skill:
        """Load a skill: its instructions and tools are in the requests of this view until it is deactivated.

        Raises `NotFound`, and `InvalidOption` where a tool of it has the name of another tool of an active skill.
        """
        return skilling.activate(self._session, self._view, self._session.skills, label(skill, "skill"))

    def deactivate(self, skill: str) -> None:
        """Unload a skill. Raises `NotFound` where it is not active."""
        skilling.deactivate(self._session, self._view, self._session.skills, label(skill, "skill"))

    def skills(self) -> SkillsInUse:
        """The skills that this view is offered, those that are active, and the tools that come of them."""
        return skilling.in_use(self._session, self._view, self._session.skills)

    def answer_skill(self, arguments: object) -> str:
        """Answer a model's call of ``use_skill``: the skill is active then, or the answer says why it is not.

        Takes a call as `answer_recall` does.
        """
        given = arguments.arguments if isinstance(arguments, PendingCall) else arguments_of(arguments)
        return skilling.answer(self._session, self._view, self._session.skills, given)
