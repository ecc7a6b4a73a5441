"""What `archivist sql` promises: rows as a table, JSON, lines or CSV; refusals as one message; the scope and limits given."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from standin import StandIn

from assistant import layout, render
from assistant.cli import run
from search import upkeep
from search.tables.models import ResultSet, Value

ESC = "\x1b[31m\u202e"
Sql = Callable[..., tuple[int, str, str]]


@pytest.fixture
def sql(folder: Path, library_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Sql:
    """Runs `archivist sql` over two notes and a table; gives the exit code, standard output and standard error."""
    files = {
        "guides/gateway.md": "---\ndate: 2026-03-01\n---\n# Gateway\n\nThe valve.\n",
        "older/old.md": "---\ndate: 2020-03-01\n---\n# Old\n\nText.\n",
        "guides/calls.csv": "endpoint,hits,ms\n/a,5,1.5\n/bcd,70,\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    upkeep.index(library_file, [folder], StandIn())
    monkeypatch.setenv("ARCHIVIST_LIBRARY", str(library_file))

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(["sql", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_rows_are_a_table_with_numbers_to_the_right(sql: Sql) -> None:
    code, out, err = sql("select endpoint, hits, ms from calls")
    assert (code, out) == (0, "endpoint  hits    ms\n--------  ----  ----\n/a           5   1.5\n/bcd        70  NULL\n")
    assert err.startswith("2 rows, ")


def test_json_is_one_object(sql: Sql) -> None:
    code, out, _ = sql("select endpoint, hits as n, 9e999 as i from calls where hits > ?", "-p", "10", "--json")
    value = json.loads(out)
    assert code == 0
    assert (value["columns"], value["rows"], value["total"]) == (["endpoint", "n", "i"], [["/bcd", 70, "inf"]], 1)
    assert (value["parameters"], value["tables"], value["counted"]) == ([10], ["calls"], True)


def test_lines_of_json_keep_columns_of_one_name_apart(sql: Sql) -> None:
    assert sql("select hits, hits, ms as hits from calls limit 1", "--jsonl")[1] == '{"hits": 5, "hits_2": 5, "hits_3": 1.5}\n'


def test_csv_has_a_header_and_nothing_for_null(sql: Sql) -> None:
    assert sql("select endpoint, ms, 'a,\"b\"' as q from calls", "--csv")[1] == 'endpoint,ms,q\n/a,1.5,"a,""b"""\n/bcd,,"a,""b"""\n'


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",), ("--jsonl",)], ids=str)
def test_nothing_that_a_terminal_would_obey_is_printed(form: tuple[str, ...], sql: Sql) -> None:
    code, out, _ = sql("select char(27) || '[31m' || char(8238) || 'x' as \"a\u202eb\", 1", *form)
    assert code == 0
    assert not set(ESC[0] + ESC[-1]) & set(out)


@pytest.mark.parametrize(
    ("statement", "values", "row"),
    [
        ("select typeof(?), typeof(?), typeof(?), typeof(?)", ["5", "1.5", "007", "'5'"], ["integer", "real", "text", "text"]),
        ("select :a || @b", ["a=x=y", "b=2"], ["x=y2"]),
        ("select ?", [""], [""]),
        ("select ?, ?, ?", ["1e3", "-.5", "1."], [1000.0, -0.5, 1.0]),
        ("select ?", ["99999999999999999999999"], ["99999999999999999999999"]),
    ],
)
def test_parameters_are_typed_as_they_look(statement: str, values: list[str], row: list[object], sql: Sql) -> None:
    given = [word for value in values for word in ("-p", value)]
    code, out, err = sql(statement, *given, "--json")
    assert code == 0, err
    assert json.loads(out)["rows"] == [row]


def test_a_parameter_without_its_name_is_a_usage_error(sql: Sql) -> None:
    code, _, err = sql("select :a", "-p", "5")
    assert (code, err) == (2, "archivist: --parameter: got '5', want NAME=VALUE for a\n")


@pytest.mark.parametrize(
    ("statement", "code", "said"),
    [
        ("drop table documents", 2, "archivist: refused: DROP TABLE: SQL here only reads"),
        ("select * from sqlite_master", 2, "archivist: refused: sqlite_master cannot be read"),
        ("select hist from calls", 2, 'archivist: no column "hist" in calls; did you mean "hits"?'),
        ("select replace(printf('%.*c', 900000, 'a'), 'a', 'bb')", 1, "archivist: refused: a value grows beyond"),
        ("select 1 from \x1b[31m", 2, "archivist: "),
    ],
)
def test_a_refusal_is_a_message_and_an_exit_code(statement: str, code: int, said: str, sql: Sql) -> None:
    found, out, err = sql(statement, "--json")
    assert (found, out) == (code, "")
    assert err.startswith(said)
    assert "\x1b" not in err


def test_a_deadline_is_given_and_said(sql: Sql) -> None:
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select {} from n"
    code, _, err = sql(endless.format("count(*)"), "--seconds", "0.2")
    assert code == 1
    assert "stopped after 0.2 s without a row" in err
    assert "--seconds gives it more time" in err
    code, out, err = sql(endless.format("x"), "--seconds", "0.2", "-n", "2", "--jsonl")
    assert (code, out) == (0, '{"x": 1}\n{"x": 2}\n')
    assert err.startswith("2 of ")
    assert "rows or more: stopped after 0.2 s" in err


_MANY = "with recursive n(x) as (select 1 union all select x + 1 from n where x < {}) select x from n"


@pytest.mark.parametrize(("form", "lines"), [("--csv", 1202), ("--jsonl", 1201)])
def test_an_export_has_every_row(form: str, lines: int, sql: Sql) -> None:
    code, out, err = sql(_MANY.format(1201), form, "-q")
    assert (code, len(out.splitlines()), err) == (0, lines, "")


@pytest.mark.parametrize("quiet", [(), ("-q",)], ids=str)
def test_a_cut_is_said_and_fails_unless_it_was_asked_for(quiet: tuple[str, ...], sql: Sql) -> None:
    for form in ("--csv", "--jsonl", "--json"):
        code, _, err = sql(_MANY.format(1201), form, "-n", "300", *quiet)
        assert (code, err.partition(",")[0]) == (0, "300 of 1")  # of 1,201
    code, out, err = sql(_MANY.format(100_001), "--csv", "--seconds", "60", *quiet)
    assert (code, len(out.splitlines())) == (1, 100_001)
    assert err.startswith("100,000 of 100,001 rows, ")
    assert "100,000 are the most: add WHERE" in err
    code, out, err = sql(_MANY.format(201), *quiet)
    assert (code, len(out.splitlines())) == (0, 202), "a screen is read by people, who see what is said below it"
    assert err.startswith("200 of 201 rows, ")


@pytest.mark.parametrize("form", ["--csv", "--jsonl"])
def test_an_export_that_the_deadline_ends_fails(form: str, sql: Sql) -> None:
    code, out, err = sql(
        "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n", form, "--seconds", "0.3"
    )
    assert (code, bool(out)) == (1, True)
    assert "stopped after 0.3 s" in err


def test_a_value_that_is_cut_is_said_and_fails(sql: Sql) -> None:
    code, _, err = sql("select printf('%.*c', 10000, 'a'), printf('%.*c', 10001, 'a')", "--csv", "-q")
    assert (code, err) == (1, "1 value cut after 10,000 characters: substr() gives the rest\n")


def test_a_limit_is_said(sql: Sql) -> None:
    _, out, err = sql("select endpoint from calls", "-n", "1", "--csv")
    assert out == "endpoint\n/a\n"
    assert err.startswith("1 of 2 rows, ")
    assert "-n shows more" in err


def test_the_filters_are_the_scope(sql: Sql) -> None:
    assert sql("select title from documents where format = 'markdown'", "--csv", "-q")[1] == "title\nGateway\nOld\n"
    code, out, err = sql("select title from documents", "--after", "2026-01-01", "--type", "markdown", "--csv")
    assert (code, out) == (0, "title\nGateway\n")
    assert err.startswith("dated 2026-01-01 or later\n")
    code, _, err = sql("select * from calls", "--category", "older")
    assert code == 2
    assert "calls" in err


def test_a_statement_can_be_piped_in(sql: Sql, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in ((), ("-",)):
        monkeypatch.setattr("sys.stdin", io.StringIO("select 1 as one;\n"))
        assert sql(*arguments, "--csv")[:2] == (0, "one\n1\n")


def test_two_forms_at_once_are_a_usage_error(sql: Sql) -> None:
    code, _, err = sql("select 1", "--json", "--csv")
    assert (code, err) == (2, "archivist: give one of --json and --csv\n")


def test_quiet_says_nothing_beside_the_rows(sql: Sql) -> None:
    assert sql("select 1", "-q", "--csv") == (0, "1\n1\n", "")


class Narrow(io.StringIO):
    """A terminal as wide as COLUMNS says."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def _on_a_terminal(width: int, rows: tuple[tuple[Value, ...], ...], names: tuple[str, ...], patch: pytest.MonkeyPatch) -> list[str]:
    patch.setenv("TERM", "xterm")
    patch.setenv("COLUMNS", str(width))
    result = ResultSet(names, rows, len(rows), True, "", (), (), 0.0)
    return layout.lines(result, render.Terminal(Narrow()))


def test_only_long_prose_is_shortened_to_fit_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    iban = "DE89 3704 0044 0532 0130 00"
    rows = ((1, "2026-08-31", iban, "The parcel came late, and nobody had said a word of it"), (22, "2026-09-01", iban, "z"))
    lines = _on_a_terminal(80, rows, ("id", "day", "iban", "complaint"), monkeypatch)
    assert all(render.columns(line) <= 80 for line in lines)
    assert lines[2].startswith(f" 1  2026-08-31  {iban}  The parcel came late, and")
    assert lines[2].endswith("…")


def test_rows_that_do_not_fit_a_terminal_stand_one_below_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    rows = ((1, "2026-08-31", "DE89 3704 0044 0532 0130 00", "words " * 10, "日本語" * 10), (22, None, "y", "z", ""))
    lines = _on_a_terminal(40, rows, ("id", "day", "iban", "complaint", "a name of more than forty columns in all"), monkeypatch)
    assert all(render.columns(line) <= 40 for line in lines)
    assert lines[:4] == [
        "-- 1 " + "-" * 35,
        "id:        1",
        "day:       2026-08-31",
        "iban:      DE89 3704 0044 0532 0130 00",
    ]
    assert " ".join(lines).split().count("words") == 10, "nothing is cut"
    assert "".join(line.strip() for line in lines).count("日本語") == 10
    assert lines[lines.index("-- 2 " + "-" * 35) + 2] == "day:       NULL"
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[1mb:\x1b[0m \x1b[2mNULL\x1b[0m" in _on_a_terminal(40, rows, tuple("abcde"), monkeypatch)


def test_records_can_be_asked_for(sql: Sql) -> None:
    code, out, _ = sql("select endpoint, ms as a from calls", "--records")
    rule = "-" * 75
    assert (code, out) == (0, f"-- 1 {rule}\nendpoint: /a\na:        1.5\n-- 2 {rule}\nendpoint: /bcd\na:        NULL\n")
