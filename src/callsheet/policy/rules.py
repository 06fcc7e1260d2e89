"""Rules that users write into a policy set, as values: what they are called, when they speak, and what they say."""

import re
from enum import StrEnum

from callsheet.errors import PolicyError
from callsheet.graph.values import Value
from callsheet.policy.checked import checked

LONGEST_CONDITION = 2_000
LONGEST_REASON = 300
MOST_RULES = 64

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class About(StrEnum):
    """Which question a rule answers."""

    #: May this reader see it?
    VISIBILITY = "visibility"
    #: May this data go out, and in which form?
    PRIVACY = "privacy"
    #: May it go to this provider?
    PROVIDER = "provider"


class Then(StrEnum):
    """What a rule says of what its condition holds for."""

    RAW = "raw"
    SAFE = "safe"
    LEAVE_OUT = "leave_out"


class Rule(Value):
    """One rule. It makes the set stricter, or with `loosens` gives values where the set gives metadata only."""

    name: str
    about: About
    #: The condition.
    when: str
    then: Then
    #: Why, in the words of whoever wrote it.
    reason: str = ""
    #: It gives more than the set's own tables do. A refusal it never lifts.
    loosens: bool = False

    def __post_init__(self) -> None:
        checked(self, "a rule")
        if _NAME.fullmatch(self.name) is None:
            raise PolicyError(f"the name of a rule is {self.name[:60]!r}; it must be a-z, 0-9, _ and -, at most 64")
        if not self.when.strip() or len(self.when) > LONGEST_CONDITION:
            raise PolicyError(f"when of rule {self.name!r} must be 1 to {LONGEST_CONDITION:,} characters")
        if len(self.reason) > LONGEST_REASON or not (self.reason.isprintable()):
            raise PolicyError(f"reason of rule {self.name!r} must be printable, at most {LONGEST_REASON} characters")
        problem = contradiction(self.about, self.then, self.loosens)
        if problem is not None:
            raise PolicyError(f"rule {self.name!r}: {problem}")


def contradiction(about: About, then: Then, loosens: bool) -> str | None:
    """Why these do not go together; None: they do."""
    if about is About.VISIBILITY and then is not Then.LEAVE_OUT:
        return "a rule about visibility can only say leave_out: who may not see a record may see no form of it"
    if then is Then.RAW and not loosens:
        return "then: raw gives out what the set keeps back; say so with loosens: true"
    if loosens and then is not Then.RAW:
        return f"then: {then.value} cannot loosen; only raw can"
    return None
