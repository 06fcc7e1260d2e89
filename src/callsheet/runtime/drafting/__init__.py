"""From blocks to drafts of records. Large content is put into the blob store on the way, before any record names it."""

from dataclasses import dataclass

from callsheet.runtime.drafting.content import text_bytes
from callsheet.runtime.drafting.drafts import NOBODYS
from callsheet.runtime.drafting.messages import Messages, Shown
from callsheet.runtime.drafting.results import Ran, Release, Results

__all__ = ["NOBODYS", "Drafting", "Ran", "Release", "Shown", "text_bytes"]


@dataclass(kw_only=True, slots=True)
class Drafting(Messages, Results):
    """Collects the drafts of one transaction on one branch."""
