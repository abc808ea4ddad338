"""The connectors that come with Gaby. Reading this list loads none of them."""

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

from gaby_connectors.sdk.config import ConnectorConfig, ConnectorSetting, settings_of


class Bundle(NamedTuple):
    title: str
    description: str
    module: str
    config: str
    """The name of its settings' class, in its `config` module."""
    local: bool = False
    """Its settings name files of the machine that it runs on."""


BUNDLED: Mapping[str, Bundle] = {
    "filesystem": Bundle(
        "Files",
        "List, read and search the files of one folder.",
        "gaby_connectors.filesystem",
        "FilesystemConfig",
        local=True,
    ),
    "http-openapi": Bundle(
        "HTTP API", "Tools made from an OpenAPI file.", "gaby_connectors.http_openapi", "OpenApiConfig", local=True
    ),
    "keycloak": Bundle(
        "Keycloak", "Users, their sessions, resets and locks.", "gaby_connectors.keycloak", "KeycloakConfig"
    ),
    "ldap": Bundle("LDAP", "People, groups, locks and passwords of a directory.", "gaby_connectors.ldap", "LdapConfig"),
    "postgres": Bundle("Postgres", "Read-only questions to a database.", "gaby_connectors.postgres", "PostgresConfig"),
    "prometheus": Bundle(
        "Prometheus", "Metrics, alerts and targets.", "gaby_connectors.prometheus", "PrometheusConfig"
    ),
    "redis": Bundle("Redis", "Keys of a Redis or Valkey server.", "gaby_connectors.redis", "RedisConfig"),
    "sample-company": Bundle(
        "Sample company",
        "A small fictional company to try Gaby on.",
        "gaby_connectors.sample_company",
        "SampleCompanyConfig",
        local=True,
    ),
    "time": Bundle("Time", "The time here and elsewhere.", "gaby_connectors.time", "TimeConfig"),
}


def settings_of_bundle(bundle: Bundle) -> tuple[ConnectorSetting, ...]:
    config: type[ConnectorConfig] = getattr(import_module(f"{bundle.module}.config"), bundle.config)
    return settings_of(config)
