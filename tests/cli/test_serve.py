"""``callsheet serve``: what it checks, the digests that it makes, and the report."""

import io
import json
import logging
import re
import sys
from pathlib import Path

import pytest

from callsheet.cli.serve import Json
from callsheet.serve.proxy.credentials import folder_of, secret_of
from callsheet.serve.proxy.journal import Begun, Ended, Journal, Outcome, Sent
from tests.cli.running import Run

NOON = 1_790_000_000_000_000


def journal(store: Path) -> None:
    """Three requests: one assembled, one as the client sent it, one refused by the provider; and one passed through."""
    folder = folder_of(str(store))
    secret_of(folder)
    kept = Journal(folder)
    rows = (
        ("a", Sent.SHEET, Outcome.ANSWERED, 1_000, 400, 0.004, 0.010, 0.004),
        ("b", Sent.OWN, Outcome.ANSWERED, 500, 450, 0.005, 0.005, 0.0045),
        ("c", Sent.SHEET, Outcome.REFUSED, 900, 300, None, None, None),
        ("d", Sent.PASSED, Outcome.ANSWERED, 0, 0, None, None, None),
    )
    for name, sent, outcome, asked, assembled, cost, plain, would in rows:
        model = "" if sent is Sent.PASSED else "gpt-4o"
        kept.begin(
            Begun(
                request=name, at=NOON, tenant="local", digest="d" * 64, key="alice", route="chat", upstream="openai",
                provider="openai", model=model,
            )
        )  # fmt: skip
        kept.end(
            name,
            Ended(
                at=NOON, sent=sent, outcome=outcome, status=200, asked=asked, assembled=assembled, reported=True,
                input=asked, cached=100, output=10, cost=cost, plain_cost=plain, assembled_cost=would,
            ),
        )  # fmt: skip
    kept.close()


def test_what_is_right_is_said_to_be(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "proxy.yaml"
    config.write_text("listen: 127.0.0.1:9999\npolicy: lean\n")
    assert "127.0.0.1:8377" in run("serve", "--check").out
    done = run("serve", "--check", "--json", "--config", config, "--observe-only")
    assert json.loads(done.out)["listen"] == "127.0.0.1:9999"
    assert json.loads(done.out)["policy"] == "lean@1"
    assert json.loads(done.out)["observe_only"]


def test_all_that_is_wrong_is_told(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "proxy.yaml"
    config.write_text("listen: x\nnope: 1\n")
    done = run("serve", "--check", "--config", config)
    assert done.code == 3
    assert re.findall(r"proxy\.yaml:(\d+:\d+)", done.err) == ["1:9", "2:1"]
    assert run("serve", "--check", "--listen", "here").code == 2


def test_what_the_environment_lacks_is_told_before_anything_starts(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    config = tmp_path / "proxy.yaml"
    config.write_text(
        "listen: 127.0.0.1:0\nupstreams:\n  - name: a\n    format: openai\n    address: http://127.0.0.1:1\n"
        "    headers: {from_environment: {authorization: NO_SUCH_KEY}}\n"
    )
    done = run("serve", "--config", config)
    assert (done.code, "NO_SUCH_KEY" in done.err) == (3, True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["proxy.yaml"]


def test_a_digest_is_the_same_each_time_and_the_key_is_kept_nowhere(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "agent.db"
    found = set()
    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", io.StringIO("sk-canary\n"))
        found.add(run("serve", "digest", "--store", store).out.strip())
    (digest,) = found
    assert re.fullmatch("[0-9a-f]{64}", digest)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert run("serve", "digest", "--store", store).code == 2
    kept = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert all(b"sk-canary" not in file.read_bytes() for file in kept)


def test_the_report_says_what_was_saved_and_how_it_knows(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    journal(store)
    period = ("--since", "2026-09-01T00:00:00Z", "--until", "2026-10-01T00:00:00Z")
    done = run("serve", "report", "--store", store, "--json", *period)
    said = json.loads(done.out)
    (row,) = said["rows"]
    assert (row["name"], row["requests"], row["assembled"]) == ("gpt-4o", 3, 2)
    assert (row["asked_tokens"], row["sent_tokens"]) == (1_500, 900)
    assert (row["spent"], row["without"], row["saved"]) == (0.009, 0.015, 0.006)
    assert row["not_assembled"] == {"requests": 1, "assembled_tokens": 450, "spent": 0.005, "assembled": 0.0045}
    assert said["outcomes"] == {"answered": 3, "refused": 1}
    assert any("genai-prices" in line for line in said["method"])
    shown = run("serve", "report", "--store", store, *period).out
    assert "gpt-4o" in shown
    assert "genai-prices" in shown
    assert "over the requests to come" in shown
    assert "cost $0.0045, $0.0005 (10 %) less." in " ".join(shown.split())
    assert (
        json.loads(run("serve", "report", "--store", store, "--json", "--by", "key", *period).out)["rows"][0]["name"]
        == "alice"
    )
    assert "No requests." in run("serve", "report", "--store", store, "--until", "2026-01-01T00:00:00Z").out


def test_a_report_without_a_proxy(run: Run, tmp_path: Path) -> None:
    assert run("serve", "report", "--store", tmp_path / "none.db").code == 5
    assert run("serve", "report", "--store", tmp_path / "none.db", "--since", "yesterday").code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("request=a status=200", {"request": "a", "status": "200"}),
        ("something of the server", {"message": "something of the server"}),
    ],
)
def test_lines_of_the_log_as_json(said: str, told: dict[str, str]) -> None:
    record = logging.LogRecord("callsheet.serve", logging.INFO, "", 0, said, None, None)
    found = json.loads(Json().format(record))
    assert {key: found[key] for key in found if key not in ("at", "level")} == told
    assert found["level"] == "info"


def test_what_is_missing_says_how_it_is_installed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "callsheet.serve.proxy.running", None)
    done = run("serve")
    assert done.code == 7
    assert "pip install 'callsheet[server]'" in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_report_warns_of_requests_that_may_be_of_several_conversations(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    journal(store)
    period = ("--since", "2026-09-01T00:00:00Z", "--until", "2026-10-01T00:00:00Z")
    warning = "x-callsheet-conversation"
    assert warning not in run("serve", "report", "--store", store, *period).out
    kept = Journal(folder_of(str(store)))
    kept.end("b", Ended(at=NOON, sent=Sent.OWN, outcome=Outcome.ANSWERED, status=200, how="ambiguous"))
    kept.close()
    shown = run("serve", "report", "--store", store, *period).out
    assert "1 requests may have gone on with several conversations (how=ambiguous in the log)" in shown
    assert warning in shown
    assert json.loads(run("serve", "report", "--store", store, "--json", *period).out)["ambiguous"] == 1
    assert json.loads(run("serve", "report", "--store", store, "--json", "--key", "bob", *period).out)["ambiguous"] == 0
