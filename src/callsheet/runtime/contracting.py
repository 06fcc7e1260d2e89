"""The contracts that a program's tools declare in code, made part of the policy set that a request goes by."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from callsheet.graph.canonical import tagged_digest
from callsheet.policy.contracts import ToolContract, contracts
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.executing.tool import Tool

BEARING = (
    "freshness", "stale_after", "privacy", "retention", "recheck", "reads_current_state", "shared_world", "narrowing",
)  # fmt: skip
"""What of a contract bears on requests; the rest is about running the tool."""


def contracted(policy: PolicySetDocument, tools: Sequence[object]) -> PolicySetDocument:
    """The set with what the tools among `tools` declare; where it says something itself, that goes over it.

    A set that gains something has a version of its own, ``1+`` and a hash of what was declared, so that the request
    can be explained and made again when the code has changed. Tools that declare nothing of the kind change nothing.
    """
    declared = list(_declared(tools))
    if not declared:
        return policy
    merged = tuple(contracts(declared, policy.tools).values())
    if set(merged) == set(policy.tools):
        return policy
    told = tagged_digest("tool-contracts", msgspec.json.encode(declared, order="sorted"))
    return replace(policy, version=f"{policy.version}+{told.rpartition(':')[2][:8]}", tools=merged)


def _declared(tools: Iterable[object]) -> Iterable[ToolContract]:
    for tool in tools:
        if not isinstance(tool, Tool):
            continue
        said = {name: getattr(tool.contract, name) for name in BEARING if getattr(tool.contract, name) is not None}
        if said:
            yield ToolContract(name=tool.name, **said)
