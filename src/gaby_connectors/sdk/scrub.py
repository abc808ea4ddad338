"""Keeps secrets out of everything that a connector says, and makes what it says plain JSON."""

import base64
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import quote, quote_plus, urlsplit

MASK = "[secret]"
_SHORTEST = 4
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|secret|api_?key|private_key|access_token|auth_token)$", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"sk[-_](?:live|test|ant|proj)[-_][A-Za-z0-9_-]{8,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|AKIA[0-9A-Z]{16}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)


class Scrubber:
    """Knows some secrets and takes them out of texts and of whole results."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
        # The longest first, so that no half of a secret is left beside the mask.
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, self._forms))) if self._forms else None

    def also(self, secrets: Iterable[str]) -> "Scrubber":
        more = list(secrets)
        return Scrubber([*self._forms, *more]) if more else self

    def text(self, text: str) -> str:
        # A lone surrogate, as in some file names, cannot be sent as JSON.
        plain = text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
        return self._pattern.sub(MASK, plain) if self._pattern is not None else plain

    def value(self, value: Any) -> Any:
        """The same value without secrets, and without numbers that JSON does not know."""
        match value:
            case str():
                return self.text(value)
            case float() if not math.isfinite(value):
                return str(value)
            case Mapping():
                fields = cast("Mapping[Any, Any]", value)
                return {self.text(str(key)): self.value(part) for key, part in fields.items()}
            case list() | tuple():
                return [self.value(part) for part in cast("Iterable[Any]", value)]
            case _:
                return value


def secrets_in(arguments: Any, name: str = "") -> Iterable[str]:
    """What in the arguments of a call is a secret, by its name or by its look; a tool must not say it back."""
    match arguments:
        case str():
            if _SECRET_NAME.search(name):
                yield arguments
            yield from _SECRET_TEXT.findall(arguments)
        case Mapping():
            for key, part in cast("Mapping[Any, Any]", arguments).items():
                yield from secrets_in(part, str(key))
        case list() | tuple():
            for part in cast("Iterable[Any]", arguments):
                yield from secrets_in(part, name)
        case _:
            return


def _forms(secret: str) -> Iterable[str]:
    """A secret as it is, as it looks in a URL, and in basic authentication."""
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield base64.b64encode(secret.encode("utf-8", "replace")).decode()
    if "://" in secret:
        password = _password(secret)
        if password:
            yield password
            yield quote(password, safe="")


def _password(url: str) -> str | None:
    try:
        return urlsplit(url).password
    except ValueError:
        return None
