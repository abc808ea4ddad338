"""Guessing passwords is limited also when many guess at once, and no stranger can keep the owner out."""

import asyncio
import subprocess
import sys
from datetime import timedelta

import httpx2
import pytest

from gaby.identity import Role
from gaby.identity.errors import TooManySignIns
from gaby.identity.models import Person
from gaby.identity.throttle import ATTEMPTS, SPREAD_ATTEMPTS, WINDOW, SignInAttempt, Throttle
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.ids import SYSTEM
from tests.support.app_client import PASSWORD, World
from tests.support.database_dump import row_counts

pytestmark = pytest.mark.promise("P1")

ADA = "ada@acme.example"
GUESS = "a guess like any other"
HOME, STRANGER = "192.0.2.7", "198.51.100.9"


async def try_password(client: httpx2.AsyncClient, password: str = GUESS, email: str = ADA) -> httpx2.Response:
    return await client.post("/api/session", json={"email": email, "password": password})


async def outcomes(throttle: Throttle, attempts: list[SignInAttempt]) -> int:
    """How many were let through."""
    results = await asyncio.gather(*map(throttle.reserve, attempts), return_exceptions=True)
    assert all(result is None or isinstance(result, TooManySignIns) for result in results), results
    return results.count(None)


async def test_of_forty_guesses_at_once_ten_reach_the_password(world: World) -> None:
    await world.person(ADA)
    async with world.client(address=STRANGER) as client:
        answers = await asyncio.gather(*(try_password(client) for _ in range(40)))
        statuses = [answer.status_code for answer in answers]
        assert (statuses.count(401), statuses.count(429)) == (ATTEMPTS, 40 - ATTEMPTS)
        assert (await try_password(client, PASSWORD)).status_code == 429


async def test_two_services_on_one_database_share_the_count(db: Database, clock: ManualClock) -> None:
    attempt = SignInAttempt(ADA, "192.0.2.0/24")
    both = [Throttle(db, clock), Throttle(db, clock)]
    passed = await asyncio.gather(*(outcomes(each, [attempt] * 20) for each in both))
    assert sum(passed) == ATTEMPTS


PROCESS = """
import asyncio, sys
from gaby.identity.errors import TooManySignIns
from gaby.identity.throttle import SignInAttempt, Throttle
from gaby.kernel.clock import SystemClock
from gaby.kernel.database import open_database

async def main():
    database = open_database(sys.argv[1])
    throttle = Throttle(database, SystemClock())
    attempt = SignInAttempt("ada@acme.example", "192.0.2.0/24")
    results = await asyncio.gather(*(throttle.reserve(attempt) for _ in range(20)), return_exceptions=True)
    assert all(result is None or isinstance(result, TooManySignIns) for result in results), results
    print(results.count(None))
    await database.close()

asyncio.run(main())
"""


def test_processes_share_the_count(database_url: str) -> None:
    command = [sys.executable, "-c", PROCESS, database_url]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    passed = [int(process.communicate(timeout=60)[0]) for process in running]
    assert sum(passed) == ATTEMPTS


async def test_the_window_opens_again(db: Database, clock: ManualClock) -> None:
    throttle, attempt = Throttle(db, clock), SignInAttempt(ADA, "192.0.2.0/24")
    assert await outcomes(throttle, [attempt] * (ATTEMPTS + 1)) == ATTEMPTS
    clock.advance(WINDOW - timedelta(seconds=1))
    with pytest.raises(TooManySignIns) as refused:
        await throttle.reserve(attempt)
    assert refused.value.headers == {"Retry-After": "1"}
    clock.advance(timedelta(seconds=1))
    assert await outcomes(throttle, [attempt] * (ATTEMPTS + 1)) == ATTEMPTS


async def test_a_stranger_elsewhere_does_not_lock_the_owner_out(world: World) -> None:
    await world.person(ADA)
    async with world.client(address=STRANGER) as stranger, world.client(address=HOME) as owner:
        for _ in range(ATTEMPTS + 2):
            await try_password(stranger)
        assert (await try_password(stranger, PASSWORD)).status_code == 429
        assert (await try_password(owner, PASSWORD)).status_code == 201


async def test_a_stranger_in_the_same_network_does_not_lock_a_known_device_out(world: World) -> None:
    await world.person(ADA)
    async with world.client(address=HOME) as owner, world.client(address="192.0.2.8") as stranger:
        assert (await try_password(owner, PASSWORD)).status_code == 201
        owner.cookies.delete("gaby_session")
        for _ in range(ATTEMPTS):
            await try_password(stranger)
        assert (await try_password(stranger, PASSWORD)).status_code == 429
        assert (await try_password(owner, PASSWORD)).status_code == 201
        # A device is known, not trusted: it may not guess without end either.
        for _ in range(ATTEMPTS):
            assert (await try_password(owner)).status_code == 401
        assert (await try_password(owner, PASSWORD)).status_code == 429


async def test_a_device_is_known_to_one_account_only(world: World) -> None:
    """Somebody with an account of their own must not use its device to guess at another."""
    await world.person(ADA)
    await world.person("mallory@acme.example")
    async with world.client(address=STRANGER) as mallory:
        assert (await try_password(mallory, PASSWORD, "mallory@acme.example")).status_code == 201
        statuses = [(await try_password(mallory)).status_code for _ in range(ATTEMPTS + 1)]
        assert statuses == [401] * ATTEMPTS + [429]
        for forged in ("", "a" * 52, "\x00", "x" * 5000):
            mallory.cookies.set("gaby_device", forged.replace("\x00", "%00"))
            assert (await try_password(mallory)).status_code == 429


async def test_guessing_from_everywhere_is_slowed_but_spares_known_networks(db: Database, clock: ManualClock) -> None:
    throttle = Throttle(db, clock)
    everywhere = [SignInAttempt(ADA, f"10.0.{number}.0/24") for number in range(SPREAD_ATTEMPTS + 20)]
    assert await outcomes(throttle, everywhere) == SPREAD_ATTEMPTS
    with pytest.raises(TooManySignIns):
        await throttle.reserve(SignInAttempt(ADA, "192.0.2.0/24"))
    await throttle.reserve(SignInAttempt(ADA, "192.0.2.0/24", from_known_network=True))
    await throttle.reserve(SignInAttempt(ADA, "192.0.2.0/24", device=bytes(32)))
    await throttle.reserve(SignInAttempt("bob@acme.example", "192.0.2.0/24"))


async def test_one_password_against_many_accounts_is_slowed(db: Database, clock: ManualClock) -> None:
    throttle = Throttle(db, clock)
    spray = [SignInAttempt(f"person{number}@acme.example", "10.0.0.0/24") for number in range(SPREAD_ATTEMPTS + 20)]
    assert await outcomes(throttle, spray) == SPREAD_ATTEMPTS


async def test_the_network_of_an_earlier_sign_in_is_known(world: World) -> None:
    acme = await world.workspace("acme")
    person = await world.person(ADA, (acme, Role.VIEWER))
    await world.enter(person, address=HOME)
    throttle = world.gaby.identity.throttle
    for number in range(SPREAD_ATTEMPTS):
        await throttle.reserve(SignInAttempt(f" {ADA}", f"10.0.{number}.0/24"))
    async with world.client(address="192.0.2.200") as same_network, world.client(address=STRANGER) as elsewhere:
        assert (await try_password(elsewhere, PASSWORD)).status_code == 429
        assert (await try_password(same_network, PASSWORD)).status_code == 201


async def test_a_right_password_forgives_its_own_mistakes_and_nobody_elses(db: Database, clock: ManualClock) -> None:
    """Whoever has an account must not reset the limit of their network by signing in to it."""
    throttle = Throttle(db, clock)
    own = SignInAttempt("mallory@acme.example", "10.0.0.0/24")
    for number in range(SPREAD_ATTEMPTS - 1):
        await throttle.reserve(SignInAttempt(f"person{number}@acme.example", own.network))
    await throttle.reserve(own)
    async with db.write(SYSTEM) as session:
        await throttle.succeeded(session, own)
    await throttle.reserve(SignInAttempt(ADA, own.network))
    with pytest.raises(TooManySignIns):
        await throttle.reserve(own)


async def test_windows_that_are_over_are_forgotten(world: World, clock: ManualClock) -> None:
    throttle = world.gaby.identity.throttle
    for number in range(30):
        await throttle.reserve(SignInAttempt(f"invented{number}@acme.example", "10.0.0.0/24"))
    clock.advance(WINDOW + timedelta(minutes=2))
    await throttle.reserve(SignInAttempt(ADA, "192.0.2.0/24"))
    assert (await row_counts(world.gaby))["sign_in_limits"] == 3


async def test_an_account_remembers_so_many_devices(world: World, clock: ManualClock) -> None:
    person = await world.person(ADA)
    devices = world.gaby.identity.devices
    tokens: list[str] = []
    for _ in range(60):
        clock.advance(timedelta(seconds=1))
        async with world.gaby.database.write(SYSTEM) as session:
            tokens.append(await devices.remember(session, await session.get_one(Person, person)))
    async with world.gaby.database.read(SYSTEM) as session:
        known = [await devices.find(session, person, token) is not None for token in tokens]
    assert known == [False] * 10 + [True] * 50
