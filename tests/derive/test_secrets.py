import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive import assigned, secrets
from callsheet.derive.secrets import find

NAMES = [mark for marks in assigned._NAME_MARKS.values() for mark in marks]

# Put together here so that no scanner takes this file for a leak.
_A = "aB3dE5gH7jK9mN2p"
FAKES = {
    "github-token": ["gh" + "p_" + (_A * 3)[:36], "github_" + "pat_" + _A * 5, "gh" + "s_" + (_A * 3)[:40]],
    "gitlab-token": ["gl" + "pat-" + (_A * 2)[:20]],
    "aws-access-key": ["AK" + "IA" + "QWERTYUIOP234567", "AS" + "IA" + "Q7" * 8],
    "openai-key": ["sk-" + "proj-" + _A * 3, "sk-" + (_A * 3)[:48]],
    "anthropic-key": ["sk-" + "ant-api03-" + _A * 4],
    "google-key": ["AI" + "za" + (_A * 3)[:35]],
    "google-token": ["ya" + "29." + _A * 3],
    "slack-token": ["xo" + "xb-123456789012-" + _A, "xa" + "pp-1-" + _A * 2],
    "stripe-key": ["sk_" + "live_" + _A * 2, "rk_" + "live_" + _A * 2, "wh" + "sec_" + _A * 2],
    "npm-token": ["np" + "m_" + (_A * 3)[:36]],
    "pypi-token": ["py" + "pi-AgE" + _A * 4],
    "huggingface-token": ["h" + "f_" + (_A * 3)[:34]],
    "sendgrid-key": ["S" + "G." + (_A * 2)[:22] + "." + (_A * 3)[:43]],
    "jwt": ["ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiJraWxuIn0." + _A * 2],
    "private-key": [
        "-----BEGIN RSA " + "PRIVATE KEY-----\n" + f"{_A * 4}\n" * 3 + "-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH " + "PRIVATE KEY-----\\n" + f"{_A * 4}\\n" * 2 + "-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN " + "PRIVATE KEY-----\n" + f"{_A * 4}\n" * 2,
    ],
}
EVERY = [(kind, secret) for kind, secrets in FAKES.items() for secret in secrets]
AROUND = [
    "{}",
    "note: {} end",
    "a,b\n1,{}\n",
    '{{"log": "\\n{}"}}',
    "x={};y=2",
    "Traceback:\n  key {}\n",
    "[{}]",
    "<b>{}</b>",
]


@pytest.mark.parametrize(("kind", "secret"), EVERY)
def test_keys_of_known_providers_are_found_whole_wherever_they_stand(kind: str, secret: str) -> None:
    for around in AROUND:
        text = around.format(secret)
        (found,) = find(text)
        assert found.kind == kind
        assert secret.strip() in text[found.start : found.end].strip("'")


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("kiln_password = 'tR4!vq-9Lm2'", "tR4!vq-9Lm2", "password"),
        ('{"client_secret": "Zx8#kfQ2mW7pL0"}', "Zx8#kfQ2mW7pL0", "secret"),
        ('{"password": "a\\"b9c,d7X"}', 'a\\"b9', "password"),
        ("PASSWORD=hunter-FAKE-22", "hunter-FAKE-22", "password"),
        ("<password>gL4ze-Of7!</password>", "gL4ze-Of7!", "password"),
        ("kilnctl --password gL4ze-Of7! fire", "gL4ze-Of7!", "password"),
        ("The password is gL4ze-Of7! for now", "gL4ze-Of7!", "password"),
        ("access_token: 8f3Kq0ZpW7vXy2LmN5", "8f3Kq0ZpW7vXy2LmN5", "token"),
        ("AccountKey=" + _A * 4 + "==;Endpoint=x", _A * 4 + "==", "secret"),
        ("Authorization: Bearer " + _A * 2, _A * 2, "bearer-token"),
        ("Authorization: Basic " + base64.b64encode(b"potter:oven").decode(), "cG90dGVyOm92ZW4=", "basic-credentials"),
        ("postgres://svc:hunter-FAKE-22@db.invalid:5432/x", "hunter-FAKE-22", "url-password"),
        ("amqp:\\/\\/svc:gL4ze@mq.invalid", "gL4ze", "url-password"),
        ("AK" + "IAQWERTYUIOP234567 " + "wJ4lrXUtnFEMIK7MDENGbPxRfiCYzEXKMPL0ab12", "wJ4lrXUtn", "aws-secret-key"),
    ],
)
def test_what_is_assigned_to_a_name_that_says_secret_is_found(text: str, value: str, kind: str) -> None:
    found = [secret for secret in find(text) if secret.kind == kind]
    assert any(value in text[secret.start : secret.end] for secret in found), found


@pytest.mark.parametrize(
    "text",
    [
        "9c1e5d0a7b44f00d9c1e5d0a7b44f00d9c1e5d0a",
        "commit 9c1e5d0a7b44f0e1d2c3b4a5968778695a4b3c2d\nAuthor: R",
        "6f1c2e1a-7b1d-4a55-9d0e-000000000042",
        "ORD-7F3A-00912 and KILN-2026-000017",
        "sha256-" + base64.b64encode(bytes(range(32))).decode(),
        "md5 5d41402abc4b2a76b9719d911017c592",
        "data:image/png;base64," + base64.b64encode(bytes(range(200))).decode(),
        "password: required, at least 8 characters",
        "password = os.environ['KILN_PASSWORD']",
        "api_key=<your key here>",
        "token: ${KILN_TOKEN_2}",
        "secret = settings.secret_1",
        '"next_page_token": "CAUQAA8f3Kq0ZpW7vXy2LmN5"',
        "prompt_tokens: 1234567890123456",
        "forgotPassword=true&name=oven42",
        "AKIA is a prefix, ghp_ another, eyJ a third, sk-spinner-large-container-wrapper a class",
        "http://kiln.example:8080/a@b and ftp://kiln.example/x:y@z",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    ],
)
def test_look_alikes_and_talk_about_secrets_are_none(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize("before", ["", "a", "ab", "kiln: "])
@pytest.mark.parametrize("kind", ["github-token", "aws-access-key", "anthropic-key", "private-key"])
def test_a_known_key_within_base64_is_found_at_every_alignment(kind: str, before: str) -> None:
    coded = base64.b64encode((before + FAKES[kind][0] + "\nx").encode()).decode()
    (found,) = find(f"blob {coded} end")
    assert found.kind == "encoded-secret"
    rest = f"blob {coded} end"[: found.start] + f"blob {coded} end"[found.end :]
    assert FAKES[kind][0][:12] not in base64.b64decode(rest[5:-4] + "==", validate=False).decode("latin-1")


def test_a_key_that_was_cut_at_its_beginning_is_found_by_its_end() -> None:
    text = "tail of the file\n" + f"{_A * 4}\n" * 3 + "-----END " + "PRIVATE KEY-----\nnext line"
    (found,) = find(text)
    assert text[: found.start] == "tail of the file\n"
    assert text[found.end :] == "\nnext line"


@given(
    st.lists(
        st.sampled_from([*(secret for _, secret in EVERY), "token: ", "password='", "://a:", "@b ", "\n", '"', "x"])
    )
)
def test_what_is_found_stands_in_order_and_apart(pieces: list[str]) -> None:
    text = "".join(pieces)
    end = 0
    for secret in find(text):
        assert end <= secret.start < secret.end <= len(text)
        end = secret.end


@given(st.sampled_from(EVERY), st.text(), st.text())
def test_json_of_any_text_with_a_secret_in_it_shows_the_secret(known: tuple[str, str], before: str, after: str) -> None:
    _, secret = known
    text = json.dumps({"a": [before + " " + secret + " " + after]})
    inside = json.dumps(secret)[1:-1]
    at = text.index(inside)
    assert any(one.start < at + len(inside) and one.end > at for one in find(text))


@pytest.mark.parametrize(
    "piece",
    [
        "token:",
        "eyJ-",
        "sk-",
        "-----BEGIN " + "PRIVATE KEY-----",
        "://a:b",
        "password='",
        "ghp_",
        "AKIA",
        "Z2hwX",
        "pwd:1",
        "A",
    ],
)
def test_hostile_repetition_takes_time_in_proportion(piece: str) -> None:
    # Quadratic work over a megabyte would not end within the patience of anyone.
    find(piece * (400_000 // len(piece)))


@given(st.text() | st.text("{}[]\":,'aerrorE: 0\n\\=/@-_."))
def test_any_text_gets_an_answer(text: str) -> None:
    find(text)


_PIECES = (
    st.sampled_from([secret for _, secret in EVERY])
    | st.sampled_from([*secrets._FORMS, *secrets._MARKS_ENCODED])
    | st.text("aB3_-.+/=", max_size=24)
)
_NEAR_SECRETS = st.lists(st.tuples(_PIECES, st.sampled_from(["", " ", "\n", "\x1f"])).map("".join), max_size=8).map(
    "".join
)


@given(_NEAR_SECRETS)
def test_looking_only_among_the_long_runs_misses_nothing(text: str) -> None:
    # Where the whole text passes for its runs, each mark in it is looked at.
    runs = secrets._long_runs(text)
    assert list(secrets._keyed(text, text)) == list(secrets._keyed(text, runs))
    assert list(secrets._encoded(text, text)) == list(secrets._encoded(text, runs))


def test_the_shortest_key_of_each_form_is_no_shorter_than_what_is_looked_at() -> None:
    encoded = (base64.b64encode(secret.encode()).decode() for _, secret in EVERY)
    assert min(map(len, (*(secret for _, secret in EVERY), *encoded))) >= secrets.SHORTEST


@given(st.lists(st.sampled_from([*NAMES, "=", ": ", "x", "\n", "aB3dE5gH7j"]), max_size=12).map("".join))
def test_a_name_that_says_secret_stands_only_where_a_part_of_it_does(text: str) -> None:
    every = {mark: (mark,) for marks in assigned._NAME_MARKS.values() for mark in marks}
    found = list(assigned.assigned(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assigned, "_NAME_MARKS", every)
        assert found == list(assigned.assigned(text))
