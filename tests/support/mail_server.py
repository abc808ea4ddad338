"""A real mail server for the tests: Postfix takes mail, Dovecot keeps it. Both from Debian's packages, on loopback."""

import imaplib
import os
import shutil
import smtplib
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from scripts import real_servers

from gaby.tickets.adapters.email.mailbox import quoted
from tests.support.valkey import free_port

PASSWORD = "mail-password-5512"
SUPPORT = "support@acme.example"
ANN = "ann@client.example"
BOB = "bob@client.example"
_USERS = (SUPPORT, ANN, BOB)
_DOVECOT = """
base_dir = {folder}/dovecot
state_dir = {folder}/dovecot
log_path = {folder}/dovecot.log
listen = 127.0.0.1
protocols = imap lmtp
mail_location = maildir:{folder}/mail/%u
mail_uid = mail
mail_gid = mail
first_valid_uid = 1
first_valid_gid = 1
disable_plaintext_auth = no
auth_username_format = %Lu
auth_verbose = no
ssl = yes
ssl_cert = <{folder}/cert.pem
ssl_key = <{folder}/key.pem
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid=mail gid=mail home={folder}/mail/%u allow_all_users=yes
}}
service imap-login {{
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
  }}
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {lmtp}
  }}
}}
service auth {{
  inet_listener {{
    address = 127.0.0.1
    port = {sasl}
  }}
}}
auth_failure_delay = 0
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
"""
_POSTFIX = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/postfix.log
maillog_file_prefixes = {folder}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mail.acme.example
mydestination =
mynetworks =
alias_maps =
alias_database =
virtual_mailbox_domains = acme.example, client.example
virtual_mailbox_maps = inline:{{ {users} }}
virtual_transport = lmtp:inet:127.0.0.1:{lmtp}
default_transport = error:nothing leaves this machine
relay_transport = error:nothing leaves this machine
local_transport = error:nobody lives here
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:{sasl}
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
smtpd_tls_security_level = may
smtpd_tls_cert_file = {folder}/cert.pem
smtpd_tls_key_file = {folder}/key.pem
message_size_limit = 40000000
header_size_limit = 4000000
line_length_limit = 2048
smtpd_client_connection_rate_limit = 0
smtpd_error_sleep_time = 0
"""
_MASTER = """
127.0.0.1:{smtp} inet n - n - - smtpd
127.0.0.1:{smtps} inet n - n - - smtpd
  -o smtpd_tls_wrappermode=yes
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
error unix - - n - - error
retry unix - - n - - error
lmtp unix - - n - - lmtp
postlog unix-dgram n - n - 1 postlogd
"""


@dataclass
class MailServer:
    folder: Path
    ports: Mapping[str, int]
    processes: list[subprocess.Popen[bytes]]

    @property
    def certificate(self) -> Path:
        return self.folder / "cert.pem"

    def send(self, mail: bytes, *, sender: str = ANN, to: str = SUPPORT) -> None:
        """Through Postfix, as the world does, without signing in."""
        with smtplib.SMTP("127.0.0.1", self.ports["smtp"]) as smtp:
            smtp.sendmail(sender, [to], mail)

    def put(self, mail: bytes, *, folder: str = "INBOX") -> None:
        """Straight into the mailbox, for mails that no SMTP server would take."""
        with self._signed_in(SUPPORT) as imap:
            status, answer = imap.append(quoted(folder), "", imaplib.Time2Internaldate(datetime.now(UTC)), mail)
            assert status == "OK", answer

    def make_folder(self, folder: str) -> None:
        """An empty one, whatever was there before, that numbers its mails anew."""
        with self._signed_in(SUPPORT) as imap:
            imap.delete(quoted(folder))
            status, answer = imap.create(quoted(folder))
            assert status == "OK", answer

    def inbox(self, user: str) -> list[Message]:
        with self._signed_in(user) as imap:
            imap.select("INBOX", readonly=True)
            _, found = imap.search(None, "ALL")
            mails: list[Message] = []
            for number in found[0].split():
                _, parts = imap.fetch(number, "(BODY.PEEK[])")
                assert isinstance(parts[0], tuple)
                mails.append(message_from_bytes(parts[0][1]))
            return mails

    def wait_for(self, user: str, count: int) -> list[Message]:
        """What is in the inbox, once it is as many."""
        deadline = time.monotonic() + 30
        while len(mails := self.inbox(user)) < count:
            assert time.monotonic() < deadline, f"{user} has {len(mails)} mails"
            time.sleep(0.05)
        return mails

    def empty(self) -> None:
        """Every inbox as on the first day."""
        for user in _USERS:
            with self._signed_in(user) as imap:
                _, count = imap.select("INBOX")
                if count == [b"0"]:
                    continue
                imap.store("1:*", "+FLAGS", "\\Deleted")
                imap.expunge()

    def _signed_in(self, user: str) -> imaplib.IMAP4:
        imap = imaplib.IMAP4("127.0.0.1", self.ports["imap"], timeout=30)
        imap.login(user, PASSWORD)
        return imap

    def remove(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_mail_server() -> MailServer:
    assert not real_servers.missing(), "python -m scripts.real_servers says what to install"
    assert os.geteuid() == 0, "Postfix and Dovecot can be started by root only"
    folder = Path(tempfile.mkdtemp(prefix="gaby-mail-"))
    # The servers work as users of their own, who have to get in.
    folder.chmod(0o755)
    ports = {name: free_port() for name in ("imap", "imaps", "lmtp", "sasl", "smtp", "smtps")}
    server = MailServer(folder, ports, [])
    with ExitStack() as undone:
        undone.callback(server.remove)
        _certify(folder)
        (folder / "mail").mkdir()
        shutil.chown(folder / "mail", "mail", "mail")
        server.processes.append(_dovecot(folder, ports))
        server.processes.append(_postfix(folder, ports))
        for port in ports.values():
            _wait_for(server, port)
        undone.pop_all()
    return server


def _dovecot(folder: Path, ports: Mapping[str, int]) -> subprocess.Popen[bytes]:
    config = folder / "dovecot.conf"
    config.write_text(_DOVECOT.format(folder=folder, password=PASSWORD, **ports))
    return _started(["/usr/sbin/dovecot", "-F", "-c", str(config)])


def _postfix(folder: Path, ports: Mapping[str, int]) -> subprocess.Popen[bytes]:
    config = folder / "postfix"
    config.mkdir()
    users = ", ".join(f"{{{user}=x}}" for user in _USERS)
    (config / "main.cf").write_text(_POSTFIX.format(folder=folder, users=users, **ports))
    (config / "master.cf").write_text(_MASTER.format(**ports))
    for part in ("queue", "data"):
        (folder / part).mkdir()
    shutil.chown(folder / "data", "postfix")
    # Makes the folders of the queue, with the rights that they need.
    subprocess.run(["/usr/sbin/postfix", "-c", config, "check"], check=True, capture_output=True)
    daemons = subprocess.run(
        ["/usr/sbin/postconf", "-dh", "daemon_directory"], check=True, capture_output=True, text=True
    )
    # Without the script around it, so that its id is known and ending it ends all that it started.
    return _started([f"{daemons.stdout.strip()}/master", "-d", "-c", str(config)])


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def _wait_for(server: MailServer, port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert all(process.poll() is None for process in server.processes), _last_words(server.folder)
        assert time.monotonic() < deadline, _last_words(server.folder)
        time.sleep(0.02)


def _last_words(folder: Path) -> str:
    return "\n".join(log.read_text()[-2000:] for log in folder.glob("*.log"))


def _certify(folder: Path) -> None:
    """A certificate for loopback that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail.acme.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
