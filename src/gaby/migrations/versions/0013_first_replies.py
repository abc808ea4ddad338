"""A first reply to the requester beside the note for colleagues."""

from alembic import op

revision = "0013"
down_revision = "0012"

_KIND = "kind IN ('reply', 'ack', 'status', 'time', 'escalation')"


def upgrade() -> None:
    with op.batch_alter_table("postings") as postings:
        postings.drop_constraint(op.f("ck_postings_kind"), type_="check")
        postings.create_check_constraint(op.f("ck_postings_kind"), _KIND)
