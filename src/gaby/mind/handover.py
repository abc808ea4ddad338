"""Whether a requester asks for a person, by whole phrases in a few languages."""

import re

from gaby.mind.languages import fold
from gaby.mind.sentences import split

_READ = 20_000
_PERSON = (
    r"(?:human(?: being)?|(?:real |actual |live )?person|somebody real|someone real|human agent|live agent|real agent)"
)
_SPEAK = r"(?:speak|talk|chat|get|be (?:connected|transferred|put through))"
_ENGLISH = (
    rf"(?:want|need|would like|prefer|like) (?:to {_SPEAK} (?:to|with) )?(?:an? |some )?{_PERSON}",
    rf"{_SPEAK} (?:to|with) (?:an? |some |the )?(?:{_PERSON}|(?:support )?(?:agent|colleague|technician))",
    rf"(?:have|let|get) (?:an? |some )?{_PERSON}(?: to)? (?:look|check|read|answer|reply|call|handle|help|take)",
    rf"(?:an? )?{_PERSON},? please",
    r"(?:can|could|may) (?:an? |some )?(?:human|real person|colleague of yours)(?= )",
    r"(?:somebody|someone|a colleague|a person|a human) (?:should|must|has to|needs to) (?:look|call|answer|read)",
    r"(?:please )?(?:call|phone|ring) me back",
    r"please (?:call|phone|ring) me\b",
    r"(?:not|stop) (?:talking )?(?:to |with )?(?:a |the |this )(?:bot|robot|machine|chatbot)",
)
_GERMAN = (
    r"(?:mit )?(?:einem|einen|ein|eine) (?:echten? |richtigen? |menschlichen? )?"
    r"(?:menschen|mitarbeiter(?:in)?|kollegen|kollegin|person|techniker(?:in)?)"
    r"(?: (?:sprechen|reden|telefonieren|haben|schreiben)|,? bitte)",
    r"(?:kann|koennte|soll) (?:sich )?(?:das )?(?:bitte )?(?:ein mensch|jemand persoenlich)",
    r"(?:bitte )?(?:rufen sie|ruf) mich (?:bitte )?(?:zurueck|an)",
    r"(?:kein|nicht mit (?:einem|dem)) (?:bot|roboter|automat|chatbot|automaten)",
)
_FRENCH = (
    r"(?:parler|parle|discuter|echanger) (?:a|avec) (?:une?|quelqu['’ ]un de) "
    r"(?:vraie? )?(?:personne|humain|conseiller|conseillere|technicien|collegue|reel)",
    r"(?:une?) (?:vraie personne|etre humain|humain|personne reelle)",
    r"rappelez[- ]moi",
    r"pas (?:a |avec )?(?:un|le|ce) (?:robot|bot|chatbot)",
)
_SPANISH = (
    r"hablar con (?:una?|alguna?) (?:persona|humano|agente|companero|companera|tecnico|tecnica)",
    r"(?:una?) (?:persona real|persona de verdad|ser humano|humano),?",
    r"(?:ll[aá]menme|ll[aá]mame|devu[eé]lvanme la llamada)",
    r"no (?:con |quiero )?(?:un|el|este) (?:robot|bot|chatbot)",
)
_PHRASES = re.compile(r"\b(?:" + "|".join((*_ENGLISH, *_GERMAN, *_FRENCH, *_SPANISH)) + r")(?!['’\w])", re.IGNORECASE)


def wants_person(text: str) -> bool:
    """In what the requester wrote now, and not in old mail below it."""
    own = (each.plain for each in split(text[:_READ]) if each.is_own)
    return any(_PHRASES.search(fold(each)) for each in own)
