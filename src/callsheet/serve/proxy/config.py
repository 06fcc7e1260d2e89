"""The file of settings: YAML, read whole or refused, with file, line and column of all that is wrong."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.errors import ConfigError, PolicyError
from callsheet.policy.positions import LONGEST, Source
from callsheet.policy.sets import BUILT_IN, PolicySetDocument
from callsheet.runtime.loading import load_policy
from callsheet.serve.proxy import values
from callsheet.serve.proxy.headers import NEIGHBOURS
from callsheet.serve.proxy.routes import WIRES
from callsheet.serve.proxy.settings import (
    Format,
    Handling,
    Key,
    Limits,
    ModelHandling,
    Settings,
    Spending,
    Timeouts,
    Upstream,
)
from callsheet.wire.formats import wire_of

if TYPE_CHECKING:
    from yaml.nodes import Node


PROVIDERS: Mapping[Format, str] = {
    Format.OPENAI: "openai",
    Format.ANTHROPIC: "anthropic",
    Format.GEMINI: "google",
}
"""Whom an upstream of a format is taken for where it does not say."""

_NAMED: Mapping[Format, str] = {
    Format.OPENAI: "a name that does not begin with anthropic, google or gemini, nor end with -responses",
    Format.ANTHROPIC: "anthropic, or begin with it, such as anthropic-bedrock",
    Format.GEMINI: "google or gemini, or begin with one of them, such as google-vertex",
}
"""Requests are written in the format that the provider's name says."""


def load(path: str | Path) -> Settings:
    """The settings in a file. Raises `ConfigError` with file, line and column, also for what is not UTF-8.

    Policy sets and the database that it names by a relative path are looked for beside it.
    """
    name = str(path)
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise ConfigError(f"{name}: cannot be read: {problem.strerror}") from None
    if len(content) > 4 * LONGEST:
        raise ConfigError(f"{name}: larger than {4 * LONGEST:,} bytes; a configuration is shorter")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = content[: problem.start].split(b"\n")
        column = len(before[-1].decode("utf-8", "replace")) + 1
        raise ConfigError(f"{name}:{len(before)}:{column}: not UTF-8") from None
    return parse(text, file=name, folder=Path(path).parent)


def parse(text: str, *, file: str = "configuration", folder: Path | None = None) -> Settings:
    """The settings that a document says; what it leaves out has its default. Raises `ConfigError`."""
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines()):
        return Settings()
    source = Source(file=file, what="configuration")
    try:
        return _Reader(source, folder or Path()).settings(source.tree(text))
    except PolicyError as wrong:
        raise ConfigError(str(wrong), problems=wrong.problems) from None


class _Reader:
    """Reads one document."""

    def __init__(self, source: Source, folder: Path) -> None:
        self._source = source
        self._folder = folder

    def settings(self, root: "Node") -> Settings:
        readers: Mapping[str, values.Read] = {
            "listen": values.listen,
            "database": self._path,
            "tenant": values.text,
            "operator": values.variable,
            "pass_others": values.flag,
            "upstreams": self._upstreams,
            "limits": values.fields(Limits, values.LIMITS),
            "spending": values.fields(Spending, values.SPENDING),
            "keys": self._keys,
        }
        source = self._source
        entries, _ = source.top(root, (*readers, *values.HANDLING, "policy", "models"))
        said: dict[str, object] = {}
        for name, read in readers.items():
            with source.going_on():
                if name in entries:
                    said[name] = read(source, entries[name], name)
        handling = Handling()
        with source.going_on():
            handling = self._handling(entries, "", Handling())
        with source.going_on():
            if "models" in entries:
                said["models"] = source.items(entries["models"], "models", lambda n, p: self._model(n, p, handling))
        source.finish()
        if "listen" in said:
            said["host"], said["port"] = said.pop("listen")  # type: ignore[misc]
        return replace(Settings(handling=handling), **said)  # type: ignore[arg-type]

    def _path(self, source: Source, node: "Node", name: str) -> str:
        given = source.text(node, name)
        if "://" in given or given == ":memory:":
            return given
        return str(self._folder / given)

    # ----------------------------------------------------------------------- upstreams

    def _upstreams(self, source: Source, node: "Node", name: str) -> tuple[Upstream, ...]:
        self._once(node, "name", lambda given: f"an upstream named {given[:60]!r} stands twice")
        found = source.items(node, name, self._upstream)
        if not found:
            raise source.problem(node, "upstreams is empty; leave it out for the providers' public addresses")
        return found

    def _once(self, node: "Node", key: str, told: Callable[[str], str]) -> None:
        """Keep an error for each entry of a list that has the same as one before, whatever else is wrong with them."""
        seen: set[str] = set()
        for entry, given in self._source.peeked(node, key):
            with self._source.going_on():
                if given in seen:
                    raise self._source.problem(entry, told(given))
            seen.add(given)

    def _upstream(self, node: "Node", path: str) -> Upstream:
        source = self._source
        allowed = ("name", "format", "address", "provider", "models", "headers", "timeouts")
        entries = source.mapping(node, path, allowed)
        for needed in ("name", "format", "address"):
            if needed not in entries:
                raise source.problem(node, f"{path} has no {needed}; an upstream needs name, format and address")
        format = source.choice(entries["format"], f"{path}.format", tuple(Format))
        provider = PROVIDERS[format]
        if "provider" in entries:
            provider = source.text(entries["provider"], f"{path}.provider")
            if wire_of(provider) is not WIRES[format]:
                raise source.wrong(entries["provider"], f"{path}.provider", _NAMED[format])
        drop, fill = self._headers(entries["headers"], f"{path}.headers") if "headers" in entries else ((), {})
        return Upstream(
            name=values.upstream_name(source, entries["name"], f"{path}.name"),
            format=format,
            address=values.address(source, entries["address"], f"{path}.address"),
            provider=provider,
            models=source.items(entries["models"], f"{path}.models", source.text) if "models" in entries else ("*",),
            drop=drop,
            fill=fill,
            timeouts=values.fields(Timeouts, values.TIMEOUTS)(source, entries["timeouts"], f"{path}.timeouts")
            if "timeouts" in entries
            else Timeouts(),
        )

    def _headers(self, node: "Node", path: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
        source = self._source
        entries = source.mapping(node, path, ("drop", "from_environment"))
        drop: tuple[str, ...] = ()
        if "drop" in entries:
            drop = source.items(entries["drop"], f"{path}.drop", lambda n, p: values.header(source, n, p))
        fill: dict[str, str] = {}
        if "from_environment" in entries:
            for name, value in source.mapping(entries["from_environment"], f"{path}.from_environment").items():
                if not values.HEADER.fullmatch(name):
                    raise source.problem(value, f"{path}.from_environment has {name!r}; it must be a header's name")
                if name.lower() in NEIGHBOURS:
                    said = f"{path}.from_environment has {name!r}, which the proxy says itself for each request"
                    raise source.problem(value, said)
                fill[name.lower()] = values.variable(source, value, f"{path}.from_environment.{name}")
        return drop, fill

    # ----------------------------------------------------------------------- models

    def _model(self, node: "Node", path: str, base: Handling) -> ModelHandling:
        source = self._source
        entries = source.mapping(node, path, ("match", *values.HANDLING, "policy", "price"))
        if "match" not in entries:
            raise source.problem(node, f"{path} has no match; it says whose settings these are, such as gpt-4o*")
        handling = self._handling(entries, f"{path}.", base)
        if "price" in entries:
            handling = replace(handling, price=values.price(source, entries["price"], f"{path}.price"))
        return ModelHandling(match=source.text(entries["match"], f"{path}.match"), handling=handling)

    def _handling(self, entries: "Mapping[str, Node]", prefix: str, base: Handling) -> Handling:
        given = [(name, entries[name]) for name in values.HANDLING if name in entries]

        def read(item: "tuple[str, Node]") -> tuple[str, object]:
            name, node = item
            return name, values.HANDLING[name](self._source, node, f"{prefix}{name}")

        said = dict(self._source.each(given, read))
        if "policy" in entries:
            said["policy"] = self._policy(entries["policy"], f"{prefix}policy")
        return replace(base, **said)  # type: ignore[arg-type]

    def _policy(self, node: "Node", name: str) -> PolicySetDocument:
        given = self._source.text(node, name)
        if given in BUILT_IN:
            return BUILT_IN[given]
        file = self._folder / given
        if not file.is_file():
            known = ", ".join(sorted(BUILT_IN))
            raise self._source.wrong(node, name, f"one of: {known}; or the file of a policy set")
        try:
            return load_policy(file)
        except PolicyError as wrong:
            raise self._source.problem(node, str(wrong)) from None

    # ----------------------------------------------------------------------- keys

    def _keys(self, source: Source, node: "Node", name: str) -> tuple[Key, ...]:
        # What stands there may be the key itself, which no error shows.
        self._once(node, "name", lambda _: "a key with this name stands twice")
        self._once(node, "digest", lambda _: "a key with this digest stands twice")
        return source.items(node, name, self._key)

    def _key(self, node: "Node", path: str) -> Key:
        source = self._source
        entries = source.mapping(node, path, ("name", "digest", "tenant", *values.SPENDING))
        for needed in ("name", "digest"):
            if needed not in entries:
                raise source.problem(node, f"{path} has no {needed}; `callsheet serve digest` makes one of a key")
        digest = source.text(entries["digest"], f"{path}.digest")
        if not values.DIGEST.fullmatch(digest):
            # It may be the key itself, which no error shows.
            raise source.problem(
                entries["digest"], f"{path}.digest must be the 64 digits that `callsheet serve digest` prints"
            )
        name = source.text(entries["name"], f"{path}.name")
        if not values.NAME.fullmatch(name):
            raise source.wrong(entries["name"], f"{path}.name", "letters, digits, _ and -, at most 64")
        said = [(key, read) for key, read in values.SPENDING.items() if key in entries]
        limits = {key: read(source, entries[key], f"{path}.{key}") for key, read in said}
        return Key(
            name=name,
            digest=digest,
            tenant=source.text(entries["tenant"], f"{path}.tenant") if "tenant" in entries else None,
            spending=Spending(**limits),  # type: ignore[arg-type]
        )
