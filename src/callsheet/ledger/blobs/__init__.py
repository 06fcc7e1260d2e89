"""Stores of large payloads: sealed bytes by address, nothing else. What names them is the ledger's business."""

from callsheet.ledger.blobs.folder import FolderBlobs
from callsheet.ledger.blobs.memory import MemoryBlobs
from callsheet.ledger.blobs.store import BlobStore

__all__ = ["BlobStore", "FolderBlobs", "MemoryBlobs"]
