"""E-mail as a help desk: IMAP in, SMTP out."""

from gaby.tickets.adapters.adapter import AdapterKind
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.desk import EmailDesk

kind = AdapterKind(name="email", title="E-mail", config=EmailConfig, open=EmailDesk)

__all__ = ["kind"]
