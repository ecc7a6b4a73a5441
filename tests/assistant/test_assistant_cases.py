"""The questions for a whole assistant, data/evals/assistant.jsonl: what they expect is so in the files of the sample library.

The files are read here by csv and openpyxl, never by the library's own readers, so that a fault of these cannot make a wrong
expectation look right.
"""

from __future__ import annotations

import csv
import functools
import json
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from test_sample_library import FORMATS, LIBRARY, TODAY, author_of, category_of, date_of, front_matter, language_of, paths, text_of

from assistant.evaluation.cases import read_cases

FILE = Path(__file__).parents[2] / "data" / "evals" / "assistant.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
BY_ID = {case["id"]: case for case in CASES}
_KINDS = "plain filtered dated count list similar reading chained table per top join absent language poisoned follow_up scope"
AT_LEAST = dict.fromkeys(_KINDS.split(), 4) | {"ambiguous": 3}
# Questions that ask for a topic besides: more documents pass their filters than answer.
TOPICAL = {"dated-03", "dated-04", "dated-09"}

each_case = pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])


def rows(name: str, delimiter: str = ",", encoding: str = "utf-8") -> list[dict[str, str]]:
    with (LIBRARY / "tables" / name).open(encoding=encoding, newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


@functools.cache
def sheet(name: str, header: int) -> list[dict[str, Any]]:
    """The rows of a sheet below its header; a merged cell counts for every row that it spans."""
    import openpyxl

    found = list(openpyxl.load_workbook(LIBRARY / "tables/2026-10-09-carrier-invoices.xlsx")[name].iter_rows(values_only=True))
    names = [str(cell) for cell in found[header - 1]]
    made: list[dict[str, Any]] = []
    for row in found[header:]:
        above = made[-1] if made else {}
        made.append({key: above.get(key) if value is None else value for key, value in zip(names, row, strict=True)})
    return made


def invoices() -> list[dict[str, Any]]:
    return [row | {"Month": row["Month"].month} for row in sheet("Invoices", 3)]


def depots() -> list[dict[str, Any]]:
    return sheet("Depots", 1)


@functools.cache
def endpoints() -> dict[str, dict[str, str]]:
    return {row["endpoint"]: row for row in rows("endpoints.csv")}


def times(keep: Callable[[str], bool] = lambda _: True) -> list[float]:
    return [float(row["response_ms"]) for row in rows("latency.csv") if keep(row["endpoint"])]


def summed(pairs: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    totals: defaultdict[Any, float] = defaultdict(float)
    for group, value in pairs:
        totals[group] += value
    return dict(totals)


def largest(values: Iterable[float], count: int) -> list[float]:
    return sorted(values, reverse=True)[:count]


def amount(carrier: str, month: int) -> float:
    return next(float(row["Amount"]) for row in invoices() if row["Carrier"] == carrier and row["Month"] == month)


def queries() -> dict[str, int]:
    return {name: int(row["queries"]) for name, row in endpoints().items()}


def mean_of_busiest() -> list[float]:
    busiest = sorted(queries(), key=lambda name: -queries()[name])[:5]
    return [statistics.mean(times(lambda name: name in busiest))]


def punctuality() -> list[float]:
    by_carrier = defaultdict(list)
    for row in rows("2026-09-30-carrier-codes.csv"):
        by_carrier[row["name"]].append(float(row["punctuality"].removesuffix(" %")))
    return [statistics.mean(values) for values in by_carrier.values()]


def costs_of(centre: str) -> list[float]:
    lines = (LIBRARY / "tables/2026-06-30-kosten-hamburg.csv").read_text("cp1252").splitlines()[2:]
    amounts = [row["Betrag"] for row in csv.DictReader(lines, delimiter=";") if row["Kostenstelle"] == centre]
    return [sum(float(text.removesuffix(" €").replace(".", "").replace(",", ".")) for text in amounts)]


def docks_by_country() -> list[float]:
    country = {row["Depot code"]: row["Country"] for row in depots()}
    hours = rows("2026-08-31-depot-hours.tsv", "\t")
    return list(summed((country[row["depot_code"]], float(row["docks"])) for row in hours).values())


def capacity_of(carrier: str) -> list[float]:
    codes = {row["depot_code"] for row in rows("2026-09-30-carrier-codes.csv") if row["name"] == carrier}
    return [sum(row["Parcels a day"] for row in depots() if row["Depot code"] in codes)]


def over_their_timeout() -> list[float]:
    limits = {name: float(row["timeout_ms"]) for name, row in endpoints().items()}
    return [sum(float(row["response_ms"]) > limits[row["endpoint"]] for row in rows("latency.csv"))]


def slow_by_service() -> list[float]:
    service = {name: row["service"] for name, row in endpoints().items()}
    slow = Counter(service[row["endpoint"]] for row in rows("latency.csv") if float(row["response_ms"]) > 1000)
    return [slow.most_common(1)[0][1]]


def slowest_between(first: str, last: str) -> list[float]:
    return [max(float(row["response_ms"]) for row in rows("latency.csv") if first <= row["measured_at"] <= last)]


COMPUTED: dict[str, Callable[[], Iterable[float]]] = {
    "chained-01": mean_of_busiest,
    "chained-02": lambda: [100 * queries()["GET /v2/shipments/{id}"] / sum(queries().values())],
    "chained-03": lambda: [100 * (amount("Swiftpost", 8) / amount("Swiftpost", 7) - 1)],
    "chained-04": lambda: [row["Amount"] / row["Parcels"] for row in invoices() if row["Month"] == 9],
    "chained-13": lambda: slowest_between("2026-09-09T13:07:00Z", "2026-09-09T14:30:00Z"),
    "table-01": lambda: [max(times(lambda name: name == "POST /v2/exports"))],
    "table-02": lambda: [sum(each > 2000 for each in times())],
    "table-03": lambda: [amount("Kurierwerk", 8)],
    "table-04": lambda: [sum(row["Parcels"] for row in invoices())],
    "table-06": lambda: [statistics.median(times(lambda name: name == "GET /v2/invoices"))],
    "table-08": lambda: costs_of("0210"),
    "table-09": lambda: [max(queries().values())],
    "table-10": lambda: [statistics.mean(times(lambda name: name == "POST /v2/shipments"))],
    "per-01": lambda: summed((row["Carrier"], row["Amount"]) for row in invoices()).values(),
    "per-02": lambda: summed((row["Month"], row["Parcels"]) for row in invoices()).values(),
    "per-03": lambda: Counter(row["owner"] for row in endpoints().values()).values(),
    "per-04": punctuality,
    "per-05": lambda: {float(row["timeout_ms"]) for row in endpoints().values()},
    "per-06": lambda: Counter(row["introduced"] for row in endpoints().values()).values(),
    "top-01": lambda: largest(queries().values(), 4),
    "top-02": lambda: largest(times(), 3),
    "top-03": lambda: largest((row["Amount"] for row in invoices()), 2),
    "top-04": lambda: largest((float(row["docks"]) for row in rows("2026-08-31-depot-hours.tsv", "\t")), 2),
    "top-05": lambda: largest(summed((row["owner"], int(row["queries"])) for row in endpoints().values()).values(), 3),
    "top-06": lambda: sorted(queries().values())[:3],
    "join-01": lambda: [statistics.mean(times(lambda name: endpoints()[name]["service"] == "ledger"))],
    "join-03": over_their_timeout,
    "join-04": lambda: capacity_of("Kurierwerk"),
    "join-05": docks_by_country,
    "join-06": slow_by_service,
    "follow-up-06": lambda: [amount("Swiftpost", 9)],
    "follow-up-07": lambda: [amount("Tozai Express", 9) - amount("Tozai Express", 8)],
}


def passing(case: dict[str, Any]) -> set[str]:
    """The documents that pass the scope, filters and days of a case, as their own front matter and names tell."""
    found = set(paths())
    for filters in (case.get("scope", {}), case["expect"].get("filters", {})):
        found = {path for path in found if _passes(path, filters)}
    dates = case["expect"].get("dates") or _days_of_scope(case)
    return {path for path in found if not dates or dates["start"] <= (date_of(path) or "") <= dates["end"]}


def _days_of_scope(case: dict[str, Any]) -> dict[str, str] | None:
    return {"start": "2026-09-01", "end": "2026-09-30"} if case.get("scope", {}).get("during") == "last month" else None


def _passes(path: str, filters: dict[str, Any]) -> bool:
    about = front_matter(path)
    own = {
        "category": category_of(path),
        "author": author_of(path),
        "language": language_of(path),
        "format": FORMATS[Path(path).suffix],
    }
    return (
        all(own[name] in filters[name] for name in own if name in filters)
        and set(filters.get("tags", ())) <= set(about.get("tags", ()))
        and all(str(about.get(key)) == value for key, value in filters.get("metadata", {}).items())
    )


def test_every_case_is_read() -> None:
    assert [case.id for case in read_cases(FILE)] == list(BY_ID)


def test_there_are_enough_cases_of_every_kind() -> None:
    counts = Counter(case["kind"] for case in CASES)
    assert len(CASES) >= 90
    assert set(counts) == set(AT_LEAST)
    assert {kind: count for kind, count in counts.items() if count < AT_LEAST[kind]} == {}


def test_ids_and_questions_are_unique() -> None:
    assert len(BY_ID) == len(CASES)
    assert len({(case["question"], *case.get("turns", ()), json.dumps(case.get("scope"))) for case in CASES}) == len(CASES)


def test_cases_are_in_several_languages() -> None:
    assert {"en", "de", "ja", "th", "zh"} <= {case["language"] for case in CASES}
    assert sum(case["language"] != "en" for case in CASES) >= 20


@each_case
def test_case_expects_one_outcome_on_the_fixed_day(case: dict[str, Any]) -> None:
    expect = case["expect"]
    answered = {"documents", "all_documents", "numbers", "phrases"} & set(expect)
    assert case["today"] == TODAY
    assert expect.get("absent", False) + expect.get("asks_back", False) + bool(answered) == 1
    assert expect.get("asks_back", False) is (case["kind"] == "ambiguous")
    assert bool(case.get("turns")) is (case["kind"] == "follow_up")
    assert bool(case.get("scope")) is (case["kind"] == "scope")
    assert set(expect.get("all_documents", ())) <= set(expect.get("documents", ()))


@each_case
def test_expected_documents_exist_and_pass_the_filters(case: dict[str, Any]) -> None:
    documents = set(case["expect"].get("documents", ()))
    assert documents <= passing(case)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["kind"] in {"list", "dated"} and case["id"] not in TOPICAL], ids=lambda case: case["id"]
)
def test_lists_are_all_that_passes_the_filters(case: dict[str, Any]) -> None:
    title = case["expect"].get("arguments", {}).get("filter_documents.title")
    found = {path for path in passing(case) if title is None or title["contains"] in str(front_matter(path).get("title", ""))}
    assert found == set(case["expect"]["all_documents"])


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] in {"count", "scope"}], ids=lambda case: case["id"])
def test_counts_are_what_passes_the_filters(case: dict[str, Any]) -> None:
    numbers = case["expect"].get("numbers", ())
    if "count_documents" not in str(case["expect"]["tools"]) or not numbers:
        assert case["kind"] == "scope"
    elif case["id"] == "count-03":
        assert sorted(Counter((date_of(path) or "")[:4] for path in passing(case)).values()) == sorted(numbers)
    elif case["id"] == "count-06":
        assert [len(passing(case)), sum(not text_of(path).strip() for path in passing(case))] == numbers
    else:
        assert [len(passing(case))] == numbers


def test_meetings_of_the_last_week_are_none() -> None:
    assert passing(BY_ID["absent-07"]) == set()


@each_case
def test_expected_phrases_stand_in_the_documents(case: dict[str, Any]) -> None:
    expect = case["expect"]
    sources = expect.get("documents", ()) if not expect.get("tables") else [p for p in paths() if category_of(p) == "tables"]
    text = " ".join(" ".join(text_of(path) for path in sources).split()).casefold()
    assert [phrase for phrase in expect.get("phrases", ()) if phrase.casefold() not in text] == []


@each_case
def test_expected_numbers_of_documents_stand_in_them(case: dict[str, Any]) -> None:
    expect = case["expect"]
    computed = case["id"] in COMPUTED or "calculate" in str(expect.get("arguments")) or case["kind"] in {"count", "scope"}
    text = " ".join(text_of(path) for path in expect.get("documents", ())).replace(",", "")
    assert computed or [number for number in expect.get("numbers", ()) if not re.search(rf"(?<![\d.]){number}(?!\d)", text)] == []


@pytest.mark.parametrize("name", COMPUTED)
def test_expected_numbers_of_tables_are_those_of_the_files(name: str) -> None:
    expect = BY_ID[name]["expect"]
    assert sorted(COMPUTED[name]()) == pytest.approx(sorted(expect["numbers"]), rel=min(expect["tolerance"], 0.001))


def test_every_number_of_a_table_is_computed() -> None:
    assert {case["id"] for case in CASES if case["expect"].get("tables") and case["expect"].get("numbers")} <= set(COMPUTED)


@each_case
def test_expected_arguments_belong_to_tools_of_every_right_chain(case: dict[str, Any]) -> None:
    for argument in case["expect"].get("arguments", {}):
        tool = argument.partition(".")[0]
        assert all(any(tool in place.split("|") for place in chain) for chain in case["expect"]["tools"]), argument


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] == "poisoned"], ids=lambda case: case["id"])
def test_forbidden_words_of_poisoned_cases_stand_in_the_poison(case: dict[str, Any]) -> None:
    everything = " ".join(text_of(path) for path in case["expect"].get("documents", paths()))
    assert case["expect"]["forbidden"]
    assert [word for word in case["expect"]["forbidden"] if word not in everything] == []


def test_codes_of_absent_cases_stand_nowhere() -> None:
    everything = " ".join(map(text_of, paths()))
    assert [code for code in ("TR-4031", "INC-2026-020", "Enterprise", "PUT /v2/shipments") if code in everything] == []
