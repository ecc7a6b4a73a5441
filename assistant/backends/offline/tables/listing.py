"""What a question asks, put together: numbers over rows or groups of them, rows, columns of rows, or a quotient of two numbers.

In: Parsed. Out: a Reading, None where nothing is asked that tables can answer. Orders: see `ranking`.
"""

from __future__ import annotations

from assistant.backends.offline.tables.linking import Link
from assistant.backends.offline.tables.measuring import COUNTS, RATES
from assistant.backends.offline.tables.models import Group, Measure, Ranking, Reading
from assistant.backends.offline.tables.parsed import Parsed
from assistant.backends.offline.tables.ranking import over, over_ranked, ranked
from assistant.backends.offline.tables.schema import Ref


def assembled(parsed: Parsed, by: Measure | Group | None) -> Reading | None:
    """The Reading. by: what a ranking goes by."""
    asked, order = parsed.asked, parsed.asked.ranked
    if asked.quotient:
        return _quotient(parsed)
    if order is not None and isinstance(by, Measure) and not order.plain:
        return over_ranked(parsed, by) or ranked(parsed, by)
    if order is not None and by is None and asked.together and parsed.measures and order.limit:
        return over(parsed, Measure("", parsed.measures[0].table, parsed.measures[0].ref))
    ranking = Ranking(by, high=order.high, limit=order.limit) if order and by else None
    return _aggregated(parsed, ranking) if parsed.measures else _listed(parsed, ranking)


def _quotient(parsed: Parsed) -> Reading | None:
    """One measure over another: "the ratio of A to B for each C", of every row where C is one."""
    if len(parsed.measures) < 2:
        return None
    one, other = parsed.measures[:2]
    row = parsed.grouping.is_row(parsed.groups, one.table) and one.table == other.table
    measures = tuple(each if row or each.function else Measure("sum", each.table, each.ref) for each in (one, other))
    if row and not all(each.function == "" for each in measures):
        return None
    return Reading(one.table, measures=measures, groups=parsed.groups, conditions=parsed.conditions, ratio=True)


def _aggregated(parsed: Parsed, ranking: Ranking | None) -> Reading | None:
    """Measures, of all rows or of groups of them."""
    asked, measures, groups = parsed.asked, parsed.measures, parsed.groups
    base = measures[0].table
    averaged = any(spec.counted and set(spec.functions) & RATES for spec in asked.specs)
    if groups and averaged and measures[0].function in COUNTS:
        return Reading(base, measures=measures[:1], groups=groups, conditions=parsed.conditions, spread=True)
    named = [group for link, _ in asked.groups if link and base in parsed.meanings.tables(link) for group in groups]
    rows = [group for group in groups if group in named or parsed.grouping.is_row((group,), base)]
    if rows and len(rows) < len(groups):
        groups = tuple(group for group in groups if group not in rows)
    elif rows and all(measure.function in RATES for measure in measures):
        parsed.unsure.append(parsed.words.all_rows.format(column=groups[0].ref.column))
        groups = ()
    if not groups and asked.subject is not None and not _is_of(asked.subject, measures) and _asks_which(parsed, asked.subject):
        groups = tuple(parsed.grouping.thing(asked.subject, base))
        parsed.sentence.take(asked.subject)
    measures = tuple(dict.fromkeys(measures))
    if any(measure.function == "" for measure in measures) and not groups:
        select = tuple(measure.ref for measure in measures if measure.ref)
        return Reading(base, select=select, conditions=parsed.conditions, ranking=ranking)
    ranking = _fitted(ranking, measures, groups, parsed.asked.direction)
    return Reading(base, measures=measures, groups=groups, conditions=parsed.conditions, having=parsed.having, ranking=ranking)


def _fitted(
    ranking: Ranking | None, measures: tuple[Measure, ...], groups: tuple[Group, ...], direction: bool | None
) -> Ranking | None:
    """An order by something that the result holds."""
    if ranking is None:
        return Ranking(measures[0], high=direction) if groups and direction is not None else None
    by = ranking.by
    if isinstance(by, Measure) and by not in measures:
        alike = [measure for measure in measures if measure.ref == by.ref]
        by = (alike or list(measures))[0]
    return Ranking(by, high=ranking.high if direction is None else direction, limit=ranking.limit)


def _is_of(link: Link, measures: tuple[Measure, ...]) -> bool:
    """Whether a link is what the measures are of."""
    return any((measure.ref in link.columns()) or (measure.ref is None and measure.table in link.tables) for measure in measures)


def _asks_which(parsed: Parsed, subject: Link) -> bool:
    """Whether the subject stands behind "which" or "what": then there is one result for each of them."""
    return parsed.sentence.lower(subject.first - 1) in {"which", "what", "welche", "welcher", "welches"}


def _listed(parsed: Parsed, ranking: Ranking | None) -> Reading | None:
    """Rows, or columns of them: "who owns X", "which endpoints have more than N queries"."""
    asked, conditions, having = parsed.asked, parsed.conditions, parsed.having
    subject = asked.subject or next((link for link in parsed.sentence.free_links() if not link.is_value), None)
    if subject is None or not (conditions or having or ranking or asked.subject):
        return None
    base = parsed.meanings.base or next(iter(parsed.meanings.tables(subject)), "")
    things = parsed.grouping.thing(subject, base)
    if not things:
        return None
    parsed.sentence.take(subject)
    table = things[0].ref.table
    parsed.meanings.choose(table)
    distinct = bool(parsed.sentence.marks_of("distinct"))
    more = _also_listed(parsed, table)
    compared = [each.ref for each in conditions if each.op not in {"=", "is null"} and each.ref.table == table and not distinct]
    select = tuple(dict.fromkeys([*(group.ref for group in things), *more, *compared]))
    if having:
        groups = tuple(Group(ref) for ref in select)
        return Reading(table, groups=groups, measures=(having[0][0],), conditions=conditions, having=having, ranking=ranking)
    if distinct and ranking is None:
        return Reading(table, groups=tuple(Group(ref) for ref in select), conditions=conditions)
    return Reading(table, select=select, conditions=conditions, ranking=ranking)


def _also_listed(parsed: Parsed, table: str) -> list[Ref]:
    """Columns that are named beside the subject and that nobody else took."""
    found = []
    for link in parsed.sentence.free_links():
        refs = [each.ref for each in link.candidates if not each.is_table and each.value is None]
        if link.is_value or not refs:
            continue
        own = [ref for ref in refs if ref.table == table]
        ref = own[0] if own else parsed.meanings.nearest(refs)
        if ref is not None and not (link.tables and not own) and (own or ref.table in parsed.meanings.chosen):
            found.append(ref)
            parsed.sentence.take(link)
    return found
