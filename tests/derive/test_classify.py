import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.classify import _is_of_session, failed, freshness, privacy, without_secrets
from callsheet.derive.origins import origin
from callsheet.derive.reading import read
from callsheet.graph.enums import Freshness, Privacy

# Put together here so that no scanner takes this file for a leak.
FAKE_KEYS = [
    "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow",
    "AKIA" + "QWERTYUIOP234567",
    "ghp_" + "a1B2c3D4e5F6" * 3,
    "sk-ant-" + "aB3_" * 10,
    "xoxb-" + "123456789012-abcdefABCDEF1234",
    "AIza" + "b7" * 17 + "c",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiJraWxuIn0.x9_" + "aB3" * 8,
    "kiln_password = " + "'tR4!vq-9Lm2'",
    '"client_secret": ' + '"Zx8#kfQ2mW7pL0"',
    "postgres://potter:" + "h7Kq-2vX9w@db.kiln.example/glaze",
]


@pytest.mark.parametrize("text", FAKE_KEYS)
def test_keys_and_passwords_are_secret_wherever_they_stand(text: str) -> None:
    assert privacy(text) is Privacy.SECRET
    assert privacy("row\n" * 400_000 + f"note: {text} end\n") is Privacy.SECRET


@pytest.mark.parametrize(
    "text",
    [
        "password: required, at least 8 characters",
        "password = os.environ['KILN_PASSWORD']",
        "api_key=<your key here>",
        "token: ${KILN_TOKEN_2}",
        "the secret: patience",
        "forgotPassword=true&name=oven42",
        "AKIA is a prefix, ghp_ another, eyJ a third",
        "commit 9c1e5d0a7b44f0e1d2c3b4a5968778695a4b3c2d",
        "card 4111 1111 1111 1112 has a wrong check digit",
        "IBAN DE89 3704 0044 0532 0130 01 has one as well",
        "order 79927398710, 5 pots",
        "codice fiscale RSSMRA85T10A562T has a wrong check letter",
        "DNI: 12345678A has one as well, 12345678Z has no name",
        "from 192.168.7.1 by fe80::1 at 00:1a:2b:3c:4d:5e",
    ],
)
def test_talk_about_secrets_and_numbers_that_fail_their_check_are_internal(text: str) -> None:
    assert privacy(text) is Privacy.INTERNAL


@pytest.mark.parametrize(
    "text",
    [
        "ruth.oake@kiln.example",
        "call +49 30 901820 now",
        "call (415) 555-0132",
        "pay to DE89 3704 0044 0532 0130 00",
        "card 4111 1111 1111 1111",
        '{"date_of_birth": "1980-02-29"}',
        "Geburtsdatum: 29.02.1980",
        "codice fiscale RSSMRA85T10A562S",
        "DNI: 12345678Z",
    ],
)
def test_what_reaches_a_person_is_personal(text: str) -> None:
    assert privacy(text) is Privacy.PERSONAL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"unread": 4}', Freshness.VOLATILE),
        ('{"pots_in_stock": 2, "in_stock": 7}', Freshness.VOLATILE),
        ("seats left: 12", Freshness.VOLATILE),
        ("Lagerbestand: 7 in /tmp/x/y", Freshness.VOLATILE),
        ("written to /tmp/kiln/plan.txt", Freshness.SESSION),
        ('{"name": "Winter Blue", "cone": 6}', Freshness.TIME_BOUNDED),
        ("", Freshness.TIME_BOUNDED),
    ],
)
def test_live_values_age_fastest_and_nothing_is_durable_on_its_own_word(text: str, expected: Freshness) -> None:
    assert freshness(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "Error: no kiln with this name",
        "Error executing recipe: unknown glaze",
        "sh: 1: kilnctl: command not found",
        "ls: cannot access 'clay': No such file or directory",
        "$ kilnctl fire\nheating\nexit status 3",
        "heating\nProcess finished with exit code 1\n",
        'Traceback (most recent call last):\n  File "kiln.py", line 3, in fire\n    heat()\nValueError: too hot',
        '{"error": "no such kiln"}',
        '{"error": {"code": 7, "message": "no such kiln"}}',
        '{"success": false, "reason": "lid open"}',
        '{"isError": true, "content": []}',
        '{"status": 404, "message": "gone"}',
        '{"status": "failed"}',
        '{"stdout": "", "exit_code": 2}',
        "{'error': 'lid open'}",
    ],
)
def test_results_that_say_that_they_failed_are_failed(text: str) -> None:
    assert failed(text, read(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0 errors, 0 warnings",
        "Errors are listed in chapter 4.",
        "failed: 0, passed: 12",
        "heating\nexit status 0",
        '{"error": null, "result": 4}',
        '{"errors": [], "data": {"pot": 1}}',
        '{"success": true, "log": "error: lid was open, retried"}',
        '{"firings": [{"status": "failed"}, {"status": "ok"}]}',
        '{"status": "available"}',
        "def fire():\n    raise ValueError('too hot')\n\nclass Kiln:\n    pass\n",
        "kiln,status\nA,failed\nB,ok\n",
        "grep: x: No such file or directory\nclay\nsand\nwater\nash\n",
    ],
)
def test_results_that_only_mention_errors_are_not(text: str) -> None:
    assert not failed(text, read(text))


def test_a_failure_at_the_end_of_a_long_log_is_seen() -> None:
    log = "\n".join(f"[{n:05d}] pot {n % 7} ok" for n in range(9000))
    assert failed(log + "\nerror: lid open\nexit status 3", None)
    assert not failed(log + "\nexit status 0", None)


@given(st.text() | st.text("{}[]\":,'aerrorE: 0\n"))
def test_any_text_gets_an_answer(text: str) -> None:
    assert isinstance(failed(text), bool)
    assert privacy(text) in Privacy
    assert freshness(text) in Freshness


def test_deeply_nested_and_cut_json_gets_an_answer() -> None:
    assert not failed('{"a":' * 50_000)
    assert not failed("[" * 100_000)
    assert failed('{"error": "cut in the mid')


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        ("gmail.search", "[]", Privacy.GOOGLE_DERIVED),
        ("mcp__gmail__search", "[]", Privacy.GOOGLE_DERIVED),
        ("google_drive_list", "[]", Privacy.GOOGLE_DERIVED),
        ("GoogleDrive:list", "[]", Privacy.GOOGLE_DERIVED),
        ("fetch", '{"kind": "calendar#event", "summary": "firing"}', Privacy.GOOGLE_DERIVED),
        ("fetch", '{"id": "1", "threadId": "2", "labelIds": ["INBOX"], "snippet": "kiln"}', Privacy.GOOGLE_DERIVED),
        ("fetch", '{"mimeType": "application/vnd.google-apps.document"}', Privacy.GOOGLE_DERIVED),
        ("slack__read", "ok", Privacy.CONNECTED_ACCOUNT),
        ("outlook_search_mail", "ok", Privacy.CONNECTED_ACCOUNT),
        ("fetch", '{"@odata.context": "https://graph.microsoft.com/v1.0/me"}', Privacy.CONNECTED_ACCOUNT),
        ("read", "%PDF-1.7 ...", Privacy.DOCUMENT),
        ("run", "saved to /mnt/data/glaze.csv", Privacy.RUNTIME_FILE),
        ("search_mail", "[]", None),
        ("notion", "a notion of clay", None),
        ("read_file", '{"kind": "glaze#recipe"}', None),
        ("fetch", '{"kind": "storage#object"}', None),
        ("googly_eyes", "two", None),
    ],
)
def test_where_a_result_comes_from_is_told_by_namespace_and_shape(
    tool: str, text: str, expected: Privacy | None
) -> None:
    assert origin(tool, text) is expected


def test_a_document_is_told_by_its_type_and_a_runtime_file_by_the_arguments_too() -> None:
    assert origin("read", "", mime="application/pdf") is Privacy.DOCUMENT
    assert origin("read", "", arguments='{"path": "sandbox:/mnt/data/x.png"}') is Privacy.RUNTIME_FILE


@given(st.text())
def test_without_its_secrets_a_text_is_never_secret(text: str) -> None:
    assert without_secrets(text) in (Privacy.INTERNAL, Privacy.PERSONAL)
    assert origin(text, text, arguments=text, mime=text) in (*Privacy, None)


_OF_SESSION = re.compile(
    r"(?<![\w.])/(?:tmp|var/tmp|private/tmp|proc|run|dev/shm)/|(?<!\w)(?:pid|PID|cwd|pwd|PWD)\b[\"']?[ ]?[:=]"
)
_SIGNS = (
    "/tmp/",
    "/",
    "var",
    "run",
    "proc/",
    "pid",
    "PID",
    "Pid",
    "pWD",
    "cwd",
    "PWD",
    "pwd",
    ":",
    "=",
    " =",
    '"',
    ".",
)


@given(st.lists(st.sampled_from(_SIGNS) | st.text(max_size=2), max_size=8).map("".join))
def test_temporary_places_and_processes_are_told_by_names_of_their_own(text: str) -> None:
    assert _is_of_session(text) is (_OF_SESSION.search(text) is not None)
