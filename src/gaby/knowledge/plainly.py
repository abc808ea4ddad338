"""Markdown as a person would read it aloud: without marks, addresses and front matter. Reads each line once."""

import re

_FRONT = re.compile(r"\A\s*---\n(?:[^\n]{0,2000}\n){0,200}?---(?:\n|\Z)")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\](?:\([^()\s]{0,2000}\)|\[[^\[\]\n]{0,200}\])")
_DEFINITION = re.compile(r"^[ \t]{0,3}\[[^\]\n]{1,200}\]:[ \t]+\S+[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_STRONG = re.compile(r"(?<![\w*_])(\*\*|__|\*|_)(?=\S)([^*_\n]{1,300}?)(?<=\S)\1(?![\w*_])")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_RULE = re.compile(r"^[ \t]{0,3}(?:[-*_][ \t]*){3,}$", re.MULTILINE)


def plainly(text: str) -> str:
    text = _FRONT.sub("", text)
    text = _DEFINITION.sub("", _FENCE.sub("", text))
    text = _LINK.sub(lambda found: found[1], _RULE.sub("", text))
    text = _CODE.sub(lambda found: found[1], _STRONG.sub(lambda found: found[2], text))
    return _HEADING.sub("", text).strip()
