"""``policy``: right or wrong with its place, what a set says, and what another one would change."""

import shutil
import sys
from pathlib import Path

import pytest

import callsheet
from tests.cli.running import Run
from tests.explain.making import readings, tended

BEDS = """\
name: beds
version: 1
rules:
  - name: sensors
    about: provider
    when: record.tool == 'moisture' && boundary.provider == 'openai'
    then: safe
    reason: Readings stay in the greenhouse.
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a few requests about beds."""
    path = tmp_path_factory.mktemp("beds") / "agent.db"
    with callsheet.open(path) as runtime:
        tended(runtime.conversation("greenhouse"), range(1, 5))
    return path


@pytest.fixture
def beds(tmp_path: Path) -> Path:
    path = tmp_path / "beds.yaml"
    path.write_text(BEDS, encoding="utf-8")
    return path


def test_a_right_set_is_named_with_its_hash(run: Run, beds: Path) -> None:
    ran = run("policy", "check", beds)
    assert ran.code == 0
    assert "policy set beds@1 is right; 1 rules, sha256:" in ran.out
    document = run("policy", "check", beds, "--json").document
    assert (document["policy"], document["rules"]) == ("beds@1", ["sensors"])


@pytest.mark.parametrize(
    ("content", "place", "problem"),
    [
        (BEDS.replace("record.tool", "record.tol").encode(), ":6:11", "record has no 'tol'"),
        (BEDS.replace("then: safe", "then: sage").encode(), ":7:11", "rules[0].then is 'sage'"),
        (BEDS.replace("'moisture'", "7").encode(), ":6:26", "record.tool is compared with 7; it is text"),
        (
            BEDS.replace("record.tool == 'moisture'", "record.privacy == 'private'").encode(),
            ":6:29",
            "record.privacy is never 'private'; it is one of: public, internal,",
        ),
        (BEDS.replace("version", "vershun").encode(), ":2:1", "unknown key 'vershun'"),
        (BEDS.encode() + b"name: again\n", ":9:1", "'name' stands twice"),
        (b"a: &a [x, x]\nb: &b [*a, *a]\n", ":1:4", "anchors and aliases are not allowed"),
        (b"name: beds\nversion: \xff\n", ":2:10", "not UTF-8"),
        (b"name: beds\nversion: 1\nmiss: .nan\n", ":3:7", "miss is '.nan'"),
        (b"[" * 100_000, ":1:7", "nested deeper than 6 levels"),
        (b"x" * 600_000, "", "larger than 524,288 bytes"),
        (b"", "", "the document is empty"),
    ],
)
def test_a_wrong_set_is_refused_with_its_place(
    run: Run, tmp_path: Path, content: bytes, place: str, problem: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_bytes(content)
    ran = run("policy", "check", path)
    assert ran.code == 3
    assert f"{path}{place}: " in ran.err
    assert problem in ran.err
    assert ran.out == ""


def test_all_that_is_wrong_is_told_a_line_each(run: Run, beds: Path) -> None:
    beds.write_text("turns: many\n" + BEDS.replace("record.tool", "record.tol").replace("safe", "sage") + "recal: no\n")
    ran = run("policy", "check", beds)
    assert ran.code == 3
    assert [line.partition(f"{beds}:")[2].partition(": ")[0] for line in ran.err.splitlines()] == [
        "1:8",
        "8:11",
        "10:1",
    ]
    assert len(run("policy", "check", beds, "--json").err.splitlines()) == 3


def test_a_file_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("policy", "check", tmp_path / "none.yaml").code == 3
    assert run("policy", "check", tmp_path).code == 3


def test_without_the_extra_a_set_with_rules_says_what_to_install(
    run: Run, beds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from callsheet.runtime import loading

    loading._language.cache_clear()
    monkeypatch.setitem(sys.modules, "cel", None)
    ran = run("policy", "check", beds)
    assert (ran.code, "pip install 'callsheet[policies]'" in ran.err) == (7, True)
    beds.write_text(BEDS.partition("rules")[0], encoding="utf-8")
    assert run("policy", "check", beds).code == 0


def test_a_set_in_words(run: Run, beds: Path) -> None:
    ran = run("policy", "explain", beds)
    assert ran.code == 0
    assert "sensors (provider): where" in ran.out
    assert "Readings stay in the greenhouse." in ran.out
    assert "Context classes: every record has one" in ran.out
    assert "record.tool" in ran.out
    assert "Policy set balanced@1" in run("policy", "explain").out
    document = run("policy", "explain", "lean", "--json").document
    assert (document["policy"], document["hash"]) == ("lean@1", callsheet_hash("lean"))


def callsheet_hash(name: str) -> str:
    from callsheet.policy.sets import policy_set

    return policy_set(name).hash


def test_an_unknown_name_is_refused_with_those_there_are(run: Run) -> None:
    ran = run("policy", "explain", "thrifty")
    assert (ran.code, "there are: balanced, faithful, lean, replay" in ran.err) == (3, True)


def test_settings_that_differ(run: Run, beds: Path) -> None:
    ran = run("policy", "diff", "balanced", beds)
    assert ran.code == 0
    assert ran.out == (
        "balanced@1 -> beds@1: 1 difference:\n"
        "  + rule sensors: (provider) where record.tool == 'moisture' && boundary.provider == 'openai': "
        "it is given as metadata only. Why: Readings stay in the greenhouse.\n"
    )
    assert run("policy", "diff", "lean", "lean").out == "lean@1 -> lean@1: 0 differences.\n"
    settings = run("policy", "diff", "balanced", beds, "--json").document["settings"]
    assert isinstance(settings, list)
    assert {"path": "rules.sensors.then", "before": None, "after": '"safe"'} in settings


def test_what_a_set_would_change_over_recorded_requests(run: Run, beds: Path, grown: Path, tmp_path: Path) -> None:
    where = ("--store", grown, "--conversation", "greenhouse")
    same = run("policy", "diff", "balanced", "balanced", *where)
    assert same.code == 0
    ran = run("policy", "diff", "balanced", beds, *where)
    assert ran.code == 1
    assert "(rule, privacy.rule.sensors)" in ran.out
    assert readings(1).splitlines()[0] not in ran.out
    document = run("policy", "diff", "balanced", beds, *where, "--json").document
    recorded = document["recorded"]
    assert isinstance(recorded, dict)
    assert recorded["sheets"] == 8
    ruled = [moved for moved in recorded["moved"] if moved["reason"] == "rule"]
    assert recorded["by_reason"]["rule"] == len(ruled) > 0
    assert {(moved["rule"], moved["record"][:4]) for moved in ruled} == {("privacy.rule.sensors", "art_")}
    # What is told as metadata only may then be worth no tokens at all; what was said may come in its stead.
    assert {moved["after"] for moved in ruled} <= {"safe", "none"}
    assert {moved["record"][:4] for moved in recorded["moved"] if moved not in ruled} <= {"msg_"}


def test_what_goes_out_is_told_and_nothing_is_stored(run: Run, beds: Path, grown: Path, tmp_path: Path) -> None:
    shutil.copytree(grown.parent, tmp_path / "store")
    store = tmp_path / "store" / grown.name
    beds.write_text(BEDS.replace("then: safe", "then: leave_out"), encoding="utf-8")

    def records() -> int:
        with callsheet.open(store) as runtime:
            return sum(
                head.position for stream in runtime.ledger.streams() if (head := runtime.ledger.head(stream.key))
            )

    before = records()
    ran = run("policy", "diff", "balanced", beds, "--store", store, "--conversation", "greenhouse", "--newest", "1")
    assert ran.code == 1
    assert ran.out.count("\n- ") == 4
    assert records() == before
    back = run("policy", "diff", beds, "balanced", "--store", store, "--conversation", "greenhouse", "--newest", "1")
    assert back.out.count("\n+ ") == 4


def test_what_is_asked_wrongly(run: Run, grown: Path) -> None:
    assert run("policy").code == 2
    assert run("policy", "diff", "lean", "balanced", "--store", grown).code == 2
    assert run("policy", "diff", "lean", "balanced", "--store", grown, "--conversation", "nobody").code == 5
    assert run("policy", "diff", "lean", "lean", "--store", grown / "x", "--conversation", "greenhouse").code == 5
