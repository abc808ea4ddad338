"""All of identity's services, built once."""

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from gaby.identity.devices import KnownDevices
from gaby.identity.groups import Groups
from gaby.identity.invitations import FirstAdmin, Invitations
from gaby.identity.keys import ApiKeys
from gaby.identity.passwords import Passwords
from gaby.identity.people import People
from gaby.identity.sign_ins import SignIns
from gaby.identity.throttle import Throttle
from gaby.identity.workspaces import Workspaces
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.ids import IdFactory, Random

if TYPE_CHECKING:
    from gaby.identity.access import Authenticator


@dataclass(frozen=True)
class Identity:
    database: Database
    workspaces: Workspaces
    people: People
    groups: Groups
    keys: ApiKeys
    sign_ins: SignIns
    first_admin: FirstAdmin
    invitations: Invitations
    throttle: Throttle
    devices: KnownDevices
    public_url: str

    @cached_property
    def authenticate(self) -> "Authenticator":
        # Loaded here, since only a server is asked over HTTP, and FastAPI takes long to load.
        from gaby.identity.access import Authenticator

        return Authenticator(self.database, self.keys, self.sign_ins)


def build_identity(
    database: Database,
    clock: Clock,
    ids: IdFactory,
    random: Random,
    *,
    idle: timedelta,
    absolute: timedelta,
    public_url: str,
) -> Identity:
    passwords = Passwords()
    workspaces = Workspaces(clock, ids)
    people = People(clock, ids, passwords)
    sign_ins = SignIns(clock, ids, random, passwords, idle=idle, absolute=absolute)
    keys = ApiKeys(clock, ids, random)
    return Identity(
        database=database,
        workspaces=workspaces,
        people=people,
        groups=Groups(clock, ids),
        keys=keys,
        sign_ins=sign_ins,
        first_admin=FirstAdmin(clock, random, people, workspaces),
        invitations=Invitations(clock, ids, random, people),
        throttle=Throttle(database, clock),
        devices=KnownDevices(clock, random),
        public_url=public_url,
    )
