"""Looking up what was asked through the proxy, in the list beside its store."""

from callsheet.serve.proxy.credentials import folder_of
from callsheet.serve.proxy.journal import FILE, Journal


def sheet_of(database: str, request: str, *, tenant: str) -> str | None:
    """The sheet of a request, by the id that its answer and the log carry.

    Empty: none was made, as for what is passed through. None: there was no such request of this tenant, or no proxy.
    """
    folder = folder_of(database)
    if folder is None or not (folder / FILE).exists():
        return None
    journal = Journal(folder)
    try:
        return journal.sheet_of(request, tenant)
    finally:
        journal.close()
