"""Finds what a summary tells as done, in any form, while its material at most speaks of doing it.

English and German, and of acts that matter alone (see `verbs`): paying, cancelling, sending. Decided is only what
words can: whether the verb, or another that says the same, stands anywhere in the material as something that happened.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from callsheet.derive.terms import Language, language_of
from callsheet.derive.verbs import ENGLISH_FORMS, NOUNS, PRETERITES, same_acts

_CLAUSE = re.compile(
    r"(?<=[.!?;\n])\s+|,\s|\s[–—-]\s|\b(?:but|while|whereas|aber|doch|sondern|während)\b", re.IGNORECASE
)
_OPEN = re.compile(
    r"\?\s*\Z|\b(?:if|unless|whether|until|before|once|when|as soon as|in case|wenn|falls|sofern|ob|bis|bevor|sobald"
    r"|solange|damit)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|no|cannot|none|nobody|nothing|without|neither|nor|\w+n['’]t|unable|failed|pending|nicht\w*|nie"
    r"|niemals|kein\w*|ohne|weder|niemand)\b",
    re.IGNORECASE,
)
_TO_BE = {
    # What stands behind one of these is wanted, allowed or to come.
    Language.ENGLISH: re.compile(
        r"(?:\b(?:to|will|would|shall|should|must|may|might|can|could)|['’]ll)\s+(?:\w+\s+){0,2}?be\b"
        r"|\b(?:want|need|wish|prefer|expect|like|ask|request|please)\w*\b|\bthat\b[^.]{0,60}?\bbe\b",
        re.IGNORECASE,
    ),
    # The verb stands at the end: of a clause with one of these nothing has happened.
    Language.GERMAN: re.compile(
        r"\b(?:soll\w*|muss|müsse\w*|musst\w*|kann|könn\w*|darf|dürf\w*|will|woll\w*|möcht\w*|wird|werden(?!\s+worden)"
        r"|werde|würde\w*|bitte\w*)\b",
        re.IGNORECASE,
    ),
}
_BEEN = re.compile(r"\bworden\b", re.IGNORECASE)
_UNSET = re.compile(r"[\w\"']{0,12}\s*[:=]\s*[\"']?(?:false|null|none|no|nein|0|-)(?![\w.])", re.IGNORECASE)
"""Behind a field of data: it is not so."""

_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = r"(?:(?:already|now|also|then|since|just|both|all|later|meanwhile|finally|\w+ly)\s+){0,3}"
_PASSIVE = re.compile(
    rf"\b(?:(?:was|were|(?:has|have|had)\s+{_BETWEEN}been|got)\s+{_BETWEEN}|already\s+|(?:is|are)\s+now\s+)"
    r"(?P<verb>[a-z]+)(?:\s+(?:and|or)\s+(?P<other>[a-z]+ed)\b)?",
    re.IGNORECASE,
)
_ACTIVE = re.compile(
    rf"(?:\b(?:has|have|had)|\w['’](?:ve|s|d))\s+{_BETWEEN}(?P<perfect>[a-z]+)\b(?!\s+to\b)"
    rf"|\b(?:we|i|they|he|she|it|(?:the|our|an?|your)\s+[a-z]+|[A-Z][a-z]+)\s+{_BETWEEN}(?P<past>[a-z]+)\s+"
    r"(?:the|an?|it|them|this|these|that|all|both|him|her|you|my|his|their|our|your|orders?|[A-Z\d][\w\-]*)",
)
_ACTS = "|".join(sorted(NOUNS))
_DONE = re.compile(
    rf"\b(?P<act>{_ACTS})\b[^.!?;\n]{{0,60}}?\b(?:complete|completed|done|issued|processed"
    r"|successful(?:ly)?|executed|made|finished|(?:carried|sent)\s+out|gone\s+through|went\s+through)\b"
    rf"|\b(?:completed|issued|processed|done|made):?\s+(?:the\s+|an?\s+)?(?P<behind>{_ACTS})\b",
    re.IGNORECASE,
)
_ERFOLGT = re.compile(
    rf"\b(?P<act>{_ACTS})\b[^.!?;\n]{{0,60}}?\b(?:erfolgt|durchgeführt|veranlasst|ausgeführt|erledigt|verbucht"
    r"|abgeschlossen|vollzogen|vorgenommen|getätigt|fertig|raus)\b",
    re.IGNORECASE,
)
_HABEN = re.compile(r"\b(?:habe|haben|hat|hatten?)\b([^.!?;\n]*)")
_TAT = re.compile(r"\b(?:wir|ich|er|sie|es|man|[A-ZÄÖÜ][a-zäöüß]+)\s+(?:\w+\s+){0,1}?(?P<verb>[a-zäöüß]+te?n?)\b")
_WURDE = re.compile(r"\bwurden?\b([^.!?;\n]*)", re.IGNORECASE)
_BEFORE = re.compile(r"(\w+)\s+(?:worden|wurden?)\b|\b(?:bereits|schon|inzwischen|mittlerweile)\s+(\w+)", re.IGNORECASE)
_LAST = re.compile(r"(\w+)(?=\W*(?:\Z|und\b|oder\b|worden\b))")
_PARTIZIP = re.compile(
    r"\w{0,9}ge\w{2,}(?:t|en)\Z|(?:be|ver|er|ent|emp|zer|über|unter|wider)\w{2,}(?:t|en)\Z|\w{2,}iert\Z"
)
_AFTERWARDS = re.compile(
    r"\A\W*(?:all\s+|ist\s+|alles\s+)?(?:done|completed?|finished|ok(?:ay)?|success\w*|erledigt|fertig|gemacht|geschehen)\b",
    re.IGNORECASE,
)
"""An answer to what was asked for."""

_CARRIED_OUT = re.compile(
    r"\b(?:issued|processed|completed|done|successful\w*|executed|made|carried\s+out|booked|received|erfolgt|durchgeführt"
    r"|veranlasst|ausgeführt|erledigt|verbucht|eingegangen|abgeschlossen)\b",
    re.IGNORECASE,
)
"""Of an act that is named by a noun."""

_ENDINGS = {
    Language.ENGLISH: ("", "e", "s", "es", "ing", "al", "ation", "ment", "ance", "lation"),
    Language.GERMAN: ("", "en", "n", "e", "t", "et", "ung", "ungen", "st"),
}
_LEAST = 3


class Said(NamedTuple):
    """One message or result of the material."""

    text: str
    #: The tool whose result it is; empty: none.
    tool: str = ""


def claims_done(summary: str, material: Sequence[Said]) -> bool:
    """Whether a summary tells something as done of which its material only says that it is to be, may be, or is not.

    Of a summary in another language than its material that is not known.
    """
    language = language_of("\n".join(one.text for one in material))
    if language_of(summary) is not language:
        return False
    verbs = list(dict.fromkeys(_claimed(summary, language)))
    return any(not _supported(verb, material, language) for verb in verbs)


def tells_of_act(text: str, language: Language) -> bool:
    """Whether a text says that something was done that matters: paid, cancelled, sent."""
    return any(map(same_acts, _claimed(text, language)))


def _claimed(summary: str, language: Language) -> Iterator[str]:
    """The stems of what a text says was done."""
    for clause in _clauses(summary):
        if _OPEN.search(clause) or _DENIED.search(clause):
            continue
        if language is Language.ENGLISH:
            for found in _PASSIVE.finditer(clause):
                yield from filter(None, (_done_in_english(word or "") for word in found.group("verb", "other")))
            for found in _ACTIVE.finditer(clause):
                yield from filter(None, (_done_in_english(word or "") for word in found.group("perfect", "past")))
            if not _TO_BE[language].search(clause):
                acts = (found["act"] or found["behind"] for found in _DONE.finditer(clause))
                yield from (NOUNS[act.casefold()] for act in acts)
        elif not _TO_BE[language].search(clause) or _BEEN.search(clause):
            words = [word for found in _WURDE.finditer(clause) for word in _LAST.findall(found[1])]
            words += [word for found in _BEFORE.findall(clause) for word in found if word]
            words += [word for found in _HABEN.finditer(clause) for word in _LAST.findall(found[1])]
            yield from filter(None, map(_done_in_german, words))
            yield from filter(None, (_did_in_german(found["verb"]) for found in _TAT.finditer(clause)))
            yield from (NOUNS[found["act"].casefold()] for found in _ERFOLGT.finditer(clause))


def _clauses(text: str) -> Iterator[str]:
    return (clause for clause in _CLAUSE.split(text) if clause.strip())


def _supported(verb: str, material: Sequence[Said], language: Language) -> bool:
    """Whether something of the material says that it happened, or it is no act that matters."""
    same = same_acts(verb)
    if not same:
        return True
    named = False
    for said in material:
        if said.tool and not _DENIED.search(said.text) and _begins_with(said.tool, same, language):
            return True
        if named and not said.tool and _AFTERWARDS.match(said.text):
            return True
        for clause in _clauses(said.text):
            if _happened(clause, same, language):
                return True
            named = named or _names(clause, same, language)
    return False


def _happened(clause: str, verbs: frozenset[str], language: Language) -> bool:
    """Whether a clause says that one of these was done."""
    if _OPEN.search(clause) or _DENIED.search(clause):
        return False
    to_be = _TO_BE[language].search(clause)
    if to_be is not None and language is Language.GERMAN and not _BEEN.search(clause):
        return False
    done = _done_in_english if language is Language.ENGLISH else _done_in_german
    # In English what stands before it has happened all the same; in German the verb stands at the end.
    end = to_be.start() if to_be is not None and language is Language.ENGLISH else len(clause)
    words = _WORD.finditer(clause, 0, end)
    if any(done(found[0]) in verbs and not _UNSET.match(clause, found.end()) for found in words):
        return True
    return to_be is None and _CARRIED_OUT.search(clause) is not None and _names(clause, verbs, language)


def _names(text: str, verbs: frozenset[str], language: Language) -> bool:
    """Whether a text speaks of one of these in any form."""
    words = {found[0].casefold() for found in _WORD.finditer(text)}
    return any(_stem(word, verb, language) for verb in verbs for word in words if word[:_LEAST] == verb[:_LEAST])


def _begins_with(tool: str, verbs: frozenset[str], language: Language) -> bool:
    """Whether a tool is called by what it does."""
    first = _WORD.search(tool.casefold())
    return first is not None and any(_stem(first[0], verb, language) for verb in verbs)


def _stem(word: str, verb: str, language: Language) -> bool:
    if not word.startswith(verb):
        return False
    rest = word[len(verb) :]
    # English doubles the last letter: planning, cancelled.
    return rest in _ENDINGS[language] or (rest[:1] == verb[-1:] and rest[1:] in ("ing", "er", "ation"))


def _done_in_english(word: str) -> str | None:
    """The stem of a verb by its past form; None: it is none."""
    folded = word.casefold()
    if folded in ENGLISH_FORMS:
        return ENGLISH_FORMS[folded]
    if not folded.endswith("ed") or len(folded) < _LEAST + 2:
        return None
    stem = folded[:-2]
    doubled = len(stem) > _LEAST and stem[-1] == stem[-2] and stem[-1] not in "sfzle"
    stem = stem[:-1] if doubled else stem
    return stem[:-1] + "y" if stem.endswith("i") else stem


def _done_in_german(word: str) -> str | None:
    """The stem of a verb by its participle; None: it is none, such as a noun or an adjective before one."""
    if word[:1].isupper() or not _PARTIZIP.match(word):
        return None
    folded = word.casefold()
    if folded in _STRONG:
        return _STRONG[folded]
    bare = re.sub(r"(?<=[^aeiouäöü])(?:et|en)\Z|(?:t|en)\Z", "", folded)
    for before in _APART:
        if bare.startswith(f"{before}ge"):
            return before + bare[len(before) + 2 :]
    return bare.removeprefix("ge") if bare not in _WITH_GE else bare


def _did_in_german(word: str) -> str | None:
    """The stem of an act that matters by its preterite; None: it is none."""
    if word in PRETERITES:
        return PRETERITES[word]
    stem = re.sub(r"e?te[nt]?\Z", "", word)
    return stem if stem != word and same_acts(stem) else None


def is_act(word: str) -> bool:
    """Whether a participle is that of an act that matters, in English or German."""
    return any(stem is not None and same_acts(stem) for stem in (_done_in_english(word), _done_in_german(word)))


_APART_WORDS = """
zurück weiter heraus hinaus herunter hinzu ein aus auf ab an zu vor nach mit bei los um weg her hin frei fest statt
"""
_APART = tuple(_APART_WORDS.split())
_WITH_GE = frozenset({"genehmig", "gewähr", "gestatt"})
"""Stems that begin with ge."""

_STRONG = {
    "geschlossen": "schließ",
    "abgeschlossen": "abschließ",
    "verschlossen": "verschließ",
    "überwiesen": "überweis",
    "zurücküberwiesen": "zurücküberweis",
    "beglichen": "begleich",
    "ausgeglichen": "ausgleich",
    "gutgeschrieben": "gutschreib",
    "unterschrieben": "unterschreib",
    "freigegeben": "freigeb",
    "widerrufen": "widerruf",
    "gesandt": "send",
    "versandt": "versend",
    "abgesandt": "absend",
    "übersandt": "übersend",
    "behoben": "beheb",
}
