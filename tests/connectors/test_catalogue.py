"""The list of connectors can be read without paying for any of them."""

import json
import subprocess
import sys

import pytest

from gaby_connectors.catalogue import BUNDLED, settings_of_bundle

pytestmark = pytest.mark.promise("M6")
HEAVY = ("mcp", "psycopg", "ldap3", "redis", "httpx2", "starlette")


@pytest.mark.parametrize("name", BUNDLED)
def test_every_connector_can_be_described(name: str) -> None:
    bundle = BUNDLED[name]
    settings = settings_of_bundle(bundle)
    assert bundle.title
    assert bundle.description
    assert all(setting.description for setting in settings)
    assert all(setting.variable.isupper() for setting in settings)


def test_reading_the_list_loads_no_library_of_a_connector() -> None:
    code = "import sys, json, gaby_connectors.catalogue; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert "gaby_connectors.catalogue" in loaded
    assert [name for name in HEAVY if name in loaded] == []
