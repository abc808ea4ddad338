"""A GitHub on loopback: issues, comments, labels and webhooks of some repositories, in its wire format."""

import hmac
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from tests.support.desks.faults import Troubles, answer_with
from tests.support.models.http_server import Exchange, HttpServer, Received

TOKEN = "token-of-gaby"
REPOSITORY = "acme/app"


def timestamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class ScriptedGitHub:
    def __init__(self) -> None:
        self.now = datetime(2030, 1, 2, 3, 0, tzinfo=UTC)
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.hooks: list[dict[str, Any]] = []
        self.asked: list[Received] = []
        self.troubles = Troubles()
        self.most_for_each_page = 100
        self._ids = 1000
        self._server = HttpServer(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    def close(self) -> None:
        self._server.close()

    def open_issue(
        self, title: str, body: str = "", *, by: str = "ann", labels: Sequence[str] = (), **more: Any
    ) -> int:
        number = len(self.issues) + 1
        self.issues[number] = {
            "id": self._id(),
            "number": number,
            "title": title,
            "body": body,
            "user": {"login": by, "id": 7, "type": "User"},
            "labels": [{"name": name} for name in labels],
            "state": "open",
            "comments": 0,
            "html_url": f"https://github.example/{REPOSITORY}/issues/{number}",
            "created_at": timestamp(self.now),
            "updated_at": timestamp(self.now),
            "author_association": "NONE",
            **more,
        }
        self.comments[number] = []
        return number

    def comment(self, number: int, body: str, *, by: str = "ann", association: str = "NONE") -> dict[str, Any]:
        made = {
            "id": self._id(),
            "body": body,
            "user": {"login": by, "id": 7, "type": "User"},
            "author_association": association,
            "created_at": timestamp(self.now),
            "updated_at": timestamp(self.now),
        }
        self.comments[number].append(made)
        self.issues[number]["comments"] = len(self.comments[number])
        self._touch(number)
        return made

    def labels(self, number: int) -> list[str]:
        return [label["name"] for label in self.issues[number]["labels"]]

    def _id(self) -> int:
        self._ids += 1
        return self._ids

    def _touch(self, number: int) -> None:
        self.issues[number]["updated_at"] = timestamp(self.now)

    async def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        self.asked.append(received)
        trouble = self.troubles.take(received)
        if trouble and trouble.what == "answer":
            await exchange.send(trouble.status, {"Content-Type": "text/html", **trouble.headers}, trouble.body)
            return
        status, answer, headers = self._reply(received)
        await answer_with(exchange, trouble, status, answer, **headers)

    def _reply(self, received: Received) -> tuple[int, Any, dict[str, str]]:
        if received.headers.get("authorization") != f"Bearer {TOKEN}":
            return 401, {"message": "Bad credentials"}, {}
        match received.method, received.path.strip("/").split("/"):
            case "GET", ["user"]:
                return 200, {"login": "gaby-bot"}, {}
            case method, ["repos", owner, name, *rest] if f"{owner}/{name}" == REPOSITORY:
                return self._repository(method, rest, received)
            case _:
                return 404, {"message": "Not Found"}, {}

    def _repository(self, method: str, rest: Sequence[str], received: Received) -> tuple[int, Any, dict[str, str]]:
        match method, rest:
            case "GET", []:
                return 200, {"full_name": REPOSITORY, "has_issues": True}, {}
            case "GET", ["issues"]:
                return self._list(received)
            case _, ["hooks", *which]:
                return self._hook(method, which, received)
            case _, ["issues", number, *what] if number.isdigit() and int(number) in self.issues:
                return self._issue(method, int(number), what, received)
            case _:
                return 404, {"message": "Not Found"}, {}

    def _list(self, received: Received) -> tuple[int, Any, dict[str, str]]:
        asked = received.query
        wanted = set(filter(None, asked.get("labels", "").split(",")))
        found = [
            issue
            for issue in sorted(self.issues.values(), key=lambda issue: (issue["updated_at"], issue["number"]))
            if issue["updated_at"] >= asked["since"] and wanted <= {label["name"] for label in issue["labels"]}
        ]
        status, page, headers = self._part(found, received)
        tag = f'W/"{sha256(repr(page).encode()).hexdigest()}"'
        if received.headers.get("if-none-match") == tag:
            return 304, None, {"ETag": tag}
        return status, page, {**headers, "ETag": tag}

    def _issue(
        self, method: str, number: int, what: Sequence[str], received: Received
    ) -> tuple[int, Any, dict[str, str]]:
        match method, what:
            case "GET", ["comments"]:
                return self._part(self.comments[number], received)
            case "POST", ["comments"]:
                return 201, self.comment(number, received.json["body"], by="gaby-bot", association="MEMBER"), {}
            case "PATCH", []:
                self.issues[number].update(received.json)
                return 200, self.issues[number], {}
            case _, ["labels", *name]:
                return self._label(method, number, name, received)
            case _:
                return 404, {"message": "Not Found"}, {}

    def _label(
        self, method: str, number: int, name: Sequence[str], received: Received
    ) -> tuple[int, Any, dict[str, str]]:
        labels: list[dict[str, str]] = self.issues[number]["labels"]
        if method == "GET":
            return self._part(labels, received)
        if method == "POST":
            labels += [{"name": each} for each in received.json["labels"] if each not in self.labels(number)]
        elif name[0] not in self.labels(number):
            return 404, {"message": "Label does not exist"}, {}
        else:
            labels.remove({"name": name[0]})
        return 200, labels, {}

    def _hook(self, method: str, which: Sequence[str], received: Received) -> tuple[int, Any, dict[str, str]]:
        if method == "GET":
            return self._part(self.hooks, received)
        if method == "PATCH":
            hook = next(hook for hook in self.hooks if str(hook["id"]) == which[0])
            hook.update(received.json)
            return 200, hook, {}
        self.hooks.append({"id": self._id(), **received.json})
        return 201, self.hooks[-1], {}

    def _part(self, found: Sequence[Any], received: Received) -> tuple[int, Any, dict[str, str]]:
        size = min(int(received.query.get("per_page", "30")), self.most_for_each_page)
        page = int(received.query.get("page", "1"))
        part = found[(page - 1) * size : page * size]
        onward = urlencode({**received.query, "page": page + 1})
        more = page * size < len(found)
        return 200, part, {"Link": f'<{self.url}{received.path}?{onward}>; rel="next"'} if more else {}


def delivered(secret: str, body: bytes) -> Mapping[str, str]:
    """The headers of a delivery, with names in small letters."""
    digest = hmac.new(secret.encode(), body, sha256).hexdigest()
    return {"x-hub-signature-256": f"sha256={digest}", "x-github-event": "issues", "x-github-delivery": "1"}


@contextmanager
def scripted_github() -> Generator[ScriptedGitHub]:
    github = ScriptedGitHub()
    try:
        yield github
    finally:
        github.close()
