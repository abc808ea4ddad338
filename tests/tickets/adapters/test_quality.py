"""Every adapter has a manifest, and what it says is so."""

import ast
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel, SecretStr
from scripts.quality_page import quality_page

from gaby.kernel.clock import ManualClock
from gaby.tickets import adapters
from gaby.tickets.adapters.adapter import DeskDependencies
from gaby.tickets.adapters.manifest import (
    RULES,
    SCALES,
    AdapterManifest,
    BadManifest,
    kind_of,
    load,
    manifests,
    reached_scale,
)
from gaby_connectors.sdk.address_guard import AddressPolicy

pytestmark = pytest.mark.promise("T2")
ROOT = Path(__file__).parents[3]
FOLDER = Path(adapters.__path__[0])
MANIFESTS = {manifest.name: manifest for manifest in manifests()}
LEAST: dict[str, dict[str, Any]] = {
    "email": {
        "imap_host": "mail.acme.example",
        "imap_user": "help",
        "imap_password": "p",
        "smtp_host": "mail.acme.example",
        "from_address": "help@acme.example",
    },
    "github": {"repositories": ["acme/app"], "token": "t"},
    "inbox": {},
    "request_tracker": {"base_url": "https://rt.acme.example", "token": "t"},
    "zoho_desk": {
        "org_id": "1",
        "client_id": "c",
        "client_secret": "s",
        "refresh_token": "r",
        "from_address": "help@acme.example",
    },
}
"""The least that each adapter can be opened with."""

each_adapter = pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=list(MANIFESTS))


@cache
def functions_of(path: Path) -> frozenset[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.parse(path.read_text()).body if isinstance(node, functions))


def exists(test: str) -> bool:
    path, _, name = test.partition("::")
    return (ROOT / path).is_file() and name in functions_of(ROOT / path)


def claims(manifest: AdapterManifest, rule: str) -> bool:
    return manifest.quality.rules[rule].status == "done"


def test_every_adapter_has_a_manifest_and_every_manifest_an_adapter() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/__init__.py")}

    assert folders == set(MANIFESTS) == {path.parent.name for path in FOLDER.glob("*/manifest.toml")}


@each_adapter
def test_the_scale_is_what_the_rules_give(manifest: AdapterManifest) -> None:
    assert manifest.quality.scale == reached_scale(manifest)


@each_adapter
def test_what_is_done_is_shown_by_tests_that_exist(manifest: AdapterManifest) -> None:
    named = [test for rule in manifest.quality.rules.values() for test in rule.tests]

    assert [test for test in named if not exists(test)] == []


@each_adapter
def test_the_page_on_how_to_connect_it_exists(manifest: AdapterManifest) -> None:
    if not claims(manifest, "documented"):
        return
    page = (ROOT / manifest.documentation).read_text()

    assert [name for name in kind_of(manifest).config.model_fields if f"`{name}`" not in page] == []


@each_adapter
def test_each_setting_says_what_it_means(manifest: AdapterManifest) -> None:
    module, _, name = manifest.config.partition(":")
    config: type[BaseModel] = getattr(import_module(module), name)
    telling = ("password", "secret", "token")

    assert kind_of(manifest).config is config
    if not claims(manifest, "config_described"):
        return
    assert [name for name, field in config.model_fields.items() if not field.description] == []
    secrets = {name for name, field in config.model_fields.items() if "SecretStr" in str(field.annotation)}
    assert {name for name in config.model_fields if name.endswith(telling)} <= secrets


@each_adapter
async def test_it_can_do_what_the_manifest_says(manifest: AdapterManifest) -> None:
    kind = kind_of(manifest)
    clock = ManualClock(datetime(2030, 1, 2, tzinfo=UTC))

    async def remember(values: object) -> None:
        raise AssertionError(values)

    async with httpx2.AsyncClient(trust_env=False) as http:
        desk = kind.open(
            kind.config.model_validate(LEAST[manifest.name]),
            DeskDependencies(clock, http, AddressPolicy.anywhere(), remember),
        )
        assert desk.capabilities() == manifest.declared
        await desk.aclose()
    assert (kind.name, kind.title) == (manifest.name, manifest.title)


def test_the_page_on_quality_is_written_from_the_manifests() -> None:
    """`make docs` writes it anew."""
    assert (ROOT / "docs/reference/desk-quality.md").read_text() == quality_page(manifests())


def test_one_rule_that_is_not_done_takes_the_scale_away(tmp_path: Path) -> None:
    whole = (FOLDER / "github/manifest.toml").read_text()
    for left, lost in pairwise(SCALES):
        name = next(iter(RULES[lost]))
        start = whole.index(f"[quality.rules.{name}]")
        end = whole.index("[quality.rules.", start + 1)
        undone = f'{whole[:start]}[quality.rules.{name}]\nstatus = "todo"\nreason = "Later."\n\n{whole[end:]}'
        (tmp_path / "manifest.toml").write_text(undone)
        assert reached_scale(load(tmp_path / "manifest.toml")) == left


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[quality.rules.posts_once]", "[quality.rules.posts_twice]"),
        ('status = "exempt"', 'status = "done"'),
        ('scale = "silver"', 'scale = "platinum"'),
        ("tests/tickets/adapters/github/test_hostile.py::", "somewhere::"),
        ('name = "github"', 'name = "github"\nauthor = "me"'),
        ("[capabilities]", "[capabilities"),
    ],
)
def test_a_manifest_that_says_nonsense_is_refused(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "manifest.toml").write_text((FOLDER / "github/manifest.toml").read_text().replace(old, new))

    with pytest.raises(BadManifest):
        load(tmp_path / "manifest.toml")


def test_secrets_are_shown_nowhere() -> None:
    config = kind_of(MANIFESTS["zoho_desk"]).config.model_validate(LEAST["zoho_desk"] | {"refresh_token": "hidden"})

    assert "hidden" not in repr(config)
    assert isinstance(getattr(config, "refresh_token", None), SecretStr)
