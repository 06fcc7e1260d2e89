"""Exit codes: what a script can tell a failure by without reading its words."""

from collections.abc import Mapping
from enum import IntEnum

from callsheet.errors import (
    AssemblyError,
    CallsheetError,
    InputError,
    MissingExtra,
    NotFound,
    RecallRefused,
    StoreError,
    ToolError,
)


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    INPUT = 3
    STORE = 4
    NOT_FOUND = 5
    ASSEMBLY = 6
    MISSING_EXTRA = 7
    OUTPUT = 8
    TOOL = 9
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANINGS = {
    Exit.OK: "Done.",
    Exit.FINDINGS: "Done, but there are findings: lines that were refused, or a store that is not sound.",
    Exit.USAGE: "The command line is wrong; nothing was done.",
    Exit.INPUT: "The input was refused (`input…`).",
    Exit.STORE: "The store could not do it (`store…`).",
    Exit.NOT_FOUND: "No such store, conversation or record (`not_found`), or none to be read (`recall_refused`).",
    Exit.ASSEMBLY: "The request could not be assembled (`assembly…`).",
    Exit.MISSING_EXTRA: "An optional part is not installed (`missing_extra`).",
    Exit.OUTPUT: "Standard output could not be written (`output`). What was recorded until then stays.",
    Exit.TOOL: "The call was decided on, answered or taken before, or could not be run (`tool…`).",
    Exit.INTERRUPTED: "Interrupted with Ctrl-C. What was recorded until then stays.",
    Exit.BROKEN_PIPE: "Whoever read the output stopped reading.",
}
"""What each code says; in brackets the codes of the errors that it stands for."""

FAMILIES: Mapping[type[CallsheetError], Exit] = {
    InputError: Exit.INPUT,
    StoreError: Exit.STORE,
    NotFound: Exit.NOT_FOUND,
    RecallRefused: Exit.NOT_FOUND,
    AssemblyError: Exit.ASSEMBLY,
    MissingExtra: Exit.MISSING_EXTRA,
    ToolError: Exit.TOOL,
}
"""The exit code of each family of errors; every error is of one."""


def exit_of(error: CallsheetError) -> Exit:
    """The exit code of an error."""
    return next(code for family, code in FAMILIES.items() if isinstance(error, family))
