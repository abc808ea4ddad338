"""A real git server over TLS on loopback, for one name, that asks for a token."""

import os
import ssl
import subprocess
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class GitHttps:
    def __init__(self, root: Path, host: str, token: str, certificate: Path) -> None:
        self.host = host
        self.certificate = certificate
        self.served = 0
        self.refused = 0
        expected = b64encode(f"x-token-auth:{token}".encode()).decode()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, body: bytes) -> None:
                if self.headers.get("Authorization") != f"Basic {expected}":
                    outer.refused += 1
                    self.send_response(401)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                outer.served += 1
                head, _, content = _backend(root, self, body).partition(b"\r\n\r\n")
                self.send_response(200)
                for line in head.decode().split("\r\n"):
                    name, _, value = line.partition(": ")
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def url(self, path: str) -> str:
        return f"https://{self.host}:{self._server.server_port}/{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def git_https(root: Path, host: str, token: str) -> Generator[GitHttps]:
    certificate = root / "server.pem"
    certificate.write_bytes(_certificate(host))
    server = GitHttps(root, host, token, certificate)
    try:
        yield server
    finally:
        server.close()


def _backend(root: Path, handler: BaseHTTPRequestHandler, body: bytes) -> bytes:
    parts = urlsplit(handler.path)
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": handler.command,
        "PATH_INFO": parts.path,
        "QUERY_STRING": parts.query,
        "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
        "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
    }
    done = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, check=True)
    return done.stdout


def _certificate(host: str) -> bytes:
    """Signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    return private + certificate.public_bytes(serialization.Encoding.PEM)
