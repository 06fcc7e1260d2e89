"""Compaction on request: an older span becomes episodes and milestones, whenever a program wants it."""

from dataclasses import replace

from callsheet.graph.ports import Pruner
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime import asking_compaction, compacting
from callsheet.runtime.abstracting import abstract
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.calling import arguments_of
from callsheet.runtime.compacting import Compaction
from callsheet.runtime.conversing.calls import PendingCall
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import positive
from callsheet.runtime.policies import document_of
from callsheet.runtime.summarising import AnySummariser, pruner_of, summariser_of


class Compacts(Viewed):
    """Compacts what is older than the last turns."""

    def compact(
        self,
        *,
        keep: int | None = None,
        policy: str | PolicySetDocument | None = None,
        summariser: AnySummariser | None = None,
        pruner: Pruner | None = None,
    ) -> Compaction:
        """Let episodes stand for what is older than the last `keep` turns (default: as many as the policy set keeps).

        One transaction appends an episode for each part of the span, extracted from what this view may see, and the
        milestones of it: what was laid down and decided, and sentences with ids and numbers, as exact excerpts with
        their places. The span itself stays and can be recalled; the next request is written anew and shows it by its
        episodes. Calls that wait for a result or for a person stay as they are. An episode is as private as the
        strictest of its span, and for this view alone.

        With a `summariser`, a function from text to text or a `Summariser`, each episode is then written by it, from
        the messages themselves. What it writes is held against them; where it does not pass, ``rejected`` says why and
        the extract stays. It is called for new episodes alone; what it raises is raised here, and the extracts stand.

        A `pruner` (see `Pruner`) leaves words out of extracts, so that more sentences fit: never of identifiers,
        numbers, quotations, negations, or what was laid down or decided.

        Where nothing is due, nothing is recorded, and the answer says so: ``nothing_new``. `policy` says what may stand
        in an episode; default: that of the sheet last shown. Raises `InvalidOption`, `PolicyError`.
        """
        chosen = policy_of(self._session, self._policy_hash()) if policy is None else document_of(policy)
        turns = chosen.turns if keep is None else positive(keep, "keep")
        writes = summariser_of(summariser) if summariser is not None else None
        prunes = pruner_of(pruner) if pruner is not None else None
        made = compacting.compact(self._session, self._view, chosen, keep=(turns,), asked=True, pruner=prunes)
        if writes is None or not made.episodes:
            return made
        written = [abstract(self._session, self._view, chosen, id, writes) for id in made.episodes]
        pairs = tuple(zip(made.episodes, written, strict=True))
        return replace(
            made,
            episodes=tuple(one.episode or id for id, one in pairs),
            rejected=tuple((id, one.reason) for id, one in pairs if one.reason),
        )

    def compact_tool(self) -> dict[str, object]:
        """The schema of a tool by which the model itself compacts, to be put among the `tools` of `assemble`.

        It is offered where a program does that, and nowhere else; `answer_compact` answers its calls.
        """
        return asking_compaction.tool()

    def answer_compact(self, arguments: object) -> str:
        """Answer a model's call of the tool ``compact``: what it keeps stays, episodes stand for the rest.

        Takes a call as `answer_recall` does, and whatever the model wrote is answered.
        """
        given = arguments.arguments if isinstance(arguments, PendingCall) else arguments_of(arguments)
        policy = policy_of(self._session, self._policy_hash())
        return asking_compaction.answer(self._session, self._view, policy, given)
