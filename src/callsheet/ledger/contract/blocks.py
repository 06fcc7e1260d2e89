"""Laws of blocks: the rendered bytes that were sent, by address."""

from callsheet.errors import Damaged
from callsheet.graph.ports import Append
from callsheet.ledger.contract.making import Making
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject
from callsheet.ledger.prepare import owner_of


def blocks_come_back_in_the_order_asked(subject: Subject) -> None:
    """Blocks given with an append are read by address, in any order, repeatedly, and of any size."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    owner = owner_of(stream)
    contents = [b"", b"small", b"x" * 100_000, bytes(range(256)) * 50]
    blocks = {ledger.address(owner, content): content for content in contents}
    ledger.append([Append(stream=stream, drafts=(making.said(),), blocks=blocks)])
    asked = [*reversed(blocks), next(iter(blocks))]
    assert ledger.blocks(owner, asked) == [blocks[address] for address in asked]
    assert ledger.blocks(owner, []) == []


def a_block_that_is_there_already_stays(subject: Subject) -> None:
    """Giving a block again, or for another stream of the same owner, changes nothing."""
    making, ledger = Making(), subject.ledger
    stream, other = making.stream(), making.stream()
    owner = owner_of(stream)
    block = {ledger.address(owner, b"block"): b"block"}
    for to in (stream, stream, other):
        ledger.append([Append(stream=to, drafts=(making.said(),), blocks=block)])
    assert ledger.blocks(owner, list(block)) == [b"block"]


def a_block_that_is_missing_is_damage(subject: Subject) -> None:
    """Asking for a block that was never given is an error that names it."""
    making, ledger = Making(), subject.ledger
    owner = owner_of(making.stream())
    address = ledger.address(owner, b"never given")
    assert address in str(refused(Damaged, ledger.blocks, owner, [address]))
