"""`archivist tables`, and what index, status and forget say of tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from standin import StandIn

from assistant.cli import run

Run = Callable[..., tuple[int, str, str]]
SALES = "customer;amount (EUR);day;kind\nAda;1.234,50;13.04.2025;new\nBob;2,00;05.04.2025;old\nCy;;31.12.2025;old\n"


@pytest.fixture
def archivist(library_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line on the library of this test; gives the exit code and what was written to both streams."""
    monkeypatch.setattr("search.embedding.load_embedder", lambda *_, **__: StandIn())
    monkeypatch.setenv("ARCHIVIST_LIBRARY", str(library_file))

    def command(*argv: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(word) for word in argv])
        written = capsys.readouterr()
        return code, written.out, written.err

    return command


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes standard output a terminal of so many columns."""

    def set_width(width: int) -> None:
        for name, value in (("TERM", "xterm"), ("COLUMNS", str(width)), ("NO_COLOR", "1")):
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    return set_width


@pytest.fixture
def shop(write: Callable[[str, str], Path], folder: Path, archivist: Run) -> Path:
    """An indexed folder with three tables."""
    write("shop/sales.csv", SALES)
    write("2024/sales.csv", "code,n\n007,1\n")
    write("2024/visits.tsv", "day\tvisits\n2024-01-01\t12\n")
    write("note.md", "# Note\n\nNo table here.\n")
    assert archivist("index", folder)[0] == 0
    return folder


def test_tables_are_listed_with_rows_columns_and_source(archivist: Run, shop: Path) -> None:
    assert archivist("tables") == (
        0,
        "table       rows  columns  source\n"
        "----------  ----  -------  ---------------\n"
        "sales          1        2  2024/sales.csv\n"
        "shop_sales     3        4  shop/sales.csv\n"
        "visits         1        2  2024/visits.tsv\n",
        "",
    )


def test_a_table_is_described_by_its_columns(archivist: Run, shop: Path) -> None:
    code, out, err = archivist("tables", "shop_sales")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "shop_sales  3 rows, 4 columns, from shop/sales.csv"
    assert lines[2].split() == ["column", "type", "unit", "nulls", "distinct", "values"]
    assert lines[5].split() == ["amount_eur", "real", "EUR", "1", "2", "2.0", "to", "1234.5"]
    assert lines[6].split() == ["day", "date", "0", "3", "2025-04-05", "to", "2025-12-31"]
    assert lines[7].split() == ["kind", "text", "0", "2", "new;", "old"]
    assert any(line.startswith('amount_eur: "amount (EUR)" in the file; decimal comma') for line in lines[8:])


NAMES = ("ticket_opened_by_customer_of_region", "customer_complaint")


@pytest.fixture
def tickets(write: Callable[[str, str], Path], folder: Path, archivist: Run) -> Path:
    """An indexed table of long names and long texts, one of them with few values."""
    kinds = ("waiting for the customer to answer", "closed without any further remark", "open")
    rows = [f"{number},{kinds[number % 3]},{'The parcel came late ' * 3}{number}" for number in range(20)]
    write("desk/tickets.csv", "\n".join([f"{NAMES[0]},Kind of  Ticket,{NAMES[1]}", *rows, ""]))
    assert archivist("index", folder)[0] == 0
    return folder


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_names_are_never_cut(width: int, tickets: Path, archivist: Run, terminal: Callable[[int], None]) -> None:
    terminal(width)
    for words in (("tables",), ("tables", "tickets")):
        lines = archivist(*words)[1].splitlines()
        assert all(len(line) <= max(width, 60) for line in lines)
        assert any(line.strip().startswith("tickets ") for line in lines)
    assert {line.split()[0] for line in lines if line} >= {*NAMES, "kind_of_ticket"}


def test_lines_in_a_pipe_have_a_sensible_length(tickets: Path, archivist: Run) -> None:
    _, out, _ = archivist("tables", "tickets")
    assert max(map(len, out.splitlines())) <= 140
    kinds = next(
        column for column in json.loads(archivist("tables", "tickets", "--json")[1])["table"]["columns"] if column["values"]
    )
    assert len(kinds["values"]) == 3


def test_what_tells_nothing_is_left_away(tickets: Path, archivist: Run) -> None:
    _, out, _ = archivist("tables", "tickets")
    assert "in the file" not in out, "the name is the header in lower case with _ for spaces"
    assert "The parcel came late" not in out, "the first and last of long texts are no range"
    assert "0 to 19" in out


def test_an_ambiguous_beginning_names_those_that_begin_so(archivist: Run, shop: Path, write: Callable[[str, str], Path]) -> None:
    write("sal.csv", "a,b\n1,2\n")
    write("salt.csv", "a,b\n1,2\n")
    assert archivist("index", shop)[0] == 0
    assert archivist("tables", "sal")[1].startswith("sal  1 row")
    assert archivist("tables", "SA") == (2, "", 'archivist: table: 3 begin with "SA": sal, sales, salt; name one\n')


def test_a_path_lists_the_tables_of_its_file(archivist: Run, shop: Path) -> None:
    with closing(sqlite3.connect(shop / "shop" / "till.db")) as connection:
        connection.executescript("CREATE TABLE a(x); INSERT INTO a VALUES (1); CREATE TABLE b(y); INSERT INTO b VALUES (2)")
    assert archivist("index", shop)[0] == 0
    for path in ("shop/till.db", "till.db", "./shop/till.db", shop / "shop" / "till.db"):
        assert [line.split()[0] for line in archivist("tables", path)[1].splitlines()[2:]] == ["a", "b"]
        assert [table["name"] for table in json.loads(archivist("tables", path, "--json")[1])["tables"]] == ["a", "b"]
    assert archivist("tables", "shop/sales.csv")[1].startswith("shop_sales  3 rows")
    assert archivist("tables", "2024/till.db")[0] == 2


@pytest.mark.parametrize("name", ["visits", "VISITS", "vis", " visits "])
def test_a_unique_beginning_names_a_table(archivist: Run, shop: Path, name: str) -> None:
    assert archivist("tables", name)[1].startswith("visits  1 row, 2 columns, from 2024/visits.tsv\n")


def test_a_whole_name_goes_before_others_that_begin_so(archivist: Run, shop: Path) -> None:
    assert archivist("tables", "sales")[1].startswith("sales  1 row")


def test_an_unknown_table_is_refused_with_the_nearest_one(archivist: Run, shop: Path) -> None:
    code, out, err = archivist("tables", "vists")
    assert (code, out) == (2, "")
    assert err == 'archivist: table: got "vists", want one of sales, shop_sales, visits; did you mean "visits"?\n'


def test_json_holds_all_that_is_known(archivist: Run, shop: Path) -> None:
    listed = json.loads(archivist("tables", "--json")[1])["tables"]
    assert [(table["name"], table["source"], table["rows"]) for table in listed] == [
        ("sales", "2024/sales.csv", 1),
        ("shop_sales", "shop/sales.csv", 3),
        ("visits", "2024/visits.tsv", 1),
    ]
    table = json.loads(archivist("tables", "shop_sales", "--json")[1])["table"]
    assert table == listed[1]
    amount = table["columns"][1]
    assert {name: amount[name] for name in ("name", "type", "unit", "nulls", "distinct", "minimum", "maximum", "header")} == {
        "name": "amount_eur",
        "type": "real",
        "unit": "EUR",
        "nulls": 1,
        "distinct": 2,
        "minimum": 2.0,
        "maximum": 1234.5,
        "header": "amount (EUR)",
    }


def test_filters_hold_for_tables(archivist: Run, shop: Path) -> None:
    assert [line.split()[0] for line in archivist("tables", "--category", "2024")[1].splitlines()[2:]] == ["sales", "visits"]
    code, out, err = archivist("tables", "shop_sales", "--category", "2024")
    assert (code, out) == (2, "")
    assert "want one of sales, visits" in err
    assert archivist("tables", "--category", "none") == (0, "", "no table: no file that passes the filters holds one\n")
    assert archivist("tables", "--category", "none", "-q") == (0, "", "")
    assert archivist("tables", "--during", "2024-02")[2].startswith("dated 2024-02-01 to 2024-02-29\n")


def test_index_says_what_became_of_tables(archivist: Run, shop: Path, write: Callable[[str, str], Path], folder: Path) -> None:
    write("shop/sales.csv", SALES + "Di;7,00;01.01.2025;new\n")
    for dry, where in ((["--dry-run"], "-v lists it"), ([], "archivist tables shows it")):
        _, out, _ = archivist("index", folder, *dry)
        assert out.startswith(f"~ shop/sales.csv: 4 rows, 4 columns; amount_eur: decimal comma; 1 more remark ({where})\n")
        assert "; 1 table" in out.splitlines()[-1]
    assert archivist("index", folder)[1] == "0 added, 0 changed, 0 moved, 0 removed, 4 unchanged\n"


def test_index_lists_every_remark_on_a_line_when_asked(archivist: Run, folder: Path, write: Callable[[str, str], Path]) -> None:
    names = [f"c{number}" for number in range(9)]
    write("codes.csv", "\n".join([",".join(names), *[",".join(["007"] * 9)] * 3, ""]))
    (folder / "latin.csv").write_bytes("stra\u00dfe,n\nK\u00f6lner Gasse,1\nGr\u00fcner Weg,2\n".encode("latin-1"))
    remarks = json.loads(archivist("index", folder, "--dry-run", "--json")[1])["changes"][0]["remarks"]
    _, out, _ = archivist("index", folder, "--dry-run", "-v")
    lines = out.splitlines()
    assert lines[:10] == ["+ codes.csv: 3 rows, 9 columns", *(f"    {remark}" for remark in remarks)]
    assert [line.split(":")[0].strip() for line in lines[1:10]] == names
    assert lines[11].startswith("    decoded as ")
    assert archivist("index", folder)[1].splitlines()[0].endswith("; 8 more remarks (archivist tables shows them)")


def test_index_says_which_tables_have_another_name_now(
    archivist: Run, shop: Path, folder: Path, write: Callable[[str, str], Path]
) -> None:
    write("1999/sales.csv", "a,b\n1,2\n")
    assert archivist("index", folder)[2] == "archivist: table sales is now sales_2024 (1999/sales.csv has its name)\n"
    (folder / "1999" / "sales.csv").unlink()
    write("2024/sales.csv", "code,n\n007,2\n")
    code, _, err = archivist("index", folder, "-q")
    assert (code, err) == (0, "archivist: table sales_2024 is now sales\n")
    (folder / "2024" / "visits.tsv").rename(folder / "2024" / "calls.tsv")
    assert archivist("index", folder)[2] == "archivist: table visits is now calls\n"
    assert archivist("index", folder)[2] == ""
    assert json.loads(archivist("index", folder, "--json")[1])["messages"] == []


def test_files_of_tables_do_not_count_as_files_without_text(archivist: Run, shop: Path) -> None:
    _, out, _ = archivist("status")
    assert "tables     3, 5 rows\n" in out
    assert "no text" not in out
    known = json.loads(archivist("status", "--json")[1])
    assert (known["tables"], known["rows"], known["coverage"]["without_text"]) == (3, 5, 0)


def test_what_is_forgotten_is_no_table_any_more(archivist: Run, shop: Path) -> None:
    assert archivist("forget", "2024/sales.csv")[1] == "removed 1 document; the files stay where they are\n"
    assert [line.split()[0] for line in archivist("tables")[1].splitlines()[2:]] == ["sales", "visits"]
    assert archivist("forget", shop)[0] == 0
    assert archivist("tables")[2] == "no table: no file that passes the filters holds one\n"
    assert archivist("tables", "sales")[2].startswith('archivist: table: got "sales", and there is no table\n')
