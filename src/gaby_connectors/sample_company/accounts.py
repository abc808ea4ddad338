"""Customers' accounts: plan, region, limits and single sign-on."""

from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.sample_company.base import AccountId, Limit, connector, minted, written
from gaby_connectors.sample_company.company import CompanyBackend, Row
from gaby_connectors.sdk.manifest import ToolManifest

_ACCOUNT = minted("accounts[]", "id", "plan", "region", "status", "status_reason", "created_at") | written(
    "accounts[]", "name", "domain", "owner_email"
)


class Account(BaseModel):
    id: str
    name: str
    domain: str
    plan: str
    region: str
    status: str
    status_reason: str | None
    owner_email: str
    created_at: str


class AccountList(BaseModel):
    accounts: list[Account]


class Usage(BaseModel):
    metric: str
    used: int
    plan_limit: int
    limit_reached: bool
    resets_at: str | None


class SingleSignOn(BaseModel):
    provider: str
    enforced: bool
    certificate_expires_at: str
    certificate_expired: bool


class AccountDetail(BaseModel):
    account: Account
    usage: list[Usage]
    sso: SingleSignOn | None


@connector.tool(
    ToolManifest(
        scope="read", path="accounts/search", lookups=("query",), results=_ACCOUNT, owner={"accounts[]": "owner_email"}
    )
)
async def search_accounts(
    company: CompanyBackend,
    query: Annotated[str, Field(min_length=2, max_length=200, description="Part of a name or of a domain.")],
    limit: Limit = 20,
) -> AccountList:
    """Find customers' accounts by name or by the domain of their e-mail addresses."""
    rows = company.rows(
        "SELECT * FROM accounts WHERE instr(lower(name), lower(?1)) OR instr(lower(?1), domain) "
        "OR instr(domain, lower(?1)) ORDER BY id LIMIT ?2",
        query.strip(),
        limit,
    )
    return AccountList(accounts=[Account(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="read",
        path="accounts/{account_id}",
        results={path.replace("accounts[]", "account"): label for path, label in _ACCOUNT.items()}
        | minted("usage[]", "*")
        | minted("sso", "*"),
        owner_argument="account_id",
    )
)
async def get_account(company: CompanyBackend, account_id: AccountId) -> AccountDetail:
    """Show an account: plan, region, whether it is suspended and why, its limits and use, and single sign-on."""
    account = company.row("account", "SELECT * FROM accounts WHERE id = ?", account_id)
    usage = company.rows(
        "SELECT metric, used, plan_limit, resets_at FROM usage WHERE account_id = ? ORDER BY metric", account_id
    )
    sso = company.rows("SELECT * FROM sso WHERE account_id = ?", account_id)
    return AccountDetail(
        account=Account(**account),
        usage=[Usage(**row, limit_reached=row["used"] >= row["plan_limit"]) for row in usage],
        sso=_sso(company, sso[0]) if sso else None,
    )


def _sso(company: CompanyBackend, row: Row) -> SingleSignOn:
    return SingleSignOn(
        provider=row["provider"],
        enforced=bool(row["enforced"]),
        certificate_expires_at=row["certificate_expires_at"],
        certificate_expired=row["certificate_expires_at"] <= company.stamp(),
    )
