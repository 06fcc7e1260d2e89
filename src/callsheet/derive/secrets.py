"""Where secrets stand in a text: keys and tokens of known providers, private keys, passwords in addresses, and what is
assigned to a name that says secret.

A known prefix is looked for as a plain string, first among the runs that are long enough for a secret, and only what
begins there is looked at closer, so that the time is linear in the text. Hashes, UUIDs, digests and numbers have no
such prefix and no such name before them: they stay.
"""

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from callsheet.derive.assigned import assigned, userinfo


class Secret(NamedTuple):
    """A stretch of a text, from and up to but without, and the type of secret that it is."""

    start: int
    end: int
    kind: str


SHORTEST = 20
"""Characters of a secret at least that its own form tells, in base64 too; none of them is white space."""

LONGEST = 16_384
"""Characters of one secret at most; what goes on behind them is another one or none."""


class _Form(NamedTuple):
    kind: str
    #: Matches at the mark.
    pattern: re.Pattern[str]
    #: Whether the mark counts at the beginning of a word alone: it is too short to tell a secret inside one.
    word: bool = False


def _form(kind: str, pattern: str, *, word: bool = False) -> _Form:
    return _Form(kind, re.compile(pattern, re.DOTALL), word)


_GITHUB = _form("github-token", r"gh[pousr]_[A-Za-z0-9]{36,251}+")
_SLACK = _form("slack-token", r"xox[abceoprs]-[A-Za-z0-9\-]{20,251}+")
_STRIPE = _form("stripe-key", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,251}+")
_AWS = _form("aws-access-key", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}")
_FORMS: dict[str, _Form] = {
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _GITHUB),
    "github_pat_": _form("github-token", r"github_pat_[A-Za-z0-9_]{40,251}+"),
    "glpat-": _form("gitlab-token", r"glpat-[A-Za-z0-9_\-]{20,251}+"),
    **dict.fromkeys(("AKIA", "ASIA", "ABIA", "ACCA"), _AWS),
    "sk-": _form(
        "openai-key",
        r"sk-(?:(?:proj|svcacct|admin|None|or(?:-v1)?)-[A-Za-z0-9_\-]{20,512}+|[A-Za-z0-9]{32,251}+(?![\-]))",
        word=True,
    ),
    "sk-ant-": _form("anthropic-key", r"sk-ant-[A-Za-z0-9_\-]{20,512}+"),
    "AIza": _form("google-key", r"AIza[A-Za-z0-9_\-]{35}"),
    "ya29.": _form("google-token", r"ya29\.[A-Za-z0-9_\-.]{30,2048}+"),
    "GOCSPX-": _form("google-secret", r"GOCSPX-[A-Za-z0-9_\-]{28}"),
    "xox": _SLACK,
    "xapp-": _form("slack-token", r"xapp-\d-[A-Za-z0-9\-]{20,251}+"),
    "hooks.slack.com/services/": _form("slack-webhook", r"hooks\.slack\.com/services/[A-Za-z0-9/]{30,99}+"),
    "k_live_": _STRIPE,
    "k_test_": _STRIPE,
    "whsec_": _form("stripe-key", r"whsec_[A-Za-z0-9+/=]{32,99}+"),
    "npm_": _form("npm-token", r"npm_[A-Za-z0-9]{36}"),
    "pypi-AgE": _form("pypi-token", r"pypi-AgE[A-Za-z0-9_\-]{50,1024}+"),
    "hf_": _form("huggingface-token", r"hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])", word=True),
    "SG.": _form("sendgrid-key", r"SG\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43}"),
    "dop_v1_": _form("digitalocean-token", r"dop_v1_[a-f0-9]{64}"),
    "shpat_": _form("shopify-token", r"shpat_[a-fA-F0-9]{32}"),
    "AGE-SECRET-KEY-1": _form("private-key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
}
_BEHIND = {"k_live_": 1, "k_test_": 1}
"""Marks that do not begin what they mark, and how far behind its beginning they stand."""

_JWT = re.compile(r"eyJ[A-Za-z0-9_\-]{10,16000}+\.eyJ[A-Za-z0-9_\-]{10,16000}+\.[A-Za-z0-9_\-]{10,16000}+")
_RUN = re.compile(r"[A-Za-z0-9_\-]*+")
_ESCAPE = re.compile(r"\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2}")

_KEY_BEGINS = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s:,|>]|\\{1,16}+[nr])*+")
_KEY_LINE = re.compile(r"[^A-Za-z0-9+/=]{0,8}[A-Za-z0-9+/=]{16,}+(?:\\{1,16}+[nr])*+\s*+")

_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_NEAR = 300
"""Characters on either side of an AWS key id among which the secret that belongs to it is looked for."""


def find(text: str) -> list[Secret]:
    """The secrets of a text in order, none overlapping another."""
    runs = _long_runs(text)
    found = [*_keyed(text, runs), *_tokens(text), *_private_keys(text), *_encoded(text, runs)]
    found += list(_beside(text, sorted(secret.start for secret in found if secret.kind == "aws-access-key")))
    found += [Secret(*one) for one in userinfo(text)]
    found += [Secret(*one) for one in assigned(text)]
    return _apart(found)


def formed(text: str) -> list[Secret]:
    """Those that their own form tells, whatever stands around them."""
    return _apart([*_keyed(text, _long_runs(text)), *_private_keys(text)])


def _long_runs(text: str) -> str:
    """What of a text is long enough for a secret without white space in it."""
    return "\n".join([run for run in text.split() if len(run) >= SHORTEST])


def _apart(found: list[Secret]) -> list[Secret]:
    """Of those that overlap the stretch that all of them cover, under the type of the first and longest."""
    apart: list[Secret] = []
    for secret in sorted(found, key=lambda one: (one.start, -one.end)):
        if apart and secret.start < apart[-1].end:
            if secret.end > apart[-1].end:
                apart[-1] = apart[-1]._replace(end=secret.end)
            continue
        apart.append(secret)
    return apart


def _keyed(text: str, runs: str) -> Iterator[Secret]:
    for mark, form in _FORMS.items() if runs else ():
        if mark not in runs:
            continue
        behind = _BEHIND.get(mark, 0)
        at = text.find(mark)
        while at >= 0:
            start = at - behind
            match = form.pattern.match(text, start) if start >= 0 else None
            if match is not None and (not form.word or _begins(text, start)):
                yield Secret(start, match.end(), form.kind)
                at = match.end() - 1
            at = text.find(mark, at + 1)


def _begins(text: str, at: int) -> bool:
    """Whether a word begins here; behind an escape such as ``\\n`` one does."""
    if at == 0 or not text[at - 1].isalnum():
        return True
    return any(_ESCAPE.fullmatch(text, max(0, at - length), at) is not None for length in (2, 3, 6))


def _tokens(text: str) -> Iterator[Secret]:
    at = text.find("eyJ")
    while at >= 0:
        match = _JWT.match(text, at)
        if match is not None:
            yield Secret(at, match.end(), "jwt")
        run = _RUN.match(text, at)
        # A token that is none here is none further in the same run either.
        after = match.end() if match is not None else run.end() if run is not None else at + 1
        at = text.find("eyJ", max(after, at + 1))


def _private_keys(text: str) -> Iterator[Secret]:
    begins = list(_at_marks(text, "-----BEGIN ", _KEY_BEGINS))
    ends = list(_at_marks(text, "-----END ", _KEY_ENDS))
    places = [match.start() for match in ends]
    used: set[int] = set()
    for at, begin in enumerate(begins):
        following = begins[at + 1].start() if at + 1 < len(begins) else len(text)
        last = bisect_right(places, begin.end())
        if last < len(places) and places[last] < min(following, begin.end() + LONGEST):
            used.add(last)
            yield Secret(begin.start(), ends[last].end(), "private-key")
            continue
        body = _KEY_BODY.match(text, begin.end(), min(following, begin.end() + LONGEST))
        yield Secret(begin.start(), body.end() if body is not None else begin.end(), "private-key")
    before = 0
    for at, end in enumerate(ends):
        # What is cut at its beginning shows the end of a key all the same.
        if at not in used:
            yield Secret(_body_before(text, end.start(), before), end.end(), "private-key")
        before = end.end()


def _at_marks(text: str, mark: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    at = text.find(mark)
    while at >= 0:
        match = pattern.match(text, at)
        if match is not None:
            yield match
        at = text.find(mark, at + len(mark))


def _body_before(text: str, end: int, least: int) -> int:
    """Where the lines of a key begin that stand before its end."""
    start = end
    least = max(least, end - LONGEST)
    while start > least:
        line = max(text.rfind("\n", least, start - 1), text.rfind("\\n", least, start - 2) + 1, least - 1) + 1
        if line >= start or _KEY_LINE.fullmatch(text, line, start) is None:
            break
        start = line
    return start


def _beside(text: str, keys: list[int]) -> Iterator[Secret]:
    """The secrets that stand near AWS key ids; these begin at the given places."""
    reached = 0
    for key in keys:
        low, high = max(reached, key - _NEAR), min(len(text), key + _NEAR)
        for match in _AWS_SECRET.finditer(text, low, high):
            value = match[0]
            if all(any(map(kind, value)) for kind in (str.islower, str.isupper, str.isdigit)):
                yield Secret(match.start(), match.end(), "aws-secret-key")
        reached = max(low, high - 40)


# ---------------------------------------------------------------------------------------------- in base64

_ENCODED = ("ghp_", "gho_", "github_pat_", "AKIA", "sk-ant-", "sk-proj-", "xoxb-", "AIza", "-----BEGIN ")


def _marks_encoded() -> dict[str, int]:
    """What the beginning of each secret looks like within base64, and how many bytes share its first group."""
    marks: dict[str, int] = {}
    for known in _ENCODED:
        for before in range(3):
            whole = base64.b64encode(b"\0" * before + known.encode()).decode().rstrip("=")
            length = len(known) + before
            # The first and the last character also hold bits of what stands beside.
            first = -(-before * 8 // 6)
            last = length * 8 // 6
            marks[whole[first:last]] = before
    return {mark: before for mark, before in marks.items() if len(mark) >= 4}


_MARKS_ENCODED = _marks_encoded()
_BASE64 = re.compile(r"[A-Za-z0-9+/]*+={0,2}")


def _encoded(text: str, runs: str) -> Iterator[Secret]:
    for mark, before in _MARKS_ENCODED.items() if runs else ():
        if mark not in runs:
            continue
        at = text.find(mark)
        while at >= 0:
            start = at - -(-before * 8 // 6)
            if start >= 0 and _decodes(text[start : start + _TELLING], before):
                run = _BASE64.match(text, at, at + LONGEST)
                end = run.end() if run is not None else at
                yield Secret(start, end, "encoded-secret")
                at = end
            at = text.find(mark, at + _APART)


_TELLING = 400
"""Characters of base64 that tell a token, and the first line of a private key."""

_APART = 16
"""No two secrets begin nearer to each other than this in base64."""


def _decodes(text: str, before: int) -> bool:
    """Whether base64 has a secret at its beginning."""
    match = _BASE64.match(text)
    run = match[0].rstrip("=") if match is not None else ""
    run = run[: len(run) - (len(run) % 4 == 1)]
    try:
        decoded = base64.b64decode(run + "=" * (-len(run) % 4)).decode("latin-1")[before:]
    except binascii.Error:
        return False
    forms = (form for mark, form in _FORMS.items() if decoded.startswith(mark))
    return _KEY_BEGINS.match(decoded) is not None or any(form.pattern.match(decoded) for form in forms)
