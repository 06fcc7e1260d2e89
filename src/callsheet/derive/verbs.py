"""Verbs in English and German that tell of the same act, and the past forms of those that follow no rule."""

from collections.abc import Mapping

ENGLISH_FORMS: Mapping[str, str] = {
    "paid": "pay",
    "repaid": "repay",
    "sent": "send",
    "bought": "buy",
    "shut": "shut",
    "told": "tell",
}
"""The verb of each past form."""

PRETERITES: Mapping[str, str] = {
    "überwies": "überweis",
    "überwiesen": "überweis",
    "beglich": "begleich",
    "beglichen": "begleich",
    "schloss": "schließ",
    "schlossen": "schließ",
    "sandte": "send",
    "sandten": "send",
    "widerrief": "widerruf",
    "unterschrieb": "unterschreib",
    "unterschrieben": "unterschreib",
}
"""Of German verbs that follow no rule the stem of each past form."""

_NOUNS = """
refund refund, reimbursement reimburs, repayment repay, payment pay, transfer transfer, remittance remit
cancellation cancel, revocation revok, approval approv, authorisation authoris, authorization authoriz
booking book, reservation reserv, deletion delet, removal remov, purchase purchas, delivery deliver, shipment ship
dispatch dispatch, renewal renew, extension extend, replacement replac, activation activat, deactivation deactivat
installation install, upgrade upgrad, update updat, merge merg, deployment deploy, notification notify, repair repair
erstattung erstatt, rückerstattung erstatt, zahlung zahl, bezahlung bezahl, auszahlung auszahl, rückzahlung zurückzahl
überweisung überweis, gutschrift gutschreib, stornierung stornier, kündigung kündig, widerruf widerruf
genehmigung genehmig, freigabe freigeb, buchung buch, reservierung reservier, löschung lösch, lieferung liefer
zustellung zustell, versand versend, verlängerung verlänger, aktivierung aktivier, deaktivierung deaktivier
sperrung sperr, installation installier, aktualisierung aktualisier, reparatur reparier, umtausch umtausch
benachrichtigung benachrichtig, unterschrift unterschreib
"""
NOUNS: Mapping[str, str] = dict(pair.split() for line in _NOUNS.strip().split("\n") for pair in line.split(", "))
"""The stem of the verb of each noun that names nothing but an act."""

_SAME = """
cancel cancell void revok annul annull rescind stornier kündig abbestell annullier widerruf absag
pay settl transfer remit wir refund reimburs repay credit bezahl zahl auszahl einzahl überweis begleich ausgleich
    erstatt rückerstatt zurückerstatt zurückzahl gutschreib zurücküberweis
approv authoris authoriz grant genehmig bewillig freigeb autorisier
send mail email forward ship dispatch post deliver submit send schick verschick versend abschick absend liefer ausliefer
    zustell übermittel übersend verschiff einreich
book reserv schedul arrang buch reservier vereinbar einbuch
delet remov eras wip purg lösch entfern
order buy purchas bestell kauf nachbestell
clos lock shut block disabl deactivat suspend schließ sperr verschließ deaktivier abschließ
sign countersign unterschreib unterzeichn
fix repair resolv correct mend reparier beheb korrigier berichtig lös
inform notify tell alert informier benachrichtig verständig unterricht
install updat upgrad installier aktualisier einspiel
replac exchang swap ersetz austausch umtausch tausch
extend renew prolong verlänger erneuer
activat enabl unlock aktivier freischalt entsperr
merg deploy releas publish veröffentlich ausroll zusammenführ
"""
_CLASSES = tuple(frozenset(line.split()) for line in _SAME.strip().replace("\n    ", " ").split("\n"))


def same_acts(verb: str) -> frozenset[str]:
    """The stems of the acts that count as the same as that of this stem; empty: it is none of those that matter."""
    return next((one for one in _CLASSES if verb in one), frozenset())
