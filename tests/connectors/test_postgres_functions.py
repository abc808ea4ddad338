"""Postgres: no query calls a function that does more than read, in whatever way the call is spelt."""

from collections.abc import Generator

import psycopg
import pytest
from pydantic import SecretStr

from gaby_connectors.postgres.config import PostgresConfig
from gaby_connectors.postgres.statement import parse_query
from gaby_connectors.postgres.tools import connector
from gaby_connectors.sdk.errors import ToolError
from gaby_connectors.sdk.manifest import ErrorKind
from tests.connectors.talk import talking
from tests.support.postgres import Postgres

pytestmark = [pytest.mark.promise("M6", "S9"), pytest.mark.xdist_group("postgres connector")]
ROLE, PASSWORD = "careful_reader", "reader-pass-7719"
KILL = "SELECT pg_terminate_backend({pid})"


@pytest.fixture(scope="module")
def store(postgres: Postgres) -> Generator[str]:
    """A database whose reader may do harm: end sessions of its own role, write, and call functions of all kinds."""
    postgres.execute("CREATE DATABASE store")
    for statement in (
        f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'",
        f"GRANT pg_signal_backend, pg_read_server_files TO {ROLE}",
        "CREATE TABLE orders (id int PRIMARY KEY, note text, doc tsvector, at timestamptz DEFAULT now())",
        "INSERT INTO orders SELECT n, 'note ' || n, to_tsvector('simple', 'note') FROM generate_series(1, 30) n",
        "CREATE SEQUENCE counter",
        f"GRANT ALL ON orders, counter TO {ROLE}",
        "CREATE EXTENSION hstore",
        "CREATE EXTENSION tablefunc",
        "CREATE EXTENSION dblink",
        "CREATE FUNCTION run(sql text) RETURNS text STABLE LANGUAGE plpgsql AS "
        "'DECLARE r text; BEGIN EXECUTE sql INTO r; RETURN r; END'",
        "CREATE FUNCTION ender(o orders) RETURNS bool STABLE LANGUAGE plpgsql AS "
        "'BEGIN RETURN pg_terminate_backend(o.id); END'",
        "CREATE FUNCTION ends(int, text) RETURNS bool LANGUAGE sql AS 'SELECT pg_terminate_backend($1)'",
        "CREATE OPERATOR ==> (LEFTARG = int, RIGHTARG = text, FUNCTION = ends)",
        "CREATE TYPE pill AS (pid int)",
        "CREATE FUNCTION swallow(pill) RETURNS bool LANGUAGE sql AS 'SELECT pg_terminate_backend($1.pid)'",
        "CREATE CAST (pill AS bool) WITH FUNCTION swallow(pill)",
        "CREATE FUNCTION total(o orders) RETURNS int STABLE LANGUAGE sql AS 'SELECT o.id * 2'",
        "CREATE FUNCTION lower(orders) RETURNS text LANGUAGE sql AS 'SELECT pg_notify(''a'', ''b'')::text'",
        "CREATE FUNCTION \"Odd Name\"(int) RETURNS bool LANGUAGE sql AS 'SELECT pg_terminate_backend($1)'",
    ):
        postgres.execute(statement, "store")
    yield f"postgresql://{ROLE}:{PASSWORD}@127.0.0.1:{postgres.port}/store"
    postgres.execute("DROP DATABASE store WITH (FORCE)")
    postgres.execute(f"DROP ROLE {ROLE}")


def config(url: str, *functions: str) -> PostgresConfig:
    return PostgresConfig(url=SecretStr(url), seconds=5, allow_functions=functions)


ATTACKS = [
    # Ending another session, in every spelling of a call.
    "SELECT pg_terminate_backend({pid})",
    "SELECT PG_Terminate_Backend({pid})",
    'SELECT "pg_terminate_backend"({pid})',
    "SELECT pg_catalog.pg_terminate_backend({pid})",
    'SELECT "pg_catalog"."pg_terminate_backend"({pid})',
    "SELECT pg_catalog . pg_terminate_backend ( {pid} )",
    "SELECT pg_terminate_backend/* ( */({pid})",
    "SELECT pg_terminate_backend--\n({pid})",
    "SELECT pg_terminate_backend /* /* nested */ */ ({pid})",
    'SELECT U&"\\0070g_terminate_backend"({pid})',
    "SELECT U&\"!0070g_terminate_backend\" UESCAPE '!' ({pid})",
    "SELECT pg_terminate_backend(pid => {pid}, timeout => 0)",
    "SELECT pg_terminate_backend(VARIADIC ARRAY[{pid}])",
    "WITH a AS MATERIALIZED (SELECT pg_terminate_backend({pid}) AS x) SELECT x FROM a",
    "SELECT * FROM orders o, LATERAL pg_terminate_backend({pid}) p",
    "SELECT * FROM ROWS FROM (generate_series(1, 2), pg_terminate_backend({pid})) WITH ORDINALITY",
    "SELECT 1 FROM orders ORDER BY pg_terminate_backend({pid})",
    "SELECT 1 FROM orders GROUP BY id HAVING pg_terminate_backend({pid})",
    "SELECT 1 LIMIT CASE WHEN pg_terminate_backend({pid}) THEN 1 ELSE 2 END",
    "SELECT 1 OFFSET (SELECT pg_terminate_backend({pid})::int)",
    "VALUES (1), (pg_terminate_backend({pid})::int)",
    "SELECT count(*) FILTER (WHERE pg_terminate_backend({pid})) FROM orders",
    "SELECT sum(id) OVER (PARTITION BY pg_terminate_backend({pid})) FROM orders",
    "SELECT 1 FROM orders a JOIN orders b ON pg_terminate_backend({pid})",
    "SELECT ARRAY(SELECT pg_terminate_backend({pid}))",
    "SELECT EXISTS (SELECT pg_terminate_backend({pid}))",
    "SELECT COALESCE(NULL, pg_terminate_backend({pid}))",
    "SELECT (pg_terminate_backend({pid}))::text::bool",
    "SELECT CAST(pg_terminate_backend({pid}) AS text)",
    "SELECT * FROM orders TABLESAMPLE bernoulli (pg_terminate_backend({pid})::int)",
    "SELECT 1 WHERE 1 = ANY (SELECT pg_terminate_backend({pid})::int)",
    "SELECT GREATEST(1, pg_terminate_backend({pid})::int)",
    "SELECT JSON_OBJECT('a': pg_terminate_backend({pid}))",
    "SELECT xmlelement(name a, pg_terminate_backend({pid}))",
    "SELECT 1 UNION SELECT pg_terminate_backend({pid})::int",
    "SELECT pg_cancel_backend({pid})",
    # Functions that run a text as SQL.
    "SELECT * FROM ts_stat('SELECT to_tsvector(pg_terminate_backend({pid})::text)')",
    "SELECT * FROM ts_stat($$SELECT to_tsvector(pg_terminate_backend({pid})::text)$$, 'a')",
    "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery WHERE pg_terminate_backend({pid})')",
    "SELECT query_to_xml('SELECT pg_terminate_backend({pid})', true, true, '')",
    "SELECT query_to_xml('SELECT pg_termin' || 'ate_backend({pid})', true, true, '')",
    "SELECT query_to_xmlschema('SELECT pg_terminate_backend({pid})', true, true, '')",
    "SELECT query_to_xml_and_xmlschema(E'SELECT pg_terminate\\x5fbackend({pid})', true, true, '')",
    "SELECT cursor_to_xml('gaby', 1, true, true, '')",
    "SELECT table_to_xml('orders', true, true, '')",
    "SELECT schema_to_xml('public', true, true, '')",
    "SELECT database_to_xml(true, true, '')",
    "SELECT * FROM crosstab('SELECT pg_terminate_backend({pid}), 1, 1') AS t(a text, b text)",
    "SELECT * FROM dblink('dbname=store', 'SELECT pg_terminate_backend({pid})') AS t(a text)",
    "SELECT dblink_exec('dbname=store', 'DELETE FROM orders')",
    "SELECT run('SELECT pg_terminate_backend({pid})')",
    "SELECT public.run('SELECT pg_terminate_backend({pid})')",
    # Calls that are not written as calls.
    "SELECT o.ender FROM (SELECT orders FROM orders) x(o)",
    "SELECT (o).ender FROM orders o",
    "SELECT orders.ender FROM orders",
    'SELECT (ROW({pid}, NULL, NULL, NULL)::orders)."ender"',
    "SELECT ((SELECT o FROM orders o LIMIT 1)).ender",
    "SELECT {pid} ==> 'x'",
    "SELECT {pid} OPERATOR(public.==>) 'x'",
    "SELECT {pid} OPERATOR(==>) 'x'",
    "SELECT {pid} ==> ANY (ARRAY['x'])",
    "SELECT ROW({pid})::pill::bool",
    "SELECT CAST(ROW({pid})::public.pill AS bool)",
    "SELECT bool(ROW({pid})::pill)",
    "SELECT lower(o) FROM orders o",
    'SELECT "Odd Name"({pid})',
    "SELECT * FROM orders TABLESAMPLE public.run (1)",
    # Other effects.
    "SELECT pg_advisory_lock(7)",
    "SELECT pg_try_advisory_xact_lock_shared(7)",
    "SELECT pg_notify('a', 'b')",
    "SELECT set_config('statement_timeout', '0', false)",
    "SELECT nextval('counter')",
    "SELECT setval('counter', 9)",
    "SELECT pg_sleep(60)",
    "SELECT pg_sleep_for('1 minute')",
    "SELECT pg_read_file('PG_VERSION')",
    "SELECT pg_read_binary_file('PG_VERSION')",
    "SELECT pg_ls_dir('.')",
    "SELECT pg_stat_file('PG_VERSION')",
    "SELECT lo_import('/etc/hostname')",
    "SELECT lo_create(0)",
    "SELECT loread(1, 1)",
    "SELECT pg_current_xact_id()",
    "SELECT txid_current()",
    "SELECT pg_export_snapshot()",
    "SELECT pg_stat_reset()",
    "SELECT pg_logical_emit_message(false, 'a', 'b')",
    "SELECT information_schema._pg_truetypid(NULL, NULL)",
    # Statements.
    "DO $$ BEGIN PERFORM pg_terminate_backend({pid}); END $$",
    "PREPARE p AS SELECT pg_terminate_backend({pid})",
    "EXECUTE p",
    "CALL run('SELECT 1')",
    "SELECT 1; SELECT pg_terminate_backend({pid})",
    "EXPLAIN ANALYZE SELECT pg_terminate_backend({pid})",
    "DECLARE c CURSOR FOR SELECT pg_terminate_backend({pid})",
    "WITH gone AS (DELETE FROM orders RETURNING id) SELECT * FROM gone",
    "WITH m AS (MERGE INTO orders o USING orders s ON o.id = s.id WHEN MATCHED THEN DELETE RETURNING 1) TABLE m",
    "SELECT 1 INTO TEMP copied",
    "SELECT * FROM orders FOR SHARE",
    "SELECT $1",
]


@pytest.mark.parametrize("attack", ATTACKS)
async def test_no_spelling_of_an_acting_call_gets_through(store: str, attack: str) -> None:
    with psycopg.connect(store, autocommit=True) as victim:
        sql = attack.replace("{pid}", str(victim.info.backend_pid))
        async with talking(connector, config(store)) as talk:
            for tool in ("query", "explain"):
                error = await talk.fails(tool, sql=sql)
                assert error.kind in (ErrorKind.DENIED, ErrorKind.INVALID)
                # It is this connector that refuses, before the server has begun with it.
                assert "Postgres says" not in error.message
        found = victim.execute("SELECT count(*), (SELECT is_called FROM counter) FROM orders").fetchone()
        assert found == (30, False)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*), min(at), max(id) FILTER (WHERE id > 3), string_agg(note, ',' ORDER BY id DESC) FROM orders",
        "SELECT upper(note) || '!' FROM orders WHERE note ILIKE '%pg_terminate_backend(1)%' ESCAPE '!' OR note ~* 'x'",
        "SELECT '; DELETE FROM orders; --', $$pg_sleep(1)$$, E'\\'', U&'\\0061' -- pg_sleep(1)",
        "WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t",
        "SELECT date_trunc('day', at), extract(epoch FROM at), at AT TIME ZONE 'UTC', now() - at FROM orders",
        "SELECT o.id, o.note, row_number() OVER (PARTITION BY o.note ORDER BY o.id) FROM orders AS o",
        "SELECT a.*, b.id FROM orders a LEFT JOIN orders b USING (id) CROSS JOIN LATERAL generate_series(1, 2) g(n)",
        "SELECT '{\"a\": [1]}'::jsonb -> 'a' ->> 0, jsonb_path_query('{}', '$'), json_build_object('a', 1)",
        "SELECT 'a=>1'::hstore -> 'a', hstore('a', 'b') ? 'a', akeys('a=>1')",
        "SELECT CASE WHEN id IN (1, 2) THEN 'x' ELSE NULL END, COALESCE(note, ''), NULLIF(id, 1) FROM orders",
        "SELECT trim(both ' ' from note), substring(note from 1 for 2), position('o' in note) FROM orders",
        "SELECT id::text, CAST(id AS numeric(10, 2)), '1 day'::interval, (ARRAY[1, 2])[1:2] FROM orders",
        "SELECT * FROM orders TABLESAMPLE system (100) REPEATABLE (1) FETCH FIRST 3 ROWS ONLY",
        "TABLE orders ORDER BY id USING < LIMIT 1",
        "VALUES (1, 'a'), (2, 'b')",
        "SELECT to_tsvector('simple', note) @@ plainto_tsquery('note'), ts_rank(doc, 'note'::tsquery) FROM orders",
        "SELECT pg_size_pretty(pg_total_relation_size('orders')), random() >= 0, gen_random_uuid() IS NOT NULL",
        "SELECT pg_catalog.lower(note), current_user, version() FROM orders GROUP BY GROUPING SETS ((note), ())",
        "SELECT pid, state FROM pg_stat_activity WHERE pid = pg_backend_pid()",
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
        "SELECT table_name FROM information_schema.tables LIMIT 1",
        "SELECT x.* FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a int PATH '$')) x",
        "SELECT * FROM unnest(ARRAY[1, 2]) WITH ORDINALITY AS u(v, n)",
        "(SELECT 1) UNION ALL (SELECT 2) EXCEPT SELECT 3",
    ],
)  # fmt: skip
async def test_ordinary_questions_are_answered(store: str, sql: str) -> None:
    async with talking(connector, config(store)) as talk:
        assert "rows" in await talk.ask("query", sql=sql)
        assert "plan" in await talk.ask("explain", sql=sql)


async def test_functions_of_ones_own_are_called_when_the_operator_names_them(store: str) -> None:
    sql = "SELECT total(o), o.total FROM orders o WHERE id = 4"
    async with talking(connector, config(store)) as talk:
        assert "POSTGRES_ALLOW_FUNCTIONS" in (await talk.fails("query", sql=sql)).message
    async with talking(connector, config(store, "public.total")) as talk:
        assert (await talk.ask("query", sql=sql))["rows"] == [[8, 8]]
        assert (await talk.fails("query", sql="SELECT ends(1, 'a')")).kind == ErrorKind.DENIED


@pytest.mark.parametrize(
    "sql",
    ["(" * 9000, "SELECT " + "(" * 4000 + "1", "SELECT '", "SELECT \ud800", "\ufeff", "SELECT $$", "\0", "", ";;"],
)
def test_a_text_that_is_no_sql_is_refused(sql: str) -> None:
    with pytest.raises(ToolError) as error:
        parse_query(sql)
    assert error.value.kind in (ErrorKind.DENIED, ErrorKind.INVALID)


def test_a_deep_query_is_refused_in_words() -> None:
    with pytest.raises(ToolError, match="nested too deeply"):
        parse_query("SELECT " + "+".join(["1"] * 20_000))
