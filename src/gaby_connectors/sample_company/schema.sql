-- Lanternfish watches over the tills and signs of small shops. These are its back-office tables.
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE accounts (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, domain TEXT NOT NULL, plan TEXT NOT NULL, region TEXT NOT NULL,
    status TEXT NOT NULL, status_reason TEXT, owner_email TEXT NOT NULL, created_at TEXT NOT NULL
) STRICT;
CREATE TABLE usage (
    account_id TEXT NOT NULL REFERENCES accounts (id), metric TEXT NOT NULL, used INTEGER NOT NULL,
    plan_limit INTEGER NOT NULL, resets_at TEXT, PRIMARY KEY (account_id, metric)
) STRICT;
CREATE TABLE sso (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id), provider TEXT NOT NULL, enforced INTEGER NOT NULL,
    certificate_expires_at TEXT NOT NULL
) STRICT;
CREATE TABLE users (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE, role TEXT NOT NULL, status TEXT NOT NULL, locked_at TEXT, lock_reason TEXT,
    failed_logins INTEGER NOT NULL DEFAULT 0, mfa TEXT NOT NULL, password_changed_at TEXT NOT NULL, last_login_at TEXT
) STRICT;
CREATE TABLE groups (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL, grants TEXT NOT NULL
) STRICT;
CREATE TABLE group_members (
    group_id TEXT NOT NULL REFERENCES groups (id), user_id TEXT NOT NULL REFERENCES users (id),
    PRIMARY KEY (group_id, user_id)
) STRICT;
CREATE TABLE logins (
    id INTEGER PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), at TEXT NOT NULL, ok INTEGER NOT NULL,
    reason TEXT NOT NULL, client TEXT NOT NULL, address TEXT NOT NULL
) STRICT;
CREATE INDEX logins_of_user ON logins (user_id, at);
CREATE TABLE invoices (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), amount_cents INTEGER NOT NULL,
    currency TEXT NOT NULL, status TEXT NOT NULL, issued_at TEXT NOT NULL, due_at TEXT NOT NULL
) STRICT;
CREATE TABLE charges (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id),
    invoice_id TEXT NOT NULL REFERENCES invoices (id), amount_cents INTEGER NOT NULL, currency TEXT NOT NULL,
    status TEXT NOT NULL, failure TEXT, card TEXT NOT NULL, attempt INTEGER NOT NULL, payment_request TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE refunds (
    id TEXT PRIMARY KEY, charge_id TEXT NOT NULL REFERENCES charges (id), amount_cents INTEGER NOT NULL,
    reason TEXT NOT NULL, created_at TEXT NOT NULL
) STRICT;
CREATE TABLE devices (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL, model TEXT NOT NULL,
    site TEXT NOT NULL, status TEXT NOT NULL, agent_version TEXT NOT NULL, agent_updated_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL, last_error TEXT, restart_requested_at TEXT
) STRICT;
CREATE TABLE agent_releases (version TEXT PRIMARY KEY, released_at TEXT NOT NULL, notes TEXT NOT NULL) STRICT;
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL, prefix TEXT NOT NULL,
    status TEXT NOT NULL, created_at TEXT NOT NULL, replaced_by TEXT, last_used_at TEXT, requests_last_hour INTEGER NOT NULL
) STRICT;
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), url TEXT NOT NULL, status TEXT NOT NULL,
    signing_key_id TEXT NOT NULL REFERENCES api_keys (id)
) STRICT;
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY, webhook_id TEXT NOT NULL REFERENCES webhooks (id), event TEXT NOT NULL, at TEXT NOT NULL,
    status TEXT NOT NULL, http_status INTEGER, answer TEXT, attempts INTEGER NOT NULL
) STRICT;
CREATE TABLE incidents (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL, regions TEXT NOT NULL, components TEXT NOT NULL,
    started_at TEXT NOT NULL, resolved_at TEXT
) STRICT;
CREATE TABLE incident_updates (
    id INTEGER PRIMARY KEY, incident_id TEXT NOT NULL REFERENCES incidents (id), at TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE TABLE deploys (
    id TEXT PRIMARY KEY, service TEXT NOT NULL, version TEXT NOT NULL, at TEXT NOT NULL, regions TEXT NOT NULL,
    author TEXT NOT NULL, notes TEXT NOT NULL
) STRICT;
CREATE TABLE tickets (
    id TEXT PRIMARY KEY, account_id TEXT REFERENCES accounts (id), requester_email TEXT NOT NULL, subject TEXT NOT NULL,
    body TEXT NOT NULL, status TEXT NOT NULL, created_at TEXT NOT NULL
) STRICT;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, ticket_id TEXT NOT NULL REFERENCES tickets (id), author TEXT NOT NULL, text TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE emails (
    id INTEGER PRIMARY KEY, recipient TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL, sent_at TEXT NOT NULL
) STRICT;
-- What was done under which idempotency key, written in the transaction of the effect itself.
CREATE TABLE effects (key TEXT PRIMARY KEY, tool TEXT NOT NULL, result TEXT NOT NULL, at TEXT NOT NULL) STRICT;
