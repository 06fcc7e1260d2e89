"""What comes out: model requests, and which providers may serve them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from callsheet.assemble.delta import Whole
from callsheet.assemble.needed import Needed, shipped
from callsheet.errors import InvalidOption
from callsheet.graph.enums import RuntimeMode
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.times import instant
from callsheet.policy.sets import PolicySetDocument
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime import checkpointing, children, compacting, recalling, routing, scheduling, skilling
from callsheet.runtime.alluding import Questions
from callsheet.runtime.assembling import Assembling
from callsheet.runtime.contracting import contracted
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.documenting.admitting import Admission
from callsheet.runtime.documenting.announcing import Announcing
from callsheet.runtime.equipping import loads_skills
from callsheet.runtime.executing.tool import AnyTool, schemas
from callsheet.runtime.options import Time, choice, label, positive
from callsheet.runtime.policies import document_of, keep_policy
from callsheet.runtime.querying import engine
from callsheet.runtime.routing import Provider, Route
from callsheet.runtime.ruling import granted, ready
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.skills import USE_SKILL
from callsheet.runtime.terms import Order
from callsheet.runtime.whole_sheets import gone_on_from, last_shown, read_sheet
from callsheet.runtime.windows import window_of
from callsheet.wire import formats

DEFAULT_RESERVE = 4_096
"""Tokens kept free for the reply."""


class Asks(Viewed):
    """Assembles what is asked of models."""

    def assemble(
        self,
        *,
        provider: str,
        model: str,
        budget: int | None = None,
        tools: Sequence[Mapping[str, object] | AnyTool] = (),
        policy: str | PolicySetDocument | None = None,
        now: Time | None = None,
        mode: RuntimeMode | str | None = None,
        checkpoint: str | None = None,
        exact: Sequence[str] = (),
        reserve: int = DEFAULT_RESERVE,
        recall: bool = True,
        sql: bool = False,
        needed: Needed | None = None,
        scopes: Sequence[str] = (),
        vision: bool = True,
    ) -> Sheet:
        """Assemble the next request of this branch and participant under a policy set, and store how it came about.

        `budget` is what the request may take in tokens, tool schemas included; default: the model's window (128,000
        for a model that is not in the catalogue) less `reserve`, which is kept free for the reply. `tools` are
        functions, or schemas in any provider's shape; they render in this order, and what the contracts of
        functions declare about their results joins the policy set. `policy` names a policy set;
        default: ``balanced``. `now` is the time that the policies go by; default: the clock's. `mode` says on what
        occasion; default: ``chat``, for a sub-agent ``sub_agent``. With a `checkpoint` the request goes on from the
        sheet that it names. The results that `exact` refers to stand with their exact bytes, where the policy set's
        byte budget and the classes of their data allow it. `scopes` are what whoever asks is entitled to, as your
        program calls it; rules of the policy set see them as ``boundary.scopes``. They hold for this request, and for
        what is recalled in answer to it; the next one names them again. A sub-agent is offered those of the `tools`
        that its brief allows.

        With `recall` the caller answers calls of the recall tool, which is among the tools where something is not shown
        in full, and where there are documents that the policy set lets it read; where a tool of the caller's has its
        name, ``recall``, that stands and ours is not offered. With `sql` it is said to take SQL where
        a table is shortened; that needs the extra ``sql``. Without `vision`, for a model that takes no pictures, words
        that tell type, size and reference stand in place of each.

        `provider` decides the format: Anthropic's for ``anthropic``, OpenAI's Chat Completions for every other.

        Raises `BudgetTooSmall` with the sizes of the parts when what must appear does not fit, `EmptyRequest` when
        there is nothing to answer, `InvalidOption` where skills are offered beside a tool ``use_skill`` of the caller's
        that takes no name, `PolicyError` for an unknown policy set, `MissingExtra` for `sql` where it cannot be
        answered. Nothing but the sheet is stored, and before it a compaction where the policy set calls for one.
        """
        label(provider, "provider")
        label(model, "model")
        self._session.refuse_ended(self._view)
        kept = positive(reserve, "reserve")
        own = self._allowed(formats.check_tools(schemas(tools)))
        # Two tools of one name are refused everywhere: the caller's stands, and nothing refers to ours.
        recall = recall and all(formats.tool_name(tool, "tools") != RECALL for tool in own)
        offered, skills = self._with_skills(own)
        limit = positive(budget, "budget") if budget is not None else _room(provider, model, kept)
        chosen = contracted(document_of(policy), tools)
        ready(chosen)
        if sql:
            engine()  # what could not be answered is not offered
        session = self._session
        keep_policy(session.ledger, session.owner.tenant, session.ids, session.clock, chosen)
        tail = session.tail(self._view, fresh=True)
        carries = self._view.carries
        resumed = checkpointing.read(session, self._view, checkpoint) if checkpoint is not None else None
        if mode is None:
            mode = carries.mode if resumed is None else RuntimeMode.CONTINUATION
        occasion = choice(RuntimeMode, mode, "mode")
        if occasion is RuntimeMode.CONTINUATION and resumed is None:
            raise InvalidOption("mode='continuation' goes on from a checkpoint: pass checkpoint=")
        due = occasion is RuntimeMode.SCHEDULED and carries.task is None
        boundary = Boundary(
            conversation=session.conversation.id,
            branch=self._view.branch,
            trigger=tail.last_message,
            participant=self._view.participant,
            run=carries.sub_agent,
            mode=occasion,
            checkpoint=resumed.id if resumed is not None else None,
            exact=recalling.results(session, self._view, exact),
            task=scheduling.task_of(session, tail.last_message) if due else carries.task,
            skills=tuple(skills),
            provider=provider,
            model=model,
            scopes=granted(scopes),
            tools=tuple(formats.tool_name(tool, f"tools[{index}]") for index, tool in enumerate(offered)),
            budget=limit,
            reserve=kept,
            now=instant(now) if now is not None else session.clock.now(),
            vision=vision,
        )
        desk = session.desk(self._view)
        with desk.lock:
            shown = last_shown(session.place, tail.lineage, self._view.participant, tail.last_said, desk)
            if resumed is not None and resumed.sheet is not None:
                shown = self._whole(resumed.sheet)
            policy_hash = chosen.hash
            base = gone_on_from(shown, policy_hash, boundary)
            admission = Admission(boundary=boundary, policy=chosen)
            order = Order(
                boundary=boundary,
                policy=chosen,
                policy_hash=policy_hash,
                tools=offered,
                recall=recall,
                needed=needed or shipped(),
                sql=sql,
                consults=recall and session.library.tells(admission),
                documents=Announcing(library=session.library, admission=admission),
            )
            assembling = Assembling(
                place=session.place,
                lineage=tail.lineage,
                order=order,
                desk=desk,
                base=base,
                shown_before=shown is not None,
                open=frozenset(tail.open),
                questions=Questions.of(session.meaning, session.conversation),
            )
            sheet, full = assembling.assemble(lambda overdue: compacting.by_itself(session, self._view, overdue))
            desk.put(full)
        return replace(sheet, _get=self._get)

    def _allowed(self, tools: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
        """Those of the tools that this view may offer."""
        allowed = children.tools_of(self._session, self._view)
        if allowed is None:
            return tools
        return [tool for place, tool in enumerate(tools) if formats.tool_name(tool, f"tools[{place}]") in allowed]

    def _with_skills(self, tools: Sequence[Mapping[str, object]]) -> tuple[Sequence[Mapping[str, object]], list[str]]:
        """The tools, with those of the skills that are active behind them, and the names of these skills."""
        skills = self._session.skills
        if not skills.any:
            return tools, []
        used = skilling.in_use(self._session, self._view, skills)
        known = {formats.tool_name(tool, f"tools[{place}]"): tool for place, tool in enumerate(tools)}
        if used.offered and USE_SKILL in known and not loads_skills(known[USE_SKILL]):
            raise InvalidOption(
                f"a tool of yours is named {USE_SKILL!r}, by which a model loads the skills that are offered here; "
                "rename it, or let it take a name and nothing else, and answer with answer_skill()"
            )
        own = [tool for tool in used.tools if formats.tool_name(tool, "a skill's tool") not in known]
        return [*tools, *own], [skill.name for skill in used.active]

    def _whole(self, sheet: RecordId) -> Whole | None:
        """A sheet in full; None: it is not there any more."""
        found = self._session.ledger.get(self._session.sheets.key, (sheet,))
        return read_sheet(self._session.place, found[0]) if found else None

    def route(
        self,
        providers: Sequence[Provider],
        *,
        policy: str | PolicySetDocument | None = None,
        scopes: Sequence[str] = (),
    ) -> tuple[Route, ...]:
        """Which of these providers may serve the next request here, and why; the best first.

        `providers` are pairs of a provider and a model in the order in which they are preferred. Judged are the
        classes of all messages and results that this view sees, without reading content: a provider is refused where
        the newest question or an instruction may not go to it, and allowed with omissions where something else may
        not. Each judgement is recorded as a decision, without content. `policy` and `scopes` are as in `assemble`.
        Takes time in proportion to the history. Raises `InvalidOption`, `PolicyError`.
        """
        chosen = document_of(policy)
        session = self._session
        keep_policy(session.ledger, session.owner.tenant, session.ids, session.clock, chosen)
        return routing.route(session, self._view, providers, chosen, granted(scopes))


def _room(provider: str, model: str, reserve: int) -> int:
    """Tokens that a request may take in a model's window when room for the reply is kept free."""
    window, _ = window_of(provider, model)
    if reserve >= window:
        raise InvalidOption(f"reserve is {reserve:,}; it must be below the window of {model}, {window:,} tokens")
    return window - reserve
