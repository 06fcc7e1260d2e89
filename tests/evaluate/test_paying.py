"""What was paid and what would have been: as reported, against what is built, by hand-checked figures."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from callsheet.audit.logs.formats import recognised
from callsheet.audit.logs.values import Answered
from callsheet.evaluate.baselines import Window
from callsheet.evaluate.billing import O200k
from callsheet.evaluate.candidates import CandidateFactory, Opening, Request, Step
from callsheet.evaluate.costs import Cost, Model, Took
from callsheet.evaluate.logs import LoggedTrajectories
from callsheet.evaluate.paying import Paid, Paying
from callsheet.evaluate.paying_report import ROWS, PayingReport
from callsheet.evaluate.replay import PLAIN_REPLAY, replay
from tests.audit.logs.reading import RECORDED, written
from tests.audit.logs.rollouts import THREAD, Rollout
from tests.audit.logs.sessions import SESSION, Session, usage
from tests.evaluate.conversations import Words

UNKNOWN = Model()
GPT = Model(provider="openai", name="gpt-5.2")
CLAUDE = Model(provider="anthropic", name="claude-sonnet-4-5-20250929")


class Nothing:
    """Sends the newest message alone."""

    def __init__(self, opening: Opening) -> None: ...

    def request(self, step: Step) -> Request:
        return Request(messages=step.history[-1:])


def paid(
    *paths: Path, otherwise: Model = UNKNOWN, candidates: Mapping[str, CandidateFactory] | None = None
) -> tuple[list[Paid], Paying]:
    """What the conversations of logs come to, with one token a word."""
    entrants = {"nothing": Nothing} if candidates is None else candidates
    paying = Paying(Words(), otherwise)
    rows: list[Paid] = []
    for path in paths:
        with recognised(str(path)) as log:
            assert log is not None
            recordings = LoggedTrajectories(log)
            replay({path.name: recordings}, entrants, tokeniser=Words(), billed=paying.billed)
            rows += paying.paid(path.name, recordings, [PLAIN_REPLAY, *entrants])
    return rows, paying


def _sessions(tmp_path: Path, session: Session) -> Path:
    return written(tmp_path / "log.jsonl", session.lines)


def _worked() -> Session:
    session = Session()
    session.user("one two three four five")
    session.says("msg_1", "a b", took=usage(input=0, written=105, output=2))
    session.user("six seven eight nine ten")
    session.says("msg_2", "c", took=usage(input=0, cached=105, written=7, output=1))
    return session


def test_the_price_of_usage_is_that_of_the_list() -> None:
    cost = CLAUDE.cost(Took(input=1_000_000, cached=600_000, written=300_000, output=10_000), reported=True)

    assert cost.dollars == pytest.approx(0.1 * 3.00 + 0.6 * 0.30 + 0.3 * 3.75 + 0.01 * 15.00)
    assert (cost.requests, cost.reported, cost.unpriced, cost.known) == (1, 1, 0, cost.dollars)


@pytest.mark.parametrize("model", [Model(), Model(provider="nobody", name="x"), Model(provider="openai", name="x-9")])
def test_what_has_no_price_is_counted_and_has_none(model: Model) -> None:
    cost = model.cost(Took(input=5), reported=False)

    assert (cost.unpriced, cost.known, cost.input) == (1, None, 5)
    assert (cost + CLAUDE.cost(Took(input=5), reported=True)).known is not None


def test_plain_replay_comes_to_what_was_paid(tmp_path: Path) -> None:
    ((row,), _) = paid(_sessions(tmp_path, _worked()))

    assert row.conversation == SESSION
    assert (row.sent.requests, row.sent.reported) == (2, 2)
    assert (row.sent.input, row.sent.cached, row.sent.written, row.sent.output) == (217, 105, 112, 3)
    plain = row.candidates[PLAIN_REPLAY]
    assert (plain.input, plain.output) == (217, 3)
    assert plain.dollars == pytest.approx(row.sent.dollars, rel=0.05)


def test_what_the_log_does_not_show_stands_in_what_is_built_too(tmp_path: Path) -> None:
    ((row,), _) = paid(_sessions(tmp_path, _worked()))

    # Five words are six tokens of Claude's (5 × 1.15 rounded up): 99 of 105 are not in the log; twelve are fourteen,
    # of which the log lacks 98 of 112. The newest message alone is five words each time.
    built = row.candidates["nothing"]
    assert built.input == (6 + 99) + (6 + 98)
    # All that the two have in common is what the log does not show, and the cache served all that it could.
    assert built.cached == 98
    assert built.written == built.input - built.cached


def test_a_cache_that_served_half_serves_half_of_what_is_built(tmp_path: Path) -> None:
    session = _worked()
    session.lines[-1]["message"]["usage"] = usage(input=52, cached=53, written=7)
    ((row,), _) = paid(_sessions(tmp_path, session))

    assert row.candidates["nothing"].cached == int(53 / 105 * 98)


def test_where_nothing_is_reported_the_texts_count_and_the_cache_lives_as_documented(tmp_path: Path) -> None:
    def costs(minutes: int) -> Paid:
        rollout = Rollout()
        rollout.user("one two three four five")
        rollout.says("a b")
        rollout.user("six seven")
        rollout.says("c")
        for line in rollout.lines[-2:]:
            line["timestamp"] = f"2026-03-02T09:{minutes:02}:30.000Z"
        ((row,), _) = paid(written(tmp_path / "log.jsonl", rollout.lines))
        return row

    soon, late = costs(5), costs(30)
    for row in (soon, late):
        assert (row.sent.requests, row.sent.reported, row.sent.input, row.sent.output) == (2, 0, 5 + 9, 2 + 1)
    assert (soon.sent.cached, late.sent.cached) == (5, 0)
    assert (soon.candidates[PLAIN_REPLAY].cached, late.candidates[PLAIN_REPLAY].cached) == (5, 0)
    assert soon.candidates["nothing"].input == 5 + 2


def test_behind_a_compaction_a_request_is_what_the_agent_sent(tmp_path: Path) -> None:
    session = _worked()
    session.other("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=session.newest)
    session.user("in short", isCompactSummary=True)
    session.says("msg_3", "d", took=usage(input=0, cached=90, written=13))
    ((row,), _) = paid(_sessions(tmp_path, session))

    # Two words are three tokens, so a hundred are not in the log; the newest message alone is these two words.
    assert row.candidates["nothing"].input == (6 + 99) + (6 + 98) + (3 + 100)
    assert row.sent.input == 217 + 103


def test_a_response_that_stands_in_two_logs_counts_once(tmp_path: Path) -> None:
    session = _worked()
    first = _sessions(tmp_path, session)
    session.user("eleven")
    session.says("msg_3", "d", took=usage(written=1))
    copied = written(tmp_path / "copy.jsonl", [{**line, "sessionId": "copy"} for line in session.lines])
    rows, paying = paid(first, copied)

    assert [row.sent.requests for row in rows] == [2, 1]
    assert paying.repeated == 2


def test_usage_by_turn_is_shared_out(tmp_path: Path) -> None:
    rows, _ = paid(RECORDED / "openai_agents_advanced.sqlite.gz", otherwise=GPT)

    main, again = rows
    assert (main.sent.requests, main.sent.reported, main.sent.input, main.sent.cached) == (3, 3, 6000, 512 + 1024)
    assert (again.sent.requests, again.sent.input) == (1, 4000)
    assert main.candidates[PLAIN_REPLAY].input == pytest.approx(6000, abs=3)
    for row in rows:
        plain = row.candidates[PLAIN_REPLAY]
        assert plain.output == row.sent.output
        assert abs(plain.cached - row.sent.cached) <= 3
        assert row.candidates["nothing"].output == row.sent.output


def test_a_model_that_the_log_does_not_tell_can_be_said() -> None:
    unknown, _ = paid(RECORDED / "openai_agents.sqlite.gz")
    known, _ = paid(RECORDED / "openai_agents.sqlite.gz", otherwise=GPT)

    assert [row.sent.known for row in unknown] == [None]
    assert all(row.sent.dollars > 0 for row in known)


def test_requests_without_content_are_paid_either_way(tmp_path: Path) -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5.2",
        "gen_ai.usage.input_tokens": 1000,
    }
    span = {
        "context": {"trace_id": "t", "span_id": "s"},
        "start_time": "2026-03-02T09:00:00Z",
        "attributes": attributes,
    }
    ((row,), _) = paid(written(tmp_path / "log.jsonl", [span]))

    assert row.sent.input == 1000
    assert row.candidates["nothing"] == row.sent


def test_usage_without_a_message_is_paid_either_way(tmp_path: Path) -> None:
    rollout = Rollout().worked()
    ((before,), _) = paid(written(tmp_path / "log.jsonl", rollout.lines))
    rollout.took(9000, 0, 500)
    ((after,), _) = paid(written(tmp_path / "log.jsonl", rollout.lines))

    assert after.conversation == THREAD
    assert after.sent.input - before.sent.input == 9000
    assert after.candidates["nothing"].input - before.candidates["nothing"].input == 9000


def test_the_report_says_how_it_was_counted(tmp_path: Path) -> None:
    rows, paying = paid(_sessions(tmp_path, _worked()), candidates={"window": Window})
    report = PayingReport(rows=tuple(rows), candidates=("window", PLAIN_REPLAY), repeated=paying.repeated)
    text = report.as_text()

    assert "2 of 2 requests with reported usage; prices of genai-prices" in text
    assert all(word in text for word in ("as sent:", "built:", "cached:", "prices:", "All ways", SESSION[-31:]))
    found = report.as_dict()
    assert found["total"] == {
        "sent": rows[0].sent.as_dict(),
        "built": {name: rows[0].candidates[name].as_dict() for name in ("window", PLAIN_REPLAY)},
        "plain_replay_of_paid": pytest.approx(1, abs=0.05),
    }
    assert report.fits
    assert "% of paid" in text
    assert "Plain replay, which" not in text


def test_where_plain_replay_is_not_what_was_paid_shares_are_of_it_and_a_line_says_so() -> None:
    def row(name: str, paid: float, plain: float, ours: float) -> Paid:
        costs = {"ours": ours, PLAIN_REPLAY: plain}
        built = {candidate: Cost(requests=1, input=10, dollars=dollars) for candidate, dollars in costs.items()}
        return Paid(file="f", conversation=name, sent=Cost(requests=1, input=10, dollars=paid), candidates=built)

    names = ("ours", PLAIN_REPLAY)
    report = PayingReport(rows=(row("one", 1.0, 1.4, 0.7), row("two", 1.0, 1.2, 0.9)), candidates=names)
    text = report.as_text()

    assert report.fit == pytest.approx(1.3)
    assert not report.fits
    assert text.count("Plain replay, which builds what the agent sent, comes to 130% of what was paid") == 1
    assert text.count("% of plain") == 2
    cells = [line.split() for line in text.splitlines() if line[:3] in ("one", "two", "tot", "our")]
    shares = {line[0]: line[-1] for line in cells}
    assert shares == {"one": "50.0", "two": "75.0", "total": "61.5", "ours": "61.5"}
    assert PayingReport(rows=(row("a", 1.0, 1.09, 0.7),), candidates=names).fits
    assert not PayingReport(rows=(row("a", 1.0, 0.8, 0.7),), candidates=names).fits
    assert PayingReport(rows=(row("a", 0.0, 0.0, 0.0),), candidates=names).fit is None


def test_a_long_list_is_cut_for_people_and_not_in_the_total() -> None:
    one = Cost(requests=1, input=10, dollars=0.5)
    row = Paid(file="f", conversation="c" * 60, sent=one, candidates={"a": one})
    report = PayingReport(rows=(row,) * (ROWS + 3), candidates=("a",))

    assert "and 3 further conversations" in report.as_text()
    assert f"{ROWS + 3:,}  " in report.as_text()
    assert report.sent.dollars == pytest.approx(0.5 * (ROWS + 3))
    assert "–" in PayingReport(rows=(), candidates=("a",)).as_text()


def test_real_counting_is_the_default_of_the_command() -> None:
    model = Model.of(Answered(model="gpt-5.2"), GPT)
    assert model == GPT
    assert model.converted(O200k().count("a text")) == 2
