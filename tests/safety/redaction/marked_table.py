"""The tables of secrets and look-alikes: marked texts, with random parts made when they are loaded.

A line is one text. `{{kind|value}}` marks what must go, `\\n` and `\\t` stand for themselves, `<hex:32>` becomes 32
random characters, and `~` nothing: no key in a vendor's form stands in the files, so no scanner takes them for a leak.
"""

import random
import re
import string
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

_FOLDER = Path(__file__).parent / "data"
_MARK = re.compile(r"\{\{(\w+)\|(.*?)\}\}(?!\})", re.DOTALL)
_RANDOM = re.compile(r"<(hex|b62|b64|url64|dig|low|B36|B32):([0-9]+)>|<uuid>")
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "b62": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url64": string.ascii_letters + string.digits + "_-",
    "dig": string.digits,
    "low": string.ascii_lowercase + string.digits,
    "B36": string.ascii_uppercase + string.digits,
    "B32": string.ascii_uppercase + "234567",
}


class MarkedText(NamedTuple):
    text: str
    marks: tuple[tuple[int, int, str], ...]
    """Start, end and kind of each value that must go."""


def load(name: str) -> list[MarkedText]:
    lines = (_FOLDER / name).read_text(encoding="utf-8").splitlines()
    marked = [line for line in lines if line and not line.startswith("# ")]
    return [_read(line, random.Random(f"{name} {number}")) for number, line in enumerate(marked)]  # noqa: S311


def _read(line: str, source: random.Random) -> MarkedText:
    def fill(found: re.Match[str]) -> str:
        if found[1] is None:
            return str(UUID(int=source.getrandbits(128)))
        characters = _ALPHABETS[found[1]]
        last = source.choice([character for character in characters if character.isalnum()])
        return "".join(source.choice(characters) for _ in range(int(found[2]) - 1)) + last

    filled = _RANDOM.sub(fill, line).replace("~", "").replace("\\n", "\n").replace("\\t", "\t")
    text, marks, before = "", list[tuple[int, int, str]](), 0
    for mark in _MARK.finditer(filled):
        text += filled[before : mark.start()]
        marks.append((len(text), len(text) + len(mark[2]), mark[1]))
        text += mark[2]
        before = mark.end()
    return MarkedText(text + filled[before:], tuple(marks))
