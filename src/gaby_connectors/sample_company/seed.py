"""Fills the company's tables: ordinary days first, then the problems that are hidden among them.

Everything follows from `now`, so the same moment always gives the same company.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from gaby_connectors.sample_company.customers import CUSTOMERS, LIMITS, PRICES, Customer, email_of
from gaby_connectors.sample_company.planted_problems import plant
from gaby_connectors.sample_company.seeder import Seeder, charged, delivered, signed_in

AGENT = "4.1.3"
_SITES = ("High Street", "Station", "Old Town", "Riverside")
_MODELS = ("till-mini", "till-pro", "sign-24", "door-counter")


def fill(db: sqlite3.Connection, now: datetime) -> None:
    seeding = Seeder(db, now)
    seeding.insert("facts", name="founded_at", value=seeding.ago())
    numbers = iter(range(1, 1000))
    for customer in CUSTOMERS:
        _account(seeding, customer)
        _people(seeding, customer, numbers)
        _devices(seeding, customer)
        _billing(seeding, customer)
        _integrations(seeding, customer)
    _agents_and_deploys(seeding)
    plant(seeding)


def _account(seeding: Seeder, customer: Customer) -> None:
    owner = email_of(customer.people[0][0], customer.domain)
    seeding.insert(
        "accounts",
        id=customer.id,
        name=customer.name,
        domain=customer.domain,
        plan=customer.plan,
        region=customer.region,
        status="active",
        owner_email=owner,
        created_at=seeding.ago(days=400),
    )
    used = {"devices": 4, "api_requests_per_hour": 120, "seats": len(customer.people)}
    for metric, limit in LIMITS[customer.plan].items():
        seeding.insert("usage", account_id=customer.id, metric=metric, used=used[metric], plan_limit=limit)
    if customer.plan == "enterprise":
        seeding.insert(
            "sso",
            account_id=customer.id,
            provider="saml",
            enforced=1,
            certificate_expires_at=seeding.ahead(days=210),
        )
    for number, (name, grants) in enumerate((("Billing viewers", "billing:read"), ("Administrators", "*")), start=1):
        seeding.insert("groups", id=f"grp_{customer.id[4:]}{number}", account_id=customer.id, name=name, grants=grants)


def _people(seeding: Seeder, customer: Customer, numbers: Iterable[int]) -> None:
    for position, ((name, role), number) in enumerate(zip(customer.people, numbers, strict=False)):
        user = f"usr_{number:03}"
        seeding.insert(
            "users",
            id=user,
            account_id=customer.id,
            name=name,
            email=email_of(name, customer.domain),
            role=role,
            status="active",
            mfa="app" if position % 3 != 2 else "off",
            password_changed_at=seeding.ago(days=60 + number),
            last_login_at=seeding.ago(hours=3 + position),
        )
        if role in ("owner", "admin"):
            for group in (1, 2):
                seeding.insert("group_members", group_id=f"grp_{customer.id[4:]}{group}", user_id=user)
        for day in range(4):
            signed_in(seeding, user, seeding.ago(days=day, hours=3 + position), f"203.0.113.{number}")


def _devices(seeding: Seeder, customer: Customer) -> None:
    for number in range(4):
        seeding.insert(
            "devices",
            id=f"dev_{customer.id[4:]}{number:02}",
            account_id=customer.id,
            name=f"{_SITES[number]} {_MODELS[number].split('-', maxsplit=1)[0]}",
            model=_MODELS[number],
            site=_SITES[number],
            status="online",
            agent_version=AGENT,
            agent_updated_at=seeding.ago(days=30),
            last_seen_at=seeding.ago(minutes=1 + number),
        )


def _billing(seeding: Seeder, customer: Customer) -> None:
    amount = PRICES[customer.plan]
    for month in range(3, 0, -1):
        issued = seeding.ago(days=30 * month - 20)
        invoice = f"inv_{customer.id[4:]}{month:02}"
        seeding.insert(
            "invoices",
            id=invoice,
            account_id=customer.id,
            amount_cents=amount,
            currency="EUR" if customer.region.startswith("eu") else "USD",
            status="paid",
            issued_at=issued,
            due_at=seeding.ago(days=30 * month - 34),
        )
        charged(seeding, invoice, f"ch_{customer.id[4:]}{month:02}1", at=issued)


def _integrations(seeding: Seeder, customer: Customer) -> None:
    if customer.plan == "starter":
        return
    key, hook = f"key_{customer.id[4:]}1", f"whk_{customer.id[4:]}1"
    seeding.insert(
        "api_keys",
        id=key,
        account_id=customer.id,
        name="Back office",
        prefix=f"lfk_{customer.id[4:]}a",
        status="active",
        created_at=seeding.ago(days=300),
        last_used_at=seeding.ago(minutes=9),
        requests_last_hour=120,
    )
    seeding.insert(
        "webhooks",
        id=hook,
        account_id=customer.id,
        url=f"https://hooks.{customer.domain}/lanternfish",
        status="enabled",
        signing_key_id=key,
    )
    for hour in range(6, 0, -1):
        delivered(seeding, hook, seeding.ago(hours=24 + hour), 200, "ok")


def _agents_and_deploys(seeding: Seeder) -> None:
    releases: Sequence[tuple[str, float, str]] = (
        ("4.1.2", 65, "Smaller downloads."),
        (AGENT, 31, "Fixes a leak on door counters."),
    )
    for version, days, notes in releases:
        seeding.insert("agent_releases", version=version, released_at=seeding.ago(days=days), notes=notes)
    deploys: Sequence[tuple[str, str, str, float, str]] = (
        ("dep_101", "console", "12.4.0", 12, "New navigation."),
        ("dep_102", "login", "7.9.1", 9, "Dependency updates."),
        ("dep_103", "console", "12.4.1", 6, "Fixes a colour."),
    )
    for deploy, service, version, days, notes in deploys:
        seeding.insert(
            "deploys",
            id=deploy,
            service=service,
            version=version,
            at=seeding.ago(days=days),
            regions="all",
            author="deploy-bot",
            notes=notes,
        )
