"""Questions with an order: "the 3 slowest endpoints", "which owner has the most endpoints", "the average … of the top 5 …".

In: Parsed, what the other rules made of the question. Out: a Reading, None where the order cannot be had.
"""

from __future__ import annotations

import re
from dataclasses import replace

from assistant.backends.offline.tables.asked import Ranked
from assistant.backends.offline.tables.linking import Link
from assistant.backends.offline.tables.measuring import COUNTS, RATES
from assistant.backends.offline.tables.models import Condition, Function, Group, Measure, Ranking, Reading
from assistant.backends.offline.tables.parsed import Parsed
from assistant.backends.offline.tables.row_names import person
from assistant.backends.offline.tables.schema import Ref

_PLURAL_SHOWN = 5
_HAVING = frozenset({"has", "have", "hat", "haben", "owns", "own"})
_ADDED = re.compile(r"most|least|fewest|meist|wenigst|top|bottom|first|$")
_AVERAGED = (
    "slow", "fast", "quick", "lang", "schnell", "best", "worst", "most expensive", "least expensive", "cheap", "pric", "cost",
    "dear", "teuer", "billig", "günstig", "preiswert",
)  # fmt: skip


def ranked(parsed: Parsed, by: Measure) -> Reading | None:
    """Things in an order."""
    asked = parsed.asked
    order = asked.ranked
    assert order is not None
    thing = _owner(parsed, order) or order.entity or (asked.subject if not _is_measured(parsed, asked.subject, by) else None)
    things = tuple(parsed.grouping.thing(thing, by.table)) if thing is not None else parsed.groups
    if thing is not None:
        parsed.sentence.take(thing)
    elif not things and asked.singular and (name := person(parsed.schema, by.table)) is not None:
        things = (Group(name),)  # "who charged the most"
    single = thing is None and by.function == "" and by.ref is not None and parsed.schema.is_measure(by.ref)
    if single and parsed.groups and not order.limit:  # "the highest score per player"
        return _extreme(parsed, by, order)
    if not things or (parsed.groups and parsed.groups != things and not order.limit):
        return _extreme(parsed, by, order)
    if by.function == "count" and parsed.grouping.is_row(things, by.table):
        return None  # every one of them is counted once
    limit = order.limit or _usual_limit(parsed)
    ranking = Ranking(by, high=order.high, limit=limit)
    extra = parsed.selected(tables={group.ref.table for group in things} | {by.table})
    row = parsed.grouping.is_row(things, by.table) or (thing is not None and by.table in parsed.meanings.tables(thing))
    if by.function in {"", "sum"} and row and by.ref is not None:
        by = Measure("", by.table, by.ref)
    else:
        by = _of_several_rows(parsed, order, by, periods=any(parsed.schema.is_when(group.ref) for group in things))
    ranking = replace(ranking, by=by)
    if by.function == "" and by.ref is not None:
        select = tuple(dict.fromkeys([*(group.ref for group in things), *extra, by.ref]))
        return Reading(by.table, select=select, conditions=parsed.conditions, ranking=ranking)
    tables = {group.ref.table for group in things}
    groups = tuple(dict.fromkeys([*things, *(Group(ref) for ref in extra if ref.table in tables)]))
    measures = tuple(dict.fromkeys([by, *parsed.measures]))
    return Reading(by.table, groups=groups, measures=measures, conditions=parsed.conditions, ranking=ranking)


def _owner(parsed: Parsed, order: Ranked) -> Link | None:
    """The service of "which service has the slowest endpoints": it is what is ranked, by all that it has."""
    subject, entity = parsed.asked.subject, order.entity
    if not subject or not entity or subject == entity or order.limit or not (order.by and order.by.quality):
        return None
    between = [parsed.sentence.lower(index) for index in range(subject.last + 1, entity.first)]
    if not _HAVING & set(between):
        return None
    parsed.sentence.take(entity)
    return subject


def _extreme(parsed: Parsed, by: Measure, order: Ranked) -> Reading | None:
    """The highest or lowest value itself, of all rows or of each group."""
    if by.function == "sum" and order.by and not order.by.functions:  # "the largest number of docks"
        by = replace(by, function="")
    if by.ref is None or (by.function in {*RATES, "sum", *COUNTS} and not parsed.groups):
        return None
    function: Function = by.function or ("max" if order.high else "min")
    return Reading(by.table, groups=parsed.groups, measures=(Measure(function, by.table, by.ref),), conditions=parsed.conditions)


def _usual_limit(parsed: Parsed) -> int:
    """How many are wanted where no number says it: one of "which endpoint", a few of "which endpoints", all that are sorted."""
    if parsed.asked.singular:
        return 1
    return 0 if parsed.asked.direction is not None else _PLURAL_SHOWN


def _is_measured(parsed: Parsed, link: Link | None, by: Measure) -> bool:
    """Whether a link is the measure itself: "what is the highest response time" asks for no thing."""
    return link is None or (by.ref is not None and by.ref in link.columns() and parsed.asking.is_numeric(link))


def _of_several_rows(parsed: Parsed, order: Ranked, by: Measure, *, periods: bool) -> Measure:
    """What a plain column becomes where a thing has several rows: slow is a mean, most is a sum, highest the single highest.

    periods: things are months or days, of which the most expensive is that with the highest sum.
    """
    if by.function or by.ref is None or not parsed.schema.is_measure(by.ref):
        return by
    added = periods and parsed.schema.is_money(by.ref)
    if not added and order.by and order.by.quality and order.said.startswith(_AVERAGED):
        parsed.unsure.append(parsed.words.by_average.format(column=by.ref.column))
        return Measure("avg", by.table, by.ref)
    if added or parsed.asked.together or _ADDED.match(order.said):
        parsed.unsure.append(parsed.words.by_sum.format(column=by.ref.column))
        return Measure("sum", by.table, by.ref)
    return by


def over_ranked(parsed: Parsed, by: Measure) -> Reading | None:
    """A measure over the things that a ranking finds first; None where the measure is the ranking's own, or asked beside it."""
    asked, order = parsed.asked, parsed.asked.ranked
    specs = [spec for spec in asked.specs if order and spec.at < order.at]
    if order is None or order.by is None or order.entity is None or not specs or not parsed.measures:
        return None
    first = parsed.measures[0]
    if first == by or (first.ref == by.ref and first.ref is not None and not asked.together) or parsed.is_told(specs[0].at):
        return None
    if not order.limit and not asked.singular and asked.direction is not None:
        return None
    return over(parsed, by)


def over(parsed: Parsed, by: Measure) -> Reading | None:
    """The measures over the things that a ranking finds first. A condition on the measures' own table tests what is measured."""
    table = parsed.measures[0].table
    outer = tuple(condition for condition in parsed.conditions if condition.ref.table == table != by.table)
    inner_conditions = tuple(condition for condition in parsed.conditions if condition not in outer)
    inner = ranked(replace(parsed, measures=(), groups=(), conditions=inner_conditions), by)
    return _chained(parsed, inner, outer) if inner is not None else None


def _chained(parsed: Parsed, inner: Reading, conditions: tuple[Condition, ...]) -> Reading | None:
    """A Reading over the rows of another, by one pair of columns."""
    table = parsed.measures[0].table
    first = inner.select[0] if inner.select else inner.groups[0].ref
    target: Ref | None = first if first.table == table else None
    if target is None:
        path = parsed.schema.path([first.table, table])
        if path is None or len(path) != 1:
            return None
        target = path[0].right
        if path[0].left != first:
            first = path[0].left
            inner = _with_key(inner, first)
    if parsed.measures[0].function in RATES and not parsed.schema.is_unique(target):
        parsed.unsure.append(parsed.words.each_row.format(table=table, column=target.column))
    return Reading(table, measures=parsed.measures, conditions=conditions, over=inner, link=(first, target))


def _with_key(inner: Reading, key: Ref) -> Reading:
    if inner.select:
        return replace(inner, select=tuple(dict.fromkeys([key, *inner.select])))
    return replace(inner, groups=tuple(dict.fromkeys([Group(key), *inner.groups])))
