"""Exact evidence: messages and tool results as they were recorded, found and read."""

from collections.abc import Sequence

from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.ids import RecordId
from callsheet.recall.fusing import ARMS
from callsheet.recall.request import DEFAULT_LIMIT, Range, RecallRequest
from callsheet.runtime import recalling
from callsheet.runtime.calling import arguments_of
from callsheet.runtime.conversing.calls import PendingCall
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import label, positive, shown, texts
from callsheet.runtime.privileged import raw as read_raw
from callsheet.runtime.recalling import Recalled
from callsheet.runtime.searching import MOST_FOUND, Finding
from callsheet.runtime.seeing import sight


class Recalls(Viewed):
    """Gives back what was recorded."""

    def recall(
        self,
        reference: str,
        *,
        lines: Range | None = None,
        rows: Range | None = None,
        bytes: Range | None = None,
        characters: Range | None = None,
        pointer: str | None = None,
        search: str | None = None,
        sql: str | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Recalled:
        """Fetch a message or tool result as it was recorded, whole or one part of it, for the caller itself.

        `reference` is an id, the beginning of one, or the short form that requests show. A range is (from, to),
        counted from 0, without `to`, which may be None for the end; rows of a table do not count its header; `bytes`
        are those of the content as recorded, `characters` those of its text. `pointer` is a JSON Pointer, `search` a
        text to find in the content, `sql` a SELECT over the tables that it holds; the largest is ``t``. At most one of
        them is given; `rows` beside `sql` are those of its answer. `limit` is in bytes of content; `more` of the answer
        reads on. What this view may see decides, and no policy set: for a model, use `answer_recall`. Secrets are given
        as markers: see `raw`.

        Raises `NotFound` for a reference or part that is not there or may not be seen, `InvalidOption`, also for SQL
        that is not answered, `BodyErased`, and `MissingExtra` for SQL where the extra ``sql`` is not installed.
        """
        request = RecallRequest(
            reference=reference,
            lines=lines,
            rows=rows,
            bytes=bytes,
            characters=characters,
            pointer=pointer,
            search=search,
            sql=sql,
            limit=limit,
        )
        return recalling.recall(self._session, self._view, request)

    def search(self, query: str, limit: int = MOST_FOUND, *, arms: Sequence[str] = ARMS) -> list[Finding]:
        """Find messages, tool results and passages by identifiers, words and meaning, over all that this view may see.

        Records that hold an identifier to the letter come first, then the best by words and by meaning, fused: `arms`
        names the ways that count, ``words`` and ``meaning``. Meaning counts where the store was opened with an
        embedder, as far as its background work has come. What a recall answered is not found again. A query without
        words finds nothing; of one of more than 1,000 characters the beginning is looked for. Raises `InvalidOption`.
        """
        asked = texts(arms, "arms")
        if not asked or not set(asked) <= set(ARMS):
            raise InvalidOption(f"arms are {', '.join(ARMS)}; there is {shown(list(asked))}")
        if not query.strip():
            return []
        return recalling.search_all(self._session, self._view, query, limit=positive(limit, "limit"), arms=asked)

    def answer_recall(self, arguments: object) -> str:
        """Answer a model's call of the recall tool: the text to put into the tool message.

        Takes the call as `pending` gives it, the provider's call as dict or SDK object, or its arguments as text or
        object. It is answered under the boundary and the policy set of the sheet that the model was shown: a class of
        data that may not go to its provider is told by metadata alone, and the set's byte budget bounds what is given.
        Whatever the model wrote is answered; the text says what was wrong. Raises `InvalidMessage` for a value that is
        no call.
        """
        given = arguments.arguments if isinstance(arguments, PendingCall) else arguments_of(arguments)
        return recalling.answer_for(self._session, self._view, given, self._shown())

    def raw(self, artifact: str, *, privileged: bool = False, reason: str | None = None) -> bytes:
        """The exact bytes of a tool result, its parts one after another.

        What holds secrets is given with `privileged` alone, and a `reason`: a short code such as ``incident_42``. Who
        read it and why is then recorded before it is given. Raises `InvalidOption` where it holds secrets and is not
        asked for so, `NotFound`, `BodyErased`, `Damaged`.
        """
        found = sight(self._session, self._view).get(RecordId(label(artifact, "artifact")))
        if found is None:
            raise NotFound(f"no tool result {artifact!r} in conversation {self.name!r}")
        if privileged != (reason is not None):
            raise InvalidOption("a privileged read needs privileged=True and a reason")
        return read_raw(self._session, self._view, found, reason=reason, policy_set=self._policy_hash())
