"""What all products of these tests share: the outside, and an installation that was set up once."""

from collections.abc import Generator

import pytest

from tests.chaos.product import Outside, Product


@pytest.fixture(scope="session")
def outside() -> Generator[Outside]:
    made = Outside()
    yield made
    made.close()


@pytest.fixture(scope="session")
def template(outside: Outside, tmp_path_factory: pytest.TempPathFactory) -> Product:
    """On SQLite, connected and never started."""
    product = Product("sqlite", tmp_path_factory.mktemp("chaos"), outside)
    product.prepare()
    return product
