"""The product as it is started for users: real commands, a real connector, a desk over HTTP, on either engine."""

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import httpx2
import psycopg

from tests.chaos.outside import DeskOutside, Shop
from tests.chaos.processes import Supervised, Supervisor, environment, free_port, running_with
from tests.support.desks.zoho_desk import CLIENT, ORG, REFRESH_TOKEN
from tests.support.postgres import Postgres, start_postgres

Engine = Literal["sqlite", "postgresql"]
T = TypeVar("T")
HERE = Path(__file__).parent
WEBHOOK_SECRET = "secret-of-the-gateway"
PATIENCE = 180.0
"""For what takes seconds on a quiet machine."""
_WORKERS = 3
_SCOPES = ("tickets:read", "tickets:work", "audit:read", "connectors:read", "connectors:manage")
SETTINGS = {
    "GABY_WORKER_LEASE": "4s",
    "GABY_WORKER_POLL_EVERY": "1s",
    "GABY_CONNECTORS_CALL_DEADLINE": "8s",
    "GABY_CONNECTORS_CHECK_EVERY": "5s",
    "GABY_LOG_LEVEL": "info",
    "GABY_LOG_FORMAT": "json",
}


@dataclass
class Outside:
    """What outlives every product that a test starts."""

    shop: Shop = field(default_factory=Shop)
    desk: DeskOutside = field(default_factory=DeskOutside)

    def reset(self) -> None:
        """For the next product: nothing of an earlier one's tickets is left to be found."""
        self.shop.reset()
        self.desk.reset()

    def close(self) -> None:
        self.shop.close()
        self.desk.close()


@dataclass
class Product:
    engine: Engine
    folder: Path
    outside: Outside
    bug: str | None = None
    settings: dict[str, str] = field(default_factory=dict[str, str])
    postgres: Postgres | None = None
    port: int = field(default_factory=free_port)
    supervisor: Supervisor = field(default_factory=Supervisor)
    started_in: float = 0.0
    """Seconds until the server answered, by which a test can tell how busy the machine is."""
    key: str = ""
    desk_id: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def server(self) -> Supervised:
        return self.supervisor.processes[0]

    @property
    def workers(self) -> list[Supervised]:
        return self.supervisor.processes[1:]

    @property
    def database_url(self) -> str:
        return f"sqlite:///{self.folder / 'home' / 'gaby.db'}" if self.postgres is None else self.postgres.url("gaby")

    def prepare(self) -> None:
        """Everything that an operator does before the first ticket, by the command line."""
        self.gaby("db", "upgrade")
        self.gaby("workspace", "create", "shop")
        with ThreadPoolExecutor(2) as two:
            made = [two.submit(step) for step in (self._connect_shop, self._connect_desk, self._read_handbook)]
            self.key = json.loads(self.gaby("key", "create", "chaos", "--json", *_each("--scope", _SCOPES)))["key"]
            for each in made:
                each.result()

    def keep(self, template: "Product") -> None:
        """What was prepared once, in a copy of its own. On SQLite, where everything lies in one folder."""
        shutil.copytree(template.folder / "home", self.folder / "home")
        self.key, self.desk_id = template.key, template.desk_id

    def start(self) -> None:
        mode = "embedded" if self.postgres is None else "procrastinate"
        given = environment({**self._settings(), "GABY_WORKER_MODE": mode}, bug=self.bug)
        gaby = (sys.executable, "-m", "gaby")
        serve = (*gaby, "serve", "--port", str(self.port))
        self.supervisor.processes = [Supervised("server", serve, given, self.folder)]
        if self.postgres is not None:
            self.supervisor.processes += [
                Supervised(f"worker{number}", (*gaby, "worker"), given, self.folder) for number in range(_WORKERS)
            ]
        began = time.monotonic()
        for each in self.supervisor.processes:
            each.start()
        self.wait_until(self.answers, "the server answers")
        self.started_in = time.monotonic() - began
        # A run of chaos has more to do in a minute than an operator would allow.
        [shop] = [each for each in self.get("/api/connectors") if each["name"] == "shop"]
        with self.client() as client:
            changed = client.patch(f"/api/connectors/{shop['id']}", json={"writes_per_minute": 1000})
        assert changed.status_code == 200, changed.text

    def stop(self) -> None:
        self.supervisor.stop()

    def client(self, timeout: float = 15.0) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=timeout, trust_env=False)

    def get(self, path: str, **query: str | int) -> Any:
        with self.client() as client:
            answer = client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def answers(self) -> bool:
        try:
            with self.client(2.0) as client:
                return client.get("/livez").status_code == 200
        except httpx2.HTTPError:
            return False

    def gaby(self, *arguments: str, codes: Sequence[int] = (0,)) -> str:
        """One command of an operator, never with a planted bug."""
        done = subprocess.run(
            [sys.executable, "-m", "gaby", *arguments],
            env=environment(self._settings()),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode not in codes:
            raise RuntimeError(f"gaby {' '.join(arguments)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def ask(self, question: str) -> list[tuple[Any, ...]]:
        """Read the database as somebody would who does not trust the product's own word."""
        if self.postgres is not None:
            with psycopg.connect(self.postgres.url("gaby"), connect_timeout=10) as connection:
                return connection.execute(question.encode()).fetchall()
        with closing(sqlite3.connect(f"file:{self.folder / 'home' / 'gaby.db'}?mode=ro", uri=True, timeout=20)) as db:
            return db.execute(question).fetchall()

    def connectors(self) -> list[int]:
        """The connector's processes, of whichever process of Gaby."""
        return running_with(self.outside.shop.url)

    def wait_until(self, found: Callable[[], T | None], what: str, patience: float = PATIENCE) -> T:
        """With everybody kept running meanwhile."""
        until = time.monotonic() + patience
        while True:
            self.supervisor.tend()
            if answer := found():
                return answer
            if time.monotonic() > until:
                told = "\n".join(each.last_words() for each in self.supervisor.processes)
                raise TimeoutError(f"{what}: not within {patience:.0f} s\n{told}")
            time.sleep(0.1)

    def crash_postgres(self) -> None:
        """With all that it has started, at one stroke; then it recovers."""
        assert self.postgres is not None
        self.postgres.crash()
        self.postgres.start()

    def _settings(self) -> dict[str, str]:
        home = str(self.folder / "home")
        return {**SETTINGS, **self.settings, "GABY_DATABASE_URL": self.database_url, "GABY_HOME": home}

    def _connect_shop(self) -> None:
        program = (sys.executable, "-S", str(HERE / "connector.py"), self.outside.shop.url)
        self.gaby("connector", "add", "shop", "--yes", "--manifest", str(HERE / "connector.yaml"), "--", *program)
        self.gaby("connector", "set", "shop", "--autonomy", "act", "--allow-read", "**", "--allow-write", "**")

    def _connect_desk(self) -> None:
        url = self.outside.desk.url
        values = {
            "org_id": ORG,
            "client_id": CLIENT[0],
            "client_secret": CLIENT[1],
            "refresh_token": REFRESH_TOKEN,
            "from_address": "support@papercrane.example",
            "desk_url": url,
            "accounts_url": url,
            "webhook_secret": WEBHOOK_SECRET,
            # Not what an earlier product on the same desk has answered.
            "since": datetime.now(UTC).isoformat(),
        }
        settings = _each("--set", [f"{name}={value}" for name, value in values.items()])
        added = self.gaby(
            "desk", "add", "zoho", "zoho_desk", "--every", "5s", "--vouched-by", "desk", "--json", *settings
        )
        self.desk_id = json.loads(added)["id"]

    def _read_handbook(self) -> None:
        self.gaby("knowledge", "add", "handbook", "folder", str(HERE / "handbook"), "--audience", "customers")


@contextmanager
def running_product(
    engine: Engine,
    folder: Path,
    outside: Outside,
    *,
    bug: str | None = None,
    settings: dict[str, str] | None = None,
    template: Product | None = None,
) -> Generator[Product]:
    """Set up and started; everything of it is gone at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    outside.reset()
    # Losing what was acknowledged would be the database's own doing; whether it reaches the disk is not tested here.
    postgres = start_postgres(synchronous_commit="on") if engine == "postgresql" else None
    product = Product(engine, folder, outside, bug, settings or {}, postgres)
    try:
        if postgres is not None:
            postgres.move(free_port())
            postgres.execute("CREATE DATABASE gaby")
        if template is None:
            product.prepare()
        else:
            product.keep(template)
        product.start()
        yield product
    finally:
        product.stop()
        outside.reset()
        if postgres is not None:
            postgres.remove()


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]
