"""What of a client's request may go to a provider although assembly did not look at it."""

import pytest
from msgspec.structs import replace

from callsheet.graph.enums import Level, Privacy
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import ClassForms, ProviderForm
from callsheet.serve.proxy.permitting import lets_all, passing

PLAIN = '{"reasoning_content":"The user wants the weather."}'
SECRET = '{"reasoning_content":"password = hunter2-Kd83hs72"}'
PERSONAL = '{"reasoning_content":"She is ada.lovelace@example.org"}'

OPEN = ClassForms(connected_account=Level.RAW, google_derived=Level.RAW, secret=Level.RAW)
RULE = Rule(name="own", about=About.PRIVACY, when="record.tool == 'x'", then=Then.SAFE)
CLOSED = ProviderForm(provider="openai", privacy=Privacy.PERSONAL, form=Level.NONE)


SETS = {
    "the default": (BALANCED, {PLAIN: True, PERSONAL: True, SECRET: False}),
    "open": (replace(BALANCED, privacy=OPEN), {PLAIN: True, PERSONAL: True, SECRET: True}),
    "closed for one": (
        replace(BALANCED, privacy=OPEN, providers=(CLOSED,)),
        {PLAIN: True, PERSONAL: False, SECRET: True},
    ),
    "with rules": (replace(BALANCED, privacy=OPEN, rules=(RULE,)), {PLAIN: True, PERSONAL: False, SECRET: False}),
}


@pytest.mark.parametrize(("policy", "expected"), SETS.values(), ids=SETS)
def test_a_text_passes_where_its_class_may_go(policy: PolicySetDocument, expected: dict[str, bool]) -> None:
    passes = passing(policy, "openai")

    assert {text: passes(text) for text in expected} == expected
    assert lets_all(policy, "openai") == all(expected.values())
