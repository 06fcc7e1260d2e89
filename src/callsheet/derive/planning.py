"""Finds what a summary tells as a plan, an order or allowed, in English and German, though only a tool asks for it."""

import re
from collections.abc import Iterator

from callsheet.derive.claiming import is_act
from callsheet.derive.verbs import same_acts

_ACTOR = (
    r"(?:the|an?|our|your|this|der|die|das|unser[en]?)\s+(?:\w+\s+)?(?:assistant|agent|model|bot|team|staff|support"
    r"|system|operator|user|customer|client|assistent(?:in)?|agentin|modell|nutzer(?:in)?|kund(?:e|in))|we|i|you|wir|ich|du"
    r"|sie|man|somebody|someone|jemand"
)
_MUST = (
    r"must|shall|should|will|['’]ll|(?:has|have|had|needs?|needed|is|are|ought|plans?|intends?|wants?)\s+to|going\s+to|muss"
    r"|müssen|soll(?:en|te|ten)?|wird|werden"
)
_MUST_BE = re.compile(
    r"\b(?:must|shall|should|(?:has|have|needs?|is|are|ought)\s+to)\s+(?:\w+\s+){0,2}?be\s+(?:\w+ly\s+)?(?P<english>\w+)"
    r"|\b(?:muss|müssen|soll(?:en|te|ten)?)\b[^.!?\n]{0,80}?(?P<german>\w+)\s+werden\b"
    r"|\b(?:ist|sind)\b[^.!?\n]{0,80}?\bzu\s+(?P<zu>\w{3,}en)\b",
    re.IGNORECASE,
)
_LED = (
    r"next(?:\s+steps?)?|to[ \-]?dos?|reminder|remember\s+to|(?:als\s+)?nächstes|nächste[rn]?\s+schritte?"
    r"|noch\s+zu\s+tun"
)
_LABEL = (
    rf"(?:{_LED}|(?:open|remaining|outstanding|pending|following|further|immediate|urgent)\s+\w+|action\s+items?|tasks?"
    r"|plan(?:ned)?|instructions?|important|offene[rn]?\s+\w+|offen|zu\s+(?:tun|erledigen)|aufgaben?|auftrag"
    r"|anweisung(?:en)?|geplant|wichtig)(?:\s*\([^()\n]{0,40}\))?"
)
_ORDER = (
    r"please|kindly|bitte|make\s+sure|be\s+sure|do\s+not\s+forget|wire|send|pay|approve|authori[sz]e|delete|remove|cancel"
    r"|submit|install|buy|reimburse|remit|sign|notify|inform|tell|wipe|erase|disable|enable|unlock|deploy|publish|sende?"
    r"|schicke?|überweise?|zahle?|bezahle?|lösche?|storniere?|kündige?|bestelle?|genehmige?|unterschreibe?"
)
_INFINITIVE = re.compile(
    r"\b(?:(?:über|an|ver|zurück)?(?:weisen|senden|schicken|zahlen)|bezahlen|löschen|stornieren|kündigen|bestellen"
    r"|genehmigen|unterschreiben|freigeben|installieren|weiterleiten|erstatten)\W*\Z"
)
"""At the end of a German sentence without another verb: what is to be done."""
_MAY = re.compile(r"\b(?:kann|könn\w*|darf|dürf\w*|möcht\w*|nicht|kein\w*|um)\b", re.IGNORECASE)
_APPROVED = (
    r"approvals?|approved|authori[sz](?:ed|ation)|permission|permitted|consent|signed\s+off|sign-off|go-ahead"
    r"|green\s+light|cleared|sanctioned|freigabe|freigegeben|genehmigung|genehmigt|zustimmung|erlaubnis|erlaubt|bewilligt"
    r"|abgesegnet|grünes\s+licht"
)
_LISTED = r"^[\s\-*•>#\d.)]{0,8}"
_MARK = r"[ \t*_]{0,4}(?:[:：]|\s[–—-]\s)"
_PLANNED = re.compile(
    rf"\b(?:{_ACTOR})\s+(?:(?:now|also|still|then|nun|jetzt|noch)\s+)?(?:{_MUST})\b"
    rf"|{_LISTED}(?:{_LABEL}{_MARK}|(?:{_LED})\s+(?=\w)|(?:{_ORDER})\b)",
    re.IGNORECASE,
)
_GRANTED = re.compile(rf"(?<!was )(?<!were )(?<!been )\b(?:{_APPROVED})\b(?!\s+w[uo]rden?)", re.IGNORECASE)
"""Of what is said to have been approved, see `claiming`."""
_STEM = 5
"""Letters that the forms of a word of approval have in common."""
_SOURCE = re.compile(
    r"\b(?:says?|said|asks?|asked|asking|states?|stated|claims?|demands?|instructs?|tells?|reads|requests?|requires?|wants?"
    r"|calls?\s+for|suggests?|recommends?|mentions?|names?|according\s+to|(?:by|per|in)\s+(?:an?|the|its|one)\s+\w+"
    r"|from\s+(?:an?|the)\s+\w+|laut|gemäß|zufolge|nach\s+(?:eine[rm]|de[rm])\s+\w+|sagt|fordert|verlangt|bittet|nennt"
    r"|schreibt|heißt\s+es|steht|besagt|behauptet|empfiehlt)\b",
    re.IGNORECASE,
)
"""Before a plan: whoever wrote that is named, and no person; a person is judged apart."""


_WORD = r"[A-ZÄÖÜ][^\W\d_]+(?:-[^\W\d_]+)?"
_LABELLED = re.compile(
    rf"{_LISTED}(?:[^\W\d_]+\s+)?(?:(?:from|by|of|von)\s+)?(?P<name>{_WORD}(?:\s+{_WORD}){{0,2}})"
    rf"(?:['’]?s\s+\w+)?(?:\s*\([^()\n]{{0,40}}\))?{_MARK}"
)
"""Words with capitals before a colon or dash."""
_DETERMINED = re.compile(
    r"\b(?:the|an?|this|that|my|your|our|his|her|its|their|no|any|each|every|der|die|das|den|dem|des|dies\w*|jede[nmrs]?"
    r"|(?:[mdsk]?ein|unser|euer|eur|ihr)(?:e[nmrs]?)?|zu[mr]|[ia]m|vom|beim|ans|ins|alle[nmrs]?|neue[nmrs]?)\s+\Z",
    re.IGNORECASE,
)
_NOUN = re.compile(r"(?:ung|heit|keit|schaft|tion|tät|nis|ment|chen|ungen|datum|nummer|zeit)\Z")
_BEFORE = 24


def planned(sentence: str, vouched: str, tools: str) -> Iterator[int]:
    """Where a sentence says of itself that something is to be done, or may be, or puts a name before it.

    Positions behind the words that say so. `vouched` is what people and models said, `tools` what results hold, which
    may tell of an approval themselves. What the sentence puts down to a source is none.
    """
    if (found := _LABELLED.match(sentence)) is not None and _is_name(found["name"], vouched):
        yield found.end()
    places = [found.end() for found in _PLANNED.finditer(sentence)]
    places += [found.end() for found in _MUST_BE.finditer(sentence) if _acts(found)]
    if (found := _INFINITIVE.search(sentence)) is not None and _MAY.search(sentence) is None:
        places.append(found.start())
    folded = tools.casefold()
    granted = _GRANTED.finditer(sentence)
    places += [found.end() for found in granted if found[0][:_STEM].casefold() not in folded]
    yield from (place for place in places if _SOURCE.search(sentence, 0, place) is None)


def _acts(found: re.Match[str]) -> bool:
    """Whether it is one of the acts that matter that is to be done."""
    infinitive = found["zu"]
    return bool(same_acts(infinitive.casefold()[:-2])) if infinitive else is_act(found["english"] or found["german"])


def _is_name(words: str, vouched: str) -> bool:
    """Whether people speak of somebody by these words: always with a capital, never with what stands before nouns."""
    return all(_names(word, vouched) for word in words.split())


def _names(word: str, vouched: str) -> bool:
    if _NOUN.search(word) is not None:
        return False
    places = [found.start() for found in re.finditer(rf"\b{re.escape(word)}\b", vouched)]
    return (
        bool(places)
        and re.search(rf"\b{re.escape(word.casefold())}\b", vouched) is None
        and not any(_DETERMINED.search(vouched[max(0, place - _BEFORE) : place]) for place in places)
        and any(vouched[:place].rstrip()[-1:] not in ("", ".", "!", "?", ":", "\n") for place in places)
    )
