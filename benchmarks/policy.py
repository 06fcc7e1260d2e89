"""What deciding costs: the nine policies over candidates of many kinds, with and without rules that users write.

    python benchmarks/policy.py [--json]

Printed for 100, 1,000 and 10,000 candidates: microseconds for each candidate and milliseconds in total, medians of
rounds, for the built-in set alone, and with three rules in CEL that look at few facts (a handful of classes) or at the
size, too (every record its own class). Compiling the rules, once for each set, is told apart.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from callsheet.engines.cel import Cel
from callsheet.graph.enums import ArtifactStatus, Freshness, Privacy, Role
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId
from callsheet.graph.nodes import Boundary
from callsheet.graph.times import Instant
from callsheet.graph.values import Scope
from callsheet.policy.candidate import Candidate
from callsheet.policy.conditions import Rules
from callsheet.policy.deciding import decide
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import BALANCED, PolicySetDocument

COUNTS = (100, 1_000, 10_000)
ROUNDS = 7
NOW = Instant(1_900_000_000_000_000)
ME, OTHER = RecordId("me"), RecordId("other")
BOUNDARY = Boundary(
    conversation=StreamId("bench"),
    branch=ROOT_BRANCH,
    participant=ME,
    provider="openai",
    model="m",
    budget=100_000,
    scopes=("sales",),
    now=NOW,
)
FEW = (
    "record.kind == 'artifact' && record.tool == 'mail' && boundary.provider == 'openai'",
    "record.privacy == 'document' && !('contracts' in boundary.scopes)",
    "record.tainted && record.owner == 'other'",
)
MANY = (*FEW[:2], "record.kind == 'artifact' && record.size > 20000 && record.age > 3600")


def candidates(count: int) -> list[Candidate]:
    """Messages and results of a few tools, ages and classes, the same for every run."""
    source = random.Random(count)
    made = []
    for number in range(count):
        id = RecordId(f"r{number}")
        age = count - number
        scope = Scope(owner=source.choice([None, None, ME, OTHER]))
        if number % 3:
            made.append(
                Candidate(record=id, kind="message", role=source.choice([Role.USER, Role.ASSISTANT]), turn_age=age)
            )
            continue
        made.append(
            Candidate(
                record=id,
                kind="artifact",
                scope=scope,
                tool=source.choice(["mail", "search", "weather", "files"]),
                privacy=source.choice([Privacy.PUBLIC, Privacy.INTERNAL, Privacy.DOCUMENT, Privacy.CONNECTED_ACCOUNT]),
                freshness=source.choice([None, Freshness.VOLATILE, Freshness.DURABLE]),
                outcome=source.choice([ArtifactStatus.OK] * 9 + [ArtifactStatus.FAILED]),
                observed=Instant(NOW - age * 60_000_000),
                turn_age=age,
                bytes=source.randrange(50_000),
                exact_wanted=source.random() < 0.05,
            )
        )
    return made


def ruled(conditions: Sequence[str]) -> PolicySetDocument:
    rules = tuple(
        Rule(name=f"r{place}", about=About.PRIVACY, when=when, then=Then.SAFE) for place, when in enumerate(conditions)
    )
    return replace(BALANCED, name="bench", rules=rules)


def median(work: Callable[[], object]) -> float:
    """Seconds of one round."""
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def measured(count: int) -> list[dict[str, object]]:
    found = candidates(count)
    rows: list[dict[str, object]] = []

    def row(name: str, seconds: float, classes: int = 0) -> None:
        each = seconds / count * 1e6
        rows.append({"candidates": count, "set": name, "us_each": each, "ms_total": seconds * 1e3, "classes": classes})

    row("no rules", median(lambda: [decide(one, BOUNDARY, BALANCED) for one in found]))
    for name, conditions in (("3 rules, few classes", FEW), ("3 rules, a class each", MANY)):
        policy = ruled(conditions)
        rules = Rules(policy, Cel())

        def with_rules(policy: PolicySetDocument = policy, rules: Rules = rules) -> int:
            ruling = rules.at(BOUNDARY)
            for one in found:
                decide(one, BOUNDARY, policy, ruling)
            return ruling.classes

        row(name, median(with_rules), with_rules())
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    args = parser.parse_args()
    rows = [row for count in COUNTS for row in measured(count)]
    compiling = median(lambda: Rules(ruled(FEW), Cel())) * 1e3
    if args.json:
        print(json.dumps({"rows": rows, "ms_compiling_3_rules": compiling}, indent=2))
        return
    print(f"{'candidates':>10}  {'set':24}{'us each':>9}{'ms total':>10}{'classes':>9}")
    for row in rows:
        figures = f"{row['us_each']:>9.2f}{row['ms_total']:>10.2f}{row['classes']:>9,}"
        print(f"{row['candidates']:>10,}  {row['set']:24}{figures}")
    print(f"compiling 3 rules: {compiling:.2f} ms")


if __name__ == "__main__":
    main()
