"""A long history that no request was made from: what the first request looks at, and what it counts."""

from callsheet import Conversation
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user

TURNS = 400


def step(number: int, *, failed: bool = False) -> list[object]:
    answer = result(f"c{number}", f"kiln {number}: {'no fuel' if failed else 'warm'}")
    return [user(f"How is kiln {number}?"), asks(call(f"c{number}", "kiln" if not failed else "stoke")), answer]


def record(talk: Conversation, numbers: range) -> None:
    talk.record(
        [message for number in numbers for message in (*step(number), {"role": "assistant", "content": "Warm."})]
    )


def shown(talk: Conversation, policy: str = "balanced") -> str:
    return str(talk.assemble(provider="openai", model="gpt-5.2", policy=policy).messages())


def test_all_of_a_long_history_is_counted_whatever_is_looked_at() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        record(talk, range(TURNS))
        talk.record(user("And now?"))
        ours, plain = (
            talk.assemble(provider="openai", model="gpt-5.2", policy=policy).record for policy in ("balanced", "replay")
        )
        assert ours.messages_replayed == plain.messages_replayed == 4 * TURNS + 1
        assert (ours.turns, ours.results, ours.history_o200k) == (plain.turns, plain.results, plain.history_o200k)


def test_instructions_and_failures_that_nothing_settled_are_kept_however_old() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        talk.record({"role": "system", "content": "Never open a hot kiln."})
        talk.record(user("Stoke it."))
        talk.record(asks(call("s", "stoke")))
        talk.record(result("s", "the stoker is broken"), status="failed")
        record(talk, range(TURNS))
        talk.record(user("And now?"))
        text = shown(talk)
        assert "Never open a hot kiln." in text
        assert "stoker is broken" in text


def test_a_failure_that_a_later_success_settled_is_not_kept() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        talk.record([user("Stoke it."), asks(call("s", "stoke"))])
        talk.record(result("s", "the stoker is broken"), status="failed")
        talk.record([asks(call("t", "stoke")), result("t", "stoked")])
        record(talk, range(TURNS))
        talk.record(user("And now?"))
        assert "stoker is broken" not in shown(talk)


def test_a_call_without_result_is_kept_with_the_results_beside_it() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        talk.record([user("Weigh both."), asks(call("one", "weigh"), call("two", "weigh")), result("one", "4711 kg")])
        record(talk, range(TURNS))
        talk.record(user("And now?"))
        messages = talk.assemble(provider="openai", model="gpt-5.2").messages()
        answers = {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}
        assert answers["one"] == "4711 kg"
        assert "two" in answers


def test_the_newest_question_stands_however_many_results_followed_it() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        record(talk, range(10))
        talk.record(user("Fire every kiln, one after the other."))
        for number in range(700):
            talk.record([asks(call(f"f{number}", "fire")), result(f"f{number}", f"fired {number}")])
        messages = talk.assemble(provider="openai", model="gpt-5.2").messages()
        assert any("Fire every kiln" in str(message["content"]) for message in messages if message["role"] == "user")
        assert "fired 699" in str(messages[-1])


def test_what_the_question_names_is_brought_back_from_what_was_not_looked_at() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        talk.record([user("Glaze?"), asks(call("g", "glaze")), result("g", "glaze GLZ-90417: celadon, two coats")])
        record(talk, range(TURNS))
        talk.record(user("What was GLZ-90417 again?"))
        assert "celadon" in shown(talk)


def test_what_the_user_said_first_and_said_of_what_is_asked_is_told_however_long_ago() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        talk.record([user("Give temperatures in kelvin."), {"role": "assistant", "content": "As you wish."}])
        record(talk, range(100))
        talk.record([user("My workshop licence is the green one."), {"role": "assistant", "content": "Noted."}])
        record(talk, range(100, 100 + TURNS))
        talk.record(user("Which workshop licence do I hold?"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        text = str(sheet.messages())
        assert "in kelvin" in text
        assert "the green one" in text
        assert sheet.record.unlisted == sheet.record.messages_replayed - len(sheet.selections)
        assert f"{sheet.record.unlisted:,}" in text


def test_a_request_that_shows_all_it_looked_at_tells_how_much_lies_behind() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        talk.record([user("Give temperatures in kelvin."), {"role": "assistant", "content": "As you wish."}])
        talk.record([{"role": ("user", "assistant")[number % 2], "content": f"{number}!"} for number in range(1_500)])
        talk.record(user("And now?"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        text = str(sheet.messages())
        assert "in kelvin" in text
        assert sheet.record.unlisted == 1_503 - len(sheet.selections) > 0
        assert f"{sheet.record.unlisted:,}" in text


def test_whatever_lies_behind_is_found_by_a_search() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        talk.record([user("Glaze?"), asks(call("g", "glaze")), result("g", "glaze GLZ-90417: celadon, two coats")])
        record(talk, range(TURNS))
        assert talk.search("GLZ-90417")
