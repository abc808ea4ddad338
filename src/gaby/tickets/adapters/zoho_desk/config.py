"""What an admin says of a Zoho Desk."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, SecretStr

from gaby.kernel.outcomes import Verdict
from gaby.tickets.adapters.web import checked_address
from gaby.tickets.canonical_ticket import Priority

_STATUSES: dict[Verdict, str] = {
    "auto_resolved": "Closed",
    "needs_tech": "Open",
    "needs_client": "On Hold",
    "needs_l2": "Escalated",
    "failed": "Open",
    "failed_budget": "Open",
}
_PRIORITIES: dict[str, Priority] = {
    "low": "low",
    "medium": "medium",
    "high": "high",
    "urgent": "critical",
    "critical": "critical",
}

Address = Annotated[str, AfterValidator(checked_address)]


class ZohoDeskConfig(BaseModel):
    org_id: Annotated[
        str,
        Field(pattern="^[0-9]{1,20}$", description="The organization's id, from Setup, Developer Space, API."),
    ]
    client_id: Annotated[str, Field(min_length=1, description="The client's id, from the API console of your region.")]
    client_secret: Annotated[SecretStr, Field(description="The client's secret.")]
    refresh_token: Annotated[SecretStr, Field(description="The refresh token of the agent that Gaby answers as.")]
    from_address: Annotated[
        str, Field(min_length=3, description="The support address that replies come from, as Zoho Desk knows it.")
    ]
    desk_url: Annotated[
        Address, Field(description="Zoho Desk in your region, such as https://desk.zoho.eu or https://desk.zoho.in.")
    ] = "https://desk.zoho.com"
    accounts_url: Annotated[
        Address, Field(description="The accounts server of the same region, such as https://accounts.zoho.eu.")
    ] = "https://accounts.zoho.com"
    departments: Annotated[
        list[str], Field(description="Ids of the departments whose tickets are fetched. None: all that the agent sees.")
    ] = []
    since: Annotated[
        datetime | None, Field(description="Tickets that changed after this time are fetched. None: from now on.")
    ] = None
    statuses: Annotated[
        dict[Verdict, str], Field(description="What the desk calls each verdict. A verdict that is left out sets none.")
    ] = _STATUSES
    priorities: Annotated[
        dict[str, Priority], Field(description="What each priority of the desk, in small letters, means.")
    ] = _PRIORITIES
    credit_reserve: Annotated[
        int, Field(ge=0, description="With fewer API credits left for the day, Gaby fetches nothing and still answers.")
    ] = 500
    webhook_secret: Annotated[
        SecretStr,
        Field(description="For a gateway that signs deliveries with x-gaby-signature. Zoho itself needs none."),
    ] = SecretStr("")
    webhook_id: Annotated[SecretStr, Field(description="Kept by Gaby: the id of its webhook at Zoho Desk.")] = (
        SecretStr("")
    )
    webhook_keys: Annotated[
        SecretStr, Field(description="Kept by Gaby: the public keys that Zoho signs deliveries with.")
    ] = SecretStr("")
    session: Annotated[
        SecretStr, Field(description="Kept by Gaby: the present access token, and until when it is valid.")
    ] = SecretStr("")
