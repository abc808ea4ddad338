"""Plain texts and logs: the lines as they are, without the colours that terminals are sent."""

import re

_COLOURS = re.compile(r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]")


def without_colours(text: str) -> str:
    return _COLOURS.sub("", text) if "\x1b" in text else text
