"""E-mail as a help desk: IMAP in, SMTP out."""

from gaby.tickets.adapters.adapter import AdapterKind
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.desk import EmailDesk

kind = AdapterKind(
    name="email",
    title="E-mail",
    config=EmailConfig,
    open=EmailDesk,
    hosts=lambda config: (config.imap_host, config.smtp_host),
    vouchers=("mail", "nobody"),
    voucher_note="`mail`: a sender is verified when the server named by `authserv_id` says that DMARC passed; without "
    "`authserv_id`, no sender is.",
)

__all__ = ["kind"]
