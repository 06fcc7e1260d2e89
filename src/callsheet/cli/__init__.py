"""The command line: one module per family of commands, which calls the rooms and prints.

Rows come out as tables for people and with ``--json`` for programs; errors are one line; exit codes are `Exit`.
"""

from callsheet.cli.app import main

__all__ = ["main"]
