"""What makes UPDATE and DELETE impossible in the database itself. The migration executes these statements in order."""

# INSERT OR REPLACE deletes without asking the delete trigger, so what is there must be refused before.
_TAKEN = {
    "audit_rows": "EXISTS (SELECT 1 FROM audit_rows WHERE workspace_id = NEW.workspace_id AND seq = NEW.seq) "
    "OR EXISTS (SELECT 1 FROM audit_rows WHERE id = NEW.id)",
    "audit_checkpoints": "EXISTS (SELECT 1 FROM audit_checkpoints "
    "WHERE workspace_id = NEW.workspace_id AND size = NEW.size AND ts = NEW.ts)",
    "audit_keys": "EXISTS (SELECT 1 FROM audit_keys WHERE term = NEW.term OR key_id = NEW.key_id)",
}


def _sqlite(table: str, taken: str) -> list[str]:
    return [
        f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
        f"WHEN {taken} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
    ]


def _postgres(table: str) -> list[str]:
    return [
        f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION gaby_append_only()",
        f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION gaby_append_only()",
    ]


SQLITE: tuple[str, ...] = tuple(statement for table, taken in _TAKEN.items() for statement in _sqlite(table, taken))

POSTGRES: tuple[str, ...] = (
    "CREATE FUNCTION gaby_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$",
    *(statement for table in _TAKEN for statement in _postgres(table)),
)
