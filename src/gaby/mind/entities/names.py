"""Names that people give to things: logins, files and folders, and whatever stands in quotation marks."""

import re
from collections.abc import Iterator

from gaby.mind.entities.entity import Entity
from gaby.mind.words import STOP_WORDS, listed

_NAME = r"[A-Za-z][\w.\-]{1,62}[A-Za-z0-9_]"
_CALLED = re.compile(
    r"\b(user ?names?|user[ _]?ids?|users?|log-?ins?|log-?ons?|accounts?|sam ?account ?name|upn|uid)"
    rf"( (?:is|was|as|named|called)(?: now)? |[ ]?[:=][ ]?| ?\()?(?(2)| )[\"'`]?({_NAME})(?![\w@\\]|\.\w)",
    re.IGNORECASE,
)
_DOMAIN_USER = re.compile(r"(?<![\w\\/.:])[A-Z][A-Z0-9\-]{1,15}\\[A-Za-z][\w.\-]{0,39}\w(?![\w\\])")
_NOT_A_NAME = STOP_WORDS | listed(
    """
    account accounts access active admin administrator agreement and anymore app automatically balance blocked
    broken cannot change changes closed closure code could creation credentials data deactivated deleted details did
    disabled email enabled error errors expired experience failed failing fails failure fine form found group groups
    guide has help holder id ids inactive incorrect info information interface invalid issue issues item items keeps
    level limit list locked lockout login logins loop manager manual missing name named names needs new nobody
    number numbers old online owner owners page pages password passwords permission permissions portal problem
    problems profile profiles prompt report reported reports reset role roles screen seats says sees service session
    sessions settings setup shows state status stuck suspended team test then time timeout today type unable unknown
    unlocked usage user username valid was works wrong yesterday cant wont isnt doesnt tries gets got logs clicks
    opens receives reads types went came left story stories base agent agents facing friendly side space directory
    pool table rights count counts invite invites
    """
)
_WORD_ENDING = re.compile(
    r"(?:ed|ing|ly|tion|tions|ment|ments|ness|able|ible|ful|ous|ive|ity|ies|ers|ors|ance|ence|al|ary|wide|less|ts|ns)$"
)
_UNIX_PATH = re.compile(r"(?<![\w/.:<\\~\-])(?:~|\.{1,2})?/(?:[\w.@+%~\-{}$:]{1,120}+/?){1,30}+")
_WINDOWS_PATH = re.compile(r"(?<![\w\\])[A-Za-z]:\\(?:[^\s\\/:*?\"<>|]{1,120}+\\?){1,30}+")
_FILE = re.compile(
    r"(?<![\w/\\@.\-])(?:(?:[\w.\-]{1,60}/){0,12}[\w\-]{1,100}(?:\.[\w\-]{1,30}){0,2}\.(?:csv|xlsx?|docx?|pptx?|"
    r"pdf|txt|log|json|ya?ml|xml|html?|sql|"
    r"conf|cfg|ini|env|toml|py|js|ts|jsx|tsx|java|go|rb|php|cs|cpp|sh|ps1|bat|exe|dll|msi|dmg|pkg|deb|rpm|zip|gz|"
    r"tar|7z|"
    r"png|jpe?g|gif|svg|mp4|wav|mp3|bak|db|sqlite|pem|crt|key|pfx|ost|pst|ics|eml|parquet)|(?:Dockerfile|Makefile|"
    r"Jenkinsfile)(?:\.[\w\-]{1,20})?)(?![\w\-]|\.\w)",
    re.IGNORECASE,
)
_QUOTES = (
    re.compile(r"\"([^\"\n]{1,120})\""),
    re.compile(r"“([^”\n]{1,120})”"),
    re.compile(r"„([^“”\n]{1,120})[“”]"),
    re.compile(r"«([^»\n]{1,120})»"),
    re.compile(r"`([^`\n]{1,120})`"),
    re.compile(r"(?<![\w'])'([^'\n]{1,120})'(?![\w'])"),
)


def find_names(text: str) -> Iterator[Entity]:
    yield from _users(text)
    for pattern in (_UNIX_PATH, _WINDOWS_PATH, _FILE):
        for match in pattern.finditer(text):
            value = match[0].rstrip(".,;:")
            if len(value.strip("/.~\\")) >= 2:
                yield Entity("path", value, match.start(), match.start() + len(value))


def find_quoted(text: str) -> Iterator[Entity]:
    for pattern in _QUOTES:
        for match in pattern.finditer(text):
            value = match[1].strip()
            if value and any(map(str.isalnum, value)):
                start = match.start(1) + match[1].index(value)
                yield Entity("quoted", value, start, start + len(value))


def _users(text: str) -> Iterator[Entity]:
    for match in _DOMAIN_USER.finditer(text):
        yield Entity("username", match[0], match.start(), match.end())
    for match in _CALLED.finditer(text):
        value = match[3].rstrip("-.")
        if _is_login(value, cue=match[1].lower(), link=(match[2] or "").strip().lower()):
            yield Entity("username", value, match.start(3), match.start(3) + len(value))


def _is_login(value: str, *, cue: str, link: str) -> bool:
    """A made-up word is a login after any of the words; an ordinary one only where the text says that it is one."""
    if value.lower() in _NOT_A_NAME:
        return False
    if any(mark.isdigit() or mark in "._" for mark in value):
        return True
    says_name = "name" in cue or cue.startswith(("upn", "uid", "sam"))
    if link in {":", "=", "("} or "named" in link or "called" in link or (says_name and link):
        return True
    is_plain_word = not value.islower() or _WORD_ENDING.search(value) is not None
    return not link and cue in {"user", "username", "login"} and not is_plain_word
