"""Request Tracker 5 as a help desk, over its REST 2.0 interface."""

from gaby.tickets.adapters.adapter import AdapterKind
from gaby.tickets.adapters.request_tracker.config import RequestTrackerConfig
from gaby.tickets.adapters.request_tracker.desk import RequestTrackerDesk
from gaby.tickets.adapters.web import host_of

kind = AdapterKind(
    name="request_tracker",
    title="Request Tracker",
    config=RequestTrackerConfig,
    open=RequestTrackerDesk,
    hosts=lambda config: (host_of(config.base_url),),
    voucher_note="Request Tracker takes in mail from any sender, and does not tell who was signed in.",
)

__all__ = ["kind"]
