"""Where a result comes from, as its tool's namespace and the shape of its content tell: an account of the user's at
some service, Google's services in particular, a document, a file of the runtime.

Only the namespace of a tool counts (``gmail.search``, ``mcp__gmail__search``, ``gmail_search``), never what it does.
"""

import re

from callsheet.graph.enums import Privacy

_GOOGLE_SPACES = frozenset(
    ("gmail", "gdrive", "gcal", "gdocs", "gsheets", "googledrive", "googlecalendar", "googledocs", "googlesheets")
)
_GOOGLE_SERVICES = frozenset(
    ("drive", "calendar", "docs", "sheets", "slides", "contacts", "people", "tasks", "photos", "keep", "mail", "gmail")
)
_ACCOUNTS = frozenset(
    (
        *("slack", "notion", "outlook", "onedrive", "sharepoint", "msteams", "msgraph", "dropbox", "hubspot"),
        *("salesforce", "asana", "trello", "airtable", "evernote", "quickbooks", "icloud", "confluence", "jira"),
        "zendesk",
    )
)
_NAMESPACE = re.compile(r"__|[./:]")
_WORD = re.compile(r"[_\-]")

_SAMPLE = 65_536
"""Characters at the beginning of a result that show its shape."""


class _Shape:
    """A pattern that is looked for only where one of the marks stands that it has: finding those takes far less."""

    def __init__(self, marks: tuple[str, ...], pattern: str) -> None:
        self._marks = marks
        self._pattern = re.compile(pattern)

    def shows(self, text: str) -> bool:
        return any(mark in text for mark in self._marks) and self._pattern.search(text) is not None


_GOOGLE = _Shape(
    (
        *("gmail#", "drive#", "calendar#", "people#", "tasks#", "docs#", "sheets#", "plus#", "photos#"),
        *("google.com/", "application/vnd.google-apps.", "people/c"),
    ),
    r"[\"']kind[\"']\s{0,4}:\s{0,4}[\"'](?:gmail|drive|calendar|people|tasks|docs|sheets|plus|photos)#[A-Za-z]"
    r"|[\"']spreadsheetUrl[\"']\s{0,4}:\s{0,4}[\"']https://docs\.google\.com/"
    r"|[\"']webViewLink[\"']\s{0,4}:\s{0,4}[\"']https://(?:docs|drive)\.google\.com/"
    r"|[\"']mimeType[\"']\s{0,4}:\s{0,4}[\"']application/vnd\.google-apps\."
    r"|[\"']resourceName[\"']\s{0,4}:\s{0,4}[\"']people/c\d",
)
_GMAIL_KEYS = ('"threadId"', '"labelIds"', '"snippet"')
_ACCOUNT = _Shape(
    ("graph.microsoft.com/", "www.notion.so/", ".slack.com/archives/"),
    r"[\"']@odata\.context[\"']\s{0,4}:\s{0,4}[\"']https://graph\.microsoft\.com/"
    r"|[\"']url[\"']\s{0,4}:\s{0,4}[\"']https://www\.notion\.so/"
    r"|[\"']permalink[\"']\s{0,4}:\s{0,4}[\"']https://[a-z0-9\-]{1,63}\.slack\.com/archives/",
)
_FILE = _Shape(
    ("/mnt/", "file-"), r"sandbox:/mnt/|(?<![\w/])/mnt/data/|(?<![A-Za-z0-9\-])file-[A-Za-z0-9]{22,32}(?![\w\-])"
)
_DOCUMENTS = ("application/pdf", "application/msword", "application/vnd.openxmlformats", "application/vnd.oasis")


def origin(tool: str, text: str, *, arguments: str = "", mime: str = "") -> Privacy | None:
    """The class of what comes from there; None: nothing tells where it comes from."""
    named = _by_name(tool)
    head = text[:_SAMPLE]
    if named is Privacy.GOOGLE_DERIVED or _GOOGLE.shows(head) or all(key in head for key in _GMAIL_KEYS):
        return Privacy.GOOGLE_DERIVED
    if named is not None or _ACCOUNT.shows(head):
        return Privacy.CONNECTED_ACCOUNT
    if mime.startswith(_DOCUMENTS) or head.startswith("%PDF-"):
        return Privacy.DOCUMENT
    if _FILE.shows(arguments[:_SAMPLE]) or _FILE.shows(head):
        return Privacy.RUNTIME_FILE
    return None


def _by_name(tool: str) -> Privacy | None:
    spaces = _NAMESPACE.split(tool.casefold())
    words = [_WORD.split(space) for space in spaces]
    # The last part is the tool itself: of that its first word is a namespace where more words follow.
    for parts in words if len(words[-1]) > 1 else words[:-1]:
        first, second = parts[0], parts[1] if len(parts) > 1 else ""
        if first in _GOOGLE_SPACES or (first == "google" and second in _GOOGLE_SERVICES):
            return Privacy.GOOGLE_DERIVED
        if first in _ACCOUNTS:
            return Privacy.CONNECTED_ACCOUNT
    return None
