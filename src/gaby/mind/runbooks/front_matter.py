"""The front matter of a page, as far as it declares a runbook: `runbook: true` and a list of `symptoms`.

Only these two are read, in the forms that people write: a flow list on one line, or one item to a line.
"""

import re
from dataclasses import dataclass

_LONGEST = 20_000
_KEY = re.compile(r"([A-Za-z_][\w.-]{0,60})[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(\S.*)")
_MOST_SYMPTOMS = 60
_LONGEST_SYMPTOM = 200


@dataclass(frozen=True)
class FrontMatter:
    declared: bool | None = None
    """What it says of `runbook`. None: nothing."""
    symptoms: tuple[str, ...] = ()
    lines: int = 0
    """How many lines of the page it takes, marks included."""
    problems: tuple[tuple[int, str, str, str], ...] = ()
    """Line, text, what is wrong, and what to write."""


def read_front_matter(text: str) -> FrontMatter:
    lines = text[:_LONGEST].replace("\r\n", "\n").split("\n")
    if not lines or lines[0].strip() != "---":
        return FrontMatter()
    end = next((place for place, line in enumerate(lines[1:], 1) if line.strip() in {"---", "..."}), None)
    if end is None:
        return FrontMatter()
    declared: bool | None = None
    symptoms: list[str] = []
    problems: list[tuple[int, str, str, str]] = []
    key = ""
    for number, line in enumerate(lines[1:end], 2):
        if (item := _ITEM.fullmatch(line)) and key == "symptoms":
            symptoms.append(_unquoted(item[1]))
        elif match := _KEY.fullmatch(line):
            key, value = match[1].lower(), _without_comment(match[2] or "")
            if key == "runbook":
                declared = {"true": True, "yes": True, "false": False, "no": False}.get(value.lower())
                if declared is None:
                    problems.append((number, line, "`runbook` is neither true nor false", "write `runbook: true`"))
            elif key == "symptoms" and value:
                symptoms += _flow_list(value)
    unique = tuple(dict.fromkeys(each[:_LONGEST_SYMPTOM] for each in symptoms if each.strip()))[:_MOST_SYMPTOMS]
    return FrontMatter(declared, unique, end + 1, tuple(problems))


def _flow_list(value: str) -> list[str]:
    inner = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    return [_unquoted(each) for each in re.findall(r"\"[^\"\n]*\"|'[^'\n]*'|[^,\n]+", inner)]


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else _without_comment(value)


def _without_comment(value: str) -> str:
    return re.split(r"[ \t]#", value, maxsplit=1)[0].strip()
