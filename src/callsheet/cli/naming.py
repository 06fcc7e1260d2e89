"""Policy sets as command lines name them: a built-in one, or a YAML file."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callsheet.policy.sets import PolicySetDocument


def policy_named(name: str) -> "PolicySetDocument":
    """A built-in set by its name, else the set in a file."""
    from callsheet.policy.sets import BUILT_IN, policy_set
    from callsheet.runtime.loading import load_policy

    if name in BUILT_IN:
        return BUILT_IN[name]
    # What looks like a name and is no file is taken for a name, so that the error lists those there are.
    if not Path(name).suffix and "/" not in name and not _there(name):
        return policy_set(name)
    return load_policy(name)


def _there(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False
