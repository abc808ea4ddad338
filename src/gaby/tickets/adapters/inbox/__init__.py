"""The built-in desk: tickets by API, by command line, or as files in a watched folder."""

from gaby.tickets.adapters.adapter import AdapterKind
from gaby.tickets.adapters.inbox.config import InboxConfig
from gaby.tickets.adapters.inbox.desk import Inbox

kind = AdapterKind("inbox", "The built-in desk", InboxConfig, Inbox)
