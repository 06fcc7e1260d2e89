"""What content is by itself: its privacy class, how fast it ages, and whether it says that something failed.

Only the content is looked at, never the tool's name. A secret is claimed only where its form is beyond doubt; between
the other classes the more restrictive of what the signs allow is taken.
"""

import re

import msgspec

from callsheet.derive import secrets
from callsheet.derive.assigned import lower
from callsheet.derive.document import ContentKind, Document
from callsheet.derive.personal import is_personal
from callsheet.graph.enums import Freshness, Privacy

STRICTNESS = (
    Privacy.PUBLIC,
    Privacy.INTERNAL,
    Privacy.RUNTIME_FILE,
    Privacy.DOCUMENT,
    Privacy.PERSONAL,
    Privacy.GOOGLE_DERIVED,
    Privacy.CONNECTED_ACCOUNT,
    Privacy.SECRET,
)
"""The classes of data, the strictest last."""

_STRETCH = 1 << 20
_OVERLAP = 20_000
"""More than a secret takes, so that none is cut."""


def privacy(text: str) -> Privacy:
    """``SECRET`` for keys, tokens and passwords, ``PERSONAL`` for what reaches or names a person, else ``INTERNAL``."""
    found = Privacy.INTERNAL
    for start in range(0, len(text), _STRETCH):
        piece = text[max(0, start - _OVERLAP) : start + _STRETCH]
        if secrets.find(piece):
            return Privacy.SECRET
        if found is Privacy.INTERNAL and is_personal(piece, lower(piece)):
            found = Privacy.PERSONAL
    return found


def without_secrets(text: str) -> Privacy:
    """The same for text whose secrets have been replaced by markers: it is not looked through for them again."""
    for start in range(0, len(text), _STRETCH):
        piece = text[max(0, start - _OVERLAP) : start + _STRETCH]
        if is_personal(piece, lower(piece)):
            return Privacy.PERSONAL
    return Privacy.INTERNAL


# What is looked for is the sign of a value being given, of which there are few; only there the name before it is read.
_GIVEN = re.compile(r"[:=](?<=[a-z\"' \t][:=])[ \t]{0,4}[\"'\[{]?[\w$€£\-]")
_VOLATILE = re.compile(
    r"""(?<![A-Za-z])(?:
    unread|(?:in[_\- ]?)?stock|on[_\- ]?hand|availab(?:le|ility)|seats?[_\- ](?:left|remaining|available)|rank(?:ing)?
    |online|offline|current(?:ly)?|right\ now|now\ playing|queue[_\- ]?(?:length|depth|size)|uptime|load\ average
    |cpu|memory[_\- ]usage|temperature|humidity|bid|ask|exchange[_\- ]rate|balance|live|latest|progress|eta
    |ungelesen|verf[üu]gbar(?:keit)?|lagerbestand|derzeit|aktuell|momentan
    )\Z""",
    re.VERBOSE,
)
_LAST = 3
"""Letters at the end of each of these names, which tell most others apart at once."""

_ENDINGS = frozenset(
    (
        *("ead", "ock", "and", "ble", "ity", "eft", "ing", "ank", "ine", "ent", "tly", "now", "gth", "pth", "ize"),
        *("ime", "age", "cpu", "ure", "bid", "ask", "ate", "nce", "ive", "est", "ess", "eta", "sen", "bar", "eit"),
        *("ell", "tan"),
    )
)
_LONGEST = 24
"""Characters of such a name at most, with what stands before it."""

_SPACES = 4
"""Between a name and the sign behind it at most."""

# Begins with what it looks for, and looks back behind it: a search that begins with looking back takes far longer.
_SESSION = re.compile(
    r"/(?<![\w.]/)(?:tmp|var/tmp|private/tmp|proc|run|dev/shm)/"
    r"|[pPc](?<!\w[pPc])(?:(?<=p)id|(?<=P)ID|(?<=c)wd|(?<=p)wd|(?<=P)WD)\b[\"']?[ ]?[:=]"
)
_SESSION_MARKS = ("/tmp/", "/proc/", "/run/", "/dev/shm/", "pid", "PID", "cwd", "pwd", "PWD")
_SAMPLE = 100_000


def freshness(text: str) -> Freshness:
    """How content ages by its own signs: live values are ``VOLATILE``, temporary places ``SESSION``, else
    ``TIME_BOUNDED``. Nothing is taken for durable on its own word. Of long content both ends are looked at.
    """
    pieces = (text,) if len(text) <= _SAMPLE else (text[: _SAMPLE * 3 // 4], text[-_SAMPLE // 4 :])
    if any(_is_volatile(piece.lower()) for piece in pieces):
        return Freshness.VOLATILE
    if any(_is_of_session(piece) for piece in pieces):
        return Freshness.SESSION
    return Freshness.TIME_BOUNDED


def _is_volatile(lowered: str) -> bool:
    """Whether a text gives the value of something that changes all the time."""
    for match in _GIVEN.finditer(lowered):
        start = end = match.start()
        while lowered[end - 1 : end] in (" ", "\t") and start - end <= _SPACES:
            end -= 1
        if start - end > _SPACES:
            continue
        if lowered[end - 1 : end] in ('"', "'"):
            end -= 1
        if lowered[end - _LAST : end] in _ENDINGS and _VOLATILE.search(lowered, max(0, end - _LONGEST), end):
            return True
    return False


def _is_of_session(text: str) -> bool:
    """Whether a text names places or processes that are gone soon."""
    return any(mark in text for mark in _SESSION_MARKS) and _SESSION.search(text) is not None


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
_EXIT_MARKS = ("exit", "return code", "returncode")
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
    first = head.partition("\n")[0]
    statuses = (_last(_EXIT, tail) if _may_exit(tail) else None, _EXIT.search(first) if _may_exit(first) else None)
    for status in statuses:
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


def _may_exit(text: str) -> bool:
    """Whether looking for an exit status may find one: that ignores case, and so takes long."""
    lowered = text.lower()
    return not text.isascii() or any(mark in lowered for mark in _EXIT_MARKS)


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
