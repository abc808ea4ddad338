"""Escalation: what Gaby cannot finish reaches a person, with the whole investigation."""

from gaby.tickets.escalation.channel import Escalation, EscalationChannel
from gaby.tickets.escalation.targets import EscalationTarget, SmtpServer, open_channel, parse_target

__all__ = ["Escalation", "EscalationChannel", "EscalationTarget", "SmtpServer", "open_channel", "parse_target"]
