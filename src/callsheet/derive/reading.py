"""What a piece of content is, told by its form alone, and the document that it is read as."""

from dataclasses import replace

from callsheet.derive.document import Document
from callsheet.derive.prose.blobs import whole_blob
from callsheet.derive.prose.diffs import read_diff
from callsheet.derive.prose.fixed import binary, empty
from callsheet.derive.prose.logs import is_levelled, read_log
from callsheet.derive.prose.mixed import read_mixed
from callsheet.derive.prose.pages import is_page, read_page
from callsheet.derive.prose.searches import read_search
from callsheet.derive.prose.source import read_source
from callsheet.derive.prose.texts import read_text
from callsheet.derive.prose.traces import read_trace
from callsheet.derive.structured import crowded_kind, read_json, read_json_lines, read_table
from callsheet.derive.text import readable

_PICTURED = ("image/", "audio/", "video/", "font/")
_PAGES = ("text/html", "application/xhtml+xml")


def read(content: str | bytes, mime: str = "") -> Document:
    """The content as a document of the kind that its form tells. Never raises for what content holds.

    Bytes that are no text, and text that is one run of base64, become a document that shows type and size alone;
    `mime` names the type there, and marks HTML that does not say so itself.
    """
    if isinstance(content, bytes):
        text = None if mime.startswith(_PICTURED) and mime != "image/svg+xml" else readable(content)
        if text is None:
            return binary(mime, len(content))
    else:
        text = content
    if not text or text.isspace():
        return empty(text)
    blob = whole_blob(text)
    if blob is not None:
        return binary(blob.mime or mime, blob.size)
    return _read_structured(text) or _read_written(text, mime)


def _read_structured(text: str) -> Document | None:
    kind = crowded_kind(text)
    if kind is not None:
        return replace(read_text(text), kind=kind)
    return read_json(text) or read_json_lines(text)


def _read_written(text: str, mime: str) -> Document:
    if mime.split(";", maxsplit=1)[0].strip() in _PAGES or is_page(text):
        return read_page(text)
    document: Document | None = read_diff(text) or read_trace(text)
    if document is None and is_levelled(text):
        document = read_log(text)
    if document is None:
        document = read_source(text) or read_table(text) or read_mixed(text, read_json, read_table)
    if document is None:
        document = read_search(text) or read_log(text)
    return document or read_text(text)
