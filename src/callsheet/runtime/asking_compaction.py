"""The tool by which a model compacts its own history, and the answers to its calls."""

from collections.abc import Mapping

import msgspec

from callsheet.errors import InvalidOption
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.compacting import compact
from callsheet.runtime.options import positive
from callsheet.runtime.session import Session, View

NAME = "compact"


def tool() -> dict[str, object]:
    """The schema of the tool, in OpenAI's shape. A new value at each call."""
    return {
        "type": "function",
        "function": {
            "name": NAME,
            "description": "Let notes stand for what is older than the last turns; recall reads it as it was.",
            "parameters": {
                "type": "object",
                "properties": {"keep": {"type": "integer", "minimum": 1, "description": "turns that stay as they are"}},
            },
        },
    }


def answer(session: Session, view: View, policy: PolicySetDocument, arguments: str | Mapping[str, object]) -> str:
    """What to give back for a model's call. Raises only for a store that fails."""
    try:
        keep = _keep(arguments)
    except InvalidOption as problem:
        return f"({NAME}: {problem})"
    made = compact(session, view, policy, keep=(policy.turns if keep is None else keep,), asked=True)
    if made.reason:
        return f"({NAME}: nothing is older than what stays)"
    first, last = made.turns
    notes = f"{len(made.episodes)} note{'s' if len(made.episodes) > 1 else ''}"
    return f"(turns {first} to {last} stand in {notes} from the next request on; recall reads them as they were)"


def _keep(arguments: str | Mapping[str, object]) -> int | None:
    try:
        given = msgspec.json.decode(arguments or "{}") if isinstance(arguments, str) else dict(arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise InvalidOption("the arguments are no JSON object") from None
    if not isinstance(given, dict) or not given.keys() <= {"keep"}:
        raise InvalidOption("the arguments may hold 'keep' alone, a whole number of turns")
    keep = given.get("keep")
    return positive(keep, "keep") if keep is not None else None
