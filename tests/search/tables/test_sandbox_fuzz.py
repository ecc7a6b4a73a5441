"""Whatever statement is made up: it ends as a result or as a QueryError, shows nothing that is hidden, and changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from sqlglot import exp
from standin import StandIn

from search import Filters, Library, upkeep
from search.errors import QueryError

HIDDEN = "pelican"  # stands in documents, tables and names outside the scope, and nowhere else
SCOPE = Filters(category=("open",))
_TABLES = (
    "documents passages document_tags calls open_calls secret_plans _roots _meta _texts _embeddings _tables _passages_fts "
    "_passages_fts_data sqlite_master sqlite_schema sqlite_temp_master pragma_database_list json_each nothing t1 t2"
)
_COLUMNS = (
    "id path title root content_hash mtime_ns text terms key tag document_id sql name value vector plan owner endpoint hits rowid "
    "nothing * t1 t2"
)
_FUNCTIONS = (
    "count sum max min group_concat length upper substr replace printf instr json_extract json_group_array hex quote typeof "
    "abs random load_extension fts5 zeroblob randomblob writefile sqlite_version highlight bm25 date"
)
TABLES, COLUMNS, FUNCTIONS = _TABLES.split(), _COLUMNS.split(), _FUNCTIONS.split()
TAME = {
    "documents": ["id", "path", "title", "size", "metadata", "*"],
    "passages": ["id", "document_id", "text", "tokens", "*"],
    "document_tags": ["document_id", "tag", "*"],
    "calls": ["endpoint", "hits", "rowid", "*"],
}
TAME_FUNCTIONS = ["coalesce", "typeof", "quote", "hex", "max", "min"]
LITERALS = ["x", "%", "%.*c", "../../etc/passwd", "$.a", "'; drop table documents; --", '"', "\\", "é"]
BINARY = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.And,
    exp.Or,
    exp.Like,
    exp.Glob,
    exp.Is,
    exp.DPipe,
    exp.Mod,
)


class Inventor:
    """Makes up statements: half of them keep to one table that may be read, most of the others are wrong in some way."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.tables, self.columns, self.functions, self.tame = TABLES, COLUMNS, FUNCTIONS, False

    def statement(self) -> str:
        self.tame = self.random.random() < 0.5
        self.tables, self.columns, self.functions = TABLES, COLUMNS, FUNCTIONS
        if self.tame:
            name = self.random.choice([*TAME])
            self.tables, self.columns, self.functions = [name], TAME[name], TAME_FUNCTIONS
            return self.reading().sql(dialect="sqlite")
        made = self.reading() if self.random.random() < 0.75 else self.writing()
        sql = made.sql(dialect="sqlite")
        return self.damaged(sql) if self.random.random() < 0.15 else sql

    def damaged(self, sql: str) -> str:
        place = self.random.randrange(len(sql) + 1)
        extra = self.random.choice(
            [";", "'", '"', "(", ")", "--", "/*", "\0", "\u00a0", ";drop table documents;", " union select "]
        )
        return sql[:place] + extra + sql[place + self.random.randrange(3) :]

    def table(self) -> exp.Expression:
        name = exp.to_identifier(self.random.choice(self.tables), quoted=self.random.random() < 0.3)
        database = (
            exp.to_identifier(self.random.choice(["main", "temp", "other"]))
            if self.random.random() < 0.15 and not self.tame
            else None
        )
        return exp.Table(this=name, db=database)

    def column(self) -> exp.Expression:
        name = self.random.choice(self.columns)
        if name == "*":
            return exp.Star() if self.random.random() < 0.2 else exp.Literal.number("3")
        table = self.random.choice(self.tables) if self.random.random() < 0.3 and not self.tame else None
        return exp.column(exp.to_identifier(name, quoted=self.random.random() < 0.3), table=table)

    def value(self, depth: int) -> exp.Expression:
        kind = self.random.randrange(10 if depth > 0 else 4)
        if kind < 2:
            return self.column()
        if kind == 2:
            return exp.Literal.string(self.random.choice(LITERALS))
        if kind == 3:
            return exp.Literal.number(str(self.random.choice([0, 1, -1, 7, 10**6, 2**63, "1e300"])))
        if kind == 4:
            return exp.Subquery(this=self.reading(depth - 1))
        if kind == 5:
            return exp.Exists(this=self.reading(depth - 1))
        if kind == 6:
            return exp.In(this=self.value(depth - 1), query=exp.Subquery(this=self.reading(depth - 1)))
        if kind == 7:
            return exp.Case(ifs=[exp.If(this=self.value(depth - 1), true=self.value(depth - 1))], default=self.value(depth - 1))
        if kind == 8:
            arguments = [self.value(depth - 1) for _ in range(self.random.randint(2, 3) if self.tame else self.random.randrange(4))]
            return exp.Anonymous(this=self.random.choice(self.functions), expressions=arguments)
        return exp.Paren(this=self.random.choice(BINARY)(this=self.value(depth - 1), expression=self.value(depth - 1)))

    def reading(self, depth: int = 3) -> exp.Query:
        query: exp.Query = exp.select(*(self.value(depth - 1) for _ in range(self.random.randint(1, 3)))).from_(self.source(depth))
        assert isinstance(query, exp.Select)
        if self.random.random() < 0.4 and not self.tame:
            query = query.join(self.source(depth), on=self.value(1))
        if self.random.random() < 0.4:
            query = query.where(self.value(depth - 1))
        if self.random.random() < 0.2:
            query = query.group_by(self.value(1))
        if self.random.random() < 0.2:
            query = query.order_by(self.value(1))
        if depth > 1 and self.random.random() < 0.25:
            query = query.with_(
                self.random.choice(TABLES) if not self.tame else "t2",
                as_=self.reading(depth - 1),
                recursive=self.random.random() < 0.3,
            )
        if depth > 1 and self.random.random() < 0.2:
            return exp.union(query, self.reading(depth - 1), distinct=self.random.random() < 0.5)
        return query

    def source(self, depth: int) -> exp.Expression:
        if depth > 1 and self.random.random() < 0.25:
            return exp.Subquery(this=self.reading(depth - 1), alias=exp.TableAlias(this=exp.to_identifier("t1")))
        table = self.table()
        if self.random.random() < 0.3 and not self.tame:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(self.random.choice(["t1", "t2", "documents", "_roots"]))))
        return table

    def writing(self) -> exp.Expression:
        table = self.table()
        made: exp.Expression = self.random.choice(
            [
                exp.Insert(this=table, expression=self.reading(1)),
                exp.Delete(this=table, where=exp.Where(this=self.value(1))),
                exp.Update(this=table, expressions=[exp.EQ(this=exp.column("title"), expression=self.value(1))]),
                exp.Drop(this=table, kind=self.random.choice(["TABLE", "VIEW", "INDEX", "TRIGGER"])),
                exp.Create(this=table, kind=self.random.choice(["TABLE", "VIEW"]), expression=self.reading(1)),
                exp.Create(this=table, kind="TABLE", expression=self.reading(1), replace=False, exists=True),
                exp.Command(
                    this=self.random.choice(["ATTACH", "PRAGMA", "VACUUM INTO", "REINDEX", "EXPLAIN", "BEGIN"]), expression=" 'x'"
                ),
            ]
        )
        if isinstance(made, exp.Insert) and self.random.random() < 0.5:
            made = made.with_("t1", as_=self.reading(1))
        return made


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    place = tmp_path_factory.mktemp("fuzz")
    files = {
        "open/note.md": "---\ntags: [seen]\n---\n# A note\n\nThe valve.\n",
        "open/calls.csv": "endpoint,hits\n/a,1\n/b,2\n",
        f"closed/{HIDDEN}.md": f"---\ntags: [{HIDDEN}]\nowner: {HIDDEN}\n---\n# The {HIDDEN}\n\nA {HIDDEN} in the text.\n",
        "closed/secret_plans.csv": f"plan,owner\n{HIDDEN} one,{HIDDEN}\n{HIDDEN} two,{HIDDEN}\n",
    }
    for path, text in files.items():
        file = place / HIDDEN / path  # the root's own path is hidden, too
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    upkeep.index(place / "library" / "library.db", [place / HIDDEN], StandIn())
    with Library.open(place / "library" / "library.db", embedder=StandIn()) as opened:
        yield opened


def shown(library: Library, statement: str) -> str | None:
    """All that a statement shows, None where it is refused."""
    try:
        return repr(library.tables.sql(statement, filters=SCOPE, seconds=0.5).rows)
    except QueryError:
        return None


@pytest.mark.parametrize("seed", range(3))
def test_made_up_statements_end_well_show_nothing_hidden_and_change_nothing(seed: int, library: Library) -> None:
    inventor = Inventor(seed)
    statements = [inventor.statement() for _ in range(80)]
    before = {file.name: hashed(file) for file in library.path.parent.iterdir() if not file.name.endswith("-shm")}
    with ThreadPoolExecutor(4) as several:
        results = list(several.map(lambda statement: shown(library, statement), statements))
    for statement, result in zip(statements, results, strict=True):
        assert result is None or HIDDEN not in result, statement
    assert before == {file.name: hashed(file) for file in library.path.parent.iterdir() if not file.name.endswith("-shm")}


def test_the_made_up_statements_are_of_every_kind(library: Library) -> None:
    inventor = Inventor(99)
    results = [shown(library, inventor.statement()) for _ in range(60)]
    assert sum(result is not None for result in results) >= 10
    assert sum(result is None for result in results) >= 20


def hashed(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
