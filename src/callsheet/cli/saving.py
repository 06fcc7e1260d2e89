"""``backup`` and ``restore``: a store with its large content, as of one moment."""

import argparse
from typing import TYPE_CHECKING

from callsheet.cli.audit import report_as_json, report_as_text, tell_records
from callsheet.cli.exits import Exit
from callsheet.cli.output import Output
from callsheet.cli.parsing import Commands, add_command, add_json, add_progress, add_store

if TYPE_CHECKING:
    from callsheet.audit.backup import Copied

_BACKUP = """\
Others may go on writing meanwhile. The copy is a store that can be opened where it lies, and it
is verified before the command says that it is done. Nothing that exists is overwritten."""

_RESTORE = """\
The store appears when it is whole, and it is verified before the command says that it is done.
Nothing that exists is overwritten."""


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = add_command(commands, "backup", _backup, summary="copy a store into a new folder", description=_BACKUP)
    parser.add_argument("folder", metavar="DIR", help="the folder to make")
    add_store(parser)
    add_json(parser)
    add_progress(parser)

    parser = add_command(commands, "restore", _restore, summary="make a store from a backup", description=_RESTORE)
    parser.add_argument("folder", metavar="DIR", help="the folder of the backup")
    add_store(parser)
    add_json(parser)
    add_progress(parser)


def _backup(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.audit.backup import backup

    return _done(backup(args.store, args.folder, progress=lambda progress: tell_records(out, progress)), out)


def _restore(args: argparse.Namespace, out: Output) -> Exit:
    from callsheet.audit.backup import restore

    return _done(restore(args.folder, args.store, progress=lambda progress: tell_records(out, progress)), out)


def _done(copied: "Copied", out: Output) -> Exit:
    if out.as_json:
        out.json({"path": copied.path, **report_as_json(copied.report)})
    else:
        out.text(f"Copied to {copied.path}.\n{report_as_text(copied.report)}")
    return Exit.OK if copied.report.ok else Exit.FINDINGS
