"""Failpoints: named places in the code where a test can make Gaby die, fail or wait."""

import asyncio
import os
import re
import signal
import time
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path

from gaby.kernel.errors import GabyError, Misconfigured

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_ACTION = re.compile(
    r"(?P<verb>kill|error|delay)(?::(?P<seconds>[0-9]{1,6}(?:\.[0-9]{1,6})?))?"
    r"(?:\*(?P<first>[1-9][0-9]{0,8})|@(?P<only>[1-9][0-9]{0,8}))?"
)
_ALLOWED = "Allowed: NAME=kill, NAME=error or NAME=delay:SECONDS, then *N for the first N hits or @N for hit N only."


class FailpointError(GabyError):
    """A failpoint was told to fail here. Unset `GABY_FAILPOINTS` unless you are testing."""


class FailpointVerb(StrEnum):
    KILL = "kill"
    ERROR = "error"
    DELAY = "delay"


@dataclass(frozen=True)
class FailpointAction:
    """What happens at a failpoint, and at which hits: the first so many, one only, or every one."""

    verb: FailpointVerb
    seconds: float = 0.0
    first: int | None = None
    only: int | None = None

    def is_due(self, hit: int) -> bool:
        if self.only is not None:
            return hit == self.only
        return self.first is None or hit <= self.first


@dataclass(frozen=True)
class FailpointSpec:
    """A parsed `GABY_FAILPOINTS`."""

    actions: dict[str, FailpointAction]
    record: Path | None = None


def parse(spec: str) -> FailpointSpec:
    actions: dict[str, FailpointAction] = {}
    record: Path | None = None
    for entry in (part.strip() for part in spec.split(",")):
        if entry.startswith("record:"):
            record = _record_path(entry, record)
        elif entry:
            name, action = _entry(entry)
            if name in actions:
                raise Misconfigured(f"GABY_FAILPOINTS names {name!r} twice. {_ALLOWED}")
            actions[name] = action
    return FailpointSpec(actions, record)


def configure(spec: str | None) -> None:
    """Arms the failpoints of `GABY_FAILPOINTS`; nothing, or an empty text, disarms all of them."""
    parsed = parse(spec or "")
    if parsed.record:
        try:
            parsed.record.touch(mode=0o600)
        except OSError as error:
            raise Misconfigured(f"GABY_FAILPOINTS cannot record to {parsed.record}: {error.strerror}.") from error
    _armed.clear()
    if parsed.actions or parsed.record:
        _armed.append(_ArmedFailpoint(parsed))


def failpoint(name: str) -> None:
    if _armed and (action := _armed[0].hit(name)):
        if action.verb is FailpointVerb.DELAY:
            time.sleep(action.seconds)
        else:
            _strike(name, action)


async def failpoint_async(name: str) -> None:
    if _armed and (action := _armed[0].hit(name)):
        if action.verb is FailpointVerb.DELAY:
            await asyncio.sleep(action.seconds)
        else:
            _strike(name, action)


@dataclass
class _ArmedFailpoint:
    spec: FailpointSpec
    seen: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        # `next` on a count is atomic, so threads never share a hit.
        self._hits = {name: count(1) for name in self.spec.actions}

    def hit(self, name: str) -> FailpointAction | None:
        if self.spec.record and name not in self.seen:
            self.seen.add(name)
            with self.spec.record.open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
        action = self.spec.actions.get(name)
        return action if action and action.is_due(next(self._hits[name])) else None


_armed: list[_ArmedFailpoint] = []


def _strike(name: str, action: FailpointAction) -> None:
    if action.verb is FailpointVerb.KILL:
        os.kill(os.getpid(), signal.SIGKILL)
    raise FailpointError(f"Failpoint {name!r} was told to fail. Unset `GABY_FAILPOINTS` unless you are testing.")


def _entry(entry: str) -> tuple[str, FailpointAction]:
    name, _, what = entry.partition("=")
    if not _NAME.fullmatch(name):
        raise Misconfigured(f"GABY_FAILPOINTS has no usable name in {entry!r}. {_ALLOWED}")
    match = _ACTION.fullmatch(what)
    if not match or (match["verb"] == "delay") != (match["seconds"] is not None):
        raise Misconfigured(f"GABY_FAILPOINTS asks for {what!r} at {name!r}, which is not an action. {_ALLOWED}")
    return name, FailpointAction(
        FailpointVerb(match["verb"]),
        float(match["seconds"] or 0),
        int(match["first"]) if match["first"] else None,
        int(match["only"]) if match["only"] else None,
    )


def _record_path(entry: str, earlier: Path | None) -> Path:
    text = entry.removeprefix("record:")
    if not text or "\0" in text:
        raise Misconfigured("GABY_FAILPOINTS has `record:` without a path. Allowed: record:PATH.")
    if earlier:
        raise Misconfigured("GABY_FAILPOINTS has `record:` twice. Allowed: one record:PATH.")
    return Path(text)
