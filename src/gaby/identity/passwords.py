"""Passwords: argon2id, never on the event loop, and as slow for unknown people as for known ones."""

import asyncio
from functools import cached_property

from pwdlib import PasswordHash
from pwdlib.exceptions import PwdlibError

from gaby.identity.errors import WeakPassword

SHORTEST = 12
LONGEST = 1024


class Passwords:
    @cached_property
    def _argon2(self) -> PasswordHash:
        return PasswordHash.recommended()

    @cached_property
    def _nobody(self) -> str:
        return self._argon2.hash("the password of nobody at all")

    async def hash(self, password: str) -> str:
        if not SHORTEST <= len(password) <= LONGEST or len(set(password)) < 5:
            raise WeakPassword
        return await asyncio.to_thread(self._argon2.hash, password)

    async def check(self, password: str, stored: str | None) -> bool:
        """Takes its time also when there is nobody to compare with, so that timing tells nothing."""
        if len(password) > LONGEST:
            return False
        return await asyncio.to_thread(self._verify, password, stored)

    def _verify(self, password: str, stored: str | None) -> bool:
        try:
            same = self._argon2.verify(password, stored or self._nobody)
        except PwdlibError:
            return False
        return same and stored is not None
