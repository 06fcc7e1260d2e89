"""Tool memories: made of results, refused to them, held against each other, and checked."""

from collections.abc import Mapping, Sequence

from callsheet.graph.enums import Freshness
from callsheet.graph.ids import RecordId
from callsheet.graph.times import instant
from callsheet.policy.sets import PolicySetDocument, policy_set
from callsheet.runtime import promoting, relating, retaining
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import Time, choice, label, references_of
from callsheet.runtime.promoting import Checked, Promotion
from callsheet.runtime.retaining import DueRecord


class Remembers(Viewed):
    """Makes memories of tool results, and says what has become of them."""

    def promote(
        self,
        *references: str,
        summary: str | None = None,
        payload: object = None,
        extractor: str = "rule",
        confidence: float | None = None,
        attributes: Mapping[str, str] | None = None,
        supersedes: Sequence[str] = (),
        conflicts_with: Sequence[str] = (),
        observed: Time | None = None,
        freshness: Freshness | str | None = None,
        stale_after: Time | None = None,
    ) -> RecordId:
        """Make a tool memory of one or more tool results: a recorded decision, in one transaction. Returns its id.

        `summary` is given, or the stored gist of the results; `payload` is JSON data. For values of the payload, and
        identifiers of the summary, that stand in a source at exactly one place, the memory holds locators. It is as
        private as its strictest source and as short-lived as its shortest-lived one, and it is marked as resting on
        untrusted output. `confidence` is from 0 to 1; default: by where the content comes from. A summary that a
        model wrote says so with ``extractor="model:..."``.

        `supersedes` and `conflicts_with` name memories and results that it replaces or contradicts. With an ``entity``
        among the `attributes`, a memory whose attributes are the same and that says otherwise is found: which of the
        two is to be believed is decided by provenance and confidence, never by time alone; else both stand and say so.
        `observed` is when it was observed (default: with the oldest result), `freshness` how it ages and `stale_after`
        when it is out of date at the latest; neither goes over what the tools of its results declare.

        What the policy set says of the class of the data decides what it becomes: where the class is given out by
        metadata alone, the memory tells tools, sizes and class; secrets are for auditors alone. A result that failed or
        was replaced becomes none. Raises `NotFound` for a reference that is no visible tool result, `InvalidOption`,
        `InvalidTime`, `BodyErased`; then nothing has changed.
        """
        terms = Promotion(
            references=tuple(label(one, "a reference") for one in references),
            summary=summary,
            payload=payload,
            extractor=label(extractor, "extractor"),
            confidence=confidence,
            attributes=dict(attributes or {}),
            policy_set=self._policy_hash(),
            supersedes=references_of(supersedes),
            conflicts_with=references_of(conflicts_with),
            observed=observed,
            freshness=choice(Freshness, freshness, "freshness") if freshness is not None else None,
            stale_after=stale_after,
        )
        return promoting.promote(self._session, self._view, terms)

    def demote(self, reference: str, reason: str) -> RecordId:
        """Record the decision that a tool result becomes no memory; it stays recallable. Returns the decision's id.

        `reason` is a short code such as ``superseded_report``. Raises `NotFound`, `InvalidOption`.
        """
        return promoting.demote(
            self._session, self._view, label(reference, "reference"), label(reason, "reason"), self._policy_hash()
        )

    def supersede(self, current: str, *replaced: str, reason: str = "") -> RecordId:
        """Record that a memory or result replaces others, which leave requests; where it is hidden, nothing changes.

        Like the next two it returns the id of the record that says so, and raises `NotFound` for what there is not, and
        `InvalidOption` for a record that belongs to somebody else and for what would replace itself, over however many
        steps; then nothing has changed.
        """
        return relating.supersede(
            self._session,
            self._view,
            label(current, "current"),
            references_of(replaced),
            reason=label(reason, "reason") if reason else "",
            policy_set=self._policy_hash(),
        )

    def conflict(self, one: str, other: str, *, reason: str = "") -> RecordId:
        """Record that two memories or results contradict each other: both may stand, and each says so."""
        return relating.conflict(
            self._session,
            self._view,
            label(one, "one"),
            label(other, "other"),
            reason=label(reason, "reason") if reason else "",
            policy_set=self._policy_hash(),
        )

    def mark_stale(self, *references: str, reason: str = "") -> RecordId:
        """Record that memories or results no longer speak for the present: requests say so instead of what they say."""
        words = label(reason, "reason") if reason else ""
        return relating.mark_stale(self._session, self._view, references_of(references), words)

    def retention(
        self, *, now: Time | None = None, policy: str | PolicySetDocument | None = None
    ) -> tuple[DueRecord, ...]:
        """What retention is due for the messages, results and memories of this view, oldest first: a verdict alone.

        Nothing is carried out. `now` is as in `assemble`; `policy` is by default that of the sheet last shown. Takes
        time in proportion to the history. Raises `PolicyError`, `InvalidTime`.
        """
        if policy is None:
            chosen = policy_of(self._session, self._policy_hash())
        else:
            chosen = policy if isinstance(policy, PolicySetDocument) else policy_set(label(policy, "policy"))
        at = instant(now) if now is not None else self._session.clock.now()
        return retaining.retention(self._session, self._view, chosen, at)

    def check(self, memory: str) -> Checked:
        """Look whether the locators of a tool memory still point at what stood there; repair those that do not.

        A broken locator is looked for in its own source, in at most three recorded attempts over the memory's life;
        what is not found again makes the memory stale. Raises `NotFound` for what is no visible tool memory.
        """
        return promoting.check(self._session, self._view, RecordId(label(memory, "memory")))
