-- What the names in a query could mean, and whether all of that is allowed.
WITH function AS NOT MATERIALIZED (
    SELECT
        p.oid,
        p.proname::text AS name,
        n.nspname::text AS schema,
        p.proargtypes[0] AS first_type,
        p.pronargs - p.pronargdefaults AS needed,
        -- Declared to have no effects, and part of an extension, which a superuser has installed.
        p.provolatile IN ('i', 's') AND e.extname IS NOT NULL AS quiet_extension,
        (n.nspname || '.' || p.proname) = ANY (%(named)s)
        OR p.provolatile IN ('i', 's') AND coalesce(e.extname = ANY (%(extensions)s), false)
        -- Objects that initdb makes have ids below this one; nobody else can make such.
        OR p.oid < 16384 AND n.nspname = 'pg_catalog' AND (
            p.proname = ANY (%(volatile)s)
            OR p.provolatile IN ('i', 's') AND NOT p.proname ~ ANY (%(acting)s)
        ) AS allowed
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    LEFT JOIN pg_catalog.pg_depend d
        ON d.objid = p.oid AND d.classid = 'pg_catalog.pg_proc'::regclass
        AND d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.deptype = 'e'
    LEFT JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
)
SELECT 'path' AS kind, path AS name, path AS schema, true AS allowed
FROM (SELECT unnest(current_schemas(true))::text AS path) AS paths
UNION ALL
-- Every function of a name counts, since which one is called depends on the types of the arguments.
SELECT 'function', f.name, f.schema, bool_and(f.allowed)
FROM function f
WHERE f.name = ANY (%(functions)s)
GROUP BY f.name, f.schema
UNION ALL
SELECT 'operator', o.oprname::text, n.nspname::text, bool_and(f.allowed OR f.quiet_extension)
FROM pg_catalog.pg_operator o
JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
JOIN function f ON f.oid = o.oprcode
WHERE o.oprname = ANY (%(operators)s)
GROUP BY o.oprname, n.nspname
UNION ALL
-- `orders.total` calls `total(orders)` where there is no such column.
SELECT DISTINCT 'field', f.name, f.schema, false
FROM function f
JOIN pg_catalog.pg_type t ON t.oid = f.first_type
WHERE f.name = ANY (%(fields)s) AND f.needed <= 1 AND t.typtype IN ('c', 'p') AND NOT f.allowed
UNION ALL
SELECT DISTINCT 'type', t.typname::text, f.schema, false
FROM pg_catalog.pg_cast c
JOIN function f ON f.oid = c.castfunc
JOIN pg_catalog.pg_type t ON t.oid IN (c.castsource, c.casttarget)
WHERE t.typname = ANY (%(types)s) AND NOT (f.allowed OR f.quiet_extension)
