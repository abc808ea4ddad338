"""Mail addresses: one spelling for each mailbox, and whether two spellings name the same one."""

import re

import idna

_LONGEST = 320
_LOCAL_PART = re.compile(r"(?:[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]|[^\x00-\xa0\s\ud800-\udfff]){1,64}")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_TO_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
"""ASCII only. `str.lower` makes a k of the Kelvin sign and `casefold` an ss of ß, which are letters of other people."""


def canonical_address(text: str) -> str | None:
    """The address in the one spelling that addresses are compared in. None for what is no plain address.

    The local part belongs to its server, which alone knows what it treats alike; only the case of ASCII letters is
    evened out, as every server in use does. The domain is compared as DNS does: in its ASCII form (IDNA 2008).
    """
    local, separator, domain = text.strip(" ").rpartition("@")
    if not separator or len(text) > _LONGEST or not _LOCAL_PART.fullmatch(local):
        return None
    host = _ascii_domain(domain)
    return f"{local.translate(_TO_LOWER)}@{host}" if host is not None else None


def same_address(one: str | None, other: str | None) -> bool:
    """Whether both name one mailbox. What is no address is the same as nothing."""
    first = canonical_address(one) if one is not None else None
    return first is not None and other is not None and first == canonical_address(other)


def _ascii_domain(domain: str) -> str | None:
    lowered = domain.translate(_TO_LOWER)
    if not lowered.isascii():
        try:
            lowered = idna.encode(lowered, strict=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return None
    labels = lowered.split(".")
    return lowered if len(lowered) <= 253 and all(_LABEL.fullmatch(label) for label in labels) else None
