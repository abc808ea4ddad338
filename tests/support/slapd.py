"""A real OpenLDAP for the tests, from Debian's package, with a password policy that locks accounts."""

import fcntl
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gaby_connectors.ldap.library import (
    NONE,
    Connection,
    Server,
)
from tests.support.valkey import free_port

BASE = "dc=acme,dc=example"
ADMIN = f"cn=admin,{BASE}"
PASSWORD = "slapd-admin-4410"
_WHERE = "/usr/sbin:/usr/bin:/usr/lib/openldap"
_CONFIG = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload ppolicy
pidfile {folder}/slapd.pid
database mdb
suffix "{base}"
rootdn "{admin}"
rootpw {password}
directory {folder}/data
overlay ppolicy
ppolicy_default "cn=policy,{base}"
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=reader,{base}" read by * none
"""


@dataclass
class Slapd:
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"ldap://127.0.0.1:{self.port}"

    def sign_in(self, dn: str, password: str) -> bool:
        connection: Any = Connection(Server(self.url, get_info=NONE), dn, password)
        try:
            return bool(connection.bind())
        finally:
            connection.unbind()

    def add(self, dn: str, **attributes: Any) -> None:
        connection: Any = Connection(Server(self.url, get_info=NONE), ADMIN, PASSWORD, auto_bind=True)
        assert connection.add(dn, attributes=attributes), connection.result
        connection.unbind()

    def attributes(self, dn: str) -> dict[str, list[bytes]]:
        connection: Any = Connection(Server(self.url, get_info=NONE), ADMIN, PASSWORD, auto_bind=True)
        connection.search(dn, "(objectClass=*)", "BASE", attributes=["*", "+"])
        found: dict[str, list[bytes]] = dict(connection.response[0]["raw_attributes"])
        connection.unbind()
        return found

    def remove(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_slapd() -> Slapd:
    folder = Path(tempfile.mkdtemp(prefix="gaby-slapd-"))
    (folder / "data").mkdir()
    config = folder / "slapd.conf"
    config.write_text(_CONFIG.format(folder=folder, base=BASE, admin=ADMIN, password=PASSWORD))
    port = free_port()
    program = installed("slapd", "slapd")
    process = subprocess.Popen(
        [program, "-f", config, "-h", f"ldap://127.0.0.1:{port}", "-d", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Slapd(folder, port, process)
    deadline = time.monotonic() + 30
    while not _listens(port):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    _fill(server)
    return server


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _fill(server: Slapd) -> None:
    server.add(BASE, objectClass=["dcObject", "organization"], dc="acme", o="Acme")
    policy = {"pwdAttribute": "userPassword", "pwdLockout": "TRUE", "pwdMaxFailure": "3", "pwdMustChange": "TRUE"}
    server.add(f"cn=policy,{BASE}", objectClass=["device", "pwdPolicy"], cn="policy", **policy)
    server.add(
        f"cn=reader,{BASE}", objectClass=["device", "simpleSecurityObject"], cn="reader", userPassword="reader-pw-1"
    )
    server.add(f"ou=people,{BASE}", objectClass="organizationalUnit", ou="people")
    server.add(f"ou=groups,{BASE}", objectClass="organizationalUnit", ou="groups")
    for uid, name, mail in (
        ("ada", "Ada Byron", "ada@acme.example"),
        ("grace", "Grace (Amazing) Hopper*", "grace@acme.example"),
        ("linus", "Linus Ek", "linus@acme.example"),
    ):
        server.add(
            f"uid={uid},ou=people,{BASE}",
            objectClass="inetOrgPerson",
            cn=name,
            sn=name.split()[-1],
            displayName=name,
            mail=mail,
            userPassword=f"{uid}-password",
        )
    ada = f"uid=ada,ou=people,{BASE}"
    server.add(
        f"cn=staff,ou=groups,{BASE}", objectClass="groupOfNames", cn="staff", member=ada, description="All staff"
    )
    server.add(f"cn=admins,ou=groups,{BASE}", objectClass="groupOfNames", cn="admins", member=ada)
    server.add(f"cn=unix,ou=groups,{BASE}", objectClass="posixGroup", cn="unix", gidNumber="5000", memberUid="grace")


def installed(program: str, package: str) -> str:
    """Where a program of a Debian package is. A clean machine gets the package, once for all workers of the suite."""
    found = shutil.which(program, path=_WHERE)
    if found is None:
        with (Path(tempfile.gettempdir()) / "gaby-tests-apt.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = shutil.which(program, path=_WHERE)
            if found is None:
                _install(package)
                found = shutil.which(program, path=_WHERE)
    assert found is not None, f"{program} is needed: apt-get install --no-install-recommends {package}"
    return found


def _install(package: str) -> None:
    quiet = {"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    # Its own service is not to be started: the tests bring their own configuration.
    policy = Path("/usr/sbin/policy-rc.d")
    made = not policy.exists()
    if made:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        install = ["apt-get", "install", "-y", "--no-install-recommends", package]
        if subprocess.run(install, env=quiet, check=False, capture_output=True).returncode != 0:
            subprocess.run(["apt-get", "update"], env=quiet, check=True, capture_output=True)
            subprocess.run(install, env=quiet, check=True, capture_output=True)
    finally:
        if made:
            policy.unlink()
