"""The tools of the Postgres connector."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from gaby_connectors.postgres.config import PostgresConfig
from gaby_connectors.postgres.database import PostgresDatabase
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import not_found
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest

_SYSTEM = ResultLabel.SYSTEM
SchemaName = Annotated[str, Field(min_length=1, max_length=63, description="A schema, such as public.")]
Sql = Annotated[
    str,
    Field(
        min_length=1,
        max_length=20_000,
        description="One SELECT, VALUES, TABLE or WITH query. Nothing that writes is possible.",
        examples=["SELECT 1 AS one"],
    ),
]


class SchemaInfo(BaseModel):
    name: str
    tables: int


class Schemas(BaseModel):
    schemas: list[SchemaInfo]


class Table(BaseModel):
    name: str
    kind: str
    estimated_rows: int | None
    comment: str | None


class Tables(BaseModel):
    tables: list[Table]


class Column(BaseModel):
    name: str
    type: str
    nullable: bool
    default: str | None
    comment: str | None


class Index(BaseModel):
    name: str
    definition: str


class TableDetail(BaseModel):
    columns: list[Column]
    indexes: list[Index]
    constraints: list[str]


class QueryResult(BaseModel):
    columns: list[str]
    rows: list[list[Any]]
    row_count: int
    complete: bool


class QueryPlan(BaseModel):
    plan: Any


connector = Connector(
    "postgres",
    version="1.0.0",
    instructions="A Postgres database, to read only. Begin with list_tables and describe_table, then use query.",
    config=PostgresConfig,
    backend=PostgresDatabase,
)


@connector.tool(ToolManifest(scope="read", path="schemas", results={"schemas[].*": _SYSTEM}))
async def list_schemas(database: PostgresDatabase) -> Schemas:
    """List the schemas that this role can see, with how many tables they have."""
    rows = await database.look_up(
        b"SELECT n.nspname AS name, count(c.oid)::int AS tables FROM pg_namespace n "
        b"LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
        b"WHERE n.nspname !~ '^pg_' AND n.nspname != 'information_schema' "
        b"AND has_schema_privilege(n.oid, 'USAGE') GROUP BY n.nspname ORDER BY 1"
    )
    return Schemas(schemas=[SchemaInfo(**row) for row in rows])


@connector.tool(ToolManifest(scope="read", path="schemas/{schema_name}/tables", results={"tables[].name": _SYSTEM}))
async def list_tables(database: PostgresDatabase, schema_name: SchemaName = "public") -> Tables:
    """List the tables and views of a schema with their size in rows, as far as Postgres has counted, and comments."""
    rows = await database.look_up(
        b"SELECT c.relname AS name, CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' "
        b"WHEN 'f' THEN 'foreign table' ELSE 'table' END AS kind, "
        b"CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END AS estimated_rows, "
        b"obj_description(c.oid, 'pg_class') AS comment "
        b"FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        b"WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1",
        schema_name,
    )
    return Tables(tables=[Table(**row) for row in rows])


@connector.tool(
    ToolManifest(scope="read", path="schemas/{schema_name}/tables/{table}", results={"columns[].name": _SYSTEM})
)
async def describe_table(
    database: PostgresDatabase,
    table: Annotated[str, Field(min_length=1, max_length=63, description="The name of a table or view.")],
    schema_name: SchemaName = "public",
) -> TableDetail:
    """Show the columns of a table with types and comments, its indexes and its constraints."""
    where = (schema_name, table)
    columns = await database.look_up(
        b"SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable, "
        b"pg_get_expr(d.adbin, d.adrelid) AS default, col_description(c.oid, a.attnum) AS comment "
        b"FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
        b"LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum "
        b"WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        *where,
    )
    if not columns:
        raise not_found("There is no such table. Use list_tables to see which there are.")
    indexes = await database.look_up(
        b"SELECT indexname AS name, indexdef AS definition FROM pg_indexes "
        b"WHERE schemaname = %s AND tablename = %s ORDER BY 1",
        *where,
    )
    constraints = await database.look_up(
        b"SELECT k.conname || ': ' || pg_get_constraintdef(k.oid) AS text FROM pg_constraint k "
        b"JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
        b"WHERE n.nspname = %s AND c.relname = %s ORDER BY 1",
        *where,
    )
    return TableDetail(
        columns=[Column(**row) for row in columns],
        indexes=[Index(**row) for row in indexes],
        constraints=[str(row["text"]) for row in constraints],
    )


@connector.tool(ToolManifest(scope="read", path="query"), more="Use LIMIT and OFFSET, or fewer columns.")
async def query(
    database: PostgresDatabase,
    sql: Sql,
    limit: Annotated[int, Field(ge=1, le=10_000, description="How many rows to give at most.")] = 100,
) -> QueryResult:
    """Ask the database a question in SQL. Only reading is possible, for a limited time and number of rows."""
    result = await database.ask(sql, min(limit, database.config.rows))
    return QueryResult(columns=result.columns, rows=result.rows, row_count=len(result.rows), complete=result.complete)


@connector.tool(ToolManifest(scope="read", path="explain"))
async def explain(database: PostgresDatabase, sql: Sql) -> QueryPlan:
    """Show how Postgres would run a query, without running it."""
    return QueryPlan(plan=await database.explain_query(sql))
