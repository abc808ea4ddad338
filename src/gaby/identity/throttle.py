"""Limits on guessing passwords.

An attempt is *reserved before* the password is looked at, by one statement in the database that counts and tells the
count. Forty guesses at once, also in several processes or on several machines, are forty reservations, and only as
many as the limit allows ever reach the password.

A limit that counts by account alone lets any stranger lock the owner out; one that counts by network alone lets a
botnet guess. So there are separate buckets, and what the owner has and a stranger has not decides which ones apply:

- A *known device*, a browser that signed in to this account before and shows its cookie, has a bucket of its own.
  Nothing that happens elsewhere fills it. (OWASP describes this as device cookies.)
- From a *known network*, one that the account signed in from before, only (account, network) counts. A stranger would
  have to be in that network to fill it.
- From anywhere else, (account, network) counts, and two wider buckets slow down guessing that is spread out: over many
  accounts from one network, or over many networks against one account.

What remains: while somebody attacks an account from many networks, its owner cannot sign in from a place and a browser
that are both new, for at most a quarter of an hour after the attack ends.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import case, delete, select, update
from sqlalchemy.dialects.postgresql import insert as insert_postgres
from sqlalchemy.dialects.sqlite import insert as insert_sqlite

from gaby.identity.errors import TooManySignIns
from gaby.identity.models import SignInLimit
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database, WriteSession
from gaby.kernel.ids import SYSTEM

ATTEMPTS = 10
SPREAD_ATTEMPTS = 100
WINDOW = timedelta(minutes=15)
_SWEEP_EVERY = 60.0
_SWEPT_AT_ONCE = 10_000


@dataclass(frozen=True)
class SignInAttempt:
    account: str
    """The name that was given, whether or not somebody has it."""
    network: str
    device: bytes | None = None
    """The hash of the device cookie, if the account knows the device."""
    from_known_network: bool = False

    @property
    def own_bucket(self) -> bytes:
        """Forgiven when the password is right."""
        if self.device is not None:
            return _bucket("device", self.device.hex())
        return _bucket("account and network", self.account, self.network)

    @property
    def limits(self) -> dict[bytes, int]:
        """By bucket, always in the same order, so that two attempts never wait for each other."""
        limits = {self.own_bucket: ATTEMPTS}
        if self.device is None and not self.from_known_network:
            limits[_bucket("account", self.account)] = SPREAD_ATTEMPTS
            limits[_bucket("network", self.network)] = SPREAD_ATTEMPTS
        return dict(sorted(limits.items()))


class Throttle:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._swept = float("-inf")

    async def reserve(self, attempt: SignInAttempt) -> None:
        """Count the attempt, or raise `TooManySignIns` and count nothing. Opens a transaction of its own."""
        await self._sweep()
        now = self._clock.now()
        async with self._database.write(SYSTEM) as session:
            for bucket, limit in attempt.limits.items():
                attempts, started_at = await self._count(session, bucket, now)
                if attempts > limit:
                    raise TooManySignIns(retry_after=max(1, int((started_at + WINDOW - now).total_seconds())))

    async def succeeded(self, session: WriteSession, attempt: SignInAttempt) -> None:
        """The password was right: forgive the owner's own mistakes, and take this attempt out of the wider counts."""
        for bucket in attempt.limits:
            same = SignInLimit.bucket == bucket
            if bucket == attempt.own_bucket:
                await session.execute(delete(SignInLimit).where(same))
            else:
                less = update(SignInLimit).where(same, SignInLimit.attempts > 0)
                await session.execute(less.values(attempts=SignInLimit.attempts - 1))

    async def _count(self, session: WriteSession, bucket: bytes, now: datetime) -> tuple[int, datetime]:
        insert = insert_postgres if self._database.dialect == "postgresql" else insert_sqlite
        is_over = SignInLimit.started_at <= now - WINDOW
        counted = (
            insert(SignInLimit)
            .values(bucket=bucket, started_at=now, attempts=1)
            .on_conflict_do_update(
                index_elements=[SignInLimit.bucket],
                set_={
                    "attempts": case((is_over, 1), else_=SignInLimit.attempts + 1),
                    "started_at": case((is_over, now), else_=SignInLimit.started_at),
                },
            )
            .returning(SignInLimit.attempts, SignInLimit.started_at)
        )
        attempts, started_at = (await session.execute(counted)).one()
        return attempts, started_at

    async def _sweep(self) -> None:
        """Forget windows that are over, so that invented names do not fill the disk."""
        if self._clock.monotonic() - self._swept < _SWEEP_EVERY:
            return
        self._swept = self._clock.monotonic()
        over = select(SignInLimit.bucket).where(SignInLimit.started_at <= self._clock.now() - WINDOW)
        some = over.limit(_SWEPT_AT_ONCE).with_for_update(skip_locked=True)
        async with self._database.write(SYSTEM) as session:
            await session.execute(delete(SignInLimit).where(SignInLimit.bucket.in_(some)))


def _bucket(*parts: str) -> bytes:
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).digest()
