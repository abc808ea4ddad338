"""Reading the settings: the environment over the `.env` file, wrong values refused, unknown names reported."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from dotenv import dotenv_values
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from gaby.kernel.errors import Misconfigured
from gaby.settings.tree import Settings

PREFIX = "GABY_"


@dataclass(frozen=True)
class Setting:
    """One leaf of the tree, as the reference and the loader see it."""

    variable: str
    path: tuple[str, ...]
    field: FieldInfo

    @property
    def is_secret(self) -> bool:
        return "SecretStr" in str(self.field.annotation)


@dataclass(frozen=True)
class LoadedSettings:
    settings: Settings
    warnings: list[str]


def all_settings(group: type[BaseModel] = Settings, path: tuple[str, ...] = ()) -> Iterator[Setting]:
    for name, field in group.model_fields.items():
        here = (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from all_settings(field.annotation, here)
        else:
            yield Setting(PREFIX + "_".join(here).upper(), here, field)


def load(environment: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> LoadedSettings:
    """Read the environment over the `.env` file. Wrong values stop the start; unknown names only warn.

    Names count as they are written, in capitals, as everywhere on POSIX; another case is unknown.
    """
    values = dict(_from_file(env_file)) | dict(os.environ if environment is None else environment)
    given = {name: value for name, value in values.items() if name.upper().startswith(PREFIX)}
    tree: dict[str, Any] = {}
    known: set[str] = set()
    for setting in all_settings():
        known.update({setting.variable} | ({f"{setting.variable}_FILE"} if setting.is_secret else set()))
        value = _value_of(setting, given)
        if value is not None:
            _put(tree, setting.path, value)
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        raise Misconfigured(_explain(error)) from None
    return LoadedSettings(settings, [_unknown(name, known) for name in sorted(given) if name not in known])


def _from_file(env_file: Path | None) -> Iterator[tuple[str, str]]:
    if env_file is None or not env_file.is_file():
        return
    try:
        values = dotenv_values(env_file)
    except (OSError, ValueError) as error:
        raise Misconfigured(f"The file {env_file} cannot be read: {_why(error)}.") from None
    for name, value in values.items():
        if value is not None:
            yield name, value


def _value_of(setting: Setting, given: Mapping[str, str]) -> str | None:
    value = given.get(setting.variable) or None  # An empty variable means not set, as in compose files.
    file = (given.get(f"{setting.variable}_FILE") or None) if setting.is_secret else None
    if value is not None and file is not None:
        raise Misconfigured(f"Both {setting.variable} and {setting.variable}_FILE are set. Keep one.")
    return value if file is None else _secret_in(file, setting)


def _secret_in(file: str, setting: Setting) -> str:
    # Neither the path nor the contents are repeated: somebody may have put the secret itself where its path belongs.
    try:
        value = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise Misconfigured(f"The file that {setting.variable}_FILE names cannot be read: {_why(error)}.") from None
    if not value:
        raise Misconfigured(f"The file that {setting.variable}_FILE names is empty. Put the secret in it.")
    return value


def _why(error: OSError | ValueError) -> str:
    return (error.strerror or "it cannot be opened") if isinstance(error, OSError) else "it is not UTF-8 text"


def _put(tree: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    for part in path[:-1]:
        tree = cast("dict[str, Any]", tree.setdefault(part, {}))
    tree[path[-1]] = value


_WORDS = {"time_delta_parsing": "should be a span of time, such as 90s, 15m, 12h, 14d or PT15M"}


def _explain(error: ValidationError) -> str:
    lines = [
        f"{PREFIX}{'_'.join(str(part) for part in each['loc']).upper()}: {_WORDS.get(each['type'], each['msg'])}"
        for each in error.errors(include_input=False)
    ]
    return "Some settings are wrong. " + "; ".join(lines) + ". See `gaby config reference`."


def _unknown(name: str, known: set[str]) -> str:
    near = get_close_matches(name.upper(), known, n=1)
    return f"{name} is not a setting of Gaby." + (f" Did you mean {near[0]}?" if near else "")
