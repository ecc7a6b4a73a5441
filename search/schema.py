"""The tables of a library file, and their migrations.

Documents, their tags and their passages are public: names without a leading underscore. Everything else is internal. The
keyword index is external content over a view and is kept in step by triggers alone, so no writer can forget it. sqlite-utils
applies the migrations; each step is one function, never changed once released.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

from search.terms import TOKENIZER

if TYPE_CHECKING:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

APPLICATION_ID = 0x41524356  # "ARCV", in the file's header: tells a library from other SQLite files
SCHEMA_VERSION = 2

FTS = "_passages_fts"

_TABLES = """
CREATE TABLE _meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE _roots (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    whole INTEGER NOT NULL,          -- 1: everything below that the rules let through; 0: only the files named
    named TEXT NOT NULL DEFAULT '[]', -- files that were indexed by name: taken whatever the rules say
    include TEXT NOT NULL DEFAULT '[]',
    exclude TEXT NOT NULL DEFAULT '[]',
    forgotten TEXT NOT NULL DEFAULT '[]', -- paths that were forgotten: left out until they are indexed by name again
    max_bytes INTEGER NOT NULL,
    indexed_at TEXT
);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    root INTEGER NOT NULL REFERENCES _roots(id),
    path TEXT NOT NULL,
    title TEXT NOT NULL,
    format TEXT NOT NULL,
    category TEXT,
    author TEXT,
    language TEXT,
    created TEXT,
    modified TEXT,
    date TEXT,
    date_source TEXT,
    content_hash TEXT,               -- SHA-256 of the file; NULL when it could not be read
    size INTEGER NOT NULL,
    mtime_ns INTEGER,                -- NULL: look at the content again at the next run
    ctime_ns INTEGER,                -- tells a file that another of the same size and mtime has replaced
    pages INTEGER,
    text_status TEXT NOT NULL,
    failed INTEGER NOT NULL DEFAULT 0, -- 1: it could not be read, or not as what it claims to be
    encoding TEXT NOT NULL,
    notes TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}',
    first_line INTEGER NOT NULL DEFAULT 1,
    indexed_at TEXT NOT NULL,
    UNIQUE (root, path)
);
CREATE INDEX documents_by_path ON documents(path);
CREATE INDEX documents_by_hash ON documents(content_hash);
CREATE INDEX documents_by_date ON documents(date);
CREATE INDEX documents_by_category ON documents(category COLLATE NOCASE);

CREATE TABLE document_tags (
    document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (document_id, tag)
) WITHOUT ROWID;
CREATE INDEX document_tags_by_tag ON document_tags(tag COLLATE NOCASE);

CREATE TABLE _texts (
    document_id INTEGER PRIMARY KEY REFERENCES documents(id) ON DELETE CASCADE,
    text BLOB NOT NULL               -- UTF-8, deflated
);

CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    key TEXT NOT NULL,
    headings TEXT NOT NULL DEFAULT '[]',
    page INTEGER,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    text TEXT NOT NULL,
    terms TEXT NOT NULL DEFAULT '',  -- derived words for the keyword index: n-grams, parts of identifiers
    tokens INTEGER NOT NULL,
    UNIQUE (document_id, ordinal)
);
CREATE INDEX passages_by_key ON passages(key);

CREATE TABLE _embeddings (
    passage_id INTEGER PRIMARY KEY REFERENCES passages(id) ON DELETE CASCADE,
    input BLOB NOT NULL,             -- first 16 bytes of SHA-256 over what was embedded: the same input is not embedded again
    vector BLOB NOT NULL             -- little-endian float32, length 1
);
CREATE INDEX _embeddings_by_input ON _embeddings(input);

CREATE TABLE _moved_keys (old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX _moved_keys_by_new ON _moved_keys(new);
"""

# The tables themselves stand beside these under the names that `_tables` gives them. What is to be done about them once the
# catalogue has changed is noted by triggers, so no writer can forget it; `search.tables.catalogue.settle` does it at the end of
# each write transaction. Files that are tables were only listed before: they are looked at again.
_TABLE_CATALOGUE = """
CREATE TABLE _tables (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,        -- place in the file
    label TEXT NOT NULL,             -- sheet or inner table
    keeps_name INTEGER NOT NULL,     -- 1: the label is the name wished for
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    rows INTEGER NOT NULL,
    columns TEXT NOT NULL,           -- JSON, `search.tables.models.Column`
    notes TEXT NOT NULL DEFAULT '[]',
    digest BLOB NOT NULL,            -- over all of the table: tells whether two are the same without reading them
    UNIQUE (document_id, ordinal)
);
CREATE TABLE _unsettled (gone TEXT); -- tables to drop; NULL: only names may have to change
CREATE TRIGGER _tables_added AFTER INSERT ON _tables BEGIN
    INSERT INTO _unsettled(gone) VALUES (NULL);
END;
CREATE TRIGGER _tables_removed AFTER DELETE ON _tables BEGIN
    INSERT INTO _unsettled(gone) VALUES (old.name);
END;
CREATE TRIGGER _tables_moved AFTER UPDATE OF root, path ON documents
WHEN (old.root, old.path) IS NOT (new.root, new.path) AND EXISTS (SELECT 1 FROM _tables WHERE document_id = new.id) BEGIN
    INSERT INTO _unsettled(gone) VALUES (NULL);
END;
UPDATE documents SET mtime_ns = NULL, content_hash = NULL WHERE text_status LIKE 'table, not read yet%' OR format IN
    ('json', 'jsonl', 'db', 'sqlite', 'sqlite3');
"""

_KEYWORD_INDEX = f"""
CREATE VIEW _passage_search AS
    SELECT p.id AS id, d.title AS title, p.headings AS headings, p.text AS text, p.terms AS terms
    FROM passages p JOIN documents d ON d.id = p.document_id;

CREATE VIRTUAL TABLE _passages_fts USING fts5(
    title, headings, text, terms,
    content='_passage_search', content_rowid='id', tokenize='{TOKENIZER.replace("'", "''")}'
);
"""

# FTS5's 'delete' needs the very values that were inserted, so a trigger takes them from the view before what they come from
# changes. Documents drop their passages themselves: in a cascade the title would be gone before the passages' trigger runs.
_ADD = "INSERT INTO _passages_fts(rowid, title, headings, text, terms) SELECT id, title, headings, text, terms FROM _passage_search"
_DROP = (
    "INSERT INTO _passages_fts(_passages_fts, rowid, title, headings, text, terms) "
    "SELECT 'delete', id, title, headings, text, terms FROM _passage_search"
)
_OF_DOCUMENT = "WHERE id IN (SELECT id FROM passages WHERE document_id = old.id)"
_TRIGGERS = f"""
CREATE TRIGGER _passages_added AFTER INSERT ON passages BEGIN
    {_ADD} WHERE id = new.id;
END;
CREATE TRIGGER _passages_removed BEFORE DELETE ON passages BEGIN
    {_DROP} WHERE id = old.id;
END;
CREATE TRIGGER _passages_changing BEFORE UPDATE OF headings, text, terms ON passages BEGIN
    {_DROP} WHERE id = old.id;
END;
CREATE TRIGGER _passages_changed AFTER UPDATE OF headings, text, terms ON passages BEGIN
    {_ADD} WHERE id = new.id;
END;
CREATE TRIGGER _title_changing BEFORE UPDATE OF title ON documents BEGIN
    {_DROP} {_OF_DOCUMENT};
END;
CREATE TRIGGER _title_changed AFTER UPDATE OF title ON documents BEGIN
    {_ADD} {_OF_DOCUMENT};
END;
CREATE TRIGGER _documents_removed BEFORE DELETE ON documents BEGIN
    DELETE FROM passages WHERE document_id = old.id;
END;
"""


def version(connection: sqlite3.Connection) -> int | None:
    """The schema version of an open database, None when it is not an Archivist library."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        return None
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring an empty or older database to SCHEMA_VERSION, in one transaction: it is wholly old or wholly new."""
    from sqlite_utils import Database

    connection.execute("BEGIN IMMEDIATE")
    try:
        _migrations().apply(Database(connection))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _migrations() -> Migrations:
    from sqlite_utils.migrations import Migrations

    steps = Migrations("archivist")

    @steps()
    def first_library(db: Database) -> None:
        for statement in _statements(_TABLES + _KEYWORD_INDEX + _TRIGGERS):
            db.execute(statement)

    @steps()
    def tables(db: Database) -> None:
        for statement in _statements(_TABLE_CATALOGUE):
            db.execute(statement)

    return steps


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: executescript would commit the transaction that holds them together."""
    statement = ""
    for line in script.splitlines():
        statement += line.partition(" -- ")[0] + "\n"
        if statement.strip() and sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
