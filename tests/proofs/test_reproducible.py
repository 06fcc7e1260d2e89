"""The same records under the same pins give the same request: again, in a new process, and of any past request."""

import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given

from callsheet import Sheet
from callsheet.errors import BodyErased
from callsheet.ledger.sqlite import SqliteLedger
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Kind, Reader, Step, Way, readers, steps
from tests.proofs.told import same
from tests.proofs.world import World


@given(readers, steps)
@graphs(60)
def test_a_second_request_and_one_of_a_new_process_are_the_same_to_the_byte(reader: Reader, acted: list[Step]) -> None:
    world = World(reader)
    for step in acted:
        play(world, [step])
        one = world.assemble()
        assert same(one, world.assemble())
        assert same(one, world.assemble(world.fresh()))


@given(readers, steps)
@graphs(60)
def test_every_past_request_is_made_again_whatever_came_later(reader: Reader, acted: list[Step]) -> None:
    world = World(reader)
    made: list[Sheet] = []
    for step in acted:
        play(world, [step])
        sheet = world.assemble()
        made += [sheet] if sheet is not None else []
    fresh = world.fresh()
    erased = any(step.kind is Kind.ERASES for step in acted)
    for sheet in [*made, *world.sheets]:
        try:
            rebuilt = fresh.rebuild(sheet.id)
        except BodyErased:
            assert erased
            continue
        assert erased or (rebuilt.same and not rebuilt.formatting), rebuilt
        assert erased or fresh.sheet(sheet.id).blocks == sheet.blocks


MOVED = (Kind.WAITS, Kind.INSTRUCTS, Kind.STRAY, Kind.RESOLVES)
"""What may move earlier messages: a late result takes the place of a stand-in, some formats put instructions first."""


def settled(acted: Sequence[Step]) -> list[Step]:
    """Without what may move earlier messages; where two answers follow each other a provider sees one."""
    found: list[Step] = []
    for step in acted:
        if step.way is Way.OPEN and step.kind not in MOVED:
            asks = step.kind in (Kind.CALLS, Kind.FAILS, Kind.ANSWERS)
            found += [Step(Kind.ASKS, number=step.number), step] if asks else [step]
    return found


@given(readers, steps)
@graphs(150)
def test_what_is_not_rewritten_is_appended_to_what_was_shown(reader: Reader, acted: list[Step]) -> None:
    world = World(reader)
    play(world, settled(acted))
    last = world.assemble()
    shown = [*world.sheets, *([last] if last is not None else [])]
    for before, after in pairwise(shown):
        if not after.record.rewritten:
            assert before.selections == after.selections[: len(before.selections)]
            # Two turns of one role in a row are one message for Anthropic: the last one may be continued.
            seam = len(before.blocks) - (reader.provider == "anthropic")
            assert before.blocks[1:seam] == after.blocks[1:seam]


@given(readers, steps)
@graphs(10)
def test_a_file_and_memory_give_the_same_bytes(reader: Reader, acted: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        ledger = SqliteLedger.open(Path(folder) / "yard.db")
        worlds = World(reader), World(reader, ledger=ledger)
        for world in worlds:
            play(world, [step for step in acted if step.kind is not Kind.ERASES])
        one, other = (world.assemble(world.fresh()) for world in worlds)
        ledger.close()
    assert same(one, other)


def test_other_hash_seeds_and_processes_change_no_byte() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-m", "tests.proofs.fresh_process"],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert 1 == len(told)
    assert told != {""}
