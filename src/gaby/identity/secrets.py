"""Secrets people carry: tokens in links and cookies, and API keys `gaby-PREFIX.SECRET`. Only their hashes are kept."""

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass

from gaby.identity.errors import MalformedKey
from gaby.kernel.ids import Random

_KEY = re.compile(r"gaby-([a-z2-7]{12})\.([a-z2-7]{52})")


def new_token(random: Random) -> str:
    """256 unpredictable bits in 52 characters that survive URLs, shells and double clicks."""
    return base64.b32encode(random(32)).decode().rstrip("=").lower()


def hash_token(token: str) -> bytes:
    # A token is random and long, so that a fast hash is as good as a slow one: there is nothing to guess.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def matches(token: str, stored: bytes) -> bool:
    return hmac.compare_digest(hash_token(token), stored)


def csrf_token(session_token: str) -> str:
    """Derived from the cookie's secret, so that a page which cannot read the cookie cannot make it."""
    return hmac.digest(session_token.encode(), b"gaby csrf", "sha256").hex()


@dataclass(frozen=True)
class KeyText:
    prefix: str
    secret: str

    def __str__(self) -> str:
        return f"gaby-{self.prefix}.{self.secret}"


def new_key(random: Random) -> KeyText:
    return KeyText(prefix=new_token(random)[:12], secret=new_token(random))


def parse_key(text: str) -> KeyText:
    match = _KEY.fullmatch(text)
    if match is None:
        raise MalformedKey
    return KeyText(match[1], match[2])
