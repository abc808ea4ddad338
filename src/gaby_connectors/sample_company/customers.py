"""The customers of Lanternfish and the people who work there. All of them are invented."""

from typing import NamedTuple


class Customer(NamedTuple):
    id: str
    name: str
    domain: str
    plan: str
    region: str
    people: tuple[tuple[str, str], ...]
    """Name and role; the first one owns the account."""


CUSTOMERS = (
    Customer(
        "acc_01",
        "Bright Bakery",
        "brightbakery.example",
        "team",
        "eu-north",
        (
            ("Nora Lindqvist", "owner"),
            ("Emil Sand", "admin"),
            ("Tuva Berg", "member"),
            ("Olof Hedin", "member"),
            ("Saga Nyman", "member"),
        ),
    ),
    Customer(
        "acc_02",
        "Harbour Books",
        "harbourbooks.example",
        "business",
        "eu-west",
        (
            ("Miles Okafor", "owner"),
            ("Priya Raman", "admin"),
            ("Colm Daly", "member"),
            ("Aoife Brennan", "member"),
            ("Hugo Marsh", "member"),
            ("Ines Prado", "member"),
        ),
    ),
    Customer(
        "acc_03",
        "Cactus Cycles",
        "cactuscycles.example",
        "business",
        "us-east",
        (
            ("Dolores Vega", "owner"),
            ("Wendell Park", "admin"),
            ("Tess Navarro", "member"),
            ("Jonah Kim", "member"),
            ("Ruth Abara", "member"),
        ),
    ),
    Customer(
        "acc_04",
        "Pine & Paper",
        "pineandpaper.example",
        "starter",
        "us-east",
        (("Greta Falk", "owner"), ("Sam Whitlock", "member"), ("Lena Ortiz", "member"), ("Bo Tran", "member")),
    ),
    Customer(
        "acc_05",
        "Verdant Clinics",
        "verdantclinics.example",
        "enterprise",
        "eu-central",
        (
            ("Dr. Amara Diallo", "owner"),
            ("Felix Brandt", "admin"),
            ("Katja Vogel", "member"),
            ("Marek Nowak", "member"),
            ("Sofia Keller", "member"),
            ("Jan Peeters", "member"),
        ),
    ),
    Customer(
        "acc_06",
        "Tidewater Hotels",
        "tidewaterhotels.example",
        "enterprise",
        "eu-west",
        (
            ("Isla Fraser", "owner"),
            ("Callum Reid", "admin"),
            ("Mairi Stewart", "member"),
            ("Ewan Boyd", "member"),
            ("Freya Munro", "member"),
            ("Rory Kerr", "member"),
        ),
    ),
    Customer(
        "acc_07",
        "Copper Kettle Cafes",
        "copperkettle.example",
        "team",
        "eu-north",
        (("Anders Holm", "owner"), ("Pia Lund", "admin"), ("Jonas Vik", "member"), ("Maja Friis", "member")),
    ),
    Customer(
        "acc_08",
        "Moonrise Cinemas",
        "moonrise.example",
        "business",
        "us-west",
        (
            ("Vera Castellan", "owner"),
            ("Theo Grant", "admin"),
            ("Lucia Moreno", "member"),
            ("Oscar Wynn", "member"),
            ("Yuki Tanabe", "member"),
        ),
    ),
)

PRICES = {"starter": 2900, "team": 9900, "business": 24900, "enterprise": 89000}
"""Cents a month."""

LIMITS = {
    "starter": {"devices": 10, "api_requests_per_hour": 600, "seats": 5},
    "team": {"devices": 40, "api_requests_per_hour": 3600, "seats": 15},
    "business": {"devices": 150, "api_requests_per_hour": 3600, "seats": 50},
    "enterprise": {"devices": 2000, "api_requests_per_hour": 36000, "seats": 1000},
}


def email_of(name: str, domain: str) -> str:
    first, last = name.removeprefix("Dr. ").lower().split()[:2]
    return f"{first}.{last}@{domain}"
