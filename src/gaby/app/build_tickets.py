"""Building everything about tickets out of the settings."""

from gaby.app.services import Services
from gaby.safety import Redactor, parse_profile, redacting_for_good
from gaby.tickets.desks import Desks
from gaby.tickets.intake import Intake
from gaby.tickets.receiver import TicketReceiver
from gaby.tickets.service import Tickets
from gaby_connectors.sdk.address_guard import AddressPolicy


def build_tickets(services: Services) -> Tickets:
    database, clock, ids, vault = services.database, services.clock, services.ids, services.vault
    redact = redacting_for_good(Redactor(parse_profile(services.settings.safety.profile)), services.random)
    outside = AddressPolicy.allowing(services.settings.safety.inside)
    desks = Desks(database, clock, ids, vault, services.http, outside)
    intake = Intake(clock, ids, vault, redact)
    receiver = TicketReceiver(database, clock, ids, vault, desks, intake)
    return Tickets(clock, ids, desks, intake, receiver)
