"""Whether a person asks for something earlier to the letter, in English or German."""

import re

_WHAT = (
    "bytes|contents?|csv|data|figures|file|json|lines?|list|logs?|numbers|output|response|results?|rows?|table|text|"
    "values|wording|words"
)
_WAS = "antwort|ausgabe|datei|daten|ergebnis|inhalt|liste|protokoll|tabelle|text|werte|wortlaut|zahlen|zeilen"
_WORDS = (
    rf"(?:exact|raw|original|complete|full|unshortened|unabridged) (?:{_WHAT})|verbatim|word[ -]for[ -]word|"
    rf"byte[ -]for[ -]byte|to the letter|"
    rf"(?:exakte|genaue|originale|vollständige|ungekürzte|unveränderte)[rnms]? (?:{_WAS})|wortwörtlich\w*|"
    rf"wörtlich\w*|buchstabengetreu\w*|ungekürzt|rohdaten|im (?:original|wortlaut)"
)
_ASKS = re.compile(rf"(?<!\w)(?:{_WORDS})(?!\w)", re.IGNORECASE)

LONGEST = 4_000
"""Characters of a turn that are looked at: who pastes a document asks for nothing by its words."""


def asks_for_exact(text: str) -> bool:
    """Whether these words of a user ask for exact content rather than for what it says."""
    return len(text) <= LONGEST and _ASKS.search(text) is not None
