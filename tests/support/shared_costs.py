"""What every test would pay for again, paid once for each worker of the suite."""

import os
import ssl
import sys
from functools import cache

import httpcore2
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

recommended_hash = PasswordHash.recommended
"""As it is outside of tests."""


def share_costs() -> None:
    """Compiled files are kept, also by processes that tests start; certificates of this machine are read once."""
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    _read_certificates_once()
    _hash_passwords_cheaply()


def _hash_passwords_cheaply() -> None:
    """The real strength takes 64 megabytes and a tenth of a second for each guess."""
    PasswordHash.recommended = lambda: PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))


def _read_certificates_once() -> None:
    """Every HTTP client reads them, which takes longer than most tests."""
    read = httpcore2.default_ssl_context

    @cache
    def context(trusts_environment: bool, file: str | None, folder: str | None) -> ssl.SSLContext:
        return read(_trust_env=trusts_environment)

    def default_ssl_context(*, _trust_env: bool = True) -> ssl.SSLContext:
        return context(_trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))

    httpcore2.default_ssl_context = default_ssl_context
