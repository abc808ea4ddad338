"""Devices in the shops, and the agent that runs on them."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from gaby_connectors.sample_company.base import AccountId, connector, minted, written
from gaby_connectors.sample_company.company import CompanyBackend
from gaby_connectors.sdk.manifest import Audience, ToolManifest
from gaby_connectors.sdk.tool import WriteCall

_DEVICES = "SELECT d.*, a.owner_email FROM devices d JOIN accounts a ON a.id = d.account_id "
DeviceId = Annotated[str, Field(description="A device's id, such as dev_0690.", pattern=r"^dev_\d{4,}$")]


class Device(BaseModel):
    id: str
    account_id: str
    owner_email: str
    name: str
    model: str
    site: str
    status: str
    agent_version: str
    agent_updated_at: str
    last_seen_at: str
    last_error: str | None
    restart_requested_at: str | None


class DeviceList(BaseModel):
    devices: list[Device]


class Release(BaseModel):
    version: str
    released_at: str
    notes: str


class Releases(BaseModel):
    releases: list[Release]


class RestartResult(BaseModel):
    device_id: str
    status: str
    done: str


@connector.tool(
    ToolManifest(
        scope="read",
        path="accounts/{account_id}/devices",
        results=minted(
            "devices[]",
            "id",
            "account_id",
            "model",
            "status",
            "agent_version",
            "agent_updated_at",
            "last_seen_at",
            "restart_requested_at",
        )
        | written("devices[]", "name", "site", "owner_email", "last_error"),
        owner_argument="account_id",
    ),
    more="Ask for one status at a time.",
)
async def list_devices(
    company: CompanyBackend,
    account_id: AccountId,
    status: Annotated[
        Literal["online", "offline", "paused"] | None, Field(description="Only devices in this state.")
    ] = None,
) -> DeviceList:
    """Show an account's devices: model, site, whether they are online, agent version, last sign of life, last error."""
    rows = company.rows(
        _DEVICES + "WHERE d.account_id = ?1 AND (?2 IS NULL OR d.status = ?2) ORDER BY d.id", account_id, status
    )
    return DeviceList(devices=[Device(**row) for row in rows])


@connector.tool(
    ToolManifest(scope="read", path="agent/releases", results=minted("releases[]", "*"), audience=Audience.CUSTOMERS)
)
async def list_agent_releases(company: CompanyBackend) -> Releases:
    """Show the releases of the device agent with their notes and known issues, the newest first."""
    rows = company.rows("SELECT * FROM agent_releases ORDER BY released_at DESC")
    return Releases(releases=[Release(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="write",
        path="devices/{device_id}/restart_agent",
        steering=("device_id",),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="device_id",
    ),
    repeatable=True,
)
async def restart_agent(company: CompanyBackend, device_id: DeviceId, call: WriteCall) -> RestartResult:
    """Restart the agent on a device. The device itself keeps running; it reports again after about a minute."""
    device = company.row("device", "SELECT status FROM devices WHERE id = ?", device_id)
    done = "The agent restarts at the device's next sign of life, or through the shop's gateway if it is offline."
    return company.effect(
        "restart_agent",
        call,
        RestartResult(device_id=device_id, status=device["status"], done=done),
        ("UPDATE devices SET restart_requested_at = ? WHERE id = ?", company.stamp(), device_id),
    )
