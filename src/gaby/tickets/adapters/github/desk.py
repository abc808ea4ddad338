"""Issues on GitHub as source and sink of tickets."""

from collections.abc import Mapping
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from gaby.kernel.outcomes import Verdict
from gaby.tickets.adapters.adapter import (
    DeskCapabilities,
    DeskDependencies,
    DeskOutcomeUnknown,
    DeskRefused,
    DeskReply,
    RawTicket,
    TicketPage,
    VerifiedDelivery,
)
from gaby.tickets.adapters.change_cursor import ChangeCursor, ChangedItem, cursor_of, of_cursor
from gaby.tickets.adapters.github.client import GitHubClient, GitHubNotFound
from gaby.tickets.adapters.github.config import REPOSITORY, GitHubConfig
from gaby.tickets.adapters.github.normalization import VERDICT_LABEL, external_id, normalized
from gaby.tickets.adapters.github.webhooks import EVENTS, verified
from gaby.tickets.adapters.payload import entries, identity, line, mapping, moment, within
from gaby.tickets.canonical_ticket import IncomingTicket

CAPABILITIES = DeskCapabilities(webhooks=True, statuses=True, finds_replies=True)
_AT_ONCE = 50


class GitHubDesk:
    def __init__(self, config: GitHubConfig, dependencies: DeskDependencies) -> None:
        self._config = config
        self._dependencies = dependencies
        self._client = GitHubClient(config, dependencies)
        self._secret = config.webhook_secret.get_secret_value()
        self._login: str | None = None

    def capabilities(self) -> DeskCapabilities:
        return CAPABILITIES

    async def check(self) -> str:
        for repository in self._config.repositories:
            listed = await self._get(f"repos/{repository}")
            if listed.get("has_issues") is False:
                raise DeskRefused(f"Issues are switched off in {repository}.")
        login = await self._own_login()
        return f"Issues of {', '.join(self._config.repositories)}" + (f", as {login}." if login else ".")

    async def poll(self, cursor: str | None) -> TicketPage:
        trails, now = mapping(of_cursor(cursor)), self._dependencies.clock.now()
        start = self._config.since or now
        start = start if start.tzinfo else start.replace(tzinfo=UTC)
        following: dict[str, object] = {}
        tickets: list[RawTicket] = []
        more = False
        for repository in self._config.repositories:
            trail, fresh, full = await self._changed(
                repository, ChangeCursor.loaded(trails.get(repository), start), now
            )
            following[repository] = trail.dumped()
            tickets += fresh
            more = more or full
        return TicketPage(tickets, cursor_of(following), more=more)

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> VerifiedDelivery:
        delivery = verified(self._config, self._secret, headers, body, now)
        mine = {"own_login": self._login} if self._login else {}
        return VerifiedDelivery(
            delivery.id, [RawTicket(raw.external_id, {**raw.payload, **mine}) for raw in delivery.tickets]
        )

    async def subscribe(self, callback: str) -> str:
        if not self._secret:
            self._secret = token_hex(32)
            await self._dependencies.remember({"webhook_secret": self._secret})
        refused: list[str] = []
        for repository in self._config.repositories:
            try:
                await self._hook(repository, callback)
            except (DeskRefused, GitHubNotFound):
                refused.append(repository)
        if refused:
            return (
                f"The token may not set up webhooks in {', '.join(refused)}. Add there, under Settings, Webhooks: "
                f"{callback}, as application/json, with the desk's webhook secret, for issues and issue comments."
            )
        return f"GitHub delivers issues and comments to {callback}."

    def normalize(self, raw: RawTicket) -> IncomingTicket:
        return normalized(raw, self._config.priorities)

    async def post_reply(self, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> str:
        body = {"body": f"{reply.body}\n\n<!-- {reply.marker} -->"}
        try:
            posted = await self._client.change("POST", f"{_path(external_id)}/comments", body)
        except GitHubNotFound:
            raise _gone() from None
        comment_id = identity(posted.get("id"))
        if not comment_id:
            raise DeskOutcomeUnknown
        return comment_id

    async def find_reply(self, external_id: str, marker: str, metadata: Mapping[str, Any]) -> str | None:
        try:
            comments = await self._client.all_of(f"{_path(external_id)}/comments")
        except GitHubNotFound:
            raise _gone() from None
        bodies = [(identity(comment.get("id")), comment.get("body")) for comment in comments]
        return next(
            (comment_id for comment_id, body in bodies if comment_id and isinstance(body, str) and marker in body), None
        )

    async def update_status(self, external_id: str, verdict: Verdict, metadata: Mapping[str, Any]) -> None:
        path, wanted = _path(external_id), VERDICT_LABEL + verdict.replace("_", "-")
        try:
            labels = [label.get("name") for label in await self._client.all_of(f"{path}/labels")]
            if wanted not in labels:
                await self._client.change("POST", f"{path}/labels", {"labels": [wanted]}, repeatable=True)
            for label in labels:
                if isinstance(label, str) and label.startswith(VERDICT_LABEL) and label != wanted:
                    await self._unlabel(path, label)
            if verdict == "auto_resolved" and self._config.close_resolved:
                closed = {"state": "closed", "state_reason": "completed"}
                await self._client.change("PATCH", path, closed, repeatable=True)
        except GitHubNotFound:
            raise _gone() from None

    async def log_time_entry(
        self, external_id: str, minutes: int, note: str, marker: str, metadata: Mapping[str, Any]
    ) -> None:
        raise DeskRefused("GitHub keeps no times.")

    async def aclose(self) -> None:
        """The connections are shared, and closed by their owner."""

    async def _changed(
        self, repository: str, trail: ChangeCursor, now: datetime
    ) -> tuple[ChangeCursor, list[RawTicket], bool]:
        query = {
            "state": "all",
            "sort": "updated",
            "direction": "asc",
            "since": trail.since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "per_page": str(_AT_ONCE),
            "page": str(trail.offset // _AT_ONCE + 1),
        }
        if self._config.labels:
            query["labels"] = ",".join(self._config.labels)
        try:
            listing = await self._client.page(f"repos/{repository}/issues", query, str(sorted(trail.seen.items())))
        except GitHubNotFound:
            raise DeskRefused(f"GitHub has no {repository}, or not for this token.") from None
        if listing.unchanged:
            return trail, [], False
        issues = {issue_id: issue for issue in listing.entries if (issue_id := external_id(repository, issue))}
        changes = [ChangedItem(issue_id, moment(issue.get("updated_at"))) for issue_id, issue in issues.items()]
        full = len(listing.entries) >= _AT_ONCE
        if not full and not trail.fresh(changes):
            self._client.remember(listing)
        fresh = [issue_id for issue_id in trail.fresh(changes) if "pull_request" not in issues[issue_id]]
        tickets = [await self._whole(repository, issue_id, issues[issue_id]) for issue_id in fresh]
        return trail.after(changes, full=full, now=now, step=_AT_ONCE), tickets, full

    async def _whole(self, repository: str, issue_id: str, issue: Mapping[str, Any]) -> RawTicket:
        try:
            comments = await self._client.all_of(f"{_path(issue_id)}/comments") if issue.get("comments") != 0 else []
        except (GitHubNotFound, DeskRefused):
            comments = []
        login = await self._own_login()
        mine = {"own_login": login} if login else {}
        return RawTicket(issue_id, {"repository": repository, "issue": issue, "comments": comments, **mine})

    async def _own_login(self) -> str:
        """Empty for an app's token, which belongs to nobody."""
        if self._login is None:
            try:
                self._login = line(within(await self._client.get("user"), "login"), 80)
            except (GitHubNotFound, DeskRefused):
                self._login = ""
        return self._login

    async def _hook(self, repository: str, callback: str) -> None:
        path = f"repos/{repository}/hooks"
        settings = {"url": callback, "content_type": "json", "secret": self._secret, "insecure_ssl": "0"}
        wanted = {"name": "web", "active": True, "events": list(EVENTS), "config": settings}
        for hook in entries(await self._client.all_of(path)):
            if within(hook, "config", "url") == callback:
                await self._client.change("PATCH", f"{path}/{identity(hook.get('id'))}", wanted, repeatable=True)
                return
        await self._client.change("POST", path, wanted)

    async def _unlabel(self, path: str, label: str) -> None:
        try:
            await self._client.change("DELETE", f"{path}/labels/{quote(label, safe='')}", repeatable=True)
        except GitHubNotFound:
            return

    async def _get(self, path: str) -> dict[str, Any]:
        try:
            return await self._client.get(path)
        except GitHubNotFound:
            raise DeskRefused(f"GitHub has no {path.removeprefix('repos/')}, or not for this token.") from None


def _path(external_id: str) -> str:
    repository, _, number = external_id.partition("#")
    if not REPOSITORY.fullmatch(repository) or not (number.isascii() and number.isdigit()):
        raise DeskRefused("This is no issue on GitHub.")
    return f"repos/{repository}/issues/{number}"


def _gone() -> DeskRefused:
    return DeskRefused("GitHub has this issue no longer, or hides it from this token.")
