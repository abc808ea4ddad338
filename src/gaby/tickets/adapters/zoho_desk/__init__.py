"""Zoho Desk."""

from gaby.tickets.adapters.adapter import AdapterKind
from gaby.tickets.adapters.zoho_desk.config import ZohoDeskConfig
from gaby.tickets.adapters.zoho_desk.desk import ZohoDesk

kind = AdapterKind(name="zoho_desk", title="Zoho Desk", config=ZohoDeskConfig, open=ZohoDesk)
