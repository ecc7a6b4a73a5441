"""Statements that must be refused, each with words that its refusal holds. {trap}: a folder in which nothing may appear.

The library they run in has the tables endpoints, latency and plans, and documents of the folders open and closed.
"""

from __future__ import annotations

STOPPED = "stopped after 1 s"
REFUSED = "refused: "  # by which of the limits depends on the machine
ONLY_READS = "SQL here only reads"
INTERNAL = "cannot be read: it is internal"
NOT_PERMITTED = "is not among the permitted ones"
TOO_BIG = "grows beyond 1,000,000 bytes"
TOO_LARGE = "too large for its bounds"
SECOND = "a second statement"

_HIDDEN = (
    "_meta _roots _texts _embeddings _moved_keys _tables _unsettled _passage_search _passages_fts _passages_fts_data "
    "_passages_fts_idx _passages_fts_docsize _passages_fts_config _sqlite_migrations sqlite_master sqlite_temp_master "
    "sqlite_sequence sqlite_stat1"
)

WRITES = [
    ("insert into documents(title) values('x')", "refused: INSERT: SQL here only reads"),
    ("insert or replace into endpoints values (1, 2, 3)", "refused: INSERT"),
    ("insert into endpoints select * from endpoints", "refused: INSERT"),
    ("insert into endpoints values (1,2,3) on conflict do update set endpoint = 1", "refused: INSERT"),
    ("insert into endpoints values (1,2,3) returning *", "refused: INSERT"),
    ("replace into endpoints values (1, 2, 3)", "refused: REPLACE"),
    ("update documents set title='x'", "refused: UPDATE"),
    ("update endpoints set queries = 0 returning queries", "refused: UPDATE"),
    ("delete from passages", "refused: DELETE"),
    ("DELETE FROM endpoints RETURNING *", "refused: DELETE"),
    ("/* nothing */ delete from passages", "refused: DELETE"),
    ("-- nothing\ndelete from passages", "refused: DELETE"),
    ("with x as (select 1) insert into endpoints(endpoint) select 'x'", "refused: INSERT on endpoints: SQL here only reads"),
    ("with x as (select 1) update endpoints set endpoint = 1", "refused: UPDATE on endpoints"),
    ("with x as (select 1) delete from endpoints", "refused: DELETE on endpoints"),
    ("with x as (select 1) delete from passages", "passages"),
    ("with x as (select 1) insert into documents(title) select 'x'", "documents"),
    ("with x as (select 1) insert into _meta values ('a', 'b')", "_meta"),
    ("with x as (select 1) replace into endpoints select 1, 2, 3", "refused: INSERT on endpoints"),
    ("with x as (select 1) insert into sqlite_master select 1,2,3,4,5", "sqlite_master"),
    ("drop table documents", "refused: DROP TABLE"),
    ("drop view documents", "refused: DROP VIEW"),
    ("alter table endpoints rename to other", "refused: ALTER TABLE"),
    ("alter table endpoints add column x", "refused: ALTER TABLE"),
    ("create table t(a)", "refused: CREATE TABLE"),
    ("create table t as select * from documents", "refused: CREATE TABLE"),
    ("create index i on endpoints(queries)", "refused: CREATE INDEX"),
    ("create temp table t(a)", "refused: CREATE TEMP"),
    ("create temp view v as select * from _roots", "refused: CREATE TEMP"),
    ("create temp trigger t after insert on endpoints begin select 1; end", "refused: "),
    ("create trigger t after insert on endpoints begin select 1; end", "refused: "),
    ("create virtual table t using fts5(a)", "refused: CREATE VIRTUAL"),
    ("create virtual table temp.t using fts5vocab(main, _passages_fts, row)", "refused: CREATE VIRTUAL"),
    ("reindex", "refused: REINDEX"),
    ("analyze", "refused: ANALYZE"),
    ("vacuum", "refused: VACUUM"),
    ("begin immediate", "refused: BEGIN"),
    ("commit", "refused: COMMIT"),
    ("end", "refused: END"),
    ("rollback", "refused: ROLLBACK"),
    ("savepoint a", "refused: SAVEPOINT"),
    ("release a", "refused: RELEASE"),
]

FILES = [
    ("attach '{trap}/evil.db' as e", "refused: ATTACH"),
    ("attach database 'file:{trap}/evil.db?mode=rwc' as e", "refused: ATTACH"),
    ("attach ':memory:' as e", "refused: ATTACH"),
    ("detach main", "refused: DETACH"),
    ("vacuum into '{trap}/copy.db'", "refused: VACUUM"),
    ("vacuum main into '{trap}/copy.db'", "refused: VACUUM"),
    ("select load_extension('{trap}/x')", f"load_extension {NOT_PERMITTED}"),
    ("select load_extension('{trap}/x', 'entry')", f"load_extension {NOT_PERMITTED}"),
    ("select writefile('{trap}/w', 'x')", 'no function "writefile"'),
    ("select readfile('/etc/passwd')", 'no function "readfile"'),
    ("select edit('a', 'sh')", 'no function "edit"'),
    ("select * from fsdir('{trap}')", 'no table "fsdir"'),
    ("select * from csv('{trap}/x')", 'no table "csv"'),
    (".shell touch {trap}/x", "refused: ."),
    ("pragma temp_store_directory = '{trap}'", "refused: PRAGMA"),
]

SETTINGS = [
    ("pragma query_only=0", "refused: PRAGMA"),
    ("pragma writable_schema=1", "refused: PRAGMA"),
    ("pragma trusted_schema=on", "refused: PRAGMA"),
    ("pragma journal_mode=delete", "refused: PRAGMA"),
    ("pragma hard_heap_limit=0", "refused: PRAGMA"),
    ("pragma wal_checkpoint(truncate)", "refused: PRAGMA"),
    ("pragma table_info(documents)", "refused: PRAGMA"),
    ("pragma user_version=7", "refused: PRAGMA"),
    ("select * from pragma_database_list", f"pragma_database_list {INTERNAL}"),
    ("select count(*) from pragma_database_list", f"pragma_database_list {INTERNAL}"),
    ("select * from pragma_table_info('documents')", f"pragma_table_info {INTERNAL}"),
    ("select * from pragma_table_list", f"pragma_table_list {INTERNAL}"),
    ("select name from pragma_function_list where 1", f"pragma_function_list {INTERNAL}"),
    ("select p.* from endpoints e, pragma_table_xinfo('_roots') p", f"pragma_table_xinfo {INTERNAL}"),
    ("select exists(select 1 from pragma_index_list('documents'))", f"pragma_index_list {INTERNAL}"),
    ("select * from pragma_query_only(0)", "pragma_query_only"),
    ("select * from pragma_writable_schema(1)", "pragma_writable_schema"),
    ("explain select 1", "refused: EXPLAIN"),
    ("explain query plan select * from _roots", "refused: EXPLAIN"),
]

FUNCTIONS = [
    ("select fts5(null)", f"fts5 {NOT_PERMITTED}"),
    ("select fts3_tokenizer('simple')", f"fts3_tokenizer {NOT_PERMITTED}"),
    ("select zeroblob(900000000)", f"zeroblob {NOT_PERMITTED}"),
    ("select length(ZeroBlob(900000))", f"zeroblob {NOT_PERMITTED}"),
    ("select hex(randomblob(400000000))", f"randomblob {NOT_PERMITTED}"),
    ("select sqlite_version()", f"sqlite_version {NOT_PERMITTED}"),
    ("select sqlite_compileoption_get(1)", f"sqlite_compileoption_get {NOT_PERMITTED}"),
    ("select sqlite_log(1, 'x')", f"sqlite_log {NOT_PERMITTED}"),
    ("select last_insert_rowid()", f"last_insert_rowid {NOT_PERMITTED}"),
    ("select \"load_extension\"('x')", f"load_extension {NOT_PERMITTED}"),
    ("select [zeroblob](1)", f"zeroblob {NOT_PERMITTED}"),
    ("select count(*) filter (where load_extension('x')) from documents", f"load_extension {NOT_PERMITTED}"),
    ("select 1 from documents order by zeroblob(9)", f"zeroblob {NOT_PERMITTED}"),
    ("select authors('a; b')", 'no function "authors"'),
    ("select bm25(_passages_fts) from _passages_fts", f"bm25 {NOT_PERMITTED}"),
    ("select * from _passages_fts where _passages_fts match 'valve'", "_passages_fts"),
    ("select * from passages where text match 'valve'", f"match {NOT_PERMITTED}"),
    ("select * from fts5vocab('main', '_passages_fts', 'row')", "fts5vocab"),
    ("select * from dbstat", "dbstat"),
    ("select count(*) from dbstat", "dbstat"),
    ("select data from sqlite_dbpage", "sqlite_dbpage"),
    ("select * from sqlite_stmt", "sqlite_stmt"),
]

INTERNALS = [
    *((f'select * from "{name}"', name) for name in _HIDDEN.split()),
    *((f"select count(*) from {name}", name) for name in ("_roots", "_embeddings", "_passages_fts_data", "sqlite_master")),
    ("select * from sqlite_schema", f"sqlite_master {INTERNAL}"),
    ("select * from sqlite_temp_schema", f"sqlite_temp_master {INTERNAL}"),
    ("select name from sqlite_master union select 1", f"sqlite_master {INTERNAL}"),
    ("select 1 union select name from sqlite_master", f"sqlite_master {INTERNAL}"),
    ("select (select sql from sqlite_master limit 1)", f"sqlite_master {INTERNAL}"),
    ("select exists(select 1 from sqlite_schema)", "cannot be read: it is internal"),
    ("select 1 where 'x' in (select name from sqlite_master)", f"sqlite_master {INTERNAL}"),
    ("select 1 from endpoints where endpoint in _roots", "_roots"),
    ("with documents as (select * from sqlite_master) select * from documents", f"sqlite_master {INTERNAL}"),
    ("with a as (with b as (select sql from sqlite_master) select * from b) select * from a", f"sqlite_master {INTERNAL}"),
    ("select * from endpoints e join sqlite_master m on m.name = e.endpoint", f"sqlite_master {INTERNAL}"),
    ("select * from main.sqlite_master", f"sqlite_master {INTERNAL}"),
    ("select * from temp.sqlite_master", "refused: "),
    ("select rowid from sqlite_temp_schema", INTERNAL),
    ("select path from _roots", f"_roots {INTERNAL}"),
    ("select r.path from _roots r", f"_roots {INTERNAL}"),
    ("select d.path from documents d join _roots r on r.id = d.id", f"_roots {INTERNAL}"),
    ("select documents.* from documents natural join _texts", "_texts"),
    ("select * from documents left join _embeddings on 1", "_embeddings"),
    ("select * from main._roots", 'no table "main._roots"'),
    ("select * from main.documents", 'no table "main.documents"'),
    ("select * from temp._roots", "_roots"),
    ("select root from documents", 'no column "root"'),
    ("select mtime_ns from documents", 'no column "mtime_ns"'),
    ("select content_hash from documents", 'no column "content_hash"'),
    ("select terms from passages", 'no column "terms"'),
    ("select start_offset from passages", 'no column "start_offset"'),
    ("select documents.root from documents", 'no column "root" in documents'),
    ("select main.documents.root from documents", 'no column "root" in documents'),
    ('select "root" from documents', 'no column or table named "root"'),
    ("select [root] from documents", 'no column "root"'),
    ("select path from documents order by root", 'no column "root"'),
    ("select path from documents group by content_hash", 'no column "content_hash"'),
    ("select max(terms) over () from passages", 'no column "terms"'),
    ("select 1 from documents where exists (select 1 from passages where terms <> '')", 'no column "terms"'),
    ("with documents as (select * from main.documents) select * from documents", 'no table "main.documents"'),
    ("with documents as (select root from documents) select root from documents", "documents"),
    ("with passages(terms) as (select terms from passages) select * from passages", "passages"),
    ("with recursive documents as (select 1 union select root from documents) select * from documents", "root"),
    ("select root from (select * from documents)", 'no column "root"'),
    ("select * from documents d where d.content_hash = 1", 'no column "content_hash" in documents'),
    ("select t.root from documents as t", 'no column "root" in documents'),
    ("values ((select root from documents))", 'no column "root"'),
]

GROWTH = [
    ("select printf('%.*c', 90000000, 'a')", REFUSED),
    ("select format('%1000000000s', 'a')", TOO_BIG),
    ("select length(replace(printf('%.*c', 900000, 'a'), 'a', printf('%.*c', 900, 'b')))", TOO_BIG),
    ("select group_concat(printf('%.*c', 100000, 'x')) from passages a, passages b, passages c", TOO_BIG),
    ("select json_group_array(printf('%.*c', 100000, 'x')) from passages a, passages b, passages c", TOO_BIG),
    ("select hex(hex(hex(printf('%.*c', 400000, 'x'))))", TOO_BIG),
    ("select quote(printf('%.*c', 999999, char(39)))", TOO_BIG),
    ("with recursive r(s) as (select 'aa' union all select s || s from r) select length(s) from r", TOO_BIG),
    (
        "with recursive r(s) as (select '[1]' union all select json_array(json(s), json(s)) from r) select max(length(s)) from r",
        TOO_BIG,
    ),
    ("with recursive r(n) as (select 1 union all select n+1 from r) select count(*) from r", STOPPED),
    ("with recursive r(n) as (select 1 union select n+1 from r) select max(n) from r", STOPPED),
    ("with recursive r(n) as (select 1 union all select n from r) select count(*) from r, r as s", STOPPED),
    ("with recursive a(n) as (select 1 union all select n+1 from a) select group_concat('x') from a where n < 0", STOPPED),
    (
        "with recursive r(n) as (select 1 union all select n+1 from r limit 500) "
        "select count(*) from r a, r b, r c, r d, r e where a.n + b.n > c.n * d.n + e.n",
        STOPPED,
    ),
    ("select count(*) from " + ", ".join(f"passages p{n}" for n in range(20)), STOPPED),
    (
        "with recursive r(n, t) as (select 1, printf('%.*c', 900000, 'x') union all select n + 1, t || n from r) "
        "select count(distinct t) from r",
        REFUSED,
    ),
    (
        "with recursive r(n) as (select 1 union all select n + 1 from r limit 100000000) "
        "select n, row_number() over (order by -n) from r order by n % 7, n",
        REFUSED,
    ),
]

LONG_FUNCTIONS = [
    ("select instr(printf('%.*c', 900000, 'a'), printf('%.*c', 400000, 'a') || 'b')", STOPPED),
    ("select instr(printf('%.*c', 90000000, 'a'), printf('%.*c', 40000000, 'a') || 'b')", REFUSED),
    ("select replace(printf('%.*c', 900000, 'a'), printf('%.*c', 400000, 'a') || 'b', 'c')", STOPPED),
    ("select printf('%.*c', 900000, 'a') like printf('%.*c', 9000, '%a') || 'b'", TOO_LARGE),
    ("select printf('%.*c', 900000, 'a') glob printf('%.*c', 9000, '*a') || 'b'", TOO_LARGE),
    ("select trim(printf('%.*c', 900000, 'a'), printf('%.*c', 80000, 'b') || 'a')", STOPPED),
    ("select json(printf('%.*c', 500000, '['))", "sql: SQLite says malformed JSON"),
    ("select json_extract(printf('%.*c', 500000, '[') || printf('%.*c', 499990, ']'), '$[0]')", "sql: SQLite says malformed JSON"),
    (
        "with j(t) as (select '[' || substr(replace(printf('%.*c', 300000, 'x'), 'x', '1,'), 1, 599999) || ']') "
        "select count(*) from j a, json_each(a.t) b, json_each(a.t) c",
        STOPPED,
    ),
    (
        "with j(t) as (select '[' || substr(replace(printf('%.*c', 300000, 'x'), 'x', '1,'), 1, 599999) || ']') "
        "select sum(json_array_length(t, '$')) from j, json_tree(j.t) where json_extract(t, '$[299999]') = 1",
        STOPPED,
    ),
]

SHAPES = [
    ("select 1; select 2", SECOND),
    ("select 1;; drop table documents", SECOND),
    ("select 1; -- done\n delete from passages", f"{SECOND}, which begins with delete"),
    ("select 1 /* ; */ ; /* */ pragma query_only = 0", f"{SECOND}, which begins with pragma"),
    ("select 'a;b' ; attach '{trap}/x' as x", SECOND),
    ("", "got no statement"),
    ("  -- nothing", "got no statement"),
    (";;", "got no statement"),
    ("select 'a", "is not closed"),
    ('select "a', "is not closed"),
    ("select [a", "is not closed"),
    ("select 1\0; drop table documents", "NUL"),
    ("select '\ud800'", "half a character"),
    ("select " + "(" * 5000 + "1" + ")" * 5000, TOO_LARGE),
    ("select " + "+".join(["1"] * 5000), TOO_LARGE),
    ("select " + "not " * 5000 + "1", TOO_LARGE),
    ("select " + ",".join(["1"] * 5000), TOO_LARGE),
    ("select " + ",".join(["1"] * 500), "got 500 columns in the result"),
    (" union all ".join(["select 1"] * 2000), TOO_LARGE),
    ("select 1 from " + ",".join(["documents"] * 100), TOO_LARGE),
    ("select max(" + ",".join(["1"] * 2000) + ")", TOO_LARGE),
    ("select * from (" * 300 + "select 1" + ")" * 300, TOO_LARGE),
    ("select " + "'x' || " * 20000 + "'x'", "want 100,000 at most"),
    ("select 1 in (" + ",".join(["1"] * 60000) + ")", "want 100,000 at most"),
    ("select ?99999999999", "parameters: got"),
    ("select ?", "parameters: got 0, want 1"),
    ("select :a", "want them by name: a"),
    ("select #1", 'near "#1"'),
    ("select * from generate_series(1, 1000000000)", 'no table "generate_series"'),
    ("select value from generate_series(1, 9e18, 1)", 'no table "generate_series"'),
    ("select 99999999999999999999 from nowhere", 'no table "nowhere"'),
    ("select abs(-9223372036854775808)", "integer overflow"),
    ("select sum(n) from (select 9223372036854775807 as n union all select 1)", "integer overflow"),
    (
        "with "
        + ", ".join(f"c{n} as (select * from c{n - 1}, c{n - 1} x)" for n in range(1, 40)).replace(
            "c1 as (select * from c0, c0 x)", "c1 as (select 1 as a)"
        )
        + " select count(*) from c39",
        REFUSED,
    ),
    ("show tables", "SQLite has no SHOW"),
    ("describe documents", "SQLite has no DESCRIBE"),
    ("call x()", "refused: CALL"),
    ("grant all on documents to me", "refused: GRANT"),
    ("(select 1)", "refused: ("),
    ("table documents", "refused: TABLE"),
    ("select * from documents for update", 'near "update"'),
    ("select * into outfile '{trap}/x' from documents", 'near "into"'),
    ("select 1 \u00a0 from documents", "U+00A0"),
    ("select 1 from documents,\u2028_roots", "U+2028"),
    ("select 1 from _ro\u200bots", "U+200B"),
    ("\ufeffdelete from passages", "refused: DELETE"),
]

HOSTILE = [*WRITES, *FILES, *SETTINGS, *FUNCTIONS, *INTERNALS, *GROWTH, *LONG_FUNCTIONS, *SHAPES]
