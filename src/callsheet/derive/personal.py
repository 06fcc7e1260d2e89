"""What reaches or names a person: e-mail addresses, telephone numbers in international form, payment cards, IBANs and
national numbers, each with its check where it has one, and what is labelled as a birth date, passport or address.

Addresses of machines (IP, MAC) count as internal: they seldom name a person, and in logs they stand in every line.
"""

import re
from collections.abc import Sequence

_DOMAIN = re.compile(r"@[A-Za-z0-9\-]{1,63}+\.[A-Za-z]{2}")
_PHONE = re.compile(r"(?<![\w+])\+\d{1,3}[ \-./]?\(?\d{1,5}\)?(?:[ \-./]?\d{2,5}){2,4}(?!\w)")
_LOCAL_PHONE = re.compile(r"\(\d{3}\) ?\d{3}-\d{4}(?!\d)")
# These begin with what they look for, and look back behind it: a search that begins with looking back takes far longer.
_IBAN = re.compile(r"[A-Z](?<![A-Za-z0-9][A-Z])[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_CARD = re.compile(
    r"[2-6](?<![\w.\-][2-6])\d{3}(?:\d{8,15}|(?: \d{4}){2}(?: \d{1,7})?|(?:-\d{4}){3}| \d{6} \d{5})(?![\w.\-])"
)
_LABEL = re.compile(
    r"[bdghmps](?<![A-Za-z][bdghmps])(?:(?<=d)ob|(?<=d)ate[ _\-]?of[ _\-]?birth|(?<=b)irth[ _\-]?(?:date|day)"
    r"|(?<=g)eburts(?:datum|tag)|(?<=s)sn|(?<=s)ocial[ _\-]?security(?:[ _\-]?n(?:umber|o))?"
    r"|(?<=p)assport[ _\-]?(?:number|no|id)"
    r"|(?:(?<=h)ome|(?<=p)hone|(?<=m)obile)[ _\-]?(?:number|address|phone))[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?\w"
)
_LABEL_MARKS = ("dob", "birth", "geburts", "ssn", "security", "passport", "home", "phone", "mobile")
_CODICE = re.compile(r"[A-Z](?<![A-Z0-9][A-Z])[A-Z]{5}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?![A-Z0-9])")
_DNI = re.compile(r"(?<![A-Za-z0-9])(?:dni|nif|nie)[ .:º\-]{1,3}([XYZxyz]?\d{7,8})-?([A-Za-z])(?![A-Za-z0-9])", re.I)
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"

_AT_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
"""What a letter at an odd place of a tax code counts, A first; a digit counts as the letter of its number."""


def is_personal(text: str, lowered: str) -> bool:
    """Whether a text holds what reaches or names a person. `lowered` is the same text in lower case."""
    if _holds_email(text) or _at_marks(text, "+", _PHONE):
        return True
    if "(" in text and _LOCAL_PHONE.search(text):
        return True
    if _holds(lowered, _LABEL_MARKS) and _LABEL.search(lowered):
        return True
    if any(is_iban(match[0]) for match in _IBAN.finditer(text)):
        return True
    if any(is_card(match[0]) for match in _CARD.finditer(text)):
        return True
    return any(map(is_codice, _codice(text, lowered))) or any(is_dni(*found) for found in _dni(text, lowered))


def _holds_email(text: str) -> bool:
    at = text.find("@")
    while at >= 0:
        before = text[at - 1] if at else " "
        if (before.isalnum() or before in "_%+-") and _DOMAIN.match(text, at):
            return True
        at = text.find("@", at + 1)
    return False


def _at_marks(text: str, mark: str, pattern: re.Pattern[str]) -> bool:
    at = text.find(mark)
    while at >= 0:
        if pattern.match(text, at):
            return True
        at = text.find(mark, at + 1)
    return False


def _codice(text: str, lowered: str) -> Sequence[str]:
    return _CODICE.findall(text) if _holds(lowered, ("fiscal", "codice")) else ()


def _dni(text: str, lowered: str) -> Sequence[tuple[str, str]]:
    return _DNI.findall(text) if _holds(lowered, ("dni", "nif", "nie")) else ()


def _holds(text: str, marks: Sequence[str]) -> bool:
    return any(mark in text for mark in marks)


def is_iban(value: str) -> bool:
    """The check of ISO 13616: the number moved and read in digits leaves 1 when it is divided by 97."""
    value = value.replace(" ", "")
    if not 15 <= len(value) <= 34:
        return False
    digits = "".join(str(int(c, 36)) for c in value[4:] + value[:4])
    return int(digits) % 97 == 1


def is_card(value: str) -> bool:
    """Luhn's check, as on payment cards; numbers of one repeated digit are examples."""
    digits = [int(c) for c in value if c.isdigit()]
    if not 12 < len(digits) < 20 or len(set(digits)) < 2:
        return False
    doubled = (sum(divmod(2 * d, 10)) for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_codice(value: str) -> bool:
    """The check letter of the Italian tax code."""
    numbers = (int(c, 36) - 10 * c.isalpha() for c in value[:15])
    total = sum(_AT_ODD[number] if at % 2 == 0 else number for at, number in enumerate(numbers))
    return chr(ord("A") + total % 26) == value[15]


def is_dni(number: str, letter: str) -> bool:
    """The check letter of the Spanish identity number."""
    digits = number.upper().translate(str.maketrans("XYZ", "012"))
    return _DNI_LETTERS[int(digits) % 23] == letter.upper()
