"""What others than the tool may see: arguments and results with personal data taken out."""

from collections.abc import Mapping
from typing import Any

from gaby.mcp import Answered
from gaby.safety import ALL_KINDS, SECRET_KINDS, Kind
from gaby.tools.runs import Run
from gaby_connectors.sdk.manifest import ToolManifest

_FOR_THE_CALL = ALL_KINDS - SECRET_KINDS
"""A planner that was shown a placeholder for a secret has no business sending the secret anywhere."""


def real_arguments(arguments: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The arguments as the tool needs them: a model saw placeholders and wrote placeholders."""
    return run.placeholders.restore_value(dict(arguments), allow=_FOR_THE_CALL)


def shown_arguments(arguments: Mapping[str, Any], run: Run) -> dict[str, Any]:
    return run.redactor.redact_value(dict(arguments), run.placeholders).value


def shown_result(manifest: ToolManifest, answer: Answered, run: Run) -> Any:
    result = answer.structured if answer.structured is not None else answer.text
    return run.redactor.redact_value(result, run.placeholders, hints=_hints(manifest), from_outside=True).value


def _hints(manifest: ToolManifest) -> dict[str, Kind]:
    return {path.replace("[]", ".*").strip("."): "personal" for path in manifest.redact}
