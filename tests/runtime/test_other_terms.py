"""What one provider, or one policy set, did not get, another one gets where it may."""

import json

import pytest
from msgspec.structs import replace

from callsheet import Conversation
from callsheet.graph.enums import Level, Privacy
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import ClassForms, ProviderForm
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user

MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}
MAIL = json.dumps({"from": "ruth.oake@kiln.example", "subject": "Glaze"})


def set_(form: Level, *, only: str = "anthropic") -> PolicySetDocument:
    opened = (ProviderForm(provider=only, privacy=Privacy.PERSONAL, form=Level.RAW),)
    return replace(BALANCED, name="kiln", version=form.value, privacy=ClassForms(personal=form), providers=opened)


def filled(talk: Conversation) -> None:
    talk.record(user("Read the mail."))
    talk.record(asks(call("m", "read_mail")))
    talk.record(result("m", MAIL))
    talk.record({"role": "assistant", "content": "Read."})
    talk.record(user("Who wrote?"))


def shows(talk: Conversation, provider: str, policy: PolicySetDocument) -> bool:
    sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=policy)
    talk.record({"role": "assistant", "content": "Hm."}, sheet=sheet)
    talk.record(user("Go on."))
    assert talk.rebuild(sheet).same_selections
    return "ruth.oake" in json.dumps(sheet.request())


@pytest.mark.parametrize("form", [Level.SAFE, Level.NONE])
def test_a_provider_that_may_have_it_gets_it_whoever_was_asked_before(form: Level) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kiln")
        filled(talk)
        order = ["anthropic", "openai", "anthropic", "openai", "openai", "anthropic"]
        assert [shows(talk, provider, set_(form)) for provider in order] == [one == "anthropic" for one in order]


@pytest.mark.parametrize("form", [Level.SAFE, Level.NONE])
def test_a_set_that_opens_what_another_one_withheld_shows_it(form: Level) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kiln")
        filled(talk)
        assert not shows(talk, "openai", set_(form))
        assert shows(talk, "openai", BALANCED)
        sheet = talk.sheets()[-1]
        assert "changed" in sheet.record.rewritten
        assert not shows(talk, "openai", set_(form))


@pytest.mark.parametrize("provider", MODELS)
def test_a_result_of_which_nothing_may_be_shown_is_no_unknown_outcome(provider: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kiln")
        filled(talk)
        sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=set_(Level.NONE, only="nobody"))
        sent = json.dumps(sheet.request())
        assert "ruth.oake" not in sent
        assert "may not be shown here" in sent
        assert "may or may not have taken effect" not in sent
