"""Words so frequent that they tell nothing about a text, except its language. Case-folded, without diacritics."""

_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by
can could did do does doing down during each few for from further had has have having he her here hers him his how i
if in into is it its just let may me might more most must my no nor not now of off on once only or other our out
over own please same shall she should so some such than that the their them then there these they this those through
to too under until up us very was we were what when where which while who whom why will with would you your yours
"""

_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist bitte da
damit dann das dass dein deine dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir doch
dort du durch ein eine einem einen einer eines er es euch euer fur gegen gewesen hab habe haben hat hatte hatten
hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jetzt kann
kein keine keinem keinen keiner konnen konnte machen man mein meine meinem meinen meiner mich mir mit muss musste
nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner sich sie sind so solche soll sollte
sondern sonst uber um und uns unser unsere unter viel vom von vor war waren was weg weil weiter welche welchem
welchen welcher welches wenn werde werden wie wieder will wir wird wirst wo wollen wollte wurde wurden zu zum zur
zwar zwischen
bereits gab geben gibt ja nein seit wann warum wem wen wer weshalb wessen wieso wodurch wofur woher wohin womit woran
worauf woruber
"""

_NAMES = "Waren WAREN Weg Sein Würde Wuerde Habe Haben Soll Will May IT US WHO"

NAMES = frozenset(_NAMES.split())
"""Nouns, names and short forms that are written as stop words are but for their capitals, so that they are none."""

ENGLISH = frozenset(_ENGLISH.split())
GERMAN = frozenset(_GERMAN.split())
