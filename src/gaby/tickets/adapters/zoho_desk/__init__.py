"""Zoho Desk."""

from gaby.tickets.adapters.adapter import AdapterKind
from gaby.tickets.adapters.web import host_of
from gaby.tickets.adapters.zoho_desk.config import ZohoDeskConfig
from gaby.tickets.adapters.zoho_desk.desk import ZohoDesk

kind = AdapterKind(
    name="zoho_desk",
    title="Zoho Desk",
    config=ZohoDeskConfig,
    open=ZohoDesk,
    hosts=lambda config: (host_of(config.desk_url), host_of(config.accounts_url)),
    vouchers=("nobody", "desk"),
    voucher_note="`desk`: what was written on Zoho's web portal is its author's; choose it only if the portal lets in "
    "nobody without a sign-in. Mail is never verified, since Zoho does not tell whether its sender was checked.",
)
