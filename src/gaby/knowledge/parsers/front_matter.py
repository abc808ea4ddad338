"""The block between `---` lines that many Markdown files begin with. Its title and its audience are used."""

import json
import re
from difflib import get_close_matches

# A block that does not end soon is a rule above a text, not a front matter.
_LONGEST = 20_000
_FENCES = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
}
_KEY = re.compile(r"^[\"']?[A-Za-z_][\w.-]*[\"']?[ \t]*[:=]", re.MULTILINE)
_TITLE = re.compile(
    r"^[\"']?title[\"']?[ \t]*[:=][ \t]*([^\n]*)(\n(?:[ \t]+[^\n]*\n?)*)?", re.MULTILINE | re.IGNORECASE
)
_AUDIENCE = re.compile(r"^[\"']?audience[\"']?[ \t]*[:=][ \t]*([^\n]*)", re.MULTILINE | re.IGNORECASE)
_AUDIENCES = frozenset({"public", "customers", "staff"})


def front_matter_end(text: str) -> int:
    """Where the text proper begins: 0 when there is no front matter."""
    mark = text[:3]
    if mark not in _FENCES or text[3 : text.find("\n") if "\n" in text else len(text)].strip(" \t"):
        return 0
    first = text.find("\n") + 1
    if not first:
        return 0
    end = _FENCES[mark].search(text, first, first + _LONGEST)
    if end is None or (end.start() > first and not _KEY.search(text, first, end.start())):
        return 0
    return end.end()


def front_matter_title(text: str) -> str | None:
    """The title as it was meant, even where the block around it is not valid YAML or TOML."""
    end = front_matter_end(text)
    match = _TITLE.search(text, 0, end) if end else None
    if match is None:
        return None
    value = match[1].strip()
    if value[:1] in (">", "|") and len(value) <= 3:
        value = " ".join((match[2] or "").split())
    return _unquoted(value).strip() or None


def front_matter_audience(text: str) -> str | None:
    """Who may be shown the page, as it says itself. Whatever else than the three known words stands there is staff."""
    said = _said_audience(text)
    if said is None:
        return None
    return said.lower() if said.lower() in _AUDIENCES else "staff"


def unknown_audience(text: str) -> str | None:
    """What is wrong with the audience that the page names, in a sentence for whoever keeps the page."""
    said = _said_audience(text)
    if said is None or said.lower() in _AUDIENCES:
        return None
    near = get_close_matches(said.lower(), sorted(_AUDIENCES), n=1, cutoff=0.6)
    meant = f"did you mean {near[0]}?" if near else "write public, customers or staff."
    return f"Its front matter says `audience: {said[:60]}`, which is unknown, so it is for staff only; {meant}"


def _said_audience(text: str) -> str | None:
    end = front_matter_end(text)
    match = _AUDIENCE.search(text, 0, end) if end else None
    return None if match is None else _unquoted(match[1].strip()).strip()


def _unquoted(value: str) -> str:
    quote = value[:1]
    if quote not in ("'", '"'):
        return re.split(r"[ \t]#", value, maxsplit=1)[0]
    end = value.rfind(quote)
    inner = value[1:end] if end > 0 else value[1:]
    if quote == "'":
        return inner.replace("''", "'")
    try:
        return str(json.loads(f'"{inner}"'))
    except ValueError:
        return inner
