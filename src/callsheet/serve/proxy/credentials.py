"""Credentials: who asks, as a keyed digest. The key of a client itself is passed on and kept nowhere."""

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl

from callsheet.errors import StoreError
from callsheet.serve.proxy.settings import Format, Key, Settings

MEMORY = ":memory:"

_SECRET_BYTES = 32
_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
CREDENTIALS = frozenset(_HEADERS)
"""Headers in which SDKs send their key."""

_QUERY = "key"
"""Gemini takes its key in the address too."""

_FIRST: Mapping[Format, Sequence[str]] = {
    Format.OPENAI: (),
    Format.ANTHROPIC: ("x-api-key",),
    Format.GEMINI: ("x-goog-api-key", _QUERY),
}
"""Where the provider of a format looks for its key before the common places: whose that is, pays."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asker:
    """Whose request it is. Holds nothing that the credential could be found from."""

    #: Tenant and a digest of all credentials: within it conversations are recognised.
    scope: str
    #: Of the credential that pays: what was spent is counted by it.
    digest: str
    tenant: str
    #: What the operator calls the key; None: not known.
    key: Key | None

    @property
    def name(self) -> str:
        """What logs and reports call it: the operator's name, or the first digits of the digest."""
        return self.key.name if self.key is not None else self.digest[:12]


class Credentials:
    """Turns credentials into digests under the secret of this installation."""

    def __init__(self, secret: bytes, settings: Settings) -> None:
        self._secret = secret
        self._tenant = settings.tenant
        self._keys = {key.digest: key for key in settings.keys}

    def digest(self, credential: str) -> str:
        """64 hex digits for a credential; no credential has one too."""
        return hmac.new(self._secret, credential.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def asker(self, headers: Mapping[str, str], query: str, format: Format = Format.OPENAI) -> Asker:
        """Whose request it is, by its headers (names in lower case), the query of its address and its format.

        Those who share one credential and have another beside it are different askers. A key that the operator knows
        counts wherever it stands, so that nothing that stands beside it lifts its limit.
        """
        found = credentials_of(headers, query, format)
        digests = [self.digest(one) for one in found] or [self.digest("")]
        digest = next((one for one in digests if one in self._keys), digests[0])
        key = self._keys.get(digest)
        tenant = key.tenant if key is not None and key.tenant is not None else self._tenant
        # One alone has the digest that the operator is told.
        every = self.digest("\0".join(sorted(found)))
        return Asker(scope=f"{tenant}/{every}", digest=digest, tenant=tenant, key=key)


def credentials_of(headers: Mapping[str, str], query: str, format: Format = Format.OPENAI) -> tuple[str, ...]:
    """The credentials of a request, each once, that of its provider first. ``Bearer`` before one does not count."""
    places = dict.fromkeys((*_FIRST[format], *_HEADERS, _QUERY))
    return tuple(dict.fromkeys(one for place in places for one in _at(place, headers, query)))


def _at(place: str, headers: Mapping[str, str], query: str) -> Iterator[str]:
    if place == _QUERY:
        yield from (value for name, value in parse_qsl(query) if name == _QUERY)
        return
    # A header that stands several times has its values joined by commas; no key has one in it.
    for given in headers.get(place, "").split(","):
        words = given.split(None, 1)
        if words:
            yield words[1].strip() if words[0].lower() == "bearer" and len(words) > 1 else given.strip()


def folder_of(database: str) -> Path | None:
    """Where a proxy keeps what is its own: beside the database; None: nowhere, for one in memory."""
    return None if database == MEMORY else Path(f"{database.removeprefix('sqlite:///')}.proxy")


def secret_of(folder: Path | None) -> bytes:
    """The secret of this installation, made at its first start, for its owner's eyes alone.

    Whoever has it could tell by trying whether a credential was used here. Without it no conversation is recognised
    again. Raises `StoreError`.
    """
    if folder is None:
        return secrets.token_bytes(_SECRET_BYTES)
    file = folder / "secret"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _kept(file)
    except OSError as problem:
        raise StoreError(f"{file} cannot be read or made: {problem.strerror}") from None


def _kept(file: Path) -> bytes:
    for _ in range(2):
        try:
            found = file.read_bytes()
        except FileNotFoundError:
            _make(file)
            continue
        if len(found) == _SECRET_BYTES:
            return found
        raise StoreError(f"{file} is not a secret of {_SECRET_BYTES} bytes; restore it, or remove it to begin anew")
    raise StoreError(f"{file} was made and is gone again")


def _make(file: Path) -> None:
    """Under a name of its own first, so that nobody ever reads half a secret; whoever is second takes the first's."""
    own = file.with_name(f"secret.{secrets.token_hex(8)}")
    descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(secrets.token_bytes(_SECRET_BYTES))
            opened.flush()
            os.fsync(opened.fileno())
        try:
            os.link(own, file)
        except FileExistsError:
            return
    finally:
        own.unlink(missing_ok=True)
