"""Finds what a summary puts into a person's mouth, in the languages that summaries are most often written in."""

import re
from collections.abc import Iterable, Iterator

from callsheet.derive.planning import planned
from callsheet.derive.terms import language_of, terms

_PERSON = (
    "user|customer|client|caller|they|he|she|nutzer(?:in)?|benutzer(?:in)?|kund(?:en?|in)|anwender(?:in)?"
    "|auftraggeber(?:in)?|utilisateur|utilisatrice|clients?|cliente?|usuari[oa]s?|utente|utilizador|gebruiker|klant"
    "|użytkownik|klient|användaren?|brugeren|kullanıcı|müşteri|пользовател[ья]|клиент"
)
_PERSON_UNSPACED = "用户|使用者|客户|顧客|客戶|用戶|ユーザー|お客様|利用者|사용자|고객"
_WANTS = (
    r"want(?:s|ed)?|ask(?:s|ed)?|prefer(?:s|red)?|request(?:s|ed)?|said|says|told|wish(?:es|ed)?|insist(?:s|ed)?"
    r"|requires?d?|instruct(?:s|ed)?|demand(?:s|ed)?|need(?:s|ed)?|will|möchte|wollte|wünscht\w*|bittet|bat|verlangt\w*"
    r"|sagte?n?|bevorzugt|fordert\w*|besteht|veut|voulait|demande|souhaite|exige|préfère|dit|quiere|pide|pidió|solicita"
    r"|dice|dijo|prefiere|desea|vuole|chiede|ha chiesto|desidera|preferisce|quer|pediu|pede|deseja|disse|wil|vraagt"
    r"|vroeg|wenst|eist|zegt|chce|prosi|poprosił\w*|żąda|mówi|vill|ber|önskar|bad|ønsker|vil|beder|istiyor|istedi"
    r"|agree[sd]?|approve[sd]?|authori[sz]e[sd]?|confirm(?:s|ed)?|accept(?:s|ed)?|allow(?:s|ed)?|stimmte?n?|zugestimmt"
    r"|genehmigt\w*|bestätigt\w*|erlaubt\w*|einverstanden"
    r"|söyledi|rica|хочет|просит|попросил\w*|требует|сказал\w*"
)
_WANTS_UNSPACED = "要求|希望|想|要|说|說|请求|請求|要望|依頼|求め|頼|述べ|원하|원함|요청|요구|말했"
_DECIDED = (
    r"decided|decision|agreed|agreement|settled\s+on|beschl(?:ossen|oss|üsse|uss)\w*|vereinbar\w*|entschieden|entschied"
    r"|entscheidung|abgemacht|abgesprochen|décidé\w*|convenue?s?|decidido|decidió|decidiu|acordad[oa]|acordó|combinado"
    r"|deciso|concordato|stabilito|besloten|afgesproken|overeengekomen|zdecydowano|uzgodniono|postanowiono|beslutat\w*"
    r"|överenskom\w*|besluttet|aftalt|avtalt|kararlaştırıldı|решено|решили|договорились"
)
_DECIDED_UNSPACED = "决定|決定|約定|约定|商定|合意|결정|합의"
_BEEN = r"(?:was|were|is|are|been|being|as|wurden?|worden|wird|werden|wie)"
_ASKED_FOR = (
    r"asked(?:\s+for)?|requested|instructed|demanded|wanted|wished|desired|authori[sz]ed|gewünscht|verlangt|gefordert"
    r"|angewiesen|gebeten|beauftragt"
)
_NOBODYS = re.compile(
    rf"\b(?:{_DECIDED})\b|\b{_BEEN}\s+(?:\w+\s+){{0,2}}?(?:{_ASKED_FOR})\b"
    rf"|\b(?:{_ASKED_FOR})\s+(?:wurden?|worden|wird)\b|{_DECIDED_UNSPACED}",
    re.IGNORECASE,
)
"""What only people do, whoever is said to have done it, or nobody: tools decide nothing and agree to nothing."""
_WISH = r"requests?|wish(?:es)?|instructions?|demands?|decisions?|tasks?|wunsch|bitte|anweisung|auftrag|anliegen"
_SPACED = re.compile(rf"\b(?:{_PERSON})\b[^.!?\n]{{0,40}}?\b(?:{_WANTS})\b", re.IGNORECASE)
_UNSPACED = re.compile(rf"(?:{_PERSON_UNSPACED})(?P<said>)[^。！？\n]{{0,20}}?(?:{_WANTS_UNSPACED})")
_SPOKEN = re.compile(
    rf"^[\s\-*•>#]{{0,8}}(?:{_PERSON}|{_PERSON_UNSPACED})(?:['’]?s?\s+(?:{_WISH}))?[ \t*_]{{0,4}}(?:[:：]|\s[–—-]\s)",
    re.IGNORECASE | re.MULTILINE,
)
_PATTERNS = (_SPACED, _UNSPACED, _SPOKEN)
_BEHIND = re.compile(
    rf"[,\"“”»]\s*(?:said|says|asked|wrote|sagte?|bat|schrieb|dit|dice|dijo|disse)\s+(?:\w+\s+)?(?:{_PERSON})\b",
    re.IGNORECASE,
)
"""Behind what was said."""
_CLAUSE = re.compile(r"[!?;,。！？；，、\n]|\s[–—]\s")


def attributed(sentence: str) -> bool:
    """Whether a sentence tells what a person said or wants, or what was decided."""
    return any(pattern.search(sentence) for pattern in (*_PATTERNS, _BEHIND, _NOBODYS))


def put_in_mouth(sentences: Iterable[str], vouched: str, tools: str) -> bool:
    """Whether a sentence lets a person say what most of its words are only of tools for.

    So do those that tell it as a plan, an order or approved, or by a name. `vouched` is what people and models said,
    `tools` what results hold.
    """
    language = language_of(f"{vouched}\n{tools}")
    known, found = frozenset(terms(vouched, language)), frozenset(terms(tools, language))
    for sentence in sentences:
        around = (_around(sentence, place, place) for place in planned(sentence, vouched, tools))
        for said in (*_what_is_said(sentence), *around):
            words = frozenset(terms(said, language) or terms(sentence, language))
            if len(words & found - known) > len(words & known):
                return True
    return False


def _what_is_said(sentence: str) -> Iterator[str]:
    for pattern in _PATTERNS:
        for match in pattern.finditer(sentence):
            end = _CLAUSE.search(sentence, match.end())
            # In some languages what is wanted stands before the verb.
            begin = match.start("said") if pattern is _UNSPACED else match.end()
            yield sentence[begin : end.start() if end is not None else len(sentence)]
    for match in _BEHIND.finditer(sentence):
        yield sentence[: match.start()]
    for match in _NOBODYS.finditer(sentence):
        # What was decided stands before or behind.
        yield _around(sentence, match.start(), match.end())


def _around(sentence: str, start: int, end: int) -> str:
    """The clause that these words stand in, without them."""
    begin = max((found.end() for found in _CLAUSE.finditer(sentence, 0, start)), default=0)
    stop = _CLAUSE.search(sentence, end)
    return f"{sentence[begin:start]} {sentence[end : stop.start() if stop is not None else len(sentence)]}"
