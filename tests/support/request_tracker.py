"""A real Request Tracker 5 for the tests, from Debian's packages, on SQLite and a loopback port of its own."""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from scripts import real_servers

from tests.support.valkey import free_port

PASSWORD = "gaby-at-the-desk-31"
_SERVER = "/usr/share/request-tracker5/libexec/rt-server"
# Far from UTC, so that a time that is read in the wrong zone is noticed.
_CONFIG = """
Set($rtname, 'acme.example');
Set($Organization, 'acme.example');
Set($CorrespondAddress, 'support@acme.example');
Set($CommentAddress, 'comment@acme.example');
Set($WebDomain, '127.0.0.1');
Set($WebPort, {port});
Set($WebPath, '');
Set($DatabaseType, 'SQLite');
Set($DatabaseName, '{folder}/rt.db');
Set($Timezone, 'America/New_York');
Set($MailCommand, 'sendmailpipe');
Set($SendmailPath, '{folder}/sendmail');
Set($BcryptCost, 4);
Set($LogToSyslog, undef);
Set($LogToSTDERR, 'error');
1;
"""
# As a careful administrator does it: a user of Gaby's own, who may do what is needed, in one queue. Instead of what
# comes with the package, so nothing is mailed at a change.
_DATA = """
@Queues = (
    {{ Name => 'Support', CorrespondAddress => 'support@acme.example' }},
    {{ Name => 'Payroll' }},
);
@Users = (
    {{ Name => 'root', Password => 'password', Privileged => 1 }},
    {{ Name => 'gaby', EmailAddress => 'gaby@acme.example', Password => '{password}', Privileged => 1 }},
    {{ Name => 'tom', EmailAddress => 'tom@acme.example', Password => '{password}', Privileged => 1 }},
    {{ Name => 'ann', EmailAddress => 'ann@client.example', Organization => 'Client Inc',
       Password => '{password}', Privileged => 1 }},
);
@ACL = map {{
    my $user = $_;
    map {{ {{ UserId => $user, Queue => 'Support', Right => $_ }} }}
        qw(SeeQueue ShowTicket ShowTicketComments CreateTicket ReplyToTicket CommentOnTicket ModifyTicket)
}} qw(gaby tom ann);
push @ACL, {{ UserId => 'root', Right => 'SuperUser' }};
@Final = (sub {{
    my $user = RT::User->new(RT->SystemUser);
    $user->Load('gaby');
    my $token = RT::AuthToken->new(RT->SystemUser);
    my ($ok, $message, $words) = $token->Create(Owner => $user->Id, Description => 'Gaby');
    open my $file, '>', '{folder}/token' or die;
    print $file $words;
    close $file;
}});
1;
"""


@dataclass
class RequestTrackerServer:
    folder: Path
    port: int
    process: subprocess.Popen[bytes]
    client: httpx2.Client

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return (self.folder / "token").read_text().strip()

    def ask(self, method: str, path: str, body: Any = None, *, user: str = "root") -> Any:
        password = "password" if user == "root" else PASSWORD
        answer = self.client.request(method, f"{self.url}/REST/2.0/{path}", json=body, auth=(user, password))
        answer.raise_for_status()
        return answer.json()

    def create(self, subject: str, text: str = "It drops.", **fields: Any) -> str:
        usual = {"Queue": "Support", "Requestor": "ann@client.example", "ContentType": "text/plain"}
        made = self.ask("POST", "ticket", {**usual, "Subject": subject, "Content": text, **fields})
        return str(made["id"])

    def write(self, ticket: str, text: str, *, user: str, how: str = "correspond", kind: str = "text/plain") -> None:
        self.ask("POST", f"ticket/{ticket}/{how}", {"Content": text, "ContentType": kind}, user=user)

    def remove(self) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_request_tracker() -> RequestTrackerServer:
    assert not real_servers.missing(), "python -m scripts.real_servers says what to install"
    folder = Path(tempfile.mkdtemp(prefix="gaby-rt-"))
    port = free_port()
    with ExitStack() as undone:
        undone.callback(shutil.rmtree, folder, ignore_errors=True)
        _configure(folder, port)
        server = RequestTrackerServer(folder, port, _started(folder, port), httpx2.Client(timeout=30, trust_env=False))
        undone.pop_all()
    with ExitStack() as undone:
        undone.callback(server.remove)
        _wait_for(server)
        undone.pop_all()
    return server


def _started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    own = {"RT_SITE_CONFIG": str(folder / "RT_SiteConfig.pm"), "RT_SITE_CONFIG_DIR": str(folder / "none")}
    surroundings = {**os.environ, **own}
    for step in (["schema,coredata"], ["insert", "--datafile", str(folder / "data")]):
        command = ["/usr/sbin/rt-setup-database-5", "--action", *step]
        subprocess.run(command, check=True, capture_output=True, env=surroundings, timeout=120)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [_SERVER, "--host", "127.0.0.1", "--port", str(port), "--max-workers", "2"],
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=surroundings,
            start_new_session=True,
        )


def _configure(folder: Path, port: int) -> None:
    (folder / "none").mkdir()
    (folder / "RT_SiteConfig.pm").write_text(_CONFIG.format(folder=folder, port=port))
    (folder / "data").write_text(_DATA.format(folder=folder, password=PASSWORD))
    sendmail = folder / "sendmail"
    sendmail.write_text("#!/bin/sh\ncat > /dev/null\n")
    sendmail.chmod(0o755)


def _wait_for(server: RequestTrackerServer) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            server.ask("GET", "rt")
        except httpx2.HTTPError:
            assert server.process.poll() is None, (server.folder / "log").read_text()[-2000:]
            assert time.monotonic() < deadline, (server.folder / "log").read_text()[-2000:]
            time.sleep(0.1)
        else:
            return
