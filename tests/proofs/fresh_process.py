"""Prints a hash over the requests of some fixed random graphs; run in processes of their own, which must agree."""

import hashlib
from random import Random

from tests.proofs.playing import play
from tests.proofs.steps import CHANGES, SPOKEN, Kind, Reader, Step, Way
from tests.proofs.world import World

GRAPHS, STEPS = 12, 14


def main() -> None:
    """Play each graph, ask both providers, and print the hash of all blocks."""
    chance = Random(20_260_101)
    hashed = hashlib.sha256()
    for number in range(GRAPHS):
        world = World(Reader(named=number % 2 == 0, branched=number % 3 == 0, budget=(900, 4_000)[number % 2]))
        play(world, [_step(chance) for _ in range(STEPS)])
        for provider in ("openai", "anthropic"):
            sheet = world.assemble(provider=provider)
            for block in sheet.blocks if sheet is not None else ():
                hashed.update(block)
    print(hashed.hexdigest())


def _step(chance: Random) -> Step:
    kind: Kind = chance.choice((*SPOKEN, *SPOKEN, *SPOKEN, *CHANGES))
    return Step(kind, Way.OPEN, chance.randrange(20), chance.choice((1, 9, 60)))


if __name__ == "__main__":
    main()
