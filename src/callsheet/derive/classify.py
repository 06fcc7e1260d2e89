"""What content is by itself: its privacy class, how fast it ages, and whether it says that something failed.

Only the content is looked at, never the tool's name. A secret is claimed only where its form is beyond doubt; between
the other classes the more restrictive of what the signs allow is taken.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from callsheet.derive.document import ContentKind, Document
from callsheet.graph.enums import Freshness, Privacy

_STRETCH = 1 << 20
_OVERLAP = 4096

_SECRET = re.compile(
    r"""
    -----BEGIN\ (?:[A-Z0-9]{1,12}\ ){0,3}PRIVATE\ KEY(?:\ BLOCK)?-----
    |(?<![A-Za-z0-9])(?:
        (?:AKIA|ASIA)[A-Z2-7]{16}
        |gh[pousr]_[A-Za-z0-9]{36}
        |github_pat_[A-Za-z0-9_]{82}
        |glpat-[A-Za-z0-9_\-]{20}
        |sk-(?:ant|proj|svcacct|or)-[A-Za-z0-9_\-]{32,200}
        |sk-[A-Za-z0-9]{48}
        |(?:sk|rk)_live_[A-Za-z0-9]{24,99}
        |whsec_[A-Za-z0-9+/=]{32,64}
        |xox[abeprs]-[A-Za-z0-9\-]{24,200}
        |AIza[A-Za-z0-9_\-]{35}
        |ya29\.[A-Za-z0-9_\-]{30,500}
        |GOCSPX-[A-Za-z0-9_\-]{28}
        |SG\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43}
        |npm_[A-Za-z0-9]{36}
        |pypi-AgE[A-Za-z0-9_\-]{50,250}
        |hf_[A-Za-z]{34}
        |dop_v1_[a-f0-9]{64}
        |AGE-SECRET-KEY-1[A-Z0-9]{58}
        |eyJ[A-Za-z0-9_\-]{10,2000}\.eyJ[A-Za-z0-9_\-]{10,4000}\.[A-Za-z0-9_\-]{20,1000}
    )(?![A-Za-z0-9])
    """,
    re.VERBOSE,
)
# Looking for a few literals is much faster than the patterns that need one of them.
_SECRET_MARKS = (
    *("KEY-----", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "k_live_"),
    *("whsec_", "xox", "AIza", "ya29.", "GOCSPX-", "SG.", "npm_", "pypi-AgE", "hf_", "dop_v1_", "AGE-SECRET", "eyJ"),
)
_ASSIGNED_MARKS = ("passw", "kennwort", "passphrase", "secret", "key", "token")
_PERSONAL_MARKS = ("dob", "birth", "geburts", "ssn", "security", "passport", "home", "phone", "mobile")
# For text in lower case: a pattern that ignores case takes several times as long.
_ASSIGNED = re.compile(
    r"""
    (?:passw(?:or)?d|passwort|kennwort|passphrase|secret|api[_\-]?key|access[_\-]?key|auth[_\-]?token|access[_\-]?token
       |private[_\-]?key|client[_\-]?secret)
    ["']?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}["']?([^\s"',;&<>(){}\[\]\\]{8,200}+)
    """,
    re.VERBOSE,
)
_IN_URL = re.compile(r"://[^\s/:@\"'<>]{1,64}+:([^\s/:@\"'<>]{8,128}+)@")

_EMAIL = re.compile(r"(?<![\w.%+\-])[\w%+\-][\w.%+\-]{0,63}+@[A-Za-z0-9\-]{1,63}+\.[A-Za-z]{2}")
_PHONE = re.compile(
    r"(?<![\w+])\+\d{1,3}[ \-./]?\(?\d{1,5}\)?(?:[ \-./]?\d{2,5}){2,4}(?!\w)|\(\d{3}\) ?\d{3}-\d{4}(?!\d)"
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_CARD = re.compile(
    r"(?<![\w.\-])[2-6]\d{3}(?:\d{8,15}|(?: \d{4}){2}(?: \d{1,7})?|(?:-\d{4}){3}| \d{6} \d{5})(?![\w.\-])"
)
_PERSONAL_KEY = re.compile(
    r"(?<![A-Za-z])(?:dob|(?:date[ _\-]?of[ _\-]?birth|birth[ _\-]?(?:date|day)|geburts(?:datum|tag)|ssn"
    r"|social[ _\-]?security(?:[ _\-]?n(?:umber|o))?|passport[ _\-]?(?:number|no|id)"
    r"|(?:home|phone|mobile)[ _\-]?(?:number|address|phone)))[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?\w"
)


def privacy(text: str) -> Privacy:
    """``SECRET`` for keys, tokens and passwords, ``PERSONAL`` for what reaches or names a person, else ``INTERNAL``."""
    found = Privacy.INTERNAL
    for start in range(0, len(text), _STRETCH):
        piece = text[max(0, start - _OVERLAP) : start + _STRETCH]
        if _has_secret(piece):
            return Privacy.SECRET
        if found is Privacy.INTERNAL and _is_personal(piece):
            found = Privacy.PERSONAL
    return found


def _has_secret(text: str) -> bool:
    if _holds(text, _SECRET_MARKS) and _SECRET.search(text):
        return True
    lowered = _lowered(text)
    if _holds(lowered, _ASSIGNED_MARKS):
        spans = (match.span(1) for match in _ASSIGNED.finditer(lowered))
        if any(_is_random(text[start:end]) for start, end in spans):
            return True
    return any(_is_random(match[1]) for match in _IN_URL.finditer(text))


def _lowered(text: str) -> str:
    """The text in lower case, each character in its place."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(map(_lower, text))


def _lower(character: str) -> str:
    lowered = character.lower()
    return lowered if len(lowered) == 1 else character


def _holds(text: str, marks: Sequence[str]) -> bool:
    return any(mark in text for mark in marks)


def _is_random(value: str) -> bool:
    """Whether a value looks made by chance: characters of several kinds, no words, names of variables or hints."""
    if re.match(r"[$%<{*]|[xX*•.]{4}|process\.|os\.|env\b", value) or value.startswith(("http", "/")):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[^\w\s]"))
    counts = Counter(value)
    entropy = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    if re.search(r"[0-9]", value) is None or re.fullmatch(r"[\w]+(?:\.[\w]+)+(?:\(.*)?|[A-Za-z_]+\d{0,2}", value):
        return False
    return (kinds >= 3 and entropy >= 2.75) or (len(value) >= 20 and entropy >= 3.5)


def _is_personal(text: str) -> bool:
    if "@" in text and _EMAIL.search(text):
        return True
    lowered = _lowered(text)
    if _PHONE.search(text) or (_holds(lowered, _PERSONAL_MARKS) and _PERSONAL_KEY.search(lowered)):
        return True
    if any(_is_iban(match[0]) for match in _IBAN.finditer(text)):
        return True
    return any(_is_card(match[0]) for match in _CARD.finditer(text))


def _is_iban(value: str) -> bool:
    value = value.replace(" ", "")
    if not 15 <= len(value) <= 34:
        return False
    digits = "".join(str(int(c, 36)) for c in value[4:] + value[:4])
    return int(digits) % 97 == 1


def _is_card(value: str) -> bool:
    """Luhn's check, as on payment cards; numbers of one repeated digit are examples."""
    digits = [int(c) for c in value if c.isdigit()]
    if not 12 < len(digits) < 20 or len(set(digits)) < 2:
        return False
    doubled = (sum(divmod(2 * d, 10)) for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


_VOLATILE = re.compile(
    r"""(?<![A-Za-z])(?:
    unread|(?:in[_\- ]?)?stock|on[_\- ]?hand|availab(?:le|ility)|seats?[_\- ](?:left|remaining|available)|rank(?:ing)?
    |online|offline|current(?:ly)?|right\ now|now\ playing|queue[_\- ]?(?:length|depth|size)|uptime|load\ average
    |cpu|memory[_\- ]usage|temperature|humidity|bid|ask|exchange[_\- ]rate|balance|live|latest|progress|eta
    |ungelesen|verf[üu]gbar(?:keit)?|lagerbestand|derzeit|aktuell|momentan
    )(?![A-Za-z])["']?[ \t]{0,4}[:=][ \t]{0,4}["'\[{]?[\w$€£\-]""",
    re.VERBOSE,
)
_SESSION = re.compile(
    r"(?<![\w.])/(?:tmp|var/tmp|private/tmp|proc|run|dev/shm)/|(?<!\w)(?:pid|PID|cwd|pwd|PWD)\b[\"']?[ ]?[:=]"
)
_SAMPLE = 100_000


def freshness(text: str) -> Freshness:
    """How content ages by its own signs: live values are ``VOLATILE``, temporary places ``SESSION``, else
    ``TIME_BOUNDED``. Nothing is taken for durable on its own word. Of long content both ends are looked at.
    """
    pieces = (text,) if len(text) <= _SAMPLE else (text[: _SAMPLE * 3 // 4], text[-_SAMPLE // 4 :])
    if any(_VOLATILE.search(piece.lower()) for piece in pieces):
        return Freshness.VOLATILE
    if any(_SESSION.search(piece) for piece in pieces):
        return Freshness.SESSION
    return Freshness.TIME_BOUNDED


_FAILED_START = re.compile(
    r"\s{0,8}+\W{0,4}+(?:(?:fatal|error|fehler|failed|failure|exception|panic|\w{1,60}?(?:Error|Exception))"
    r"(?:\[\w{1,20}\])?(?: \(\w{1,40}\))?:(?!\s{0,3}0\b)|error (?:executing|calling|running|while|during|in)\b"
    r"|traceback \(most recent|\d{1,5} (?:\w{1,20} )?errors?:)",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"(?:[\w./\-]{1,60}+: ){1,3}(?:-c: )?(?:line \d{1,6}: )?[^\n]{0,200}?(?:command not found|no such file or directory"
    r"|permission denied|cannot [a-z]|not a directory|is a directory|syntax error)",
    re.IGNORECASE,
)
_EXIT = re.compile(
    r"(?:exit(?:ed)?[ _\-]?(?:with )?(?:status|code|value)|return ?code)[\"'>]?[ ]{0,2}[:=]?[ ]{0,2}(-?\d{1,10})\b"
    r"|exited with (-?\d{1,10})\b",
    re.IGNORECASE,
)
_TRACE = re.compile(
    r"^Traceback \(most recent call last\):|^\s{0,4}at [\w.$<>/]{1,200}\([^()\n]{0,200}:\d{1,7}(?::\d{1,7})?\)"
    r"|^goroutine \d{1,9} \[|^thread '[^'\n]{0,80}' panicked at|^panic: ",
    re.MULTILINE,
)
_ERROR_LINE = re.compile(
    r"^(?:\S{1,200}: ){0,2}(?:fatal|error|panic|E {3})(?:\[\w{1,12}\])?: ?\S|^\w{0,60}(?:Error|Exception): ",
    re.MULTILINE,
)
_END = 2_000


def failed(text: str, document: Document | None = None) -> bool:
    """Whether the content says that what it reports on failed: an error object, an error at its beginning, a trace or
    an exit status other than 0 at its end. That errors are merely mentioned is not enough.
    """
    kind = document.kind if document is not None else None
    if kind in (ContentKind.SOURCE, ContentKind.DIFF, ContentKind.TABLE, ContentKind.HTML, ContentKind.SEARCH):
        return False
    head = text[:_END].lstrip()
    if head[:1] == "{":
        return _failed_object(text)
    if kind in (ContentKind.JSON, ContentKind.JSON_LINES) or re.match(r"\[\s{0,99}[\[{\"]", head):
        return False
    tail = text[-_END:].rstrip()
    for status in (_last(_EXIT, tail), _EXIT.search(head.partition("\n")[0])):
        if status is not None and (status.string is not tail or tail[status.end() :].count("\n") <= 2):
            return int(status[1] or status[2]) != 0
    if _FAILED_START.match(head):
        return True
    # A program that complains about one of its inputs and goes on has not failed as a whole.
    if _COMPLAINT.match(head) and (tail.count("\n") < 3 or _COMPLAINT.match(tail.rpartition("\n")[2])):
        return True
    ending = "\n".join(tail.splitlines()[-6:])
    if _TRACE.search(tail) and _ERROR_LINE.search(ending):
        return True
    return kind in (ContentKind.TRACE,) or (kind is ContentKind.LOG and _ERROR_LINE.search(ending) is not None)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


def _failed_object(text: str) -> bool:
    """Only the outermost object speaks for the whole: errors further in are things that are reported."""
    try:
        found = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # A list, a cut object, or one that is written in another way, such as Python's.
        return _ERROR_FIRST.match(text[:_END]) is not None
    members = {key.casefold().replace("_", ""): bytes(value).strip() for key, value in found.items()}
    for key in ("error", "errors", "exception", "errormessage"):
        value = members.get(key, b"")
        if value and value not in _NOTHING and not (key == "errors" and members.get("data", b"null") != b"null"):
            return True
    if members.get("iserror") == b"true" or b"false" in (members.get("success"), members.get("ok")):
        return True
    if any(members.get(key, b"0").strip(b'"') not in _FINE for key in ("exitcode", "exitstatus", "returncode")):
        return True
    state = members.get("status", b"").strip(b'"').lower()
    if state in (b"error", b"failed", b"failure", b"timeout", b"timed_out", b"fatal"):
        return True
    numbers = [members.get(key, b"") for key in ("status", "statuscode", "httpstatus")]
    return any(number.isdigit() and 400 <= int(number[:4]) < 600 for number in numbers)


_NOTHING = frozenset((b"null", b"false", b'""', b"[]", b"{}", b"0", b'"none"', b'"None"', b'"null"'))
_FINE = frozenset((b"0", b"null", b""))
_ERROR_FIRST = re.compile(
    r"\s{0,8}\{\s{0,8}[\"'](?:error|exception|traceback)[\"']\s{0,4}:\s{0,4}(?!null|None|false|False|[\"']{2}|\[\s{0,4}\]|\{\s{0,4}\}|0\b)\S",
    re.IGNORECASE,
)
