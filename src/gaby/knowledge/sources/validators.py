"""A page's fingerprint: what its server calls this version of it, and what it had in it."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, cast

import orjson

from gaby.knowledge.sources.web_client import WebResponse

_LONGEST = 200


def fingerprint_of(reply: WebResponse) -> str:
    parts = {"hash": sha256(reply.body or b"").hexdigest()[:32]}
    for name in ("etag", "last-modified"):
        value = reply.headers.get(name, "")
        if value and len(value) <= _LONGEST and value.isascii() and value.isprintable():
            parts[name] = value
    return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode()


def conditions(fingerprint: str | None) -> Mapping[str, str]:
    """The headers that ask for a page only if it is another one by now."""
    if fingerprint is None:
        return {}
    try:
        parts = cast("dict[str, Any]", orjson.loads(fingerprint))
        asked = {"If-None-Match": parts.get("etag"), "If-Modified-Since": parts.get("last-modified")}
    except (ValueError, AttributeError):
        return {}
    return {name: value for name, value in asked.items() if isinstance(value, str)}
