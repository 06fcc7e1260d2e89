"""Tool contracts: what a tool's owner declares about its results, and how declarations are put together."""

from collections.abc import Iterable, Mapping

from msgspec.structs import fields, replace

from callsheet.graph.enums import Freshness, Privacy
from callsheet.graph.values import Value
from callsheet.policy.settings import Manner, Retention, label


class ToolContract(Value):
    """What is declared about one tool. What is None was not declared: the content decides, in doubt restrictively."""

    name: str
    freshness: Freshness | None = None
    privacy: Privacy | None = None
    retention: Retention | None = None
    #: Whether calling it changes anything outside.
    side_effects: bool | None = None
    #: Whether calling it twice does no more than calling it once.
    idempotent: bool | None = None
    #: Tools that tell whether a result still holds.
    recheck: tuple[str, ...] | None = None
    #: Whether it reads how things are now, so that a newer result of the same call replaces an older one.
    reads_current_state: bool | None = None
    #: Whether others change what it reads, so that its results always show when they were observed.
    shared_world: bool | None = None
    narrowing: Manner | None = None

    def __post_init__(self) -> None:
        label(self.name, "the tool of a contract")
        for tool in self.recheck or ():
            label(tool, f"a re-check tool of {self.name}")


def contracts(declared: Iterable[ToolContract], policy: Iterable[ToolContract] = ()) -> Mapping[str, ToolContract]:
    """One contract per tool. What the policy set declares goes over what the code declares, field by field.

    A name that stands twice in one of the two is taken the same way: the later one goes over the earlier.
    """
    found: dict[str, ToolContract] = {}
    for contract in (*declared, *policy):
        before = found.get(contract.name)
        found[contract.name] = contract if before is None else _over(before, contract)
    return found


def classes(
    contract: ToolContract | None, privacy: Privacy, freshness: Freshness | None
) -> tuple[Privacy, Freshness | None]:
    """The classes of a result, from its tool's contract and from what its content shows.

    The contract knows better, except that content found to be secret stays so whatever was declared.
    """
    if contract is None:
        return privacy, freshness
    declared = privacy if contract.privacy is None or privacy is Privacy.SECRET else contract.privacy
    return declared, contract.freshness or freshness


def _over(before: ToolContract, contract: ToolContract) -> ToolContract:
    said = {field.name: getattr(contract, field.name) for field in fields(contract)}
    return replace(before, **{name: value for name, value in said.items() if value is not None})
