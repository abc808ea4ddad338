"""Known devices: browsers that have given the right password before, and so are not slowed down by strangers."""

from sqlalchemy import delete, select

from gaby.identity.models import KnownDevice, Person
from gaby.identity.secrets import hash_token, new_token
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.ids import PersonId, Random

DEVICE_COOKIE = "gaby_device"
COOKIE_DAYS = 400
"""The longest that browsers keep a cookie."""
_REMEMBERED = 50


class KnownDevices:
    def __init__(self, clock: Clock, random: Random) -> None:
        self._clock = clock
        self._random = random

    async def find(self, session: ReadSession, person_id: PersonId, token: str | None) -> bytes | None:
        """The hash of the token if this person's password was given in that browser before."""
        token_hash = hash_token(token or "")
        known = await session.get(KnownDevice, token_hash)
        return token_hash if known is not None and known.person_id == person_id else None

    async def remember(self, session: WriteSession, person: Person) -> str:
        """A token for the cookie of a browser that has just given the right password."""
        token = new_token(self._random)
        session.add(
            KnownDevice(token_hash=hash_token(token), person_id=person.id, created_at=self._clock.now()),
        )
        await session.flush()
        newest = (
            select(KnownDevice.token_hash)
            .where(KnownDevice.person_id == person.id)
            .order_by(KnownDevice.created_at.desc(), KnownDevice.token_hash)
            .limit(_REMEMBERED)
        )
        kept = (await session.scalars(newest)).all()
        if len(kept) == _REMEMBERED:
            mine = KnownDevice.person_id == person.id
            await session.execute(delete(KnownDevice).where(mine, KnownDevice.token_hash.not_in(kept)))
        return token

    async def forget_all(self, session: WriteSession, person_id: PersonId) -> None:
        await session.execute(delete(KnownDevice).where(KnownDevice.person_id == person_id))
