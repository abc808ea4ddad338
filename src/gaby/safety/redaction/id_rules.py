"""Rules as data for national identity numbers. Their dates and check digits are checked by python-stdnum.

Each form says how many digits the number begins with, and as a pattern what follows them; forms that begin with a
letter are whole patterns. To add a country, add a line.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from stdnum import get_cc_module

from gaby.safety.redaction.spans import SpanCertainty

_LIKELY, _POSSIBLE, _SURE = SpanCertainty.LIKELY, SpanCertainty.POSSIBLE, SpanCertainty.SURE
_DIGITS = frozenset("0123456789")
_SEPARATORS = re.compile(r"[ .\-]")


class IdForm(NamedTuple):
    digits: int
    """How many digits it begins with, before anything else."""
    rest: str
    alone: SpanCertainty | None = None
    """How certain it is without a word that says what it is."""


class IdRule(NamedTuple):
    country: str
    module: str
    """In `stdnum.country`; it is loaded when the first number of this form is met."""
    words: str
    """What is said before or after it, as a pattern in lower case and without accents."""
    forms: tuple[IdForm, ...]


RULES = (
    IdRule("us", "ssn", r"ssn|social security|soc sec", (
        IdForm(3, r"([- ])\d\d\1\d{4}", _LIKELY), IdForm(9, ""),
    )),
    IdRule("us", "itin", r"itin|taxpayer", (IdForm(3, r"-\d\d-\d{4}"), IdForm(9, ""))),
    IdRule("gb", "nhs", r"nhs", (IdForm(3, r"([- ])\d{3}\1\d{4}"), IdForm(10, ""))),
    IdRule("de", "idnr", r"steuer|tax id|idnr|identifikationsnummer|tin", (
        IdForm(2, r" \d{3} \d{3} \d{3}", _LIKELY), IdForm(11, "", _POSSIBLE),
    )),
    IdRule("fr", "nir", r"nir|securite sociale|insee|secu", (
        IdForm(1, r" \d\d \d\d \d\d \d{3} \d{3} ?\d\d", _LIKELY), IdForm(15, "", _LIKELY),
        IdForm(1, r"[ .]\d\d[ .]\d\d[ .]2[ABab][ .]?\d{3}[ .]?\d{3}[ .]?\d\d", _SURE),
        IdForm(6, r"[ABab]\d{8}", _SURE),
    )),
    IdRule("es", "dni", r"dni|nif", (
        IdForm(8, r"-?[A-Za-z]", _LIKELY), IdForm(2, r"\.\d{3}\.\d{3}-?[A-Za-z]", _LIKELY),
    )),
    IdRule("es", "nie", r"nie", (IdForm(0, r"[XYZxyz]-?\d{7}-?[A-Za-z]", _LIKELY),)),
    IdRule("it", "codicefiscale", r"codice fiscale", (
        IdForm(0, r"[A-Za-z]{6}\d\d[A-Za-z]\d\d[A-Za-z]\d{3}[A-Za-z]", _SURE),
    )),
    IdRule("nl", "bsn", r"bsn|burgerservicenummer|sofinummer", (
        IdForm(4, r"[. ]\d\d[. ]\d{3}", _LIKELY), IdForm(9, "", _POSSIBLE),
    )),
    IdRule("pl", "pesel", r"pesel", (IdForm(6, r"-\d{5}", _LIKELY), IdForm(11, "", _POSSIBLE))),
    IdRule("pt", "nif", r"nif|contribuinte|num(?:ero)? fiscal", (IdForm(9, ""), IdForm(3, r" \d{3} \d{3}"))),
    IdRule("be", "nn", r"rijksregister|(?:numero|registre) national|national (?:register|number)|niss|insz", (
        IdForm(2, r"\.\d\d\.\d\d-\d{3}\.\d\d", _LIKELY), IdForm(11, ""),
    )),
    IdRule("at", "vnr", r"sv-?nr|sozialversicherung|versicherungsnummer|vsnr", (
        IdForm(4, r"[ \-]\d{6}"), IdForm(10, ""),
    )),
    IdRule("ch", "ssn", r"ahv|avs|avn", (IdForm(3, r"\.\d{4}\.\d{4}\.\d\d", _LIKELY), IdForm(13, ""))),
    IdRule("se", "personnummer", r"personn|pnr|personal identity", (
        IdForm(6, r"[\-+]\d{4}", _LIKELY), IdForm(8, r"-\d{4}", _LIKELY), IdForm(10, ""), IdForm(12, ""),
    )),
    IdRule("dk", "cpr", r"cpr", (IdForm(6, r"[\- ]\d{4}"), IdForm(10, ""))),
    IdRule("no", "fodselsnummer", r"f[oø]dsels|fnr|personn", (
        IdForm(6, r" \d{5}", _LIKELY), IdForm(11, "", _POSSIBLE),
    )),
    IdRule("fi", "hetu", r"hetu|henkil|personal identity", (IdForm(6, r"[\-+A]\d{3}[0-9A-Za-z]", _LIKELY),)),
    IdRule("ie", "pps", r"pps", (IdForm(7, r"[A-Za-z]{1,2}"),)),
    IdRule("cz", "rc", r"rodn[ey]|r\.? ?c\b|birth number", (IdForm(6, r"/\d{3,4}", _LIKELY), IdForm(10, ""))),
    IdRule("ro", "cnp", r"cnp|cod numeric", (IdForm(13, "", _POSSIBLE),)),
    IdRule("bg", "egn", r"egn|eгh|erh", (IdForm(10, ""),)),
    IdRule("tr", "tckimlik", r"kimlik|tckn|t\.? ?c\.? no", (IdForm(11, "", _POSSIBLE),)),
    IdRule("mx", "curp", r"curp", (IdForm(0, r"[A-Za-z]{4}\d{6}[A-Za-z]{6}[0-9A-Za-z]\d", _SURE),)),
    IdRule("cl", "rut", r"\brut\b|\brun\b", (
        IdForm(1, r"\.\d{3}\.\d{3}-[0-9Kk]", _LIKELY), IdForm(2, r"\.\d{3}\.\d{3}-[0-9Kk]", _LIKELY),
        IdForm(7, r"-[0-9Kk]"), IdForm(8, r"-[0-9Kk]"),
    )),
    IdRule("ar", "cuit", r"cuit|cuil", (IdForm(2, r"-\d{8}-\d", _LIKELY), IdForm(11, ""))),
    IdRule("in", "pan", r"\bpan\b", (IdForm(0, r"[A-Za-z]{3}[ABCFGHJLPTabcfghjlpt][A-Za-z]\d{4}[A-Za-z]", _LIKELY),)),
    IdRule("in", "aadhaar", r"aadhaa?r|uidai", (IdForm(4, r"([- ])\d{4}\1\d{4}", _LIKELY), IdForm(12, "", _POSSIBLE))),
    IdRule("cn", "ric", r"id card|身份", (IdForm(17, r"[Xx]", _LIKELY), IdForm(18, "", _LIKELY))),
    IdRule("kr", "rrn", r"\brrn\b|resident registration|주민", (IdForm(6, r"-\d{7}", _LIKELY), IdForm(13, ""))),
    IdRule("jp", "in_", r"my ?number|マイナンバー|個人番号", (IdForm(12, ""), IdForm(4, r"[ \-]\d{4}[ \-]\d{4}"))),
    IdRule("za", "idnr", r"(?:south african|\bsa|\brsa) id|\bid (?:number|no|nr)|identity number", (
        IdForm(13, "", _POSSIBLE), IdForm(6, r" \d{4} \d{3}"),
    )),
    IdRule("au", "tfn", r"\btfn\b|tax file", (IdForm(3, r" \d{3} \d{3}"), IdForm(9, ""))),
    IdRule("ca", "sin", r"\bsin\b|social insurance", (IdForm(3, r"([- ])\d{3}\1\d{3}"), IdForm(9, ""))),
    IdRule("br", "cpf", r"cpf", (IdForm(3, r"\.\d{3}\.\d{3}-\d\d", _LIKELY), IdForm(11, "", _POSSIBLE))),
    IdRule("il", "idnr", r"zehut|israeli id", (IdForm(9, ""),)),
)  # fmt: skip


class CompiledForm(NamedTuple):
    rest: re.Pattern[str]
    words: re.Pattern[str]
    alone: SpanCertainty | None
    country: str
    module: str

    def is_valid(self, text: str) -> bool:
        if len(set(text) & _DIGITS) == 1:
            return False  # Eleven times the same digit passes most checks, and is nobody's.
        is_valid = _validator(self.country, self.module)
        return is_valid(text) or is_valid(_SEPARATORS.sub("", text))


@cache
def _validator(country: str, module: str) -> Callable[[str], bool]:
    validator: Any = get_cc_module(country, module)

    def is_valid(text: str) -> bool:
        try:
            return validator.is_valid(text)
        except (LookupError, ValueError, ArithmeticError):
            return False  # Some modules raise on numbers that their tables do not know, such as a county of China.

    return is_valid


def _compile() -> dict[int, list[CompiledForm]]:
    forms: dict[int, list[CompiledForm]] = {}
    for rule in RULES:
        words = re.compile(rule.words)
        for form in rule.forms:
            rest = re.compile(form.rest, re.ASCII)
            forms.setdefault(form.digits, []).append(CompiledForm(rest, words, form.alone, rule.country, rule.module))
    return forms


FORMS = _compile()
"""By the number of digits that they begin with: a number in a text is tried with few of them."""
