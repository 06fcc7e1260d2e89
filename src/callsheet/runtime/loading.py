"""Policy sets from files: read whole or refused, with the conditions of their rules compiled."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from callsheet.errors import PolicyError
from callsheet.graph.ports import Condition, Conditions, Flaw
from callsheet.policy.document import parse
from callsheet.policy.positions import LONGEST
from callsheet.policy.sets import BUILT_IN, PolicySetDocument


class _WhenNeeded:
    """The language of conditions, looked for when the first condition is met: most sets have none."""

    def compiled(self, expression: str) -> Condition | Flaw:
        return _language().compiled(expression)


@cache
def _language() -> Conditions:
    from callsheet.engines.cel import Cel

    return Cel()


def parse_policy(
    text: str, *, file: str = "policy set", known: Mapping[str, PolicySetDocument] = BUILT_IN
) -> PolicySetDocument:
    """The policy set that a YAML document says, with its conditions checked. See `callsheet.policy.document.parse`.

    Raises `MissingExtra` for a set with rules where the extra ``policies`` is not installed.
    """
    return parse(text, file=file, known=known, conditions=_WhenNeeded())


def load_policy(path: str | Path) -> PolicySetDocument:
    """The policy set in a file. Raises `PolicyError` with file, line and column, also for what is not UTF-8."""
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(4 * LONGEST + 4)
    except OSError as problem:
        raise PolicyError(f"{name}: cannot be read: {problem.strerror}") from None
    except ValueError:
        raise PolicyError(f"{name[:60]!r} is not the name of a file") from None
    if len(content) > 4 * LONGEST:
        raise PolicyError(f"{name}: larger than {4 * LONGEST:,} bytes; a policy set has at most {LONGEST:,} characters")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = content[: problem.start].split(b"\n")
        column = len(before[-1].decode("utf-8", "replace")) + 1
        raise PolicyError(f"{name}:{len(before)}:{column}: not UTF-8") from None
    return parse_policy(text, file=name)
