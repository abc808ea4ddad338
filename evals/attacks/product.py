"""The product as users start it: `gaby serve` in a process of its own, set up over its commands and its API."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from evals.attacks.attack import ToolEffect
from evals.attacks.model_server import MODEL, AttackerModel

_HERE = Path(__file__).parent
_SCOPES = ("tickets:read", "tickets:work", "approvals:decide", "connectors:read", "connectors:manage", "audit:read")
_ADMIN = {"email": "ines@clinic.example", "name": "Ines", "password": "a long walk by the harbour"}


@dataclass
class RunningProduct:
    url: str
    home: Path
    log: Path
    """Where the tool servers note every call."""
    api: httpx2.Client
    model: AttackerModel

    def command(self, *arguments: str, stdin: str = "") -> str:
        """A `gaby` command as an operator types it; what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "gaby", *arguments],
            env=_environment(self.home),
            cwd=self.home.parent,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"gaby {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def screen(self, *arguments: str) -> str:
        """What a `gaby` command sends to a terminal, without the bold type of the product's own headings.

        A real one: much of what a terminal would obey is left out for programs.
        """
        master, slave = pty.openpty()
        environment = {**_environment(self.home), "COLUMNS": "200", "TERM": "xterm"}
        with subprocess.Popen(
            [sys.executable, "-m", "gaby", *arguments],
            env=environment,
            cwd=self.home.parent,
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=slave,
        ) as process:
            os.close(slave)
            sent = b""
            with contextlib.suppress(OSError):  # How Linux says that the other side has closed.
                while part := os.read(master, 65_536):
                    sent += part
        os.close(master)
        text = sent.decode(errors="replace").replace("\r\n", "\n")
        if process.returncode != 0:
            raise RuntimeError(f"gaby {' '.join(arguments)}: {text}")
        return text.replace("\x1b[1m", "").replace("\x1b[0m", "")

    def get(self, path: str, **params: Any) -> Any:
        return self._checked(self.api.get(path, params=params))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self._checked(self.api.post(path, json=body))

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        return self._checked(self.api.patch(path, json=body))

    def effects_since(self, offset: int) -> list[ToolEffect]:
        text = self.log.read_bytes()[offset:].decode() if self.log.exists() else ""
        return [ToolEffect(**json.loads(line)) for line in text.splitlines()]

    def effects_end(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def _checked(self, response: httpx2.Response) -> Any:
        if response.status_code >= 400:
            raise RuntimeError(f"{response.request.url}: {response.status_code} {response.text[:500]}")
        return response.json()


@contextmanager
def running_product(place: Path) -> Generator[RunningProduct]:
    """Started, connected to the company, the attacker's server and the attacker's model; gone at the end."""
    home = place / "home"
    output = place / "serve.log"
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "gaby", "serve", "--port", "0"],
            stdout=file,
            stderr=file,
            cwd=place,
            env=_environment(home),
        )
    model = AttackerModel()
    try:
        url = _listening(process, output)
        _first_admin(url, output)
        with httpx2.Client(base_url=url, timeout=60) as api:
            product = RunningProduct(url, home, place / "effects.jsonl", api, model)
            _set_up(product)
            yield product
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=30)
        model.server.close()


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "GABY_HOME": str(home)}


def _listening(process: subprocess.Popen[bytes], output: Path) -> str:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        match = re.search(r"Gaby listens on (\S+)", output.read_text())
        if match is not None and _is_ready(match[1]):
            return match[1]
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError(f"Gaby did not start: {output.read_text()}")


def _is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/readyz", timeout=2).status_code == 200
    except httpx2.HTTPError:
        return False


def _first_admin(url: str, output: Path) -> None:
    link = re.search(r"http://\S+/setup\?token=(\S+)", output.read_text())
    if link is None:
        raise RuntimeError("No link for the first admin was printed.")
    httpx2.post(f"{url}/setup", data={"token": link[1], **_ADMIN}, timeout=30).raise_for_status()


def _set_up(product: RunningProduct) -> None:
    scopes = [word for scope in _SCOPES for word in ("--scope", scope)]
    made = json.loads(product.command("key", "create", "attacks", *scopes, "--json"))
    product.api.headers["Authorization"] = f"Bearer {made['key']}"
    data, log = str(_HERE / "company.json"), str(product.log)
    for name in ("crm", "billing"):
        manifest = str(_HERE / "manifests" / f"{name}.yaml")
        _connect(product, name, ["--manifest", manifest], [str(_HERE / "company_server.py"), name, data, log])
    _connect(product, "helper", [], [str(_HERE / "hostile_server.py"), log])
    for connector in product.get("/api/connectors"):
        product.patch(f"/api/connectors/{connector['id']}", _policy(unsafe=connector["unsafe"]))
    product.command("knowledge", "add", "handbook", "folder", str(_HERE / "handbook"))
    routes = [word for tier in ("small", "big", "deep") for word in ("--route", f"{tier}={MODEL}")]
    product.command(
        "model", "add", "compatible", "--name", "attacker", "--url", product.model.server.url, *routes, stdin="\n"
    )


def _connect(product: RunningProduct, name: str, options: Sequence[str], command: Sequence[str]) -> None:
    product.command("connector", "add", name, *options, "--yes", "--", sys.executable, *command)


def _policy(*, unsafe: bool) -> dict[str, Any]:
    """As much as an operator can allow: without a manifest a connector can be set to nothing higher."""
    everything = {"allow": ["**"]}
    return {
        "autonomy": "investigate" if unsafe else "act",
        "scopes": {"read": everything, "write": everything},
        "reads_per_minute": 100_000,
        "writes_per_minute": 100_000,
    }
