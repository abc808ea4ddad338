"""A first reply to the requester beside the note for colleagues."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_KIND = "kind IN ('reply', 'ack', 'status', 'time', 'escalation')"
_STATE = "state IN ('due', 'sending', 'posted', 'unknown', 'refused', 'dropped')"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint(op.f("ck_postings_kind"), "postings", type_="check")
        op.create_check_constraint(op.f("ck_postings_kind"), "postings", _KIND)
        return
    # SQLite makes the table anew, and does not tell of its checks when it is asked what it is like.
    checks = (
        sa.CheckConstraint(_KIND, name=op.f("ck_postings_kind")),
        sa.CheckConstraint(_STATE, name=op.f("ck_postings_state")),
    )
    with op.batch_alter_table("postings", recreate="always", table_args=checks):
        pass
