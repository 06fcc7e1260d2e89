"""Whether a person asks for something earlier to the letter, in English or German."""

import re

_WORDS = (
    r"exact(?:ly)?|verbatim|word[ -]for[ -]word|to the letter|literal(?:ly)?|byte[ -]for[ -]byte|unabridged|unshortened|"
    r"in full|full (?:text|output|result|content|file|log|table|list)|complete (?:text|output|result|content|file|log|"
    r"table|list)|raw (?:text|output|result|content|file|data|log|table)|original (?:text|output|result|content|file|"
    r"data|log|table|wording)|"
    r"exakt\w*|wörtlich\w*|wortwörtlich\w*|wortlaut|buchstäblich\w*|buchstabengetreu\w*|ungekürzt\w*|unverkürzt\w*|"
    r"rohdaten|im original|originaltext\w*|vollständige[rnms]? (?:text|ausgabe|ergebnis|inhalt|datei|protokoll|tabelle|"
    r"liste)|genaue[rnms]? (?:text|ausgabe|ergebnis|inhalt|wortlaut|zahlen|werte?)"
)
_ASKS = re.compile(rf"(?<!\w)(?:{_WORDS})(?!\w)", re.IGNORECASE)

LONGEST = 4_000
"""Characters of a turn that are looked at: who pastes a document asks for nothing by its words."""


def asks_for_exact(text: str) -> bool:
    """Whether these words of a user ask for exact content rather than for what it says."""
    return len(text) <= LONGEST and _ASKS.search(text) is not None
