-- Statements that ran longest today, with who waits for them. For timber-1 and its replicas.
-- Author: Noor Haddad, 11 March 2025. Needs the extension pg_stat_statements.

SELECT round(total_exec_time::numeric / 1000, 1)        AS seconds_total,
       calls,
       round(mean_exec_time::numeric, 1)                AS mean_ms,
       round((100 * blks_hit / nullif(blks_hit + blks_read, 0))::numeric, 1) AS cache_hit_percent,
       left(query, 120)                                 AS statement
FROM (
    SELECT *, shared_blks_hit AS blks_hit, shared_blks_read AS blks_read
    FROM pg_stat_statements
) AS statements
WHERE query NOT ILIKE '%pg_stat%'
ORDER BY total_exec_time DESC
LIMIT 20;

-- Sessions that hold a transaction open while doing nothing: candidates for idle_in_transaction_session_timeout.
SELECT pid, usename, application_name, now() - xact_start AS open_for, left(query, 80) AS last_statement
FROM pg_stat_activity
WHERE state = 'idle in transaction'
  AND now() - xact_start > interval '10 seconds'
ORDER BY open_for DESC;
