"""German compounds and their parts: whoever asks for the contract finds the maintenance contract.

A word is split only where it is made of parts of a fixed list, with the letters that join them; one part, at either
end, may be unknown. So it comes apart the same way everywhere and always, whatever else was ever written.
"""

import re
from collections.abc import Iterator
from functools import cache

SHORTEST = 8
"""Letters below which a word is not looked at: few compounds are shorter, and chance finds parts in any word."""

MOST = 5
"""Parts of a word at most."""

_LEAST = 4
"""Letters of a part that is unknown."""

_LONGEST = 60
_LONGEST_PART = 16

# Compounds end in these, as far as they are inflected, and are joined by those.
_ENDINGS = ("", "n", "en", "e", "s", "es", "er", "ern")
_JOINTS = ("", "s", "es", "n", "en", "e", "er", "ens")

# What is done with the last part: Futter, Fütterung.
_DOING = ("ung", "ungen")

_DIGRAPH = re.compile(r"(?<!q)ue|ae|oe")
_SINGLE = {"ue": "u", "ae": "a", "oe": "o"}

_PARTS = """
abend abfahrt abfall abgabe ablauf abnahme abrechnung abschluss absicht abstand abteilung abwasser acker ader adler
adresse akte aktie alarm algen allee alltag alter altstadt ampel amt analyse anbau anfang anfrage angebot angst anhang
anlage anleitung anmeldung annahme anruf anschluss ansicht anspruch antrag antwort anwalt anzahl anzeige apfel
apotheke arbeit archiv arm armee art arznei arzt asche ast atem atlas auflage auftrag auge ausbau ausbildung ausfall
ausgabe ausgang ausgleich auskunft ausleihe ausnahme ausrustung aussage ausschuss aussicht ausstellung ausweis auto
automat axt bach backerei backofen bad bahn bahnhof balken balkon ball band bank bar barriere bau bauch bauer baum
becher becken bedarf bedingung beere beet befehl befund begleitung begriff behandlung behorde beihilfe bein beitrag
belag beleg beleuchtung benutzer benzin berater beratung berg bericht beruf bescheid beschluss beschreibung beschwerde
besen besitz bestand bestatigung bestattung besteck bestellung besuch beton betrag betrieb bett beutel bevolkerung
bewertung bezirk bezug biene bier bild bildung biogas birne blatt blech blei blick blitz block blume blut blute boden
bogen bohne bohrer bonus boot bord borse bote brand braut brei bremse brennstoff brett brief brille brot bruch brucke
bruder brunnen brust bube buch bucherei buchhaltung buchse buchung buffet buhne bund burg burger burgermeister buro
burste bus busch butter campus chef chemie chor computer dach datei daten datum dauer daumen decke deckel deich
denkmal dichtung dieb dienst diesel diktat ding direktor diskussion dom donner dorf dose drachen draht dreck dreh
druck drucker dunger durchfahrt durchgang durst dusche ebene ecke ehe ehre ei eiche eid eile eimer einbruch einfahrt
eingang einheit einkauf einkommen einladung einnahme einrichtung einsatz einstellung eintritt einwohner eis eisen ekel
elektro element eltern empfang ende energie engel enkel ente entgelt entlastung entscheidung entsorgung entwicklung
erbe erbse erde erfahrung erfolg ergebnis erhebung erholung erklarung erlaubnis ernte ersatz erwachsene erz erziehung
esel essen essig export fabrik fach faden fahigkeit fahne fahre fahrer fahrrad fahrt fahrzeug fall familie farbe
fasching fass faust feder fehler feier feige feile feind feld fell fels fenster ferien ferkel fern fertigung fessel
fest fett feuer feuerwehr fieber figur film filter finanz finger firma fisch flache flamme flasche fleck fleisch
fliege flocke floh flote flucht flug flugel flur fluss flut folge folie form formular forscher forschung forst foto
fracht frage frau freiheit freizeit freund frieden friedhof frist frosch frost frucht fruhling fruhstuck fuchs fuge
fuhrung funk furst fuss fussball futter gabel gang gans garage garantie garten gartner gas gasse gast gebaude gebiet
gebirge gebuhr geburt gefahr gefangnis geflugel gegenstand gehalt geheimnis gehirn gehweg geist gelande geld gelenk
gemeinde gemuse genehmigung general genossenschaft gepack gerat gericht gerste geruch gerust gesang geschaft geschenk
geschichte geschirr geschlecht geschmack gesellschaft gesetz gesicht gesprach gesundheit getrank getreide getriebe
gewalt gewasser gewerbe gewicht gewinn gewitter gift gips gitter glas glasfaser glatte glaube gleis glied glocke gluck
gold grab graben grad gramm gras grenze griff grill grippe grund gruppe gruss gurke gurt gut gymnasium haar hafen
hafer haft haftung hagel hahn haken halle halm hals halt halter hammer hand handel handler handlung handschuh hang
harz hase haufen haupt haus haushalt haut hebel heft heide heim heimat heizung held hemd henne herbst herd herr herz
heu hilfe himmel hirsch hitze hobel hochschule hochwasser hochzeit hof hohe hohle holz honig horer horn hose hotel
hugel huhn hund hunger husten hut hutte igel imker impf import industrie information ingenieur inhalt insel institut
interesse jacke jagd jahr januar jubilaum jugend juli junge juni kabel kabine kachel kafer kaffee kafig kahn kaiser
kakao kalb kalender kalk kalte kamera kamin kamm kammer kampf kanal kanne kante kapital kapitel kappe karte kartoffel
karton kase kasse kasten katalog katze kauf kegel kehle keks keller kern kerze kessel kette kiefer kies kilo kind kino
kirche kirsche kissen kiste klage klammer klang klappe klar klaranlage klasse klavier klebe kleid klima klinge klingel
klinik kloster kluft knie knoblauch knochen knopf knoten koch koffer kohl kohle kollege komma kommission kompass
konflikt konig konto kontrolle konzept konzern konzert kopf korb korn korper kosten kraft kran kranken krankheit kranz
kraut kredit kreis kreuz kreuzung krieg krone krote kruste kuche kuchen kugel kuh kuhler kultur kunde kundigung kunst
kupfer kupplung kur kurs kurve kuss kuste lack laden ladung lager lampe land lange larche larm last laster laterne
latte laub lauf laune leben leber leder leere lehre lehrer lehrling leiche leihe leine leistung leiter leitung leser
lesung licht liebe lied lieferant lieferung linde linie linse liste liter loch loffel lohn lokal losung lowe luft
lunge lust macht magen magnet mahlzeit mal maler mandel mangel mann mantel mappe markt marmor marsch maschine maske
mass masse material mauer maus medikament medizin meer mehl mehrwert meister meldung menge mensch merkmal messe messer
messung metall meter methode metzger miete mieter milch militar minister minute mitarbeiter mitglied mittag mitte
mittel mobel mode modell mond montage moor moos motor mucke mude muhle mull mund munze muschel museum musik muskel
muster mutter mutze nachbar nachricht nacht nadel nagel nahrung name narbe nase natur nebel nebenkosten nerv nest netz
niederschlag niere norm not note notfall notiz nudel nummer nuss nutzer nutzung obst ofen offnung ohr oktober ol oper
opfer orden ordner ordnung organ orgel ort ostern paar pacht packung paket palme panne papier pappe park partei
partner pass patient pause pech pelz pension person personal pfand pfanne pfarrer pfeffer pfeife pfeil pferd pfingsten
pflanze pflaster pflaume pflege pflicht pfosten pfote pilz pinsel pkw plan planung platte platz polizei post preis
presse prinz privat probe problem produkt produktion professor profil programm projekt protokoll prozent prozess
prufung pulver pumpe punkt puppe putz qualitat quelle quittung rabatt rad radio rahmen rakete rand rang rasen rat rate
rathaus ratte raub rauch raum raupe rausch rechner rechnung recht rede referat reform regal regel regen regierung
region reh reich reifen reihe reinigung reis reise reiter rente reparatur rest restaurant rettung rezept richter
richtlinie richtung riegel rind rinde ring rippe risiko ritter rock roggen rohr rolle roller roman rose rost rucken
rucksack rucktritt ruder ruf ruhe runde rundfunk saal saat sache sack saft sage sahne saison salat salbe salz sammlung
samstag sand sanierung satz sau saule saure schach schaden schaf schale schalter schatten schatz schaufel schein
schenkel schere schicht schicksal schiene schiff schild schinken schirm schlaf schlag schlange schlauch schleife
schliff schloss schluss schlussel schmerz schmied schmuck schmutz schnabel schnecke schnee schneider schnitt schnur
schock schokolade schrank schraube schreck schrei schreiner schrift schritt schrott schuh schuld schule schuler
schulter schuppen schuss schussel schutz schwamm schwan schwanz schwein schweiss schwelle schwester schwimm schwimmer
see segel sehne seide seife seil seite sekretar sekunde semester seminar senat sendung senf senior service sessel
sicherheit sicherung sicht sieb siedlung sieg signal silber sinn sirup sitz sitzung sohle sohn soldat sommer sonne
sonntag sorge sozial spalt spange spargel spass speck speicher speise sperre spezial spiegel spiel spieler spinne
spitze sport sprache spritze sprung spule spur staat stab stadt stahl stall stamm stand standort stapel star start
station statistik statte staub steckdose stecker steg steig stein stelle stern steuer stich stiefel stiel stier stift
stil stimme stirn stock stoff storung strafe strahl strand strang strasse strauch strauss strecke streifen streik
streit strich strick stroh strom stromung struktur strumpf stuck student studie studium stufe stuhl stunde sturm sturz
stutze suche sucht sumpf suppe system tabelle tablette tafel tag tal tank tanne tante tanz tapete tarif tasche tasse
tat taube tausch taxi technik tee teer teich teig teil telefon teller tempel tempo teppich termin test text theater
thema thermometer tiefe tier tinte tipp tisch titel tochter tod toilette ton tonne topf tor torte tour trager traktor
transport traube traum treffen treppe trieb tritt trommel tropfen truppe tuch tugend tulpe tunnel tur turm turn
turnier uberfahrt ubergang ubersicht ubung ufer uhr umbau umfang umfrage umgehung umleitung umsatz umschlag umwelt
umzug unfall universitat unterhalt unterkunft unterlage unternehmen unterricht unterschrift untersuchung urkunde
urlaub ursache urteil vater verband verbot verbrauch verbrechen verein verfahren verfassung vergleich verhaltnis
verkauf verkehr verlag verlauf verletzung verlust vermietung vermogen verpackung versammlung versand verschluss
versicherung version versorgung verstarker vertrag vertreter verwaltung verzeichnis vieh viertel visum vogel volk
vollmacht vorhang vorlage vorrat vorschlag vorschrift vorstand vorstellung vortrag wache wachs waffe wagen wahl wal
wald wand wandel wander wanderer wanne ware warme warnung warte wartung wasche wasser wechsel wecker weg wehr weide
weihnacht weihnachten wein weise weizen welle welt wende werbung werk werkstatt werkzeug wert wesen wespe wettbewerb
wette wetter wiese wild wille wind winkel winter wirtschaft wissen wissenschaft witwe witz woche wohn wohnung wolf
wolke wolle wort wunde wunder wunsch wurde wurfel wurm wurst wurzel wuste zahl zahn zange zaun zebra zeche zehe
zeichen zeichnung zeit zeitung zelle zelt zement zentrale zentrum zettel zeug zeuge zeugnis ziege ziegel ziel ziffer
zimmer zinn zins zirkus zitrone zoll zone zucker zufall zug zugang zukunft zulage zunge zusatz zustand zutat zwang
zweck zweig zwiebel
"""


def folded(word: str) -> str:
    """A word in lower case without its dots: ä as a, and so is ae, as the stemmer has it."""
    return _DIGRAPH.sub(lambda found: _SINGLE[found[0]], word)


@cache
def _known() -> dict[str, str]:
    """Each part as it is compared, with how it is written."""
    return {folded(part): part for part in _PARTS.split()}


@cache
def _beginnings() -> frozenset[str]:
    """The first letters of all parts: most places of a word are told by them to begin none."""
    return frozenset(part[:3] for part in _known())


def parts(word: str) -> tuple[str, ...]:
    """The parts of a compound, in order; none of what is no compound. ``word`` is in lower case, without diacritics."""
    word = folded(word)
    if not SHORTEST <= len(word) <= _LONGEST or not word.isalpha():
        return ()
    tried: dict[int, tuple[str, ...] | None] = {}
    found = _split(word, 0, tried)
    if found is not None:
        return found if len(found) > 1 else ()
    return _half_known(word, tried)


def _split(word: str, start: int, tried: dict[int, tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """The word from here on as known parts, as few as will do; None: it is not made of them."""
    if start in tried:
        return tried[start]
    best: tuple[str, ...] | None = None
    for known, after in _ahead(word, start):
        part = known
        if word[after:] in _ENDINGS:
            rest: tuple[str, ...] | None = ()
        elif start and word[after:] in _DOING:
            part, rest = known + "ung", ()
        else:
            rest = None
            for joint in _JOINTS:
                if word.startswith(joint, after):
                    further = _split(word, after + len(joint), tried)
                    if further is not None and (rest is None or len(further) < len(rest)):
                        rest = further
        if rest is not None and len(rest) < MOST and (best is None or len(rest) + 1 < len(best)):
            best = (part, *rest)
    tried[start] = best
    return best


def _ahead(word: str, start: int) -> Iterator[tuple[str, int]]:
    """The known parts that begin here, as they are written, the longest first, with where each ends."""
    if word[start : start + 3] not in _beginnings():
        return
    known = _known()
    for end in range(min(len(word), start + _LONGEST_PART), start + 2, -1):
        part = word[start:end]
        if part in known:
            yield known[part], end
        # Before another a part often loses its last letter: Kirche, Kirchturm; Schule, Schulhof.
        elif end < len(word) and len(part) > 3 and part + "e" in known:
            yield known[part + "e"], end


def _half_known(word: str, tried: dict[int, tuple[str, ...] | None]) -> tuple[str, ...]:
    """A word of which the beginning or the end alone is known, and the rest is long enough to be a word."""
    for start in range(_LEAST, len(word) - _LEAST):
        found = _split(word, start, tried)
        # A verb with a prefix ends in the same letters: Verantwortung holds no word that is asked for.
        if found is not None and _word(word[:start]) and folded(found[-1]) in _known():
            return (word[:start], *found)
    for part, end in _ahead(word, 0):
        if len(part) > _LEAST and len(word) - end >= _LEAST + 1 and _word(word[end:]):
            joint = next((joint for joint in ("en", "n", "s", "es") if word.startswith(joint, end)), "")
            rest = word[end + len(joint) :]
            return (part, rest if len(rest) > _LEAST else word[end:])
    return ()


def _word(text: str) -> bool:
    return any(letter in "aeiouy" for letter in text)
