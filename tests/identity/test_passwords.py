"""How passwords are kept outside of tests, which hash them cheaply."""

import pytest
from pwdlib import PasswordHash

from gaby.identity.passwords import Passwords
from tests.support.shared_costs import recommended_hash


async def test_a_password_is_kept_as_argon2id_at_the_recommended_strength(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PasswordHash, "recommended", recommended_hash)
    passwords = Passwords()
    kept = await passwords.hash("correct horse battery")
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert await passwords.check("correct horse battery", kept)
    assert not await passwords.check("correct horse batteries", kept)
    assert not await passwords.check("correct horse battery", None)
