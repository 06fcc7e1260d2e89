"""Compaction: episodes and milestones of an older span, appended in one transaction; the span itself stays as it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble import compacting
from callsheet.assemble.compacting import Due, Entry
from callsheet.derive.pruning import pruned
from callsheet.derive.summarising.extract import LIMIT, SENTENCES, Told, extract
from callsheet.errors import BodyErased, Damaged, StoreBusy
from callsheet.graph.changes import Compacted
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Message
from callsheet.graph.ports import Pruner
from callsheet.graph.record import Record
from callsheet.graph.values import Scope
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime import spans, stages
from callsheet.runtime.drafting import Drafting, text_bytes
from callsheet.runtime.episodes import Compactions, Mark
from callsheet.runtime.milestoning import Milestoning, promoted
from callsheet.runtime.overdue import Overdue
from callsheet.runtime.releasing import Reader
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.spans import Span
from callsheet.wire.cleaning import clean
from callsheet.wire.tokens import count

NOTHING_NEW = "nothing_new"
"""Nothing is older than what is kept, or all of it has its episode."""

TOO_LITTLE = "too_little"
"""What is due stands for fewer tokens than the policy set wants; it waits for more."""


UNREADABLE = "unreadable"
"""Something of the span cannot be read now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compaction:
    """What a compaction came to."""

    #: One for each part of the span, oldest first; none: nothing was recorded, and `reason` says why.
    episodes: tuple[RecordId, ...] = ()
    milestones: tuple[RecordId, ...] = ()
    #: Of milestones whose episode requests do not show any more.
    facts: tuple[RecordId, ...] = ()
    #: The first and the last turn of the span; (0, 0) where there is none.
    turns: tuple[int, int] = (0, 0)
    #: Messages and results that the episodes stand for, and their tokens in o200k_base.
    records: int = 0
    tokens: int = 0
    #: Messages and results that were passed over because a call of theirs waits. They stay where they are.
    waiting: tuple[RecordId, ...] = ()
    #: Of episodes for which a summary was written that did not pass: the extract that stays, and why.
    rejected: tuple[tuple[RecordId, str], ...] = ()
    #: ``nothing_new`` or ``too_little``; empty where something was compacted.
    reason: str = ""


def compact(
    session: Session,
    view: View,
    policy: PolicySetDocument,
    *,
    keep: Sequence[int],
    least: int = 0,
    asked: bool = False,
    enough: Callable[[Due, int], bool] | None = None,
    pruner: Pruner | None = None,
) -> Compaction:
    """Compact what stands before the last turns, unless it comes to fewer than `least` tokens.

    `keep` says how many turns are kept: the first number of which `enough`, given what is due and the turns that are
    left, says that it does, else the last. Made from what this view may see by its own scope, and for it alone. Doing
    it twice changes nothing.
    """
    made: list[Compaction] = []

    def draft(drafting: Drafting) -> None:
        seen = sight(session, view)
        known = compactions(seen)
        mark = known.mark()
        span = spans.read(seen, policy, mark)
        due = Due()
        for turns in keep:
            due = compacting.due(span.entries, turn=span.turn, keep=turns)
            if enough is None or enough(due, turns):
                break
        if not due.taken or due.tokens < least:
            reason = TOO_LITTLE if due.taken else NOTHING_NEW
            made[:] = [Compaction(reason=reason, waiting=due.left)]
            return
        compactor = _Compactor(
            seen=seen,
            policy=policy,
            drafting=drafting,
            known=known,
            mark=mark,
            span=span,
            due=due,
            pruner=pruner,
        )
        made[:] = [compactor.drafted(asked=asked)]

    session.append(view, draft)
    return made[0]


def by_itself(session: Session, view: View, overdue: Overdue) -> Lineage | None:
    """The compaction that a request calls for: the lineage with what it appended; None: it came to nothing.

    The last turns are kept, or of those only the last actions where they alone are over a mark. What comes to nothing
    is not tried again before anything has come.
    """
    policy, desk = overdue.terms.order.policy, overdue.terms.desk
    keep = dict.fromkeys((policy.turns, min(policy.turns, compacting.ACTIONS)))
    try:
        made = compact(
            session,
            view,
            policy,
            keep=tuple(keep),
            least=overdue.least,
            enough=lambda due, turns: not overdue.over(due.tokens, turns=turns),
        )
    except (BodyErased, Damaged, StoreBusy):
        # The request may not need what cannot be read, and `verify` tells of damage; it waits for nobody.
        made = Compaction(reason=UNREADABLE)
    desk.compaction_tried = overdue.terms.lineage.upto if made.reason else 0
    return None if made.reason else session.tail(view).lineage


def compactions(seen: Sight) -> Compactions:
    """Those of a view along its lineage."""
    session, view = seen.session, seen.view
    reader = Reader(view.participant, view.carries.sub_agent)
    return Compactions(ledger=session.ledger, key=session.conversation.key, lineage=seen.lineage, reader=reader)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Compactor:
    """Drafts one compaction."""

    seen: Sight
    policy: PolicySetDocument
    drafting: Drafting
    known: Compactions
    mark: Mark
    span: Span
    due: Due
    pruner: Pruner | None = None

    def drafted(self, *, asked: bool) -> Compaction:
        scope = self._scope()
        before = self.known.window(self.policy.compaction.episodes)
        episodes: list[tuple[RecordId, Episode]] = []
        for part in compacting.parts(self.due.taken, self.span.against):
            episodes.append(self._episode(part, scope))
        every = [record.body for record in before if isinstance(record.body, Episode)]
        every += [episode for _, episode in episodes]
        leaving = every[: max(0, len(every) - self.policy.compaction.episodes)]
        facts = promoted(self.seen, self.drafting, leaving, scope)
        self._marked(episodes, scope, asked=asked)
        if asked and self.seen.view.carries.sub_agent is None:
            # What happens by itself happens in the middle of a turn: the conversation is active all the while.
            stages.compacted(self.drafting)
        taken = self.due.taken
        return Compaction(
            episodes=tuple(id for id, _ in episodes),
            milestones=tuple(id for _, episode in episodes for id in episode.milestones),
            facts=facts,
            turns=(min(entry.turn for entry in taken), max(entry.turn for entry in taken)),
            records=len(taken),
            tokens=self.due.tokens,
            waiting=self.due.left,
        )

    def _scope(self) -> Scope:
        """For this view alone: when it was compacted tells how much its reader had seen."""
        return self.drafting.private(None)

    def _episode(self, part: Sequence[Entry], scope: Scope) -> tuple[RecordId, Episode]:
        records = [self.span.records[entry.id] for entry in part]
        ids = [entry.id for entry in part]
        milestoning = Milestoning(seen=self.seen, span=self.span, drafting=self.drafting, scope=scope)
        milestones = milestoning.of(records)
        session = self.seen.session
        text, by = self._short([told for record in records if (told := self._told(record)) is not None])
        body = Episode(
            summary=session.ledger.stash(session.owner, text_bytes(text)),
            method="pruned" if by else "extractive",
            first=part[0].position,
            last=part[-1].position,
            sources=tuple(ids),
            milestones=milestones,
            freshness=self.span.shortest(ids),
            tainted=any(entry.role is None for entry in part),
            o200k=_tokens(text),
            turns=(min(entry.turn for entry in part), max(entry.turn for entry in part)),
            observed=max(record.header.at for record in records),
            by=by,
        )
        id = self.drafting.add(body, kind="episode", scope=scope, privacy=self.span.strictest(ids))
        return id, body

    def _short(self, told: Sequence[Told]) -> tuple[str, str]:
        """What a part comes to, and the pruner that had a hand in it; empty: none.

        Pruning makes room for twice as many sentences; where it leaves too many words, fewer sentences stand whole.
        """
        if self.pruner is not None:
            longer = extract(told, _tokens, limit=2 * LIMIT, most=2 * SENTENCES)
            fewer = "\n".join(self._pruned(line) for line in longer.split("\n"))
            if fewer != longer and _tokens(fewer) <= LIMIT:
                return clean(fewer), self.pruner.name
        return clean(extract(told, _tokens)), ""

    def _pruned(self, line: str) -> str:
        """A point with words left out of what was said; who said it stays, and so do names and results."""
        speaker, mark, said = line.partition(": ")
        if self.pruner is None or not mark or speaker.removeprefix("- ").startswith(("result of", "also named")):
            return line
        return f"{speaker}{mark}{pruned(said, self.pruner.prune, lays_down=speaker == '- user')}"

    def _told(self, record: Record) -> Told | None:
        """What a record says for an extract; None: nothing that can be read."""
        if isinstance(record.body, Message):
            text = spans.text(self.seen, record)
            person = record.body.role is Role.USER
            return Told(self.span.voices.speaker(record), text, person=person) if text.strip() else None
        return Told(self.span.voices.speaker(record), self.span.voices.gist(record), whole=True)

    def _marked(self, episodes: Sequence[tuple[RecordId, Episode]], scope: Scope, *, asked: bool) -> None:
        """Draft what each episode stands for. The last one says how far all has come."""
        passed = self._passed()
        so_far = Compacted(
            episode=episodes[-1][0],
            first=episodes[-1][1].first,
            last=max(self.due.upto, self.mark.upto),
            turn=max([self.mark.turn, *(entry.turn for entry in self._looked_at())]),
            tokens=self.mark.tokens + sum(entry.tokens for entry in passed),
            records=self.mark.records + len(passed),
            results=self.mark.results + sum(entry.role is None for entry in passed),
            left=self.due.left,
            asked=asked,
        )
        for id, body in episodes[:-1]:
            one = replace(so_far, episode=id, first=body.first, last=body.last, turn=body.turns[1])
            self.drafting.add(one, kind="compacted", scope=scope)
        self.drafting.add(so_far, kind="compacted", scope=scope)

    def _looked_at(self) -> list[Entry]:
        return [entry for entry in self.span.entries if entry.position <= self.due.upto]

    def _passed(self) -> list[Entry]:
        """What counts as dealt with from here on, also where no episode tells of it."""
        return [entry for entry in self._looked_at() if not entry.instruction and entry.id not in self.due.left]


def _tokens(text: str) -> int:
    return count(text, "o200k_base")
