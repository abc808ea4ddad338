"""Whether a message only says that all is well now. Every word must be one of a few, so that nobody is overheard."""

import re

from gaby.mind.words import listed, words

_LONGEST = 600
_NAMED = r"(?:\s+(?:[A-Z][\w'-]*|all|there|team|support)){0,3}\s*[,!.]?\s*$"
_GREETING = re.compile(rf"^\s*(?i:hi|hello|hey|dear|good (?:morning|afternoon|evening)|hallo|hola|bonjour){_NAMED}")
_SIGNED = re.compile(
    rf"^\s*(?:--+|(?i:best|(?:(?:best|kind|warm|many) )?(?:regards|wishes)|cheers|sincerely|yours)){_NAMED}"
)
_MOST_SIGNED = 4
"""Lines of a signature, itself included."""
_QUOTED = re.compile(r"^\s*(?:>|on .{5,200} wrote:\s*$)", re.IGNORECASE)
_WELL = listed(
    """
    thanks thank thx cheers works working solved resolved fixed sorted fine good great perfect excellent super helped
    danke dank funktioniert geht gelöst gracias funciona resuelto solucionado merci fonctionne marche résolu
    """
)
_OTHER_WORDS = listed(
    """
    a again all am and are did everything for got i is it just lot many much now of ok okay our problem issue really so
    that the this to today trick up very was we worked yes you
    alles bestens das die es ich jetzt nun problem sehr vielen wieder wir ist
    ahora el está la lo los muchas mucho por todo ya problema
    beaucoup bien ça cela est maintenant tout vous le la les problème à nouveau
    """
)
_PHRASES = re.compile(
    r"\b(?:(?:(?:please|you (?:can|may)) )?close (?:the|this|my) (?:ticket|case|request)|"
    r"for (?:the|your) (?:(?:quick|fast|great) )?(?:help|support|reply|answer)|"
    r"(?:i|we) (?:can|could) (?:log|sign) in(?: again| now)?|"
    r"für (?:die|ihre) (?:schnelle )?hilfe|por (?:la|su) ayuda|pour (?:votre|l.)\s?aide)\b",
    re.IGNORECASE,
)
"""What stands for nothing but thanks as a whole, and for a request in other words."""


def says_solved(text: str) -> bool:
    """In doubt it does not, and somebody looks."""
    own_words = _own_words(text)
    if not own_words or len(own_words) > _LONGEST or "?" in own_words:
        return False
    said = words(_PHRASES.sub(" ", own_words))
    well = len(said) < len(words(own_words)) or any(word in _WELL for word in said)
    return well and all(word in _WELL or word in _OTHER_WORDS for word in said)


def _own_words(text: str) -> str:
    """Without whom it greets, who signed it, and what it answers to."""
    lines = text.strip().splitlines()
    kept: list[str] = []
    for number, line in enumerate(lines):
        if _QUOTED.match(line) or (kept and _SIGNED.match(line) and len(lines) - number <= _MOST_SIGNED):
            break
        if not _GREETING.match(line):
            kept.append(line)
    return "\n".join(kept).strip()
