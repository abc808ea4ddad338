"""Markdown as a person would read it aloud: without marks, addresses and front matter. Reads each line once.

Code is left as it is: a command that is read aloud must still work when it is typed.
"""

import re

_FRONT = re.compile(r"\A\s*---\n(?=[\w\"'-]{1,100}[ \t]*:)(?:[^\n]{0,2000}\n){1,200}?---[ \t]*(?:\n|\Z)")
"""It begins with a name and a colon; else the line is a rule."""
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_DEFINITION = re.compile(r"[ \t]{0,3}\[[^\]\n]{1,200}\]:[ \t]+\S+[ \t]*")
_RULE = re.compile(r"[ \t]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]+|$)")
_CODE = r"`(?P<code>[^`\n]{1,300})`"
_ADDRESS = r"\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?:[ \t]+(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?\)"
_PICTURE = r"!\[[^\[\]\n]{0,200}\]\([^()\s]{0,500}\)"
_LINK = rf"!?\[(?P<link>(?:{_PICTURE}|[^\[\]\n]){{0,500}})\](?:{_ADDRESS}|\[[^\[\]\n]{{0,200}}\])"
_STARS = r"(?<![\w*])(?P<stars>\*{1,3})(?=[^\s*])(?P<starred>[^*\n]{1,300}?)(?<=\S)(?P=stars)(?![\w*])"
_LINES = r"(?<!\w)(?P<lines>_{1,3})(?=[^\s_])(?P<lined>[^_\n]{1,300}?)(?<=\S)(?P=lines)(?!\w)"
_MARKED = re.compile("|".join((_CODE, _LINK, _STARS, _LINES)))
_NESTED = 3
"""As in a link with a picture that has words in bold."""


def plain_text(text: str) -> str:
    lines: list[str] = []
    fence: str | None = None
    for line in _FRONT.sub("", text).split("\n"):
        marks = _FENCE.match(line)
        if fence is not None:
            if marks is not None and marks[1].startswith(fence) and not line.strip(" \t`~"):
                fence = None
            else:
                lines.append(line)
        elif marks is not None:
            fence = marks[1]
        elif not (_DEFINITION.fullmatch(line) or _RULE.fullmatch(line)):
            lines.append(_unmarked(_HEADING.sub("", line, count=1) if _HEADING.match(line) else line))
    return "\n".join(lines).strip()


def _unmarked(line: str, depth: int = _NESTED) -> str:
    def inner(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match["code"]
        said = next(each for each in (match["link"], match["starred"], match["lined"]) if each is not None)
        return _unmarked(said, depth - 1)

    return _MARKED.sub(inner, line) if depth else line


def items_with_their_heading(markdown: str) -> str:
    """`- That it is true` below `What it does not prove` says the opposite of itself when it is read alone."""
    heading = ""
    fenced = False
    lines: list[str] = []
    for line in markdown.split("\n"):
        bare = line.lstrip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and bare.startswith("#"):
            heading = bare.lstrip("#").strip()
        elif not fenced and heading and bare.startswith(("- ", "* ", "+ ")):
            lines.append(f"{line[: len(line) - len(bare)]}- {heading} – {bare[2:]}")
            continue
        lines.append(line)
    return "\n".join(lines)
