"""Names of hosts: which words are domains, and one spelling for each.

A name without `https://` counts when it ends in a known top-level domain. Some of those are also endings of files or
fields (`setup.py`, `deploy.sh`, `notes.md`, `backup.zip`, `user.id`): such a name with one dot is taken for a file,
and for a host only with a second dot, a port or a path: `docs.evil.sh`, `evil.zip/login`. Where it must not lead
anybody anywhere, an archive's name is a host as well.
"""

import ipaddress
import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

from gaby.safety.redaction.normalized_text import FOLDED

_COUNTRIES = """
ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf cg
ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi
gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw
ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng
ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn
so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws
ye yt za zm zw
"""
_GENERIC = """
com net org edu gov mil int info biz name pro mobi asia tel jobs xyz top site online store shop app dev cloud tech live
club space website fun icu vip work world today life digital agency email support help zone link click page blog news
media network systems solutions services center company group global ltd llc inc bank finance financial money pay cash
loan credit insurance health care clinic doctor tax legal law security host hosting domains download stream video win
bid trade date racing review science party cricket men accountant faith loan zip mov foo bar cam rest buzz monster cyou
sbs cfd bond quest lol bio ink wiki chat social one red blue green pink black guru expert academy school university test
example invalid onion
africa apartments art army associates attorney auction audio auto autos baby band bargains beauty beer berlin best bet
bible bike bingo boats boston boutique build builders business cafe camera camp capital cards career careers cars casa
casino catering charity cheap church city cleaning clothing codes coffee college community computer condos construction
consulting contact contractors cool country coupons courses creditcard cruises dad data dating day deals degree delivery
democrat dental design diamonds diet direct directory discount dog earth eco education energy engineer engineering
enterprises equipment esq estate events exchange express fail family fan fans farm fashion feedback film fish fishing
fit fitness flights florist flowers football forex forsale foundation free fund furniture futbol fyi gallery game games
garden gay gdn gift gifts gives giving glass gmbh gold golf graphics gratis gripe guide guitars hair hamburg haus hiphop
hiv hockey holdings holiday homes horse hospital hot house how immo immobilien inc industries ing institute insure
international investments irish jetzt jewelry juegos kaufen kids kim kitchen koeln krd land lat lawyer lease lgbt
lighting limited limo loans locker london lotto love luxe luxury makeup management map market marketing markets mba meme
memorial miami mom mortgage motorcycles movie music navy nexus ngo ninja now nyc observer ong ooo organic paris partners
parts pet phd photo photography photos pics pictures pizza place plumbing plus poker porn press prof promo properties
property protection qpon radio realty recipes rehab reise reisen rent rentals repair report republican restaurant
reviews rich rip rocks rodeo run saarland sale salon sarl scot select sex sexy shoes show singles ski skin soccer
software solar soy spa storage studio study style sucks supplies supply surf surgery swiss taipei tattoo taxi team
technology tennis theater theatre tickets tienda tips tires tokyo tools tours town toys trading training travel tube uno
vacations vana vegas ventures vet viajes villas vin vision vlaanderen vodka vote voting voto voyage wales wang watch
watches web webcam wedding wien wine works wtf xin xxx yachts yoga
"""
_COUNTRY_TOPS = frozenset(_COUNTRIES.split())
_TOPS = _COUNTRY_TOPS | frozenset(_GENERIC.split())
_LIKE_FILES = frozenset(
    ("as", "bar", "cc", "date", "do", "foo", "hm", "id", "la", "md", "mk", "ml", "mm", "mo", "mov", "ms", "name",
     "page", "pl", "pm", "ps", "py", "rs", "sc", "sh", "so", "st", "sv", "test", "tf", "video", "zip",
     # Fields and parts of programs more often than hosts.
     "audio", "build", "cards", "codes", "contact", "data", "day", "design", "directory", "events", "exchange", "free",
     "guide", "how", "map", "now", "parts", "photo", "photos", "place", "plus", "properties", "property", "report",
     "run", "select", "show", "storage", "style", "team", "tips", "tools", "watch", "web", "works")
)  # fmt: skip
_ARCHIVES = frozenset({"zip", "mov"})
_WORDS = frozenset(
    ("am", "as", "at", "be", "by", "do", "help", "id", "in", "info", "is", "it", "la", "me", "my", "no", "one", "pay",
     "so", "to", "us", "work", "best", "love", "press", "direct")
)  # fmt: skip
_LABEL = re.compile(r"[^\W_](?:[\w\-]{0,61}[^\W_])?|_[\w\-]{1,61}")
_NUMBER = re.compile(r"0x[0-9a-f]+|[0-9]+")


def is_host(name: str, *, more: bool, archives: bool = True) -> bool:
    """Whether a bare name is a host's. `more`: a port or a path follows it. `archives`: `backup.zip` is a file."""
    labels = name.split(".")
    top = labels[-1]
    known = top.translate(FOLDED).lower()
    if known not in _TOPS and not known.startswith("xn--") and known.isascii():
        return False
    if not all(_LABEL.fullmatch(label) for label in labels) or (labels[-2].isdigit() and known in _COUNTRY_TOPS):
        return False
    # A sentence that begins without a blank before it: "done.It works".
    if known in _WORDS and top[0].isupper() and not top.isupper():
        return False
    return more or len(labels) > 2 or known not in _LIKE_FILES or (known in _ARCHIVES and not archives)


@lru_cache(maxsize=2048)
def canonical_host(name: str) -> str:
    """Lower case, without escapes and last dots, in punycode; numbers of every base as the address they are."""
    host = unicodedata.normalize("NFKC", unquote(name)).lower().rstrip(".")
    if number := _as_address(host):
        return number
    return ".".join(_punycode(label) for label in re.split(r"[.。]", host))


def _punycode(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode", "replace").decode("ascii", "replace")


def _as_address(host: str) -> str | None:
    """Browsers understand `0x7f.1` and `2130706433` as 127.0.0.1."""
    parts = host.split(".")
    if len(parts) > 4 or not all(map(_NUMBER.fullmatch, parts)):
        return None
    numbers = [_number(part) for part in parts]
    if None in numbers:
        return None
    values = [number or 0 for number in numbers]
    total = values[-1]
    for place, value in enumerate(values[:-1]):
        total += value << 8 * (3 - place)
    return str(ipaddress.IPv4Address(total)) if total < 2**32 else None


def _number(text: str) -> int | None:
    base = 16 if text.startswith("0x") else 8 if text.startswith("0") and len(text) > 1 else 10
    try:
        return int(text, base)
    except ValueError:
        return None
