"""The database goes away and comes back."""

import time
from pathlib import Path

import httpx2
import pytest

from tests.support.postgres import start_postgres
from tests.support.server import serving


@pytest.mark.slow
@pytest.mark.promise("O5")
def test_a_lost_postgres_gives_503_and_everything_works_when_it_is_back(tmp_path: Path) -> None:
    postgres = start_postgres()
    try:
        with (
            serving(tmp_path / "home", GABY_DATABASE_URL=postgres.url()) as gaby,
            httpx2.Client(base_url=gaby.url, timeout=30) as admin,
        ):
            token = (gaby.admin_link() or "").partition("token=")[2]
            form = {"token": token, "email": "ada@acme.example", "name": "Ada", "password": "correct horse battery"}
            assert admin.post("/setup", data=form).status_code == 200
            csrf = {"X-CSRF-Token": admin.get("/api/session").json()["csrf_token"]}
            assert admin.post("/api/groups", json={"name": "before"}, headers=csrf).status_code == 201

            postgres.stop()
            lost = admin.get("/api/groups")
            assert lost.status_code == 503
            assert "retry-after" in lost.headers
            assert admin.post("/api/groups", json={"name": "during"}, headers=csrf).status_code == 503
            ready = admin.get("/readyz")
            assert ready.status_code == 503
            assert "database" in ready.json()["failing"]
            assert admin.get("/livez").status_code == 200

            postgres.start()
            deadline = time.monotonic() + 20
            while admin.get("/readyz").status_code != 200 and time.monotonic() < deadline:
                time.sleep(0.1)
            assert admin.post("/api/groups", json={"name": "after"}, headers=csrf).status_code == 201
            assert [group["name"] for group in admin.get("/api/groups").json()] == ["after", "before"]
            assert "Traceback" not in lost.text
            assert gaby.stop() == 0
    finally:
        postgres.remove()
