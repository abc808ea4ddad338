"""A Zoho Desk and its accounts server on loopback: tokens, search, threads, comments, times, webhooks."""

from base64 import urlsafe_b64encode
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import orjson
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from tests.support.desks.faults import Troubles, answer_with
from tests.support.models.http_server import Exchange, HttpServer, Received

ORG = "700123"
CLIENT = ("client-of-gaby", "its-secret")
REFRESH_TOKEN = "refresh-token"
Answer = tuple[int, Any]
_NOT_FOUND: Answer = (404, {"errorCode": "URL_NOT_FOUND", "message": "The URL given is wrong"})


def timestamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


class ScriptedZohoDesk:
    def __init__(self) -> None:
        self.now = datetime(2030, 1, 2, 3, 0, tzinfo=UTC)
        self.tickets: dict[str, dict[str, Any]] = {}
        self.threads: dict[str, list[dict[str, Any]]] = {}
        self.comments: dict[str, list[dict[str, Any]]] = {}
        self.times: dict[str, list[dict[str, Any]]] = {}
        self.webhooks: list[dict[str, Any]] = []
        self.valid: list[str] = []
        """Access tokens, the newest last."""
        self.credits = 50_000
        self.asked: list[Received] = []
        self.troubles = Troubles()
        self._ids = 9000
        self._server = HttpServer(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    def close(self) -> None:
        self._server.close()

    def add(self, subject: str, description: str = "", *, email: str | None = "ann@acme.example", **more: Any) -> str:
        found = self._id()
        self.tickets[found] = {
            "id": found,
            "ticketNumber": found[-3:],
            "subject": subject,
            "description": description,
            "status": "Open",
            "statusType": "Open",
            "priority": None,
            "channel": "Email",
            "createdTime": timestamp(self.now),
            "modifiedTime": timestamp(self.now),
            "dueDate": None,
            "webUrl": f"https://desk.zoho.example/support/acme/ShowHomePage.do#Cases/dv/{found}",
            "contact": {"email": email, "lastName": "Ann", "account": {"accountName": "Acme"}},
            **more,
        }
        self.threads[found], self.comments[found], self.times[found] = [], [], []
        return found

    def thread(self, ticket: str, content: str, *, direction: str = "in", **more: Any) -> dict[str, Any]:
        made = {
            "id": self._id(),
            "direction": direction,
            "status": "SUCCESS",
            "visibility": "public",
            "createdTime": timestamp(self.now),
            "content": content,
            "summary": content[:20],
            "author": {"type": "END_USER" if direction == "in" else "AGENT", "email": None},
            **more,
        }
        self.threads[ticket].append(made)
        self.tickets[ticket]["modifiedTime"] = timestamp(self.now)
        return made

    def comment(self, ticket: str, content: str, *, public: bool = False) -> dict[str, Any]:
        commenter = {"type": "AGENT", "name": "Tom"}
        made = {"id": self._id(), "content": content, "isPublic": public, "commentedTime": timestamp(self.now)}
        self.comments[ticket].append({**made, "commenter": commenter})
        self.tickets[ticket]["modifiedTime"] = timestamp(self.now)
        return self.comments[ticket][-1]

    def _id(self) -> str:
        self._ids += 1
        return f"23105700000{self._ids}"

    async def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        self.asked.append(received)
        trouble = self.troubles.take(received)
        if trouble and trouble.what == "answer":
            await exchange.send(trouble.status, {"Content-Type": "text/html", **trouble.headers}, trouble.body)
            return
        status, answer = self._reply(received)
        await answer_with(exchange, trouble, status, answer, X_Rate_Limit_Remaining_v3=str(self.credits))

    def _reply(self, received: Received) -> Answer:
        match received.method, received.path.strip("/").split("/"):
            case "POST", ["oauth", "v2", "token"]:
                return self._token(dict(parse_qsl(received.body.decode())))
            case "GET", [".well-known", "jwks.json"]:
                return 200, jwks()
            case method, ["api", "v1", *rest]:
                token = received.headers.get("authorization", "").removeprefix("Zoho-oauthtoken ")
                if token not in self.valid:
                    return 401, {"errorCode": "INVALID_OAUTH", "message": "The OAuth Token you provided is invalid."}
                if received.headers.get("orgid") != ORG:
                    return 403, {"errorCode": "OAUTH_ORG_MISMATCH", "message": "Another organization."}
                return self._desk(method, rest, received)
            case _:
                return _NOT_FOUND

    def _token(self, asked: Mapping[str, str]) -> Answer:
        known = (asked.get("client_id"), asked.get("client_secret")) == CLIENT
        if not known or asked.get("refresh_token") != REFRESH_TOKEN or asked.get("grant_type") != "refresh_token":
            return 200, {"error": "invalid_code"}
        self.valid.append(f"access-{len(self.asked)}")
        return 200, {"access_token": self.valid[-1], "expires_in": 3600, "token_type": "Bearer"}

    def _desk(self, method: str, rest: Sequence[str], received: Received) -> Answer:
        match method, rest:
            case "GET", ["organizations", _]:
                return 200, {"id": ORG, "companyName": "Acme Support"}
            case "GET", ["tickets", "search"]:
                return self._search(received.query)
            case "GET", ["webhooks"]:
                return _listed(self.webhooks, received.query)
            case "POST", ["webhooks"]:
                self.webhooks.append({"id": self._id(), **received.json})
                return 200, self.webhooks[-1]
            case _, ["tickets", ticket, *what] if ticket in self.tickets:
                return self._ticket(method, ticket, what, received)
            case _:
                return _NOT_FOUND

    def _search(self, asked: Mapping[str, str]) -> Answer:
        since, until = asked["modifiedTimeRange"].split(",")
        if asked.get("sortBy") != "modifiedTime":
            return 422, {"errorCode": "UNPROCESSABLE_ENTITY", "message": "Sort by modifiedTime."}
        found = [ticket for ticket in self.tickets.values() if since <= ticket["modifiedTime"] <= until]
        return _listed(sorted(found, key=lambda ticket: ticket["modifiedTime"]), asked)

    def _ticket(self, method: str, ticket: str, what: Sequence[str], received: Received) -> Answer:
        return self._read(ticket, what, received) if method == "GET" else self._write(ticket, what, received)

    def _read(self, ticket: str, what: Sequence[str], received: Received) -> Answer:
        lists = {"comments": self.comments, "timeEntry": self.times}
        match what:
            case []:
                return 200, self.tickets[ticket]
            case ["threads"]:
                short = [{k: v for k, v in each.items() if k != "content"} for each in self.threads[ticket]]
                return _listed(short, received.query)
            case ["threads", thread]:
                found = next((each for each in self.threads[ticket] if each["id"] == thread), None)
                return (200, found) if found else _NOT_FOUND
            case [name] if name in lists:
                return _listed(lists[name][ticket], received.query)
            case _:
                return _NOT_FOUND

    def _write(self, ticket: str, what: Sequence[str], received: Received) -> Answer:
        match what:
            case [] if received.method == "PATCH":
                self.tickets[ticket].update(received.json)
                return 200, self.tickets[ticket]
            case ["sendReply"]:
                return self._send(ticket, received.json)
            case ["comments"]:
                return 200, self.comment(ticket, received.json["content"], public=received.json["isPublic"])
            case ["timeEntry"]:
                self.times[ticket].append({"id": self._id(), **received.json})
                return 200, self.times[ticket][-1]
            case _:
                return _NOT_FOUND

    def _send(self, ticket: str, asked: Mapping[str, Any]) -> Answer:
        if asked.get("channel") != "EMAIL" or not asked.get("fromEmailAddress") or not asked.get("to"):
            return 422, {"errorCode": "INVALID_DATA", "message": "fromEmailAddress is needed."}
        return 200, self.thread(ticket, asked["content"], direction="out", to=asked["to"])


def _listed(found: Sequence[Any], asked: Mapping[str, str]) -> Answer:
    """Zoho answers 204 when there is nothing, and refuses pages of more than a hundred."""
    start, size = int(asked.get("from", "0")), int(asked.get("limit", "10"))
    if size > 100:
        return 422, {"errorCode": "UNPROCESSABLE_ENTITY", "message": "limit"}
    part = found[start : start + size]
    return (200, {"data": part}) if part else (204, None)


@cache
def signing_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def jwks() -> dict[str, Any]:
    numbers = signing_key().public_key().public_numbers()
    parts = {"n": _encoded(numbers.n.to_bytes(256, "big")), "e": _encoded(numbers.e.to_bytes(3, "big"))}
    return {"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", **parts}]}


def token(webhook: str, now: datetime, *, header: Mapping[str, Any] | None = None, **claims: Any) -> str:
    """As Zoho makes one for a delivery."""
    times = {"iat": int(now.timestamp()), "exp": int((now + timedelta(minutes=10)).timestamp())}
    told = {"iss": f"orgId:{ORG}", "aud": f"webhookId:{webhook}", **times, **claims}
    head = header or {"alg": "RS256", "typ": "JWT", "kid": "1"}
    signed = f"{_encoded(orjson.dumps(head))}.{_encoded(orjson.dumps(told))}"
    return f"{signed}.{_encoded(signing_key().sign(signed.encode(), PKCS1v15(), SHA256()))}"


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


@contextmanager
def scripted_zoho_desk() -> Generator[ScriptedZohoDesk]:
    desk = ScriptedZohoDesk()
    try:
        yield desk
    finally:
        desk.close()
