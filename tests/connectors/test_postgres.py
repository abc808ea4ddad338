"""Postgres: every question can be asked, nothing can be changed."""

from collections.abc import Generator

import pytest
from pydantic import SecretStr

from gaby_connectors.postgres.config import PostgresConfig
from gaby_connectors.postgres.tools import connector
from gaby_connectors.sdk.manifest import ErrorKind
from tests.connectors.talk import talking
from tests.support.postgres import Postgres

pytestmark = [pytest.mark.promise("M6"), pytest.mark.xdist_group("postgres connector")]
PASSWORD = "reader-pass-5523"
_TABLE = """
CREATE TABLE orders (
    id int PRIMARY KEY, customer text NOT NULL, at timestamptz DEFAULT 'infinity', total numeric, raw bytea, extra jsonb
)
"""


@pytest.fixture(scope="module")
def shop(postgres: Postgres) -> Generator[str]:
    """A database in which the reader may even write: it must not matter."""
    postgres.execute("CREATE DATABASE shop")
    for statement in (
        f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'",
        _TABLE,
        "INSERT INTO orders SELECT n, 'c' || n, 'infinity', 'NaN', '\\x01ff', '{\"a\": 1}' "
        "FROM generate_series(1, 900) n",
        "CREATE SEQUENCE counter",
        "COMMENT ON TABLE orders IS 'What people bought'",
        "GRANT ALL ON orders, counter TO reader",
        "CREATE FUNCTION sneaky() RETURNS int LANGUAGE sql AS 'DELETE FROM orders RETURNING id'",
    ):
        postgres.execute(statement, "shop")
    yield f"postgresql://reader:{PASSWORD}@127.0.0.1:{postgres.port}/shop"
    postgres.execute("DROP DATABASE shop WITH (FORCE)")
    postgres.execute("DROP ROLE reader")


def config(url: str, seconds: float = 5) -> PostgresConfig:
    return PostgresConfig(url=SecretStr(url), seconds=seconds)


async def test_the_tables_can_be_explored(shop: str) -> None:
    async with talking(connector, config(shop)) as talk:
        assert "Postgres 18" in (await talk.ask("healthcheck"))["detail"]
        assert await talk.ask("list_schemas") == {"schemas": [{"name": "public", "tables": 1}]}
        (table,) = (await talk.ask("list_tables"))["tables"]
        assert (table["name"], table["kind"], table["comment"]) == ("orders", "table", "What people bought")
        told = await talk.ask("describe_table", table="orders")
        assert [column["name"] for column in told["columns"]] == ["id", "customer", "at", "total", "raw", "extra"]
        assert any("PRIMARY KEY" in constraint for constraint in told["constraints"])
        assert (await talk.fails("describe_table", table="no'such")).kind == ErrorKind.NOT_FOUND


async def test_values_of_all_kinds_are_plain_json(shop: str) -> None:
    async with talking(connector, config(shop)) as talk:
        rows = (await talk.ask("query", sql="SELECT * FROM orders ORDER BY id", limit=1))["rows"]
        assert rows == [[1, "c1", "infinity", "NaN", "\\x01ff", {"a": 1}]]
        odd = "SELECT 9007199254740993, 'NaN'::float8, ARRAY[1, NULL], '1 day'::interval, NULL, '(1,2)'::point"
        assert (await talk.ask("query", sql=odd))["rows"] == [
            ["9007199254740993", "nan", [1, None], "1 day", None, "(1,2)"]
        ]


async def test_rows_are_limited_and_it_is_said(shop: str) -> None:
    async with talking(connector, config(shop)) as talk:
        some = await talk.ask("query", sql="SELECT id FROM orders;", limit=20)
        assert (some["row_count"], some["complete"]) == (20, False)
        most = await talk.ask("query", sql="SELECT id FROM orders", limit=10_000)
        assert (most["row_count"], most["complete"]) == (500, False)
        wide = await talk.ask("query", sql="SELECT repeat('y', 1000) FROM orders", limit=500)
        assert wide["truncated"] is True
        assert len(wide["rows"]) < 100


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "SELECT 1; DELETE FROM orders",
        "COMMIT; DELETE FROM orders",
        "SELECT 1) x; DELETE FROM orders; --",
        "WITH gone AS (DELETE FROM orders RETURNING id) SELECT * FROM gone",
        "SELECT sneaky()",
        "SELECT nextval('counter')",
        "SELECT * FROM orders FOR UPDATE",
        "SELECT * INTO copied FROM orders",
        "DO $$ BEGIN DELETE FROM orders; END $$",
        "COPY orders TO PROGRAM 'id'",
        "SET SESSION AUTHORIZATION postgres",
        "SELECT set_config('transaction_read_only', 'off', true), sneaky()",
        "SELECT set_config('default_transaction_read_only', 'off', false), sneaky()",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT pg_terminate_backend(1)",
        'SELECT U&"\\0070g_terminate_backend"(1)',
        "SELECT query_to_xml('SELECT pg_termin' || 'ate_backend(1)', true, true, '')",
        "EXPLAIN ANALYZE DELETE FROM orders",
        "\0",
        ";",
    ],
)
async def test_nothing_that_writes_gets_through(shop: str, postgres: Postgres, sql: str) -> None:
    async with talking(connector, config(shop)) as talk:
        error = await talk.fails("query", sql=sql)
        assert error.kind in (ErrorKind.INVALID, ErrorKind.DENIED)
        await talk.fails("explain", sql=f"ANALYZE {sql}")
        assert (await talk.ask("query", sql="SELECT count(*) FROM orders"))["rows"] == [[900]]


async def test_a_query_that_takes_too_long_is_ended(shop: str) -> None:
    async with talking(connector, config(shop, seconds=0.3)) as talk:
        for sql in (
            "SELECT count(*) FROM orders a, orders b, orders c, orders d",
            "SELECT count(*) FROM generate_series(1, 10000000000)",
        ):
            assert "took longer than 0.3 s" in (await talk.fails("query", sql=sql)).message


async def test_a_plan_is_shown_without_running_the_query(shop: str) -> None:
    async with talking(connector, config(shop)) as talk:
        plan = (await talk.ask("explain", sql="SELECT id / (id - id) FROM orders"))["plan"]
        assert plan[0]["Plan"]["Node Type"] == "Seq Scan"


async def test_a_superuser_is_refused(postgres: Postgres) -> None:
    async with talking(connector, config(postgres.url())) as talk:
        error = await talk.fails("query", sql="SELECT 1")
        assert error.kind == ErrorKind.DENIED
        assert "superuser" in error.message
    allowed = PostgresConfig(url=SecretStr(postgres.url()), allow_superuser=True)
    async with talking(connector, allowed) as talk:
        assert (await talk.ask("query", sql="SELECT 1"))["rows"] == [[1]]


async def test_a_server_that_is_gone_is_a_passing_trouble(shop: str) -> None:
    async with talking(connector, config("postgresql://reader:pw-12345@127.0.0.1:9/shop")) as talk:
        error = await talk.fails("healthcheck")
        assert error.kind == ErrorKind.TRANSIENT
        assert "pw-12345" not in error.message
