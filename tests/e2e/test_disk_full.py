"""A full disk: requests that would write get 503, nothing acknowledged is lost, and it heals by itself."""

import resource
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.server import Server, serving

UNLIMITED = resource.RLIM_INFINITY


def _limit_file_size(gaby: Server, limit: int) -> None:
    """The kernel refuses to let any file of the process grow past the limit, as a full disk would."""
    resource.prlimit(gaby.process.pid, resource.RLIMIT_FSIZE, (limit, UNLIMITED))


@pytest.mark.slow
@pytest.mark.promise("O5")
def test_a_full_disk_loses_nothing_and_heals_without_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as gaby, httpx2.Client(base_url=gaby.url, timeout=30) as admin:
        token = (gaby.admin_link() or "").partition("token=")[2]
        form = {"token": token, "email": "ada@acme.example", "name": "Ada", "password": "correct horse battery"}
        assert admin.post("/setup", data=form).status_code == 200
        csrf = {"X-CSRF-Token": admin.get("/api/session").json()["csrf_token"]}

        database = tmp_path / "home/gaby.db"
        _limit_file_size(gaby, max(database.stat().st_size, database.with_name("gaby.db-wal").stat().st_size) + 40_000)
        acknowledged: list[str] = []
        for number in range(2000):
            answer = admin.post("/api/groups", json={"name": f"group {number}"}, headers=csrf)
            if answer.status_code != 201:
                break
            acknowledged.append(answer.json()["name"])
        else:
            pytest.fail("the disk never filled up")
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert answer.headers["content-type"] == "application/problem+json"
        # Reading goes on.
        assert sorted(group["name"] for group in admin.get("/api/groups").json()) == sorted(acknowledged)

        _limit_file_size(gaby, UNLIMITED)
        healed = admin.post("/api/groups", json={"name": "after"}, headers=csrf)
        assert healed.status_code == 201
        assert admin.get("/readyz").json()["status"] == "ok"
        assert len(admin.get("/api/groups").json()) == len(acknowledged) + 1
        rows: list[dict[str, Any]] = []
        while page := admin.get("/api/audit/rows", params={"after": rows[-1]["seq"] if rows else -1}).json():
            rows.extend(page)
        created = [row["payload"]["name"] for row in rows if row["event"] == "group.created"]
        assert created == [*acknowledged, "after"]
        assert gaby.stop() == 0
