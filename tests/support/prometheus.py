"""A real Prometheus for the tests, from Debian's package, watching itself and something that is not there."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.support.slapd import installed
from tests.support.valkey import free_port

_CONFIG = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{folder}/rules.yml]
scrape_configs:
  - job_name: prometheus
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
  - job_name: gone
    static_configs: [{{targets: ["127.0.0.1:9"]}}]
"""
_RULES = """
groups:
  - name: always
    rules:
      - alert: SomethingIsDown
        expr: up == 0
        labels: {severity: page}
        annotations: {summary: "{{ $labels.instance }} is down"}
"""


@dataclass
class PrometheusServer:
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str) -> Any:
        return httpx2.get(f"{self.url}/api/v1/{path}").json()["data"]

    def remove(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_prometheus() -> PrometheusServer:
    """Ready when it has seen both targets, and the alert fires."""
    folder = Path(tempfile.mkdtemp(prefix="gaby-prometheus-"))
    port = free_port()
    (folder / "prometheus.yml").write_text(_CONFIG.format(folder=folder, port=port))
    (folder / "rules.yml").write_text(_RULES)
    process = subprocess.Popen(
        [
            installed("prometheus", "prometheus"),
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = PrometheusServer(folder, port, process)
    _wait(server, lambda: len(server.ask("query?query=up")["result"]) == 2 and bool(server.ask("alerts")["alerts"]))
    return server


def _wait(server: PrometheusServer, ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            if ready():
                return
        except (httpx2.TransportError, ValueError):
            pass
        time.sleep(0.1)
    raise TimeoutError("Prometheus did not become ready")
