"""What a policy set says of how long records are kept, by context class and age, as values."""

from callsheet.errors import PolicyError
from callsheet.graph.values import Value
from callsheet.policy.checked import checked
from callsheet.policy.context import ContextClass
from callsheet.policy.settings import MOST_SECONDS, Retention, within

NEVER_AGED = (ContextClass.POLICY, ContextClass.RECOVERY)
"""Classes that no age takes anything from."""


class Keeping(Value):
    """One class of records from one age on."""

    of: ContextClass
    #: Seconds since it was recorded.
    after: int
    action: Retention

    def __post_init__(self) -> None:
        checked(self, "retention")
        within(self.after, 0, MOST_SECONDS, f"retention.{self.of.value}.after")
        if self.of in NEVER_AGED:
            raise PolicyError(f"retention.{self.of.value}: records of this class are kept, whatever their age")
