"""API keys and webhooks. The keys themselves are never shown."""

from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.sample_company.base import AccountId, Limit, connector, minted, written
from gaby_connectors.sample_company.company import CompanyBackend, done_before
from gaby_connectors.sdk.errors import conflict
from gaby_connectors.sdk.manifest import ToolManifest
from gaby_connectors.sdk.tool import WriteCall

WebhookId = Annotated[str, Field(description="A webhook's id, such as whk_021.", pattern=r"^whk_\d{3,}$")]


class ApiKey(BaseModel):
    id: str
    name: str
    prefix: str
    status: str
    created_at: str
    replaced_by: str | None
    last_used_at: str | None
    requests_last_hour: int


class SampleApiKeyList(BaseModel):
    api_keys: list[ApiKey]


class Webhook(BaseModel):
    id: str
    url: str
    status: str
    signing_key_id: str
    signing_key_status: str
    failed_last_day: int


class Webhooks(BaseModel):
    webhooks: list[Webhook]


class Delivery(BaseModel):
    id: int
    event: str
    at: str
    status: str
    http_status: int | None
    answer: str | None
    attempts: int


class Deliveries(BaseModel):
    webhook_id: str
    deliveries: list[Delivery]


class ResendResult(BaseModel):
    webhook_id: str
    queued: int


@connector.tool(
    ToolManifest(
        scope="read",
        path="accounts/{account_id}/api_keys",
        results=minted(
            "api_keys[]", "id", "prefix", "status", "created_at", "replaced_by", "last_used_at", "requests_last_hour"
        )
        | written("api_keys[]", "name"),
        owner_argument="account_id",
    )
)
async def list_api_keys(company: CompanyBackend, account_id: AccountId) -> SampleApiKeyList:
    """Show an account's API keys by prefix: which are active, which were replaced, when and how much they are used."""
    rows = company.rows("SELECT * FROM api_keys WHERE account_id = ? ORDER BY created_at DESC", account_id)
    return SampleApiKeyList(api_keys=[ApiKey(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="read",
        path="accounts/{account_id}/webhooks",
        results=minted("webhooks[]", "id", "status", "signing_key_id", "signing_key_status", "failed_last_day")
        | written("webhooks[]", "url"),
        owner_argument="account_id",
    )
)
async def list_webhooks(company: CompanyBackend, account_id: AccountId) -> Webhooks:
    """Show an account's webhooks, the key that signs each of them, and how many deliveries failed in the last day."""
    rows = company.rows(
        "SELECT w.id, w.url, w.status, w.signing_key_id, k.status AS signing_key_status, "
        "(SELECT count(*) FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'failed' "
        "AND julianday(d.at) > julianday(?2) - 1) AS failed_last_day "
        "FROM webhooks w JOIN api_keys k ON k.id = w.signing_key_id WHERE w.account_id = ?1 ORDER BY w.id",
        account_id,
        company.stamp(),
    )
    return Webhooks(webhooks=[Webhook(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="read",
        path="webhooks/{webhook_id}/deliveries",
        results=minted("deliveries[]", "id", "event", "at", "status", "http_status", "attempts")
        | written("deliveries[]", "answer"),
        owner_argument="webhook_id",
    ),
    more="Ask with a smaller limit, or only for failed ones.",
)
async def list_deliveries(
    company: CompanyBackend,
    webhook_id: WebhookId,
    *,
    only_failed: Annotated[bool, Field(description="Leave out what was delivered.")] = False,
    limit: Limit = 30,
) -> Deliveries:
    """Show the latest deliveries of a webhook with what the customer's server answered."""
    _ = company.row("webhook", "SELECT id FROM webhooks WHERE id = ?", webhook_id)
    rows = company.rows(
        "SELECT * FROM deliveries WHERE webhook_id = ?1 AND (?2 = 0 OR status = 'failed') ORDER BY at DESC LIMIT ?3",
        webhook_id,
        int(only_failed),
        limit,
    )
    return Deliveries(webhook_id=webhook_id, deliveries=[Delivery(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="write",
        path="webhooks/{webhook_id}/resend",
        owner_argument="webhook_id",
        steering=("webhook_id",),
        supports_dry_run=True,
        idempotent=True,
    ),
    lookup=done_before(ResendResult),
)
async def resend_deliveries(company: CompanyBackend, webhook_id: WebhookId, call: WriteCall) -> ResendResult:
    """Send the failed deliveries of a webhook again, signed with the account's active key."""
    hook = company.row("webhook", "SELECT * FROM webhooks WHERE id = ?", webhook_id)
    keys = company.rows(
        "SELECT id FROM api_keys WHERE account_id = ? AND status = 'active' ORDER BY created_at DESC",
        hook["account_id"],
    )
    if not keys:
        raise conflict("The account has no active API key to sign with.")
    failed = company.rows(
        "SELECT count(*) AS n FROM deliveries WHERE webhook_id = ? AND status = 'failed'", webhook_id
    )[0]["n"]
    return company.effect(
        "resend_deliveries",
        call,
        ResendResult(webhook_id=webhook_id, queued=failed),
        ("UPDATE webhooks SET signing_key_id = ? WHERE id = ?", keys[0]["id"], webhook_id),
        (
            "UPDATE deliveries SET status = 'queued', attempts = attempts + 1 "
            "WHERE webhook_id = ? AND status = 'failed'",
            webhook_id,
        ),
    )
