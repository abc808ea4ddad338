"""Writes the rows of the sample company, counting back from the moment at which it is made."""

import sqlite3
from datetime import datetime, timedelta

Value = str | int | None


class Seeder:
    """Writes rows; knows what time it is in the company."""

    def __init__(self, db: sqlite3.Connection, now: datetime) -> None:
        self.db = db
        self.now = now.replace(microsecond=0)

    def ago(self, *, days: float = 0, hours: float = 0, minutes: float = 0) -> str:
        return (self.now - timedelta(days=days, hours=hours, minutes=minutes)).isoformat(timespec="seconds")

    def ahead(self, *, days: float) -> str:
        return self.ago(days=-days)

    def insert(self, table: str, **values: Value) -> None:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self.db.execute(" ".join(("INSERT INTO", table, "(", names, ") VALUES (", marks, ")")), tuple(values.values()))

    def change(self, table: str, row: str, **values: Value) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        self.db.execute(" ".join(("UPDATE", table, "SET", names, "WHERE id = ?")), (*values.values(), row))

    def id_of(self, email: str) -> str:
        return str(self.db.execute("SELECT id FROM users WHERE email = ?", (email,)).fetchone()[0])


def signed_in(
    seeding: Seeder,
    user: str,
    at: str,
    address: str,
    *,
    reason: str = "password",
    client: str = "Firefox on Windows",
    ok: bool = True,
) -> None:
    seeding.insert("logins", user_id=user, at=at, ok=int(ok), reason=reason, client=client, address=address)


def charged(
    seeding: Seeder,
    invoice: str,
    charge: str,
    *,
    at: str,
    status: str = "succeeded",
    failure: str | None = None,
    attempt: int = 1,
) -> None:
    query = "SELECT account_id, amount_cents, currency FROM invoices WHERE id = ?"
    account, amount, currency = seeding.db.execute(query, (invoice,)).fetchone()
    seeding.insert(
        "charges",
        id=charge,
        account_id=account,
        invoice_id=invoice,
        amount_cents=amount,
        currency=currency,
        status=status,
        failure=failure,
        card="visa ending 4242",
        attempt=attempt,
        payment_request=f"preq_{invoice[4:]}",
        created_at=at,
    )


def delivered(seeding: Seeder, hook: str, at: str, http_status: int, answer: str, *, attempts: int = 1) -> None:
    status = "delivered" if http_status < 300 else "failed"
    seeding.insert(
        "deliveries",
        webhook_id=hook,
        event="device.status",
        at=at,
        status=status,
        http_status=http_status,
        answer=answer,
        attempts=attempts,
    )
