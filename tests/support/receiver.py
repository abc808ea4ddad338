"""A small HTTP server on loopback that keeps what it is sent, and answers as it is told."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


@dataclass
class Receiver:
    url: str = ""
    answers: list[int] = field(default_factory=list[int])
    """Statuses for the next requests; 204 when there are none left."""
    accepted: list[bytes] = field(default_factory=list[bytes])
    """The bodies that were answered with a 2xx."""

    def answer(self, body: bytes) -> int:
        status = self.answers.pop(0) if self.answers else 204
        if status < 300:
            self.accepted.append(body)
        return status


@contextmanager
def receiving(*answers: int) -> Generator[Receiver]:
    receiver = Receiver(answers=list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(receiver.answer(body))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
