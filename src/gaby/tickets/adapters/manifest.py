"""What each adapter says of itself in `manifest.toml`, and how good that makes it.

A rule is `done` and names the tests that show it, `exempt` and says why, or `todo`. A scale is reached when none of its
rules, and none of the lower scales', is `todo`. The tests of the adapters check what a manifest says."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gaby.kernel.errors import GabyError
from gaby.tickets.adapters.adapter import AdapterKind, DeskCapabilities

Scale = Literal["none", "bronze", "silver", "gold"]
SCALES: tuple[Scale, ...] = ("none", "bronze", "silver", "gold")

RULES: Mapping[Scale, Mapping[str, str]] = {
    "bronze": {
        "polls_without_gaps": "Polling brings every ticket that is new or changed, also when many change at one time.",
        "normalises_hostile_input": "Whatever a ticket is made of, a clean ticket comes of it, or `TicketUnreadable`.",
        "posts_once": "A reply whose answer was lost is found again and not posted a second time.",
        "recognises_own_replies": "Gaby's own replies are known as such, and nobody else's are taken for them.",
        "documented": "There is a page on how to connect it.",
        "config_described": "Each setting says what it means, and secrets are sealed.",
    },
    "silver": {
        "verifies_webhooks": "A delivery is read only after its signature was found right.",
        "refuses_replays": "An old delivery is refused, and a repeated one has the same id.",
        "survives_garbage": "Pages instead of JSON, halves of answers and lost connections are errors with a name.",
        "honours_rate_limits": "When the desk asks for a pause, it says how long and Gaby waits.",
    },
    "gold": {
        "renews_credentials": "Credentials that end are renewed in time, and the new ones are kept.",
        "sets_status": "The verdict is shown in the desk's own terms; setting it twice is as good as once.",
        "tested_against_a_real_server": "The tests talk to the vendor's own server, not to a scripted one.",
    },
}
_TEST = re.compile(r"tests/[\w/]+\.py::test_\w+")


class BadManifest(GabyError):
    """An adapter's manifest cannot be used."""


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class QualityRule(_StrictModel):
    status: Annotated[Literal["done", "exempt", "todo"], Field(description="Where this stands.")]
    tests: Annotated[tuple[str, ...], Field(description="For done: the tests that show it.")] = ()
    reason: Annotated[str, Field(description="For exempt and todo: why.")] = ""

    @model_validator(mode="after")
    def _shown(self) -> Self:
        if self.status == "done" and not self.tests:
            raise ValueError("what is done names the tests that show it")
        if self.status != "done" and not self.reason:
            raise ValueError(f"what is {self.status} says why")
        if wrong := [test for test in self.tests if not _TEST.fullmatch(test)]:
            raise ValueError(f"a test is named as tests/FILE.py::test_NAME, not {wrong[0]}")
        return self


class Quality(_StrictModel):
    scale: Annotated[Scale, Field(description="What the rules give; checked.")]
    rules: Annotated[Mapping[str, QualityRule], Field(description="Every rule, by its name.")]


class AdapterManifest(_StrictModel):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", description="The adapter's folder.")]
    title: Annotated[str, Field(min_length=1, description="What people call it.")]
    documentation: Annotated[str, Field(pattern=r"^docs/.+\.md$", description="The page on how to connect it.")]
    config: Annotated[str, Field(pattern=r"^[\w.]+:\w+$", description="The class of its settings, as module:Class.")]
    capabilities: Annotated[Mapping[str, bool], Field(description="What it can do; checked against the code.")]
    quality: Quality

    @property
    def declared(self) -> DeskCapabilities:
        return DeskCapabilities(**self.capabilities)


def load(path: Path) -> AdapterManifest:
    try:
        manifest = AdapterManifest.model_validate(tomllib.loads(path.read_text()))
    except (OSError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise BadManifest(f"{path.parent.name}/{path.name} cannot be used: {reason}.") from error
    expected = {name for rules in RULES.values() for name in rules}
    if expected != set(manifest.quality.rules):
        odd = ", ".join(sorted(expected ^ set(manifest.quality.rules)))
        raise BadManifest(f"{path.parent.name}/{path.name} has other rules than there are: {odd}.")
    return manifest


def manifests(folder: Path = Path(__file__).parent) -> Sequence[AdapterManifest]:
    return [load(path) for path in sorted(folder.glob("*/manifest.toml"))]


def reached_scale(manifest: AdapterManifest) -> Scale:
    """The scale that the rules give."""
    reached: Scale = "none"
    for scale in SCALES[1:]:
        if any(manifest.quality.rules[name].status == "todo" for name in RULES[scale]):
            break
        reached = scale
    return reached


def kind_of(manifest: AdapterManifest) -> AdapterKind[Any]:
    """What the adapter's folder exports."""
    return import_module(f"gaby.tickets.adapters.{manifest.name}").kind
