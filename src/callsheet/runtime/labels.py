"""Labels follow the data: what rests on several records is as strict as the strictest of them."""

from collections import Counter
from collections.abc import Iterable

from callsheet.derive.classify import STRICTNESS
from callsheet.derive.derived import Derived
from callsheet.graph.enums import Level, Privacy
from callsheet.graph.nodes import ContextAssembly
from callsheet.graph.values import DEFAULT_PRIVACY
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.redacting import form_of


def strictest(classes: Iterable[Privacy]) -> Privacy:
    """The strictest of some classes, of which there is at least one."""
    return max(classes, key=STRICTNESS.index)


def of_result(
    recorded: Privacy, changed: str | None, derived: Derived | None, policy: PolicySetDocument, provider: str
) -> Privacy:
    """The class of a result before its tool's contract: the stricter of what it was recorded as and what it shows.

    `changed` is the class that somebody put it into later, who then knows better. Secrets in it do not make it one:
    each is shown as a marker. Only where a set says that secrets go nowhere, what holds one does not either.
    """
    if derived is not None and derived.secrets and form_of(policy, provider) is Level.NONE:
        return Privacy.SECRET
    if changed is not None:
        return Privacy(changed)
    return strictest((recorded, derived.privacy)) if derived is not None else recorded


SHOWING = frozenset({Level.RAW, Level.DENSE, Level.FOCUS, Level.GIST})
"""Levels at which a record is shown with its values."""

_CLASS = "class."

SILENT = "withheld"
"""Beside these counts: among the records so far there are some whose content may not go to the provider."""


def class_counts(classes: Iterable[Privacy]) -> tuple[tuple[str, int], ...]:
    """How many records of each class stricter than the usual a sheet shows, as it is stored with the sheet."""
    counts = Counter(classes)
    usual = STRICTNESS.index(DEFAULT_PRIVACY)
    return tuple((_CLASS + kind.value, counts[kind]) for kind in STRICTNESS[usual + 1 :] if counts[kind])


def of_sheet(sheet: ContextAssembly) -> Privacy:
    """The class of a sheet: the strictest of what it shows with its values. Its answer is of this class too."""
    found = (Privacy(code.removeprefix(_CLASS)) for code, _ in sheet.decisions if code.startswith(_CLASS))
    return strictest([DEFAULT_PRIVACY, *found])
