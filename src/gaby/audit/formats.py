"""Rows in the forms that other systems collect: JSON lines, and syslog as in RFC 5424."""

import re

from gaby.audit.rows import AuditRow

# Facility 13 is "log audit", severity 6 is "informational".
_PRIORITY = 13 * 8 + 6
# The number that IANA keeps for examples; the name tells who we are.
_ELEMENT = "gaby@32473"


def json_line(row: AuditRow) -> bytes:
    """The row with its hash. Collectors drop repetitions by `id`."""
    return b'{"hash":"%b",%b\n' % (row.hash.hex().encode(), row.canonical()[1:])


def syslog_line(row: AuditRow, *, host: str = "-") -> str:
    values = {
        "id": str(row.id),
        "workspace": str(row.workspace_id),
        "seq": str(row.seq),
        "actor": f"{row.actor_kind}:{row.actor_id}",
        "hash": row.hash.hex(),
    }
    data = " ".join(f'{name}="{_escaped(value)}"' for name, value in values.items())
    # The byte order mark says that the message is UTF-8.
    return (
        f"<{_PRIORITY}>1 {row.ts} {_word(host, 255)} gaby - {_word(row.event, 32)} [{_ELEMENT} {data}] "
        f"\ufeff{row.payload}"
    )


def _escaped(value: str) -> str:
    return re.sub(r'(["\\\]])', r"\\\1", value)


def _word(text: str, limit: int) -> str:
    return re.sub(r"[^!-~]", "?", text)[:limit] or "-"
