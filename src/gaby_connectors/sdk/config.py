"""Settings of a connector: a small model that is read from environment variables and can describe itself."""

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from gaby_connectors.sdk.errors import NotConfigured


class ConnectorConfig(BaseModel):
    """Subclass it with one field per setting, each with a description; secrets are `SecretStr`."""

    model_config = ConfigDict(frozen=True, extra="ignore", validate_default=True)

    prefix: ClassVar[str] = ""
    """Begins the name of every variable: `LDAP_` makes `url` into `LDAP_URL`."""


ConfigT = TypeVar("ConfigT", bound=ConnectorConfig)


class ConnectorSetting(BaseModel):
    """One setting, as somebody who is asked for it needs to see it."""

    model_config = ConfigDict(frozen=True)

    variable: str
    field: str
    description: str
    required: bool
    secret: bool
    default: str | None = None
    choices: tuple[str, ...] = ()


def settings_of(model: type[ConnectorConfig]) -> tuple[ConnectorSetting, ...]:
    """Every setting of a connector, in the order in which it declares them."""
    return tuple(_setting(model, name, field) for name, field in model.model_fields.items())


def load(model: type[ConfigT], environment: Mapping[str, str]) -> ConfigT:
    """The settings from the environment. An empty variable counts as not set."""
    given: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        text = environment.get(variable_of(model, name), "")
        if text.strip():
            given[name] = _split(text) if _is_list(field.annotation) else text.strip()
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise NotConfigured("\n".join(_problems(model, error))) from None


def variable_of(model: type[ConnectorConfig], field: str) -> str:
    return f"{model.prefix}{field}".upper()


def secrets_of(config: BaseModel) -> Iterable[str]:
    """The text of every secret that is set."""
    for name in type(config).model_fields:
        value = getattr(config, name)
        if isinstance(value, SecretStr) and value.get_secret_value():
            yield value.get_secret_value()


def _setting(model: type[ConnectorConfig], name: str, field: FieldInfo) -> ConnectorSetting:
    secret = SecretStr in _kinds(field.annotation)
    default = None if field.is_required() or field.default is None or secret else _shown(field.default)
    return ConnectorSetting(
        variable=variable_of(model, name),
        field=name,
        description=field.description or "",
        required=field.is_required(),
        secret=secret,
        default=default,
        choices=_choices(field.annotation),
    )


def _problems(model: type[ConnectorConfig], error: ValidationError) -> Iterable[str]:
    # Only the reason is told, never the value: it may be the secret.
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        field = str(problem["loc"][0]) if problem["loc"] else ""
        name = variable_of(model, field) if field else "settings"
        if problem["type"] == "missing":
            yield f"{name} is not set: {model.model_fields[field].description or 'it is needed'}"
        else:
            yield f"{name}: {problem['msg']}"


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _kinds(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) in (Union, UnionType):
        return tuple(kind for part in get_args(annotation) for kind in _kinds(part))
    return (annotation,)


def _is_list(annotation: Any) -> bool:
    return any(get_origin(kind) in (tuple, list, frozenset) for kind in _kinds(annotation))


def _choices(annotation: Any) -> tuple[str, ...]:
    for kind in _kinds(annotation):
        if get_origin(kind) is Literal:
            return tuple(str(choice) for choice in get_args(kind))
    return ()


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple | list | frozenset):
        return ",".join(str(part) for part in cast("Iterable[Any]", default))
    return str(default)
