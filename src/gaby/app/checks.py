"""What Gaby needs to work, checked one by one. The server's readiness and `gaby doctor` ask the same questions."""

import asyncio
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from gaby.agent.liveness import IN_WORDS, Liveness
from gaby.agent.run_start import RunStarter
from gaby.app.installation import explain_missing, open_configured_database
from gaby.audit import Appender, AuditLog, parse_witnesses, ping_witnesses
from gaby.kernel.checks import Check, RunCheck
from gaby.kernel.clock import Clock, SystemClock
from gaby.kernel.database import AllWorkspaces, Database
from gaby.kernel.errors import GabyError
from gaby.kernel.ids import IdFactory
from gaby.migrations import inspect_schema
from gaby.settings import Settings
from gaby.worker.schedules import schedule_health

_LITTLE_DISK = 64 * 1024 * 1024
_TIMEOUT = 5.0
_LOOK_EVERY = 5.0


def database_check(database: Database) -> RunCheck:
    async def check() -> Check:
        try:
            async with asyncio.timeout(_TIMEOUT):
                await database.ping()
        except GabyError as error:
            return Check("database", "fail", error.message, "Start the database, or correct GABY_DATABASE_URL.")
        except TimeoutError:
            return Check("database", "fail", "The database does not answer.", "Look at its load and its log.")
        return Check("database", "ok", f"answers ({database.dialect})")

    return check


def schema_check(database: Database, *, none: str = "there are none yet") -> RunCheck:
    """`none` says that there are no tables."""

    async def check() -> Check:
        try:
            state = await asyncio.to_thread(inspect_schema, database)
        except GabyError as error:
            return Check("tables", "fail", error.message, "See `gaby db check`.")
        if state == "current":
            return Check("tables", "ok", "up to date")
        missing = none if state == "empty" else "they are from an older version"
        return Check("tables", "fail", missing, "Run `gaby db upgrade`, or `gaby serve`, which does it.")

    return check


def disk_check(folder: Path) -> RunCheck:
    async def check() -> Check:
        try:
            await asyncio.to_thread(_write_probe, folder)
            free = shutil.disk_usage(folder).free
        except OSError as error:
            reason = error.strerror or "cannot be written"
            return Check("disk", "fail", f"{folder}: {reason}", "Free some space, or mend the folder's rights.")
        if free < _LITTLE_DISK:
            return Check("disk", "warn", f"only {free // 2**20} MB are free", "Free some space.")
        return Check("disk", "ok", f"{free // 2**30} GB free")

    return check


def _write_probe(folder: Path) -> None:
    """A full disk says so only when a file must grow."""
    probe = folder / f".probe-{os.getpid()}"
    try:
        with probe.open("wb") as file:
            file.write(bytes(8192))
            file.flush()
            os.fsync(file.fileno())
    finally:
        probe.unlink(missing_ok=True)


def schedules_check(database: Database, clock: Clock) -> RunCheck:
    """Whether somebody does what has to be done again and again: polls desks, ends approvals, checks the audit log."""

    async def run_check() -> Check:
        try:
            async with database.read(AllWorkspaces("schedules serve every workspace")) as session:
                health = await schedule_health(session, clock.now())
        except GabyError as error:
            return Check("schedules", "warn", error.message, "Start the database, or run `gaby db upgrade`.")
        late = [each for each in health if each.late]
        if late:
            longest = max(each.late for each in late)
            names = ", ".join(each.name for each in late)
            message = f"nobody does {names}, for up to {longest.total_seconds() / 60:.0f} min"
            return Check("schedules", "warn", message, "Start `gaby serve`, or with several machines `gaby worker`.")
        if broken := [f"{each.name} ({each.problem})" for each in health if each.problem]:
            return Check("schedules", "warn", f"failed the last time: {', '.join(broken)}", "Look at the log.")
        return Check("schedules", "ok", "each was done in time" if health else "none has begun yet")

    return _now_and_then(run_check, clock)


def liveness_check(liveness: Liveness) -> RunCheck:
    """Whether somebody moves every ticket that was accepted."""

    async def run_check() -> Check:
        try:
            violations = await liveness.broken()
        except GabyError as error:
            return Check("tickets", "warn", error.message, "Start the database, or run `gaby db upgrade`.")
        if wrong := [f"{count} {IN_WORDS[rule]}" for rule, count in violations.items() if count]:
            return Check("tickets", "warn", "; ".join(wrong), "Start `gaby serve` or `gaby worker`, and see the log.")
        return Check("tickets", "ok", "somebody moves each of them")

    return _now_and_then(run_check, liveness.clock)


def _now_and_then(run_check: RunCheck, clock: Clock) -> RunCheck:
    """Looked at every few seconds only: load balancers ask all the time, and it changes in minutes."""
    known: list[tuple[float, Check]] = []

    async def check() -> Check:
        now = clock.monotonic()
        if not known or now - known[-1][0] >= _LOOK_EVERY:
            known[:] = [(now, await run_check())]
        return known[-1][1]

    return check


def private_file_check(name: str, path: Path, *, in_settings: bool) -> RunCheck:
    async def check() -> Check:
        if in_settings:
            return Check(name, "ok", "given in the settings")
        mode = await asyncio.to_thread(_mode, path)
        if mode is None:
            return Check(name, "warn", "not made yet", "`gaby serve` makes it at the first start.")
        if mode & 0o077:
            return Check(name, "fail", f"{path} can be read by others", f"chmod 600 {path}, and rotate it.")
        return Check(name, "ok", f"{path}, readable by its owner only")

    return check


def _mode(path: Path) -> int | None:
    return path.stat().st_mode & 0o777 if path.exists() else None


def from_report(name: str, trouble: Callable[[], str | None], fix: str) -> RunCheck:
    """A part that knows by itself what is wrong with it."""

    async def check() -> Check:
        wrong = trouble()
        return Check(name, "ok", "well") if wrong is None else Check(name, "fail", wrong, fix)

    return check


def _liveness(database: Database, clock: Clock, settings: Settings) -> Liveness:
    ids = IdFactory(clock, secrets.token_bytes)
    return Liveness(
        database=database,
        clock=clock,
        audit=AuditLog(database, Appender(clock, ids)),
        starter=RunStarter(clock, ids),
        lease=settings.worker.lease,
        longest_call=settings.connectors.call_deadline,
    )


async def diagnose(settings: Settings) -> list[Check]:
    """All checks of an installation that is not running here. Nothing is created or started."""
    database, clock = open_configured_database(settings), SystemClock()
    runs = [
        schema_check(database, none=explain_missing(settings)),
        database_check(database),
        disk_check(settings.home if settings.home.is_dir() else settings.home.absolute().parent),
        schedules_check(database, clock),
        liveness_check(_liveness(database, clock, settings)),
        private_file_check("master key", settings.master_key_path, in_settings=settings.crypto.master_key is not None),
        private_file_check(
            "signing key", settings.signing_key_path, in_settings=settings.audit.signing_key is not None
        ),
    ]
    if witnesses := parse_witnesses(settings.audit.witnesses):
        runs.append(lambda: ping_witnesses(witnesses))
    try:
        checks = [Check("settings", "ok", "understood"), *[await run() for run in runs]]
    finally:
        await database.close()
    return [*checks, *(await _check_workspaces(settings, checks))]


async def _check_workspaces(settings: Settings, checks: list[Check]) -> list[Check]:
    """Only where the tables and the master key are there: to look would make a key, and hide that it was lost."""
    well = {check.name for check in checks if check.health == "ok"}
    if not {"tables", "database", "master key"} <= well:
        return []
    from gaby.app.compose import build
    from gaby.app.workspace_checks import check_workspaces

    try:
        gaby = build(settings)
        async with gaby.running(background=False):
            return await check_workspaces(gaby)
    except GabyError as error:
        return [Check("workspaces", "fail", error.message, "See the message.")]
