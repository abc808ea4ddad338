"""What others than the tool may see: arguments and results with personal data taken out."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from gaby.mcp import ToolCallResult
from gaby.safety import PERSONAL_KINDS, Kind, canonical_json
from gaby.tools.errors import ArgumentsNotJson
from gaby.tools.runs import Run
from gaby_connectors.sdk.manifest import ToolManifest

_MOST_BYTES = 64_000
_PLACEHOLDER = re.compile(r"\[[a-z_]+(?::[\w-]+)?\]")


def real_arguments(arguments: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The arguments as the tool needs them: a model saw placeholders and wrote placeholders."""
    # A planner that was shown a placeholder for a secret has no business sending the secret anywhere.
    return run.placeholders.restore_value(_as_json(arguments), allow=PERSONAL_KINDS)


def _as_json(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that nobody else can change, of what every later step can read."""
    try:
        text = canonical_json(dict(arguments))
        if len(text.encode()) > _MOST_BYTES:
            raise ArgumentsNotJson
        return json.loads(text, parse_int=_short)
    except (TypeError, ValueError, RecursionError):
        raise ArgumentsNotJson from None


def _short(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**63:
        raise ArgumentsNotJson
    return number


def shown_arguments(arguments: Mapping[str, Any], run: Run) -> dict[str, Any]:
    return run.redactor.redact_value(dict(arguments), run.placeholders).value


def shown_result(manifest: ToolManifest, answer: ToolCallResult, run: Run) -> Any:
    result = answer.structured if answer.structured is not None else answer.text
    return run.redactor.redact_value(result, run.placeholders, hints=_hints(manifest), from_outside=True).value


def _hints(manifest: ToolManifest) -> dict[str, Kind]:
    return dict.fromkeys(manifest.redact, "personal")


def placeholders_kept(changed: Any, shown: Any) -> str:
    """A placeholder of the text that was shown which a person has left in their own; nobody could read it."""
    known = set(_PLACEHOLDER.findall(canonical_json(shown)))
    return next((each for each in _PLACEHOLDER.findall(canonical_json(changed)) if each in known and ":" in each), "")


def hidden_values(real: Any, shown: Any) -> Iterator[str]:
    """What was taken out of a text that was shown: with it the next text can be shown in the same way."""
    if isinstance(real, str) and isinstance(shown, str):
        first, *pieces = _PLACEHOLDER.split(shown)
        at = len(first)
        for number, piece in enumerate(pieces, 1):
            is_last = number == len(pieces)
            end = len(real) - len(piece) if is_last else real.find(piece, at + 1)
            if end < at:
                return
            yield real[at:end]
            at = end + len(piece)
    elif isinstance(real, Mapping) and isinstance(shown, Mapping):
        there = cast("Mapping[str, Any]", shown)
        for name, value in cast("Mapping[str, Any]", real).items():
            yield from hidden_values(value, there.get(name))
    elif isinstance(real, list) and isinstance(shown, list):
        for one, other in zip(cast("list[Any]", real), cast("list[Any]", shown), strict=False):
            yield from hidden_values(one, other)
