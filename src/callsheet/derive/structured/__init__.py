"""Structured content: JSON, JSON Lines and tables read exactly, shown densely, divided by item and row."""

from callsheet.derive.structured.decoding import decode
from callsheet.derive.structured.json_document import JsonDocument, crowded_kind, read_json, read_json_lines
from callsheet.derive.structured.shared_cells import decode_table
from callsheet.derive.structured.table_document import TableDocument, read_table

__all__ = [
    "JsonDocument",
    "TableDocument",
    "crowded_kind",
    "decode",
    "decode_table",
    "read_json",
    "read_json_lines",
    "read_table",
]
