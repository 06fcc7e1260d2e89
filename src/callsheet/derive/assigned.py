"""Secrets that their surroundings tell: what is assigned to a name such as ``password``, and passwords in addresses."""

import math
import re
from collections import Counter
from collections.abc import Iterator

_LONGEST = 256

# For text in lower case: a pattern that ignores case takes several times as long.
_NAMES = re.compile(
    r"""
    (?P<password>passw(?:or)?[dt]|passwort|kennwort|passphrase|contraseña|mot[ _\-]de[ _\-]passe|pwd)
    |(?P<key>client[_\-\ ]?secret|secret(?:[_\-\ ]?(?:access[_\-\ ]?)?key)?
        |(?:api|access|account|private|auth|signing|encryption)[_\-\ ]?(?:secret[_\-\ ]?)?key|credentials?)
    |(?P<token>token)
    """,
    re.VERBOSE,
)
_NAME_MARKS = {
    **{mark: (mark,) for mark in ("kennwort", "contraseña", "pwd", "secret", "token", "credential")},
    "pass": ("passw", "passphrase", "de_passe"),
    "key": (
        *("apikey", "api_key", "api-key", "api key", "access_key", "access-key", "accesskey", "access key"),
        *("accountkey", "private_key", "privatekey", "auth_key", "authkey", "signing_key", "signingkey"),
        "encryption_key",
    ),
}
"""Where such a name may stand, by what a text holds that holds one of them."""

_SEPARATOR = re.compile(
    r"\d{0,2}(?:\\{0,4}[\"'`])?(?:[ \t]{0,8}(?:=>|:=|==?|:)[ \t]{0,8}|>|[ \t]{1,4}(?:is|was|ist|lautet):?[ \t]{1,4})"
)
_FLAG = re.compile(r"[ \t]{1,4}")
_SPOKEN = re.compile(r"[ \t]{1,4}(?:is|was|ist|lautet)")
_SYMBOL = re.compile(r"[^\w\s][\w]")
_QUOTE = re.compile(r"\\{0,4}[\"'`]")
_UNQUOTED = re.compile(r"[^\s\"'`,;&<>(){}\[\]\\|]{1,256}")
_GIVING = ("auth", "access", "refresh", "api", "bearer", "session", "secret", "bot", "personal", "deploy", "id")
"""What stands before ``token`` where it names what gives access, not a place in a list or a piece of text."""

_BEARER = re.compile(r"bearer[ \t]{1,4}([a-z0-9._~+/=\-]{20,4096})")
_BASIC = re.compile(r"authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?basic[ \t]{1,4}([a-z0-9+/=]{8,1024})")

_PLACEHOLDER = re.compile(
    r"[$%<{*\[(]|[xX*•.#\-_?]{3,}\Z|(?:x{3,}|\*{3,}|•+|\.{3})|process\.|os\.|env\b|(?:your|my|the|some|example)[_\- ]"
    r"|(?:password|passwd|pass|pwd|secret|token|key|none|null|true|false|undefined|redacted|changeme|string|user)\Z",
    re.IGNORECASE,
)
_CODE = re.compile(r"[\w]+(?:\.[\w]+)+(?:\(.*)?|[A-Za-z_]+\d{0,2}")

_USERINFO = re.compile(r":(?:\\?/){2}(?P<user>[^\s/:@\"'<>\\]{0,128}+):(?P<password>[^\s/\"'<>\\]{1,256})@(?=[\w\[])")


def assigned(text: str) -> Iterator[tuple[int, int, str]]:
    """What stands behind a name that says secret: start, end and type of each."""
    lowered = lower(text)
    reached = 0
    for at, kind in _named(lowered):
        if at < reached:
            continue
        place = _value(text, at, flag="--" in lowered[max(0, at - 24) : at])
        if place is None:
            continue
        start, end, quoted = place
        # In speech what follows may be any word: there only what nobody would say counts.
        spoken = text[at : at + 1] in (" ", "\t") and _SPOKEN.match(text, at) is not None
        if _is_secret(text[start:end], kind, quoted=quoted, spoken=spoken):
            reached = end if quoted else _whole(text, end)
            yield start, reached, kind
        elif end - start >= _LONGEST:
            # Names follow each other without an end: nothing between them is a value.
            reached = end - _LONGEST // 4
    if "bearer" in lowered:
        for match in _BEARER.finditer(lowered):
            if is_random(text[match.start(1) : match.end(1)]):
                yield match.start(1), match.end(1), "bearer-token"
    if "basic" in lowered:
        for match in _BASIC.finditer(lowered):
            if _PLACEHOLDER.match(match[1]) is None:
                yield match.start(1), match.end(1), "basic-credentials"


def userinfo(text: str) -> Iterator[tuple[int, int, str]]:
    """The passwords of addresses such as ``postgres://user:password@host``."""
    for mark in ("://", ":\\/\\/"):
        at = text.find(mark)
        while at >= 0:
            match = _USERINFO.match(text, at)
            if match is not None and _PLACEHOLDER.match(match["password"]) is None and not _is_port(match["password"]):
                yield match.start("password"), match.end("password"), "url-password"
            at = text.find(mark, at + len(mark))


def _is_port(value: str) -> bool:
    return re.match(r"\d{1,5}[,?#]", value) is not None


def _named(lowered: str) -> list[tuple[int, str]]:
    """The places behind names that say secret, in order, each once."""
    found: dict[int, str] = {}
    for mark in [mark for part, marks in _NAME_MARKS.items() if part in lowered for mark in marks]:
        before = 4 if mark == "de_passe" else 0
        at = lowered.find(mark)
        while at >= 0:
            match = _NAMES.match(lowered, max(0, at - before))
            if match is not None and match.end() not in found and not _MARKER.match(lowered, max(0, at - 1)):
                kind = match.lastgroup or "key"
                if kind != "token" or _gives_access(lowered, at):
                    found[match.end()] = _KINDS[kind]
            at = lowered.find(mark, at + len(mark))
    return sorted(found.items())


_MARKER = re.compile(r"\[secret:[a-z\-]{1,40}#[0-9a-f]{6}\]")
"""What already stands for a secret."""

_KINDS = {"password": "password", "key": "secret", "token": "token"}


def _gives_access(lowered: str, at: int) -> bool:
    before = lowered[max(0, at - 20) : at]
    if not before[-1:].isalnum():
        before = before[:-1] if before[-1:] in ("_", "-", " ") else ""
    return not before or before.endswith(_GIVING)


def _value(text: str, at: int, *, flag: bool) -> tuple[int, int, bool] | None:
    """The value behind a name: start, end, and whether it stands in quotes."""
    separated = _SEPARATOR.match(text, at) or (_FLAG.match(text, at) if flag else None)
    if separated is None:
        return None
    start = separated.end()
    quote = _QUOTE.match(text, start)
    if quote is None and text[start : start + 1] in _HINTS:
        return None
    if quote is None:
        match = _UNQUOTED.match(text, start)
        return (start, match.end(), False) if match is not None else None
    end = quote.end()
    # Of quotes within quotes the same one ends it: behind as many backslashes.
    while True:
        end = text.find(quote[0], end, quote.end() + 2 * _LONGEST)
        if end < 0:
            match = _UNQUOTED.match(text, quote.end())
            return (quote.end(), match.end(), False) if match is not None else None
        if len(quote[0]) > 1 or text[end - 1] != "\\":
            return quote.end(), end, True
        end += 1


def _whole(text: str, end: int) -> int:
    """Where the run ends that a value stands in: what is longer than was looked at is the same secret."""
    match = _REST.match(text, end)
    return match.end() if match is not None else end


_HINTS = frozenset("$%<{*[(")
_REST = re.compile(r"[^\s\"'`,;&<>(){}\[\]\\|]{0,16384}+")


def _is_secret(value: str, kind: str, *, quoted: bool, spoken: bool) -> bool:
    if spoken:
        return len(value) >= 8 and is_random(value) and (len(value) >= 16 or _SYMBOL.search(value) is not None)
    if kind == "token":
        return len(value) >= 16 and is_random(value)
    if len(value) >= 8 and is_random(value):
        return True
    # A word with a digit in it, in quotes, is no variable; a password that people think of looks like it.
    letters = any(c.isalpha() for c in value)
    plain = kind == "password" and quoted and len(value) >= 6 and " " not in value
    return plain and letters and any(c.isdigit() for c in value) and _PLACEHOLDER.match(value) is None


def is_random(value: str) -> bool:
    """Whether a value looks made by chance: characters of several kinds, no words, names of variables or hints."""
    if _PLACEHOLDER.match(value) or value.startswith(("http:", "https:", "/", "./")) or " " in value:
        return False
    if not any(c.isdigit() for c in value) or _CODE.fullmatch(value):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[^\w\s]"))
    counts = Counter(value)
    entropy = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    return (kinds >= 3 and entropy >= 2.75) or (len(value) >= 20 and entropy >= 3.5)


def lower(text: str) -> str:
    """The text in lower case, each character in its place."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(map(_lower, text))


def _lower(character: str) -> str:
    lowered = character.lower()
    return lowered if len(lowered) == 1 else character
