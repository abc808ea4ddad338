"""The first minutes of a newcomer: start, open the link, be admin, look at the log."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.support.server import serving

FORM = {"email": "ada@acme.example", "name": "Ada", "password": "correct horse battery"}


@pytest.mark.promise("P2", "O4")
def test_the_printed_link_makes_the_first_admin_once_and_is_never_issued_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(home) as gaby:
        link = gaby.admin_link()
        file = home / "admin-url.txt"
        assert link is not None
        assert file.read_text().strip() == link
        assert file.stat().st_mode & 0o777 == 0o600
        token = link.partition("token=")[2]
        with httpx2.Client(base_url=gaby.url) as browser:
            assert "Create the first admin" in browser.get(link).text
            welcome = browser.post("/setup", data={"token": token, **FORM})
            assert welcome.status_code == 200
            assert "Welcome, Ada" in welcome.text
            me = browser.get("/api/session").json()
            assert me["person"]["email"] == FORM["email"]
            assert "installation:manage" in me["permissions"]
            again = browser.post("/setup", data={"token": token, **FORM, "email": "eve@acme.example"})
            assert again.status_code == 404
        assert not file.exists()
        # The token appears where it was printed, and in no log line.
        assert gaby.text().count(token) == 1
        assert gaby.stop() == 0
    with serving(home) as gaby:
        assert gaby.admin_link() is None
        assert gaby.stop(signal.SIGINT) in {0, 130}


@pytest.mark.slow
@pytest.mark.promise("P2")
def test_a_link_that_was_not_used_is_replaced_at_the_next_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(home) as gaby:
        first = gaby.admin_link()
    with serving(home) as gaby:
        second = gaby.admin_link()
        assert first is not None
        assert second not in {None, first}
        old = first.partition("token=")[2]
        assert httpx2.get(f"{gaby.url}/setup", params={"token": old}).status_code == 404


@pytest.mark.slow
@pytest.mark.promise("O4")
def test_a_port_in_use_is_said_and_not_a_traceback(tmp_path: Path) -> None:
    with serving(tmp_path / "one") as gaby:
        port = gaby.url.rpartition(":")[2]
        second = subprocess.run(
            [sys.executable, "-m", "gaby", "serve", "--port", port],
            env={**os.environ, "GABY_HOME": str(tmp_path / "two")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert second.returncode == 3
    assert "--port" in second.stderr
    assert "Traceback" not in second.stderr
