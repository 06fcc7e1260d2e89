"""Addresses: which upstream a request is for, and what is done with it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl, unquote, urlsplit

from callsheet.serve.proxy.settings import Format, Settings, Upstream
from callsheet.wire.names import Wire


class Kind(StrEnum):
    """What is done with a request."""

    #: A model answers: it is recorded and assembled.
    ANSWER = "answer"
    #: Tokens of such a request are counted: nothing is recorded.
    COUNT = "count"
    #: Anything else: passed through untouched.
    PASS = "pass"


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """An address that was understood."""

    kind: Kind
    #: What logs call it.
    name: str
    format: Format
    wire: Wire
    #: Behind the upstream's own address, as it came, with its query.
    path: str
    query: str
    #: The upstream that the address names; None: the first that speaks the format and has the model.
    upstream: str | None = None
    #: What the address says of the model and of streaming (Gemini's does).
    model: str | None = None
    stream: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    name: str
    kind: Kind
    wire: Wire


_CHAT = Wire.OPENAI
_POST: Mapping[Format, Mapping[str, _Known]] = {
    Format.OPENAI: {
        "/v1/chat/completions": _Known(name="chat", kind=Kind.ANSWER, wire=_CHAT),
        "/v1/responses": _Known(name="responses", kind=Kind.ANSWER, wire=Wire.OPENAI_RESPONSES),
        "/v1/responses/input_tokens": _Known(name="count", kind=Kind.COUNT, wire=Wire.OPENAI_RESPONSES),
    },
    Format.ANTHROPIC: {
        "/v1/messages": _Known(name="messages", kind=Kind.ANSWER, wire=Wire.ANTHROPIC),
        "/v1/messages/count_tokens": _Known(name="count", kind=Kind.COUNT, wire=Wire.ANTHROPIC),
    },
    Format.GEMINI: {},
}
_GEMINI = re.compile(
    r"/v1(?:beta|alpha)?/(?P<model>(?:models|tunedModels)/[^/:]+|[^/]+/[^:]*models/[^/:]+):(?P<method>\w+)"
)
_GEMINI_METHODS: Mapping[str, tuple[Kind, bool]] = {
    "generateContent": (Kind.ANSWER, False),
    "streamGenerateContent": (Kind.ANSWER, True),
    "countTokens": (Kind.COUNT, False),
}
_OPENAI_ALONE = ("/v1/chat/", "/v1/responses", "/v1/embeddings", "/v1/completions")
_VERSION = re.compile(r"/v1[^/]*")
_SLASHES = re.compile(r"//+")
WIRES: Mapping[Format, Wire] = {
    Format.OPENAI: Wire.OPENAI,
    Format.ANTHROPIC: Wire.ANTHROPIC,
    Format.GEMINI: Wire.GEMINI,
}
"""The format whose errors answer a request that is not understood further."""


def route(settings: Settings, method: str, path: str, query: str, headers: Mapping[str, str]) -> Route:
    """What an address means. `path` is as it came, percent signs and all."""
    named, rest = _named(settings, path)
    format = named.format if named is not None else _spoken(rest, query, headers)
    known = _known(format, method, rest)
    if known is None:
        return Route(
            kind=Kind.PASS,
            name=_telling(rest),
            format=format,
            wire=WIRES[format],
            path=rest,
            query=query,
            upstream=named.name if named is not None else None,
        )
    found, model, stream = known
    return Route(
        kind=found.kind,
        name=found.name,
        format=format,
        wire=found.wire,
        path=rest,
        query=query,
        upstream=named.name if named is not None else None,
        model=model,
        stream=stream,
    )


_STEPS = frozenset({".", ".."})
_PARTS = re.compile(r"[/\\]")


def is_plain(path: str) -> bool:
    """Whether a path, as it came, leads where it says. Not one with dot segments: what resolves them, here or behind
    the upstream, would find another address than the one that was understood. However they are written: in percent
    signs, also twice, between backslashes, or with parameters behind a semicolon.
    """
    once = unquote(path)
    return path.startswith("/") and not any(
        part.partition(";")[0].strip() in _STEPS for one in (once, unquote(once)) for part in _PARTS.split(one)
    )


def upstream_for(settings: Settings, route: Route, model: str) -> Upstream | None:
    """Who serves a model on a route; None: nobody. Empty: no model is asked. An upstream that the address names serves
    no others than its models either.
    """
    fitting = [
        one
        for one in settings.upstreams
        if one.format is route.format and (route.upstream is None or one.name == route.upstream)
    ]
    if not model:
        return fitting[0] if fitting else None
    return next((one for one in fitting if one.serves(model)), None)


def address_of(upstream: Upstream, route: Route) -> str:
    """Where a request goes. A version with which the upstream's own address ends does not stand there twice."""
    base = urlsplit(upstream.address).path
    path = route.path
    version = _VERSION.match(path)
    if version is not None and base.endswith(version.group()) and path[version.end() : version.end() + 1] in ("", "/"):
        path = path[version.end() :]
    return f"{upstream.address}{path}{'?' if route.query else ''}{route.query}"


def _named(settings: Settings, path: str) -> tuple[Upstream | None, str]:
    first, slash, rest = path.removeprefix("/").partition("/")
    for upstream in settings.upstreams:
        if upstream.name == first and slash:
            return upstream, f"/{rest}"
    return None, path


def _spoken(path: str, query: str, headers: Mapping[str, str]) -> Format:
    """The format of an address that names no upstream: by its path, else by the headers that SDKs send."""
    plain = _SLASHES.sub("/", unquote(path))
    if plain.startswith(_OPENAI_ALONE):
        return Format.OPENAI
    if plain.startswith("/v1/messages") or "anthropic-version" in headers or "x-api-key" in headers:
        return Format.ANTHROPIC
    if plain.startswith(("/v1beta", "/v1alpha")) or _GEMINI.fullmatch(plain) or "x-goog-api-key" in headers:
        return Format.GEMINI
    if any(name == "key" for name, _ in parse_qsl(query)):
        return Format.GEMINI
    return Format.OPENAI


def _known(format: Format, method: str, path: str) -> tuple[_Known, str | None, bool | None] | None:
    if method != "POST":
        return None
    path = _SLASHES.sub("/", unquote(path))
    plain = path.rstrip("/")
    if format is not Format.GEMINI:
        # Where the address of an upstream ends with its version, clients may leave it out.
        found = _POST[format].get(plain) or _POST[format].get(f"/v1{plain}")
        return (found, None, None) if found is not None else None
    match = _GEMINI.fullmatch(plain)
    method_known = _GEMINI_METHODS.get(match["method"]) if match is not None else None
    if match is None or method_known is None:
        return None
    kind, stream = method_known
    name = match["method"] if kind is Kind.ANSWER else "count"
    return _Known(name=name, kind=kind, wire=Wire.GEMINI), match["model"].removeprefix("models/"), stream


_TOLD = re.compile(r"/(?:[^/]+/)??v1[a-z]*/(?P<what>[a-z_]{1,32})(?:/|$)")


def _telling(path: str) -> str:
    """A path as logs call it: its first word, since ids and names stand behind it."""
    found = _TOLD.match(path)
    return found["what"] if found is not None else "other"
