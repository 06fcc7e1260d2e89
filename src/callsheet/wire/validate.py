"""Whether a provider would accept a request, by the rules of each that are known."""

from collections.abc import Callable, Mapping
from typing import Final

from callsheet.wire.anthropic import rules as anthropic_rules
from callsheet.wire.gemini import rules as gemini_rules
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat import rules as openai_rules
from callsheet.wire.openai_responses import rules as responses_rules
from callsheet.wire.problem import Findings, Problem

_RULES: Final[Mapping[Wire, Callable[[Mapping[str, object], Findings], None]]] = {
    Wire.OPENAI: openai_rules.check,
    Wire.OPENAI_RESPONSES: responses_rules.check,
    Wire.ANTHROPIC: anthropic_rules.check,
    Wire.GEMINI: gemini_rules.check,
}


def problems(request: Mapping[str, object], wire: Wire) -> list[Problem]:
    """Every reason found for which the provider would refuse the request; none: it would be accepted, as far as known.

    Stricter than the providers in two points: results must stand in the order of their calls, and text that is blank or
    holds NUL counts everywhere.
    """
    findings = Findings()
    findings.encoding(request)
    _RULES[wire](request, findings)
    return findings.problems
