"""B3, whether data of this class may go to this provider: with its values, as metadata only, or not at all.

Judged from the class alone, before any storage is read. A shortened form that shows values counts as raw.
"""

from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict, allow, limit

_RAW = Level.RAW

_ALLOWED = allow(Policy.PRIVACY, "class")
_OPENED = allow(Policy.PRIVACY, "provider")
_BY_CLASS = {
    form: limit(Policy.PRIVACY, f"class_{form.value}", form, Reason.PRIVACY_CLASS, hard=True)
    for form in (Level.SAFE, Level.NONE)
}
_BY_PROVIDER = {
    form: limit(Policy.PRIVACY, f"provider_{form.value}", form, Reason.PROVIDER, hard=True)
    for form in (Level.SAFE, Level.NONE)
}


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """The form of its class at this provider; an exception for the provider goes over the class."""
    for exception in policy.providers:
        if exception.privacy is candidate.privacy and exception.provider == boundary.provider:
            return _OPENED if exception.form is _RAW else _BY_PROVIDER[exception.form]
    form = policy.privacy.of(candidate.privacy)
    return _ALLOWED if form is _RAW else _BY_CLASS[form]
