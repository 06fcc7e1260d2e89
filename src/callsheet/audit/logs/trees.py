"""From messages that each follow another one to a conversation and its branches.

The main branch follows, where several messages follow one, the one that came first; so what is appended to a log later
makes branches longer or begins new ones, and changes none that were there.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

MAIN = "main"

_SHOWN = 8
"""Characters of a message's key in the name of the branch that it begins: enough of a UUID to find it in the file."""

_UUID = re.compile(r"[0-9a-f]{8}")


@dataclass(kw_only=True, slots=True)
class Grown:
    """One branch."""

    name: str
    #: The branch that it comes from; None: it is the main one.
    parent: str | None = None
    #: Messages that it inherits.
    at: int = 0
    #: The keys of its own messages, in order.
    keys: list[str] = field(default_factory=list)


def without_cycles(parents: Mapping[str, str | None]) -> tuple[dict[str, str | None], int]:
    """The parents, where none comes after itself, and how many links had to be cut; what is no key is no parent."""
    found = {key: parent if parent in parents else None for key, parent in parents.items()}
    sound: set[str] = set()
    cut = 0
    for start in found:
        walked: dict[str, None] = {}
        key: str | None = start
        while key is not None and key not in sound:
            if key in walked:
                found[key] = None
                cut += 1
                break
            walked[key] = None
            key = found[key]
        sound.update(walked)
    return found, cut


def grown(parents: Mapping[str, str | None]) -> list[Grown]:
    """The branches of messages by key, in order of appearance; each branch comes after the one that it comes from.

    There must be no cycles. A message without a parent other than the first begins a branch that inherits nothing.
    """
    children: dict[str | None, list[str]] = {}
    for key, parent in parents.items():
        children.setdefault(parent, []).append(key)
    roots = children.get(None, [])
    if not roots:
        return []
    names: Counter[str] = Counter()
    branches: list[Grown] = []
    waiting = [(roots[0], Grown(name=MAIN))]
    waiting += [(root, Grown(name=_name(root, names), parent=MAIN)) for root in roots[1:]]
    for start, branch in waiting:  # grows while it is walked
        branches.append(branch)
        following = [start]
        while following:
            branch.keys.append(following[0])
            following = children.get(following[0], [])
            depth = branch.at + len(branch.keys)
            waiting += [
                (other, Grown(name=_name(other, names), parent=branch.name, at=depth)) for other in following[1:]
            ]
    return branches


def _name(key: str, taken: Counter[str]) -> str:
    found = _UUID.search(key)
    # The sign before a number stands in no name that is not numbered, so no numbered one is taken already.
    short = found[0] if found is not None else key[:_SHOWN].replace("#", "-")
    taken[short] += 1
    return f"from-{short}" if taken[short] == 1 else f"from-{short}#{taken[short]}"
