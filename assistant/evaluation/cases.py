"""Cases: questions with what is expected of their answers, one JSON object a line, checked when they are read.

The format is that of data/evals/library.jsonl; every key of `expect` may be left out, an unknown one is refused.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from assistant.errors import UserError
from search import evaluation as retrieval
from search.filters import compile_filters, parse_condition
from search.models import Condition, DateRange, Filters

TOOLS = frozenset(
    (
        *("hybrid_search", "keyword_search", "vector_search", "find_similar", "filter_documents", "count_documents"),
        *("read_document", "describe_tables", "query_table", "run_sql", "calculate"),
    )
)
TABLE_TOOLS = ("query_table", "run_sql")
_KEYS = frozenset(["id", "question", "kind", "language", "today", "scope", "turns", "held_out", "expect"])
_EXPECTED = frozenset(
    (
        *("documents", "all_documents", "tools", "forbidden_tools", "arguments", "filters", "dates", "tables", "intent"),
        *("numbers", "tolerance", "phrases", "forbidden", "absent", "asks_back", "marked"),
    )
)
_LISTS = ("category", "tags", "source", "format", "author", "language")
_SINGLE = ("title", "after", "before", "during", "date_field")
_FILTERS = frozenset((*_LISTS, *_SINGLE, "metadata", "range"))
_PREDICATES = frozenset(["one_of", "contains", "matches", "min", "max"])
_MAX_LINE = 100_000  # characters
_EXAMPLE = "docs/evaluating.md says what each field means"


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of an answer; what is empty or None is not asked.

    documents: paths, any of which answers; all_documents: paths that must all be cited. tools: right chains, "a|b" in a place is
    either. arguments: by "tool.argument", a value or a predicate. filters: those of the calls together, by name, dates aside;
    dates: as resolved. tolerance: relative. absent: whether the documents do not hold it. asks_back: whether a question is right.
    marked: what a recorded answer is known to invent, keys, quotations and numbers as it has them: the check must mark each.
    """

    documents: tuple[str, ...] = ()
    all_documents: tuple[str, ...] = ()
    tools: tuple[tuple[str, ...], ...] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Any] | None = None
    dates: DateRange | None = None
    numbers: tuple[float, ...] = ()
    tolerance: float = 0.01
    phrases: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    absent: bool | None = None
    asks_back: bool | None = None
    forbidden_tools: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A question and what is expected. today: the day it is asked on, None for the run's own. scope: the person's own filters.

    turns: questions asked before it in the same conversation. given: the case as it was written, `given["expect"]` in it.
    """

    id: str
    question: str
    kind: str = ""
    language: str = ""
    today: date | None = None
    scope: Filters = field(default_factory=Filters)
    turns: tuple[str, ...] = ()
    expect: Expected = field(default_factory=Expected)
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def for_retrieval(self) -> retrieval.Case | None:
        """The case as search alone is measured by it, with its filters, its days and the person's own scope.

        None where no document is expected or an earlier question matters.
        """
        wanted = (*self.expect.documents, *self.expect.all_documents)
        if not wanted or self.turns or self.expect.tables:
            return None
        named = dict(self.given.get("expect", {}).get("filters") or {})
        if self.expect.dates is not None:
            named = {name: value for name, value in named.items() if name not in _DATED}
            named["range"] = [self.expect.dates.start, self.expect.dates.end]
        filters = replace(filters_from(named), within=self.scope if self.scope != Filters() else None)
        return retrieval.Case(self.id, self.question, dict.fromkeys(wanted, 1), self.kind, filters, self.today)


def read_cases(path: Path) -> list[Case]:
    """The cases of a file. Raises UserError with the line for what is not understood, naming the nearest field."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path}: cannot be read as cases: {error}", "want JSON lines; data/evals/library.jsonl is an example"
        ) from None
    return cases_from(text, str(path))


def cases_from(text: str, name: str) -> list[Case]:
    """The cases of a text of JSON lines; name: what an error calls it."""
    cases: list[Case] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            if len(line) > _MAX_LINE:
                raise _WrongError(f"the line has {len(line):,} characters, want {_MAX_LINE:,} at most")
            case = _case(_object(line))
            if case.id in seen:
                raise _WrongError(f'"id": {case.id!r} stands in line {seen[case.id]} already')
        except _WrongError as error:
            raise UserError(f"{name}:{number}: {error}", _EXAMPLE) from None
        seen[case.id] = number
        cases.append(case)
    if not cases:
        raise UserError(f"{name}: holds no case", "archivist evaluate --from-library 20 -o FILE proposes some")
    return cases


class _WrongError(Exception):
    """What is wrong of a line."""


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _WrongError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise _WrongError("want an object with id, question and expect")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object, of which each may stand once: of two, one would be left out without a word."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(name for name in found if sum(name == other for other, _ in pairs) > 1)
        raise _WrongError(f'"{twice[:60]}" stands twice in one object')
    return found


def _case(row: dict[str, Any]) -> Case:
    _known(row, _KEYS, "")
    for name in ("id", "question"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise _WrongError(f'"{name}": want a text' + (f", got {row[name]!r}"[:80] if name in row else ", it is missing"))
    expect = row.get("expect", {})
    if not isinstance(expect, dict):
        raise _WrongError('"expect": want an object')
    today = _day(row, "today")
    return Case(
        id=row["id"],
        question=row["question"],
        kind=_text(row, "kind"),
        language=_text(row, "language"),
        today=today,
        scope=filters_from(_filters(row, "scope", today) or {}),
        turns=_texts(row, "turns"),
        expect=_expected(expect, today),
        given=row,
    )


def _expected(row: dict[str, Any], today: date | None) -> Expected:
    _known(row, _EXPECTED, "expect.")
    forbidden_tools = _texts(row, "forbidden_tools")
    if row.get("intent") is not None:
        if row["intent"] != "search":
            raise _WrongError(f'"intent": got {row["intent"]!r}, want "search" (no table is asked)')
        forbidden_tools = tuple(dict.fromkeys((*forbidden_tools, *TABLE_TOOLS)))
    for tool in forbidden_tools:
        _tool(tool, "forbidden_tools")
    filters = _filters(row, "filters", today)
    return Expected(
        documents=_texts(row, "documents"),
        all_documents=_texts(row, "all_documents"),
        tools=_chains(row),
        arguments=_arguments(row),
        filters=None if filters is None else {name: value for name, value in filters.items() if name not in _DATED},
        dates=_dates(row, filters or {}),
        numbers=_numbers(row),
        tolerance=_tolerance(row),
        phrases=_texts(row, "phrases"),
        forbidden=_texts(row, "forbidden"),
        tables=_texts(row, "tables"),
        absent=_flag(row, "absent"),
        asks_back=_flag(row, "asks_back"),
        forbidden_tools=forbidden_tools,
        marked=_texts(row, "marked"),
    )


_DATED = frozenset({"after", "before", "during", "range"})


def filters_from(given: Mapping[str, Any]) -> Filters:
    """Filters as a case writes them: lists or single texts, metadata as an object or as conditions such as "status=open"."""
    known: dict[str, Any] = {name: _listed(given[name]) for name in _LISTS if name in given}
    known |= {name: given[name] for name in _SINGLE if name in given}
    if "range" in given and not _DATED.intersection(given) - {"range"}:
        start, end = given["range"]
        known["during"] = f"{start}..{end}" if start and end else f"since {start}" if start else f"until {end}"
    metadata = given.get("metadata", ())
    conditions = [f"{key}={value}" for key, value in metadata.items()] if isinstance(metadata, Mapping) else list(metadata)
    return Filters(**known, metadata=tuple(map(_condition, conditions)))


def _condition(text: str) -> Condition:
    return parse_condition(text)


def _listed(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _known(row: Iterable[str], names: frozenset[str], where: str) -> None:
    for name in row:
        if name not in names:
            near = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.5)
            meant = f'; did you mean "{near[0]}"?' if near else f"; known are {', '.join(sorted(names))}"
            raise _WrongError(f'"{where}{name[:60]}" is no field of a case{meant}')


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise _WrongError(f'"{name}": got {value!r}, want a text')
    return value or ""


def _texts(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = row.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise _WrongError(f'"{name}": want a list of texts, got {json.dumps(value, ensure_ascii=False)[:80]}')
    return tuple(value)


def _flag(row: Mapping[str, Any], name: str) -> bool | None:
    value = row.get(name)
    if value is not None and not isinstance(value, bool):
        raise _WrongError(f'"{name}": got {value!r}, want true or false')
    return value


def _day(row: Mapping[str, Any], name: str) -> date | None:
    value = row.get(name)
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise _WrongError(f'"{name}": got {value!r}, want a day such as "2026-10-15"') from None


def _tool(name: str, where: str) -> None:
    if name not in TOOLS:
        near = difflib.get_close_matches(name, sorted(TOOLS), n=1, cutoff=0.4)
        meant = f'; did you mean "{near[0]}"?' if near else ""
        raise _WrongError(f'"{where}": no tool is named {name!r}{meant}')


def _chains(row: Mapping[str, Any]) -> tuple[tuple[str, ...], ...] | None:
    value = row.get("tools")
    if value is None:
        return None
    if not isinstance(value, list) or not value or not all(isinstance(chain, list) for chain in value):
        raise _WrongError('"tools": want a list of right chains, each a list of names: [["hybrid_search"], ["keyword_search"]]')
    for chain in value:
        for place in chain:
            if not isinstance(place, str):
                raise _WrongError(f'"tools": got {place!r}, want names of tools')
            for tool in place.split("|"):
                _tool(tool, "tools")
    return tuple(tuple(chain) for chain in value)


def _arguments(row: Mapping[str, Any]) -> Mapping[str, Any]:
    value = row.get("arguments", {})
    if not isinstance(value, dict):
        raise _WrongError('"arguments": want an object such as {"query_table.table": "endpoints"}')
    for name, wanted in value.items():
        tool, dot, argument = name.partition(".")
        if not dot or not argument:
            raise _WrongError(f'"arguments": got {name!r}, want "tool.argument"')
        _tool(tool, "arguments")
        if isinstance(wanted, dict):
            _predicate(name, wanted)
    return value


def _predicate(name: str, wanted: Mapping[str, Any]) -> None:
    _known(wanted, _PREDICATES, f"{name}.")
    checks: dict[str, Callable[[Any], bool]] = {
        "one_of": lambda value: isinstance(value, list) and bool(value),
        "contains": lambda value: isinstance(value, str) and bool(value),
        "matches": lambda value: isinstance(value, str),
        "min": _is_number,
        "max": _is_number,
    }
    if not wanted:
        raise _WrongError(f'"{name}": want one of {", ".join(sorted(_PREDICATES))}')
    for test, value in wanted.items():
        if not checks[test](value):
            raise _WrongError(f'"{name}.{test}": got {value!r}')
    try:
        re.compile(wanted.get("matches", ""))
    except re.error as error:
        raise _WrongError(f'"{name}.matches": no regular expression: {error}') from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _numbers(row: Mapping[str, Any]) -> tuple[float, ...]:
    value = row.get("numbers")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(map(_is_number, value)):
        raise _WrongError(f'"numbers": got {value!r}, want a list of numbers')
    return tuple(float(number) for number in value)


def _tolerance(row: Mapping[str, Any]) -> float:
    value = row.get("tolerance", 0.01)
    if not _is_number(value) or not 0 <= value < 1:
        raise _WrongError(f'"tolerance": got {value!r}, want a share from 0 to below 1')
    return float(value)


def _filters(row: Mapping[str, Any], name: str, today: date | None) -> dict[str, Any] | None:
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _WrongError(f'"{name}": want an object such as {{"category": ["runbooks"]}}')
    _known(value, _FILTERS, f"{name}.")
    for key, given in value.items():
        if key in _LISTS:
            _texts({key: [given] if isinstance(given, str) else given}, key)
        elif key in _SINGLE:
            _text(value, key)
    _range(value)
    try:
        compile_filters(filters_from(value), today=today)
    except (UserError, TypeError, ValueError, AttributeError) as error:
        raise _WrongError(f'"{name}": {error}') from None
    return value


def _range(filters: Mapping[str, Any]) -> None:
    value = filters.get("range")
    if value is not None:
        if not isinstance(value, list) or len(value) != 2 or value == [None, None]:
            raise _WrongError(f'"range": got {value!r}, want [first day, last day]')
        for day in value:
            _day({"range": day}, "range")


def _dates(row: Mapping[str, Any], filters: Mapping[str, Any]) -> DateRange | None:
    value = row.get("dates")
    if value is None:
        return _span(filters["range"]) if filters.get("range") else None
    if not isinstance(value, dict) or not value:
        raise _WrongError('"dates": want {"start": "2026-09-01", "end": "2026-09-30"}')
    _known(value, frozenset({"start", "end"}), "dates.")
    for name in value:
        _day(value, name)
    return _span([value.get("start"), value.get("end")])


def _span(days: Sequence[str | None]) -> DateRange:
    first, last = (date.fromisoformat(day) if day is not None else None for day in days)
    if first is None and last is None:
        raise _WrongError('"dates": want a first day, a last day, or both')
    if first is not None and last is not None and first > last:
        raise _WrongError(f'"dates": {first} is after {last}')
    return DateRange(first.isoformat() if first else None, last.isoformat() if last else None)
