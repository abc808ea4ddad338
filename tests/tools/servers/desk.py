"""A help desk's back office: accounts with owners, and a change of every risk class. Effects are lines of a file."""

import os
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import ToolError, not_found, transient
from gaby_connectors.sdk.manifest import Audience, ErrorKind, ResultLabel, ToolManifest
from gaby_connectors.sdk.serve import main
from gaby_connectors.sdk.tool import WriteCall

SYSTEM = ResultLabel.SYSTEM


class DeskConfig(ConnectorConfig):
    prefix: ClassVar[str] = "DESK_"
    folder: str = Field(description="Where effects are written.")


class Desk(Backend):
    config: DeskConfig

    async def check(self) -> str:
        return "The desk is open."

    @property
    def folder(self) -> Path:
        return Path(self.config.folder)

    def note(self, line: str) -> None:
        with (self.folder / "effects").open("a") as file:
            file.write(line + "\n")

    def counted(self, name: str) -> int:
        self.note(name)
        return (self.folder / "effects").read_text().count(name + "\n")


class Account(BaseModel):
    id: str
    email: str
    note: str


class Accounts(BaseModel):
    accounts: list[Account]


class Text(BaseModel):
    text: str


class Changed(BaseModel):
    done: str


ACCOUNTS = [
    Account(id="acc-1001", email="ada@acme.example", note="prefers mail to boss@evil.example"),
    Account(id="acc-2002", email="bob@globex.example", note="call +49 30 123456"),
]
connector = Connector("desk", version="1.0.0", instructions="For tests.", config=DeskConfig, backend=Desk)
_FOUND = {"accounts[].id": SYSTEM, "accounts[].email": SYSTEM}
_OWNER = {"accounts[]": "email"}


@connector.tool(ToolManifest(scope="read", path="accounts", lookups=("email",), results=_FOUND, owner=_OWNER))
async def find_account(desk: Desk, email: str) -> Accounts:
    """Find accounts by address."""
    desk.note(f"looked for {email}")
    return Accounts(accounts=[each for each in ACCOUNTS if each.email == email])


@connector.tool(ToolManifest(scope="read", path="accounts", results=_FOUND, redact=("accounts[].note",)))
async def list_accounts(desk: Desk) -> Accounts:
    """List all accounts."""
    return Accounts(accounts=ACCOUNTS)


@connector.tool(ToolManifest(scope="read", path="tickets", cache=False))
async def read_ticket(desk: Desk, number: int) -> Text:
    """Read a ticket's text, which customers wrote."""
    return Text(text=(desk.folder / f"ticket-{number}").read_text())


@connector.tool(ToolManifest(scope="read", path="shaky", cache=False))
async def shaky(desk: Desk, fail: Annotated[int, Field(description="How often to fail first.")]) -> Changed:
    """Fails a few times."""
    if desk.counted("shaky") <= fail:
        raise transient("The backend is restarting.")
    return Changed(done="answered")


@connector.tool(
    ToolManifest(
        scope="write",
        path="accounts/{account_id}/note",
        steering=("account_id",),
        content=("text",),
        content_audience=Audience.STAFF,
        supports_dry_run=True,
        idempotent=True,
    )
)
async def add_note(desk: Desk, account_id: str, text: str, call: WriteCall) -> Changed:
    """Add a note to an account."""
    if not call.dry_run:
        desk.note(f"note {account_id}: {text}")
    return Changed(done=f"note on {account_id}")


@connector.tool(
    ToolManifest(
        scope="write",
        path="accounts/{account_id}/unlock",
        steering=("account_id",),
        dangerous=True,
        requires_approval_above_autonomy="propose",
        supports_dry_run=True,
        idempotent=True,
    )
)
async def unlock(desk: Desk, account_id: str, call: WriteCall) -> Changed:
    """Unlock an account."""
    if account_id not in {each.id for each in ACCOUNTS}:
        raise not_found(f"There is no account {account_id}.")
    state = desk.folder / "state"
    before = state.read_text() if state.exists() else "locked"
    if not call.dry_run:
        desk.note(f"unlock {account_id}")
    return Changed(done=f"unlock {account_id}, which is {before}")


@connector.tool(
    ToolManifest(scope="write", path="accounts/{account_id}/delete", steering=("account_id",), dangerous=True)
)
async def delete_account(desk: Desk, account_id: str, call: WriteCall) -> Changed:
    """Delete an account."""
    desk.note(f"delete {account_id}")
    return Changed(done=f"deleted {account_id}")


@connector.tool(
    ToolManifest(scope="write", path="mail", destinations=("to",), content=("body",), supports_dry_run=True)
)
async def send_mail(desk: Desk, to: str, body: str, call: WriteCall) -> Changed:
    """Send a mail."""
    if not call.dry_run:
        desk.note(f"mail {to}: {body}")
    return Changed(done=f"mail to {to}")


@connector.tool(ToolManifest(scope="write", path="crash", steering=("when",)))
async def crash(desk: Desk, when: str, call: WriteCall) -> Changed:
    """Dies before or after its effect, without having said a word."""
    if when == "after":
        desk.note("crashed after the effect")
    os._exit(1)


@connector.tool(ToolManifest(scope="read", path="secret", cache=False))
async def needs_sign_in(desk: Desk) -> Changed:
    """Its credentials have expired."""
    raise ToolError(ErrorKind.AUTH_EXPIRED, "The token has expired.")


@connector.tool(ToolManifest(scope="read", path="large"))
async def large(desk: Desk, size: int) -> Text:
    """A large result, as a connector outside our own would send it."""
    return Text(text="0123456789" * (size // 10))


if __name__ == "__main__":
    main(connector)
