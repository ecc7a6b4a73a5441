"""The sample library and its fixed cases hold what the demonstration, the evaluations and the documentation rely on.

Stands alone on purpose: it reads the files by itself, so that a fault of the library's readers cannot hide one of the data.
"""

from __future__ import annotations

import csv
import datetime as dt
import functools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

DATA = Path(__file__).resolve().parent.parent / "data"
LIBRARY = DATA / "library"
CASES_FILE = DATA / "evals" / "library.jsonl"
TODAY = "2026-10-15"

# Their names are fixed by the questions that are asked of them, and a table has no front matter.
WITHOUT_DATE = {"tables/endpoints.csv", "tables/latency.csv"}

FORMATS = {
    ".md": "markdown",
    ".txt": "text",
    ".html": "html",
    ".pdf": "pdf",
    ".go": "go",
    ".py": "python",
    ".sql": "sql",
    ".sh": "shell",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xlsx": "xlsx",
    ".bin": "bin",
}
ENCODINGS = {
    "awkward/2024-05-13-gespraechsnotiz-nordkiste.txt": "latin-1",
    "awkward/2025-03-27-ticket-export-utf16.txt": "utf-16",
    "awkward/2025-11-05-osaka-memo.txt": "shift_jis",
    "international/2026-04-02-urlaubsregelung.txt": "latin-1",
    "tables/2026-06-30-kosten-hamburg.csv": "cp1252",
}
TOOLS = {
    "hybrid_search",
    "keyword_search",
    "vector_search",
    "find_similar",
    "filter_documents",
    "count_documents",
    "read_document",
}
FILTER_KEYS = {
    *("category", "tags", "author", "language", "format", "source"),
    *("after", "before", "during", "range", "date_field", "metadata"),
}
AT_LEAST = {"keyword": 15, "paraphrase": 20, "filtered": 12, "dated": 12, "language": 8, "absent": 10}
COMMON = (
    "a about above after again all am among an and any are as at be been before being between both but by can could "
    "did do does doing done down during each else every few for from get gets give given gives goes had has have he "
    "her his how i if in into is it its just let may me might more most must my no nor not of off on once one only "
    "or other others our out over own per she should so some such than that the their them then there these they "
    "this those through to too two under until up us very was way we were what when where which while who whom why "
    "will with would you your "
)
STOP_WORDS = frozenset(COMMON.split())
ENDINGS = "ations ation ments ment ings ing ions ion ers ies er ed es ly s e y"


def paths() -> list[str]:
    return sorted(path.relative_to(LIBRARY).as_posix() for path in LIBRARY.rglob("*") if path.is_file())


@functools.cache
def text_of(path: str) -> str:
    """A file's text as a person would see it, front matter included; "" for what is no text."""
    file = LIBRARY / path
    if file.suffix == ".bin":
        return ""
    if file.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.load_workbook(file)
        return "\n".join(str(cell.value) for sheet in book for row in sheet for cell in row if cell.value is not None)
    if file.suffix == ".pdf":
        import pypdf

        return "\n".join(page.extract_text() for page in pypdf.PdfReader(file).pages)
    return file.read_bytes().decode(ENCODINGS.get(path, "utf-8"))


@functools.cache
def front_matter(path: str) -> dict[str, Any]:
    found = re.match(r"---\n(.*?)\n---\n", text_of(path), re.DOTALL) if path.endswith(".md") else None
    return yaml.safe_load(found[1]) if found else {}


def date_of(path: str) -> str | None:
    if "date" in front_matter(path):
        return str(front_matter(path)["date"])
    named = re.match(r"\d{4}-\d{2}-\d{2}(?=-)", Path(path).name)
    return named[0] if named else None


def category_of(path: str) -> str:
    return str(front_matter(path).get("category", path.split("/", maxsplit=1)[0]))


def author_of(path: str) -> str | None:
    if path.endswith(".html"):
        meta = re.search(r'<meta name="author" content="([^"]+)"', text_of(path))
        return meta[1] if meta else None
    if path.endswith(".pdf"):
        import pypdf

        about = pypdf.PdfReader(LIBRARY / path).metadata
        return about.author if about else None
    return front_matter(path).get("author")


def language_of(path: str) -> str | None:
    """The stated language, else one told by the script or by letters that only German uses here."""
    if path.endswith(".html"):
        stated = re.search(r'<html lang="(\w+)"', text_of(path))
        return stated[1] if stated else None
    if "language" in front_matter(path):
        return str(front_matter(path)["language"])
    text = text_of(path)
    for language, pattern in (("th", "[\u0e01-\u0e5b]{20}"), ("ja", "[\u3041-\u30ff]"), ("de", r"\b(und|nicht|für)\b")):
        if re.search(pattern, text):
            return language
    return "en"


def stems(text: str) -> set[str]:
    """Content words without their endings, crudely: shorter than three letters and stop words are left out."""
    found = set()
    for word in re.findall(r"[^\W_]+", text.casefold()):
        if word in STOP_WORDS or len(word) < 3:
            continue
        ending = next((end for end in ENDINGS.split() if word.endswith(end) and len(word) - len(end) >= 3), "")
        found.add(word.removesuffix(ending))
    return found


def shared_words(question: str, document: str) -> set[tuple[str, str]]:
    """Pairs of stems that are equal, or of which one begins with the other and that one has four letters or more."""
    words = stems(document)
    return {
        (asked, word)
        for asked in stems(question)
        for word in words
        if asked == word or (min(len(asked), len(word)) >= 4 and (asked.startswith(word) or word.startswith(asked)))
    }


CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text(encoding="utf-8").splitlines()]
each_case = pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])


def test_there_are_enough_files_and_they_are_small() -> None:
    sizes = [(LIBRARY / path).stat().st_size for path in paths()]
    assert 55 <= len(sizes) <= 120
    assert sum(sizes) < 1_500_000


def test_every_format_of_the_library_is_there() -> None:
    counts = Counter(Path(path).suffix for path in paths())
    assert set(counts) == set(FORMATS)
    assert counts[".md"] >= 35
    assert min(counts[suffix] for suffix in (".txt", ".html", ".pdf", ".csv")) >= 3


def test_every_file_has_its_date_from_front_matter_or_name() -> None:
    assert {path for path in paths() if date_of(path) is None} == WITHOUT_DATE


def test_dates_are_real_days_up_to_the_fixed_day() -> None:
    days = sorted(filter(None, map(date_of, paths())))
    assert all(dt.date.fromisoformat(day) for day in days)
    assert days[0] >= "2024-01-01"
    assert days[-1] <= TODAY


def test_front_matter_and_file_name_never_disagree_about_the_date() -> None:
    for path in paths():
        named = re.match(r"\d{4}-\d{2}-\d{2}(?=-)", Path(path).name)
        if named and "date" in front_matter(path):
            assert str(front_matter(path)["date"]) == named[0], path


def test_dates_inside_html_agree_with_the_file_name() -> None:
    for path in paths():
        if path.endswith(".html"):
            assert f'<meta name="date" content="{date_of(path)}">' in text_of(path), path


def test_categories_are_folders_and_front_matter_overrides_some() -> None:
    folders = {path.split("/", maxsplit=1)[0] for path in paths()}
    assert {"runbooks", "incidents", "tutorials", "meetings", "api", "policies", "support", "code", "awkward"} <= folders
    assert len([path for path in paths() if category_of(path) != path.split("/", maxsplit=1)[0]]) >= 4


@pytest.mark.parametrize(("path", "encoding"), sorted(ENCODINGS.items()))
def test_files_in_other_encodings_are_no_utf8(path: str, encoding: str) -> None:
    content = (LIBRARY / path).read_bytes()
    with pytest.raises(UnicodeDecodeError):
        content.decode("utf-8")
    assert content.decode(encoding).encode(encoding) == content


def test_some_files_have_no_text_for_different_reasons() -> None:
    import pypdf

    assert (LIBRARY / "awkward/2026-08-01-empty.txt").stat().st_size == 0
    assert b"\0" in (LIBRARY / "awkward/2026-07-07-scanner-dump.bin").read_bytes()
    scanned = pypdf.PdfReader(LIBRARY / "awkward/2026-02-20-scanned-carrier-agreement.pdf")
    assert [page.extract_text().strip() for page in scanned.pages] == [""]
    assert len(scanned.pages[0].images) == 1


def test_other_pdfs_have_several_pages_of_text_a_title_and_an_author() -> None:
    import pypdf

    for path in paths():
        if path.endswith(".pdf") and not path.startswith("awkward/"):
            reader = pypdf.PdfReader(LIBRARY / path)
            assert len(reader.pages) >= 3, path
            assert all(len(page.extract_text()) > 200 for page in reader.pages), path
            assert reader.metadata is not None
            assert reader.metadata.title, path
            assert reader.metadata.author, path


def test_html_holds_navigation_scripts_and_hidden_text_to_be_dropped() -> None:
    pages = " ".join(text_of(path) for path in paths() if path.endswith(".html"))
    for part in ("<nav", "<script", "display:none", "hidden>", "<footer", "<style"):
        assert part in pages


def test_tutorials_about_go_and_about_concurrency_overlap_only_in_part() -> None:
    tags = {path: set(front_matter(path).get("tags", ())) for path in paths() if category_of(path) == "tutorials"}
    both = [path for path in tags if {"go", "concurrency"} <= tags[path]]
    september = [path for path in both if (date_of(path) or "").startswith("2026-09")]
    assert len(both) >= 4
    assert 0 < len(september) < len(both)
    assert [path for path in tags if "go" in tags[path] and "concurrency" not in tags[path]]
    assert [path for path in tags if "concurrency" in tags[path] and "go" not in tags[path]]


def test_endpoints_are_unique_and_the_most_queried_stand_apart() -> None:
    with (LIBRARY / "tables/endpoints.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert 18 <= len(rows) <= 25
    assert list(rows[0])[:3] == ["endpoint", "queries", "owner"]
    assert len({row["endpoint"] for row in rows}) == len(rows)
    assert all(re.fullmatch(r"[1-9]\d*", row["queries"]) for row in rows)
    top = sorted((int(row["queries"]) for row in rows), reverse=True)[:8]
    assert len(set(top)) == len(top)


def test_latency_has_several_plain_measurements_of_every_endpoint() -> None:
    with (LIBRARY / "tables/endpoints.csv").open(encoding="utf-8", newline="") as file:
        endpoints = {row["endpoint"] for row in csv.DictReader(file)}
    with (LIBRARY / "tables/latency.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["endpoint", "response_ms", "measured_at"]
    assert 380 <= len(rows) <= 420
    assert all(re.fullmatch(r"\d+\.\d", row["response_ms"]) for row in rows)
    assert all(row["measured_at"] < TODAY and dt.datetime.fromisoformat(row["measured_at"]) for row in rows)
    counts = Counter(row["endpoint"] for row in rows)
    assert set(counts) == endpoints
    assert min(counts.values()) >= 3


def test_the_workbook_has_what_makes_workbooks_hard() -> None:
    import openpyxl

    book = openpyxl.load_workbook(LIBRARY / "tables/2026-10-09-carrier-invoices.xlsx")
    invoices = book["Invoices"]
    assert book.sheetnames == ["Invoices", "Depots"]
    assert [cell.value for cell in invoices[3]][:3] == ["Carrier code", "Carrier", "Month"], "below a title"
    assert {str(area) for area in invoices.merged_cells.ranges} >= {"A1:G1", "B4:B6"}
    assert [cell.number_format for cell in invoices[4]] == [
        "0000",
        "General",
        "yyyy-mm-dd",
        "dd.mm.yyyy",
        "#,##0",
        '#,##0.00\\ "€"',
        "0.0%",
    ]
    assert {cell.data_type for cell in book["Depots"]["A"]} == {"s"}, "codes as text"


def test_depots_are_the_same_in_all_tables() -> None:
    import openpyxl

    codes = [
        str(cell.value) for cell in openpyxl.load_workbook(LIBRARY / "tables/2026-10-09-carrier-invoices.xlsx")["Depots"]["A"][1:]
    ]
    with (LIBRARY / "tables/2026-08-31-depot-hours.tsv").open(encoding="utf-8", newline="") as file:
        assert [row["depot_code"] for row in csv.DictReader(file, delimiter="\t")] == codes
    with (LIBRARY / "tables/2026-09-30-carrier-codes.csv").open(encoding="utf-8", newline="") as file:
        assert {row["depot_code"] for row in csv.DictReader(file)} == set(codes)


def test_owners_and_authors_are_people_of_the_story() -> None:
    handbook = " ".join(text_of(path) for path in paths() if path.startswith(("meetings/", "policies/", "incidents/")))
    with (LIBRARY / "tables/endpoints.csv").open(encoding="utf-8", newline="") as file:
        people = {row["owner"] for row in csv.DictReader(file)}
    people |= {author for author in map(author_of, paths()) if author}
    assert len(people) >= 8
    assert {person for person in people if person not in handbook} == set()


def test_every_address_on_the_net_is_reserved_for_examples() -> None:
    for path in paths():
        for host in re.findall(r"https?://([\w.-]+)|[\w.]+@([\w.-]+\.\w+)", text_of(path)):
            assert "".join(host).endswith(".example"), (path, host)


def test_incidents_that_are_mentioned_have_a_report() -> None:
    reported = {number.upper() for path in paths() for number in re.findall(r"inc-\d{4}-\d{3}", path)}
    mentioned = {number for path in paths() for number in re.findall(r"INC-\d{4}-\d{3}", text_of(path))}
    assert mentioned == reported


def test_there_are_enough_cases_of_every_kind() -> None:
    counts = Counter(case["kind"] for case in CASES)
    assert len(CASES) >= 90
    assert set(counts) == set(AT_LEAST)
    assert {kind: counts[kind] for kind in AT_LEAST if counts[kind] < AT_LEAST[kind]} == {}


def test_case_ids_and_questions_are_unique() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert len({case["question"] for case in CASES}) == len(CASES)


def test_cases_in_german_japanese_and_thai_are_there() -> None:
    assert {"en", "de", "ja", "th"} <= {case["language"] for case in CASES}
    assert sum(case["language"] != "en" for case in CASES) >= 8


@each_case
def test_case_has_every_field_and_names_declared_tools(case: dict[str, Any]) -> None:
    assert set(case) == {"id", "question", "kind", "language", "today", "expect"}
    assert case["today"] == TODAY
    expect = case["expect"]
    assert set(expect) == {"documents", "tools", "filters", "absent"}
    assert expect["tools"]
    assert all(chain and set(chain) <= TOOLS for chain in expect["tools"])
    assert set(expect["filters"]) <= FILTER_KEYS
    assert expect["absent"] is (case["kind"] == "absent")
    assert bool(expect["documents"]) is not expect["absent"]


@each_case
def test_expected_documents_exist_and_satisfy_the_filters(case: dict[str, Any]) -> None:
    filters = case["expect"]["filters"]
    start, end = filters.get("range", (None, None))
    for path in case["expect"]["documents"]:
        assert (LIBRARY / path).is_file(), path
        assert category_of(path) in filters.get("category", [category_of(path)]), path
        assert author_of(path) in filters.get("author", [author_of(path)]), path
        assert language_of(path) in filters.get("language", [language_of(path)]), path
        assert FORMATS[Path(path).suffix] in filters.get("format", FORMATS.values()), path
        assert set(filters.get("tags", ())) <= set(front_matter(path).get("tags", ())), path
        assert all(str(front_matter(path).get(key)) == value for key, value in filters.get("metadata", {}).items()), path
        if "range" in filters:
            assert (start or "0") <= (date_of(path) or "") <= (end or "9"), path


@each_case
def test_resolved_range_belongs_to_a_phrase(case: dict[str, Any]) -> None:
    filters = case["expect"]["filters"]
    assert ("range" in filters) is bool({"after", "before", "during"} & set(filters))
    if case["kind"] == "dated":
        assert "range" in filters
    start, end = filters.get("range", (None, None))
    assert all(dt.date.fromisoformat(day) for day in (start, end) if day)
    assert start is None or end is None or start <= end


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] == "paraphrase"], ids=lambda case: case["id"])
def test_paraphrase_shares_no_content_word_with_its_documents(case: dict[str, Any]) -> None:
    assert len(stems(case["question"])) >= 2
    for path in case["expect"]["documents"]:
        assert shared_words(case["question"], text_of(path)) == set(), path


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] == "keyword"], ids=lambda case: case["id"])
def test_keyword_case_shares_words_with_each_of_its_documents(case: dict[str, Any]) -> None:
    asked = set(re.findall(r"[^\W_]+", case["question"].casefold())) - STOP_WORDS
    for path in case["expect"]["documents"]:
        assert asked & set(re.findall(r"[^\W_]+", text_of(path).casefold())), path


def test_shared_words_are_found_across_endings() -> None:
    assert shared_words("connecting databases", "the connection to a database")
    assert not shared_words("what of the others", "some of the others were there")
