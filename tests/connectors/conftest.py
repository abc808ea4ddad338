"""The real systems behind the connectors, each started once for a worker, when a test first asks for it."""

from collections.abc import Generator

import pytest

from tests.support.keycloak import Keycloak, keycloak_server
from tests.support.prometheus import PrometheusServer, start_prometheus
from tests.support.slapd import Slapd, start_slapd
from tests.support.valkey import Valkey, start_valkey


@pytest.fixture(scope="session")
def valkey() -> Generator[Valkey]:
    server = start_valkey()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def slapd() -> Generator[Slapd]:
    server = start_slapd()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def prometheus() -> Generator[PrometheusServer]:
    server = start_prometheus()
    yield server
    server.remove()


@pytest.fixture
def keycloak() -> Generator[Keycloak]:
    with keycloak_server() as server:
        yield server
