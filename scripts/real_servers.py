"""Brings the real servers that the tests start: Debian's packages, installed when they are missing and we may."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

# What each package is needed for: a file that is there once it is installed.
NEEDED = {
    "slapd": "/usr/sbin/slapd",
    "prometheus": "/usr/bin/prometheus",
    "postfix": "/usr/sbin/postfix",
    "dovecot-imapd": "/usr/lib/dovecot/imap",
    "dovecot-lmtpd": "/usr/lib/dovecot/lmtp",
    "request-tracker5": "/usr/sbin/rt-setup-database-5",
    "rt5-db-sqlite": "/usr/share/doc/rt5-db-sqlite",
    "rt5-standalone": "/usr/share/doc/rt5-standalone",
}
FOR_IMAGES = {"buildah": "/usr/bin/buildah", "debootstrap": "/usr/sbin/debootstrap"}
"""Only for `make image` and the exhaustive tests."""
_POLICY = Path("/usr/sbin/policy-rc.d")
_ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"}
_PATIENCE = 900


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", action="store_true", help="also what builds the container image")
    needed = NEEDED | (FOR_IMAGES if parser.parse_args().images else {})
    packages = missing(needed)
    if not packages:
        return 0
    if not _may_install():
        return _say(packages, "The tests start real servers, and some of them are not installed.")
    print(f"Installing {', '.join(packages)} ...")
    try:
        _install(packages)
    except (subprocess.SubprocessError, OSError) as error:
        return _say(packages, f"They could not be installed: {error}")
    left = missing(needed)
    return _say(left, "They were installed, and are still not where they should be.") if left else 0


def missing(needed: Mapping[str, str] = NEEDED) -> list[str]:
    return [package for package, file in needed.items() if not Path(file).exists()]


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _say(packages: list[str], why: str) -> int:
    print(f"{why} On Debian, as root:", file=sys.stderr)
    print(f"  apt-get install --no-install-recommends {' '.join(packages)}", file=sys.stderr)
    return 1


def _install(packages: list[str]) -> None:
    command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *packages]
    with _nothing_starts():
        if _run(command, check=False) != 0:
            _run(["apt-get", "update", "--quiet"], check=True)
            _run(command, check=True)


def _run(command: list[str], *, check: bool) -> int:
    quiet = subprocess.DEVNULL
    return subprocess.run(command, env=_ENVIRONMENT, stdout=quiet, check=check, timeout=_PATIENCE).returncode


@contextmanager
def _nothing_starts() -> Generator[None]:
    """The packages' own services stay off: the tests bring their own configuration."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink()


if __name__ == "__main__":
    sys.exit(main())
