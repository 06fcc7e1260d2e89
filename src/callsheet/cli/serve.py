"""``serve``: the proxy, what it saved, and digests of keys for its configuration."""

import argparse
import logging
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from callsheet.cli.exits import Exit
from callsheet.cli.output import Output, table
from callsheet.cli.parsing import Commands, Parser, UsageError, add_command, add_json
from callsheet.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from callsheet.serve.proxy.reporting import Line, Report
    from callsheet.serve.proxy.settings import Settings

_SERVE = """\
A proxy before OpenAI, Anthropic and Gemini, or what speaks like them: an agent changes its base URL,
and nothing else. Clients send their own keys, which are passed on and kept nowhere. Without a
configuration it listens on 127.0.0.1:8377 for this machine and records into ./callsheet.db. It prints
a line for each request to standard error, with ids and counts and never content, and runs until it is
stopped with Ctrl-C; then answers may still come to their end for a while.

With --check the configuration is only read; exit code 3 with file, line and column of all that is
wrong in it."""

_REPORT = """\
What clients asked, what was sent in its place, and what that saved in tokens and money, with the
method by which it was reckoned. In observe-only mode: what it would have saved."""

_DIGEST = """\
Prints what stands for a key in the configuration, under keys: the key is read from standard input and
kept nowhere. Digests of one installation mean nothing to another."""

_DAYS = 30


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = add_command(commands, "serve", _serve, summary="a proxy before model providers", description=_SERVE)
    _add_config(parser)
    parser.add_argument("--listen", metavar="HOST:PORT", help="where to listen, instead of what the configuration says")
    parser.add_argument(
        "--observe-only", action="store_true", help="send what clients send, and report what would have been saved"
    )
    parser.add_argument("--check", action="store_true", help="read the configuration, and end")
    add_json(parser, "JSON Lines, one for each request, to standard error")
    inner = parser.add_subparsers(metavar="ACTION", required=False, parser_class=Parser)
    report = add_command(inner, "report", _report, summary="what the proxy saved", description=_REPORT)
    _add_config(report, inner=True)
    report.add_argument("--since", metavar="TIME", help=f"ISO 8601; default: {_DAYS} days before --until")
    report.add_argument("--until", metavar="TIME", help="ISO 8601; default: now")
    report.add_argument("--by", choices=("model", "key", "tenant"), default="model", help="default: %(default)s")
    report.add_argument("--key", metavar="NAME", help="of this key alone, by its name or digest")
    report.add_argument("--tenant", metavar="NAME", help="of this tenant alone")
    add_json(report)
    digest = add_command(inner, "digest", _digest, summary="what stands for a key", description=_DIGEST)
    _add_config(digest, inner=True)
    add_json(digest)


def _add_config(parser: Parser, *, inner: bool = False) -> None:
    # What is not said behind an action may be said before it.
    default = argparse.SUPPRESS if inner else None
    parser.add_argument("--config", metavar="FILE", default=default, help="the configuration, in YAML")
    parser.add_argument(
        "--store", metavar="PATH", default=default, help="the store, instead of what the configuration says"
    )


def _settings(args: argparse.Namespace) -> "Settings":
    from dataclasses import replace

    from callsheet.serve.proxy.config import load
    from callsheet.serve.proxy.settings import Settings
    from callsheet.serve.proxy.values import listening

    settings = load(args.config) if args.config is not None else Settings()
    if args.store is not None:
        settings = replace(settings, database=args.store)
    listen = getattr(args, "listen", None)
    if listen is not None:
        found = listening(listen)
        if found is None:
            raise UsageError(f"--listen is {listen!r}; it must be a host and a port, such as 127.0.0.1:8377")
        settings = replace(settings, host=found[0], port=found[1])
    return settings.observing() if getattr(args, "observe_only", False) else settings


def _serve(args: argparse.Namespace, out: Output) -> Exit:
    try:
        settings = _settings(args)
    except ConfigError as wrong:
        for problem in wrong.problems:
            out.problem(wrong.code, problem)
        return Exit.INPUT
    if args.check:
        return _checked(args, settings, out)
    _log(as_json=out.as_json)
    try:
        from callsheet.serve.proxy.running import bound, server
    except ImportError:
        raise MissingExtra("server", purpose="the proxy") from None
    from callsheet.serve.proxy.opening import Opening

    opening = Opening(settings=settings)
    listening = bound(settings)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host

    base = f"http://{host}:{listening.getsockname()[1]}"
    log = logging.getLogger("callsheet.serve")

    def started(_port: int) -> None:
        upstreams = ", ".join(f"{one.name} ({one.address})" for one in settings.upstreams)
        log.info("listening=%s upstreams=%s", base, upstreams)

    try:
        opening.open()
        made = server(opening, started=started, stopped=lambda: log.info("stopped=%s", base))
        made.run(sockets=[listening])
    finally:
        opening.close()
        listening.close()
    return Exit.OK


def _checked(args: argparse.Namespace, settings: "Settings", out: Output) -> Exit:
    named = args.config if args.config is not None else "no configuration"
    if out.as_json:
        out.json(
            {
                "listen": f"{settings.host}:{settings.port}",
                "database": settings.database,
                "upstreams": {one.name: one.address for one in settings.upstreams},
                "policy": str(settings.handling.policy),
                "observe_only": settings.handling.observe_only,
                "keys": [key.name for key in settings.keys],
            }
        )
    else:
        names = ", ".join(one.name for one in settings.upstreams)
        out.text(f"{named}: right; {settings.host}:{settings.port}, upstreams {names}, {settings.database}")
    return Exit.OK


def _log(*, as_json: bool) -> None:
    """Lines of the proxy, and of what goes wrong in the server, to standard error; of libraries nothing else."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Json() if as_json else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name in ("callsheet.serve", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO if name == "callsheet.serve" else logging.WARNING)


class Json(logging.Formatter):
    """Lines of the log as JSON Lines."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as one JSON object; what a line says as ``name=value`` is its fields."""
        from callsheet.cli.output import dumps

        said = record.getMessage()
        pairs = [part.partition("=") for part in said.split(" ")]
        fields = {name: value for name, sign, value in pairs if sign}
        at = datetime.fromtimestamp(record.created, UTC).isoformat()
        told = fields if len(fields) == len(pairs) else {"message": said}
        return dumps({"at": at, "level": record.levelname.lower(), **told})


# --------------------------------------------------------------------------- digests


def _digest(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.serve.proxy.credentials import Credentials, folder_of, secret_of

    settings = _settings(args)
    key = sys.stdin.readline().strip() if sys.stdin is not None else ""
    if not key:
        raise UsageError("give the key on standard input, such as: printenv OPENAI_API_KEY | callsheet serve digest")
    digest = Credentials(secret_of(folder_of(settings.database)), settings).digest(key)
    if out.as_json:
        out.json({"digest": digest})
    else:
        out.text(digest)
    return Exit.OK


# --------------------------------------------------------------------------- the report


def _report(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.serve.proxy.reporting import report

    until = _time(args.until, "--until") if args.until is not None else datetime.now(UTC)
    since = _time(args.since, "--since") if args.since is not None else until - timedelta(days=_DAYS)
    made = report(_settings(args).database, since=since, until=until, tenant=args.tenant, key=args.key, by=args.by)
    if out.as_json:
        out.json(_told(made))
    else:
        _tell(made, args.by, out)
    return Exit.OK


def _time(text: str, name: str) -> datetime:
    from callsheet.errors import InvalidTime
    from callsheet.graph.times import instant

    try:
        return datetime.fromtimestamp(instant(text) / 1_000_000, UTC)
    except InvalidTime as problem:
        raise UsageError(f"{name}: {problem}") from None


def _told(made: "Report") -> dict[str, object]:
    return {
        "since": made.since.isoformat(),
        "until": made.until.isoformat(),
        "rows": [_fields(line) for line in made.lines],
        "total": _fields(made.total),
        "outcomes": dict(made.outcomes),
        "ambiguous": made.ambiguous,
        "method": list(made.method),
    }


def _fields(line: "Line") -> dict[str, object]:
    return {
        "name": line.name,
        "requests": line.requests,
        "assembled": line.assembled,
        "asked_tokens": line.asked_tokens,
        "sent_tokens": line.sent_tokens,
        "reported": line.reported,
        "input_tokens": line.input,
        "cached_tokens": line.cached,
        "output_tokens": line.output,
        "priced": line.priced,
        "spent": round(line.spent, 6),
        "without": round(line.would, 6),
        "saved": round(line.saved, 6),
        "not_assembled": {
            "requests": line.observed,
            "assembled_tokens": line.observed_tokens,
            "spent": round(line.observed_spent, 6),
            "assembled": round(line.observed_would, 6),
        },
    }


_OWN = (
    "They went out so in observe-only mode, or since the assembled request was larger, or no cheaper over the requests "
    "to come, as far as the horizon looks ahead; a single one may have been cheaper assembled all the same."
)
_AMBIGUOUS = (
    "{:,} requests may have gone on with several conversations (how=ambiguous in the log), so each began one of its "
    "own and was written anew. Clients that name theirs with the header x-callsheet-conversation go on."
)
_HEADER = ("requests", "assembled", "asked", "sent", "%", "cached %", "spent $", "without $", "saved $")


def _tell(made: "Report", by: str, out: Output) -> None:
    out.text(f"{made.since:%Y-%m-%d %H:%M} to {made.until:%Y-%m-%d %H:%M} (UTC)\n")
    ends = "How they ended: " + ", ".join(f"{name} {count:,}" for name, count in made.outcomes) + "."
    if not made.lines:
        out.text(ends if made.outcomes else "No requests.")
        return
    rows = [_row(line) for line in (*made.lines, made.total)]
    out.text(table((by, *_HEADER), rows))
    total = made.total
    if total.observed:
        out.text(
            f"\nSent as clients sent them: {total.observed:,} requests for ${total.observed_spent:,.4f}; assembled "
            f"they would have taken {total.observed_tokens:,} tokens and cost ${total.observed_would:,.4f}, "
            f"{_less(total.observed_spent, total.observed_would)}."
        )
        out.prose(_OWN)
    out.text(f"\n{ends}")
    if made.ambiguous:
        out.prose(_AMBIGUOUS.format(made.ambiguous))
    if total.priced < total.requests:
        out.text(f"A price is known for {total.priced:,} of {total.requests:,} requests.")
    out.prose("\n" + "\n".join(made.method))


def _less(spent: float, would: float) -> str:
    """What something else would have saved, or cost beside."""
    part = f" ({100 * abs(spent - would) / spent:.0f} %)" if spent else ""
    return f"${abs(spent - would):,.4f}{part} {'less' if would <= spent else 'more'}"


def _row(line: "Line") -> tuple[str, ...]:
    share = f"{100 * line.sent_tokens / line.asked_tokens:.0f}" if line.asked_tokens else ""
    cached = f"{100 * line.cached_share:.0f}" if line.cached_share is not None else ""
    figures = (line.requests, line.assembled, line.asked_tokens, line.sent_tokens)
    money = (line.spent, line.would, line.saved)
    return (line.name, *(f"{one:,}" for one in figures), share, cached, *(f"{one:,.4f}" for one in money))
