"""GitHub Issues."""

from gaby.tickets.adapters.adapter import AdapterKind
from gaby.tickets.adapters.github.config import GitHubConfig
from gaby.tickets.adapters.github.desk import GitHubDesk
from gaby.tickets.adapters.web import host_of

kind = AdapterKind(
    name="github",
    title="GitHub Issues",
    config=GitHubConfig,
    open=GitHubDesk,
    hosts=lambda config: (host_of(config.api_url),),
    voucher_note="GitHub signs its authors in, and does not tell which address any of them has.",
)
