"""A Reading in words: "average of latency.response_ms over the top 5 endpoints by queries", so that a person can object.

In: a Reading, a Schema. Out: one line. Numbers and times stand as the question has them; the exact ones stand in the SQL.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from assistant.backends.offline.names import is_plural
from assistant.backends.offline.tables.models import Condition, Group, Measure, Ranking, Reading
from assistant.backends.offline.tables.phrases import TablePhrases, table_phrases
from assistant.backends.offline.tables.row_names import is_code, naming
from assistant.backends.offline.tables.schema import Join, Ref, Schema
from assistant.backends.offline.tables.vocabulary import plural, stem

_ENDS = {"en": ("highest", "lowest"), "de": ("größte", "kleinste")}
_MOST_NAMED = 5
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_WITHIN = re.compile(r"(?:the )?(?:last|past|previous|this|current)\b|(?:letzt|vorig|vergangen|dies)e\w*\b", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def said(reading: Reading, schema: Schema) -> str:
    """What was understood."""
    words = table_phrases(reading.language)
    text = _asked(reading, schema, words)
    if reading.over is not None:
        text += words.over.format(things=things_words(reading.over, schema, words))
    text += _tested(reading.conditions, words)
    joins = _joins(reading, schema)
    if joins:
        text += f" ({'; '.join(_joined(join, words) for join in joins)})"
    return text


def headline_words(reading: Reading, schema: Schema, words: TablePhrases) -> str:
    """What a single number is; "" where the Reading has no measure."""
    measures = [measure for measure in reading.measures if measure.function]
    if len(measures) != 1 or reading.groups or reading.spread or reading.ratio:
        return ""
    text = measure_words(measures[0], words, short=True, whole=False)
    if reading.over is not None:
        text += words.over.format(things=things_words(reading.over, schema, words))
    return text + _tested(reading.conditions, words)


def things_words(reading: Reading, schema: Schema, words: TablePhrases) -> str:
    """What a ranking finds: "the top 5 endpoints by queries", under its conditions."""
    return _ranked_things(reading, schema, words) + _tested(reading.conditions, words)


def counted_noun(measure: Measure, schema: Schema) -> str:
    """What a measure counts, where its name is a plural without a unit: docks, queries; "" otherwise."""
    if measure.ref is None:
        return measure.table if measure.function == "count" and is_plural(measure.table) else ""
    plain = measure.function == "" and not schema.unit(measure.ref) and is_plural(measure.ref.column)
    return measure.ref.column if plain else ""


def measure_words(measure: Measure, words: TablePhrases, *, short: bool = False, whole: bool = True) -> str:
    """A measure in words. whole: with the name of its table."""
    forms = words.short if short else words.functions
    column = (_name(measure.ref) if whole else measure.ref.column) if measure.ref else ""
    return forms[measure.function].format(column=column, table=measure.table)


def _asked(reading: Reading, schema: Schema, words: TablePhrases) -> str:
    whole = reading.over is not None or len(reading.tables) > 1
    measures = [measure for measure in reading.measures if measure.function]
    groups = words.each.format(groups=words.both.join(_group(group, words) for group in reading.groups)) if reading.groups else ""
    if reading.spread:
        return words.spread.format(measure=measure_words(measures[0], words)) + groups
    ranking = reading.ranking
    if ranking is not None and ranking.limit and (reading.groups or reading.select):
        text = _ranked_things(reading, schema, words)
    elif measures:
        text = words.both.join(measure_words(measure, words, whole=whole) for measure in measures) + groups
        text += _ordered(ranking, words, reading.language)
    else:
        columns = ", ".join(_name(ref) if whole else ref.column for ref in reading.select)
        text = words.listed.format(columns=columns, table=reading.table) + _ordered(ranking, words, reading.language)
    for table in reading.without:
        text += words.without.format(table=table)
    for table in reading.also:
        text += words.also.format(table=table)
    return text


def _ordered(ranking: Ranking | None, words: TablePhrases, language: str) -> str:
    if ranking is None:
        return ""
    high, low = _ENDS.get(language, _ENDS["en"])
    return words.ordered.format(measure=_by(ranking, words), end=high if ranking.high else low)


def _by(ranking: Ranking, words: TablePhrases) -> str:
    return measure_words(ranking.by, words, whole=False) if isinstance(ranking.by, Measure) else ranking.by.name


def _ranked_things(reading: Reading, schema: Schema, words: TablePhrases) -> str:
    """What is ranked first: "the top 3 endpoints by queries", "the depot with the most docks"."""
    ranking = reading.ranking
    assert ranking is not None
    refs = [group.ref for group in reading.groups] or list(reading.select)
    named = [ref for ref in refs if not _is_by(ref, ranking)] or refs
    thing = _noun(named[0], schema, many=ranking.limit > 1, language=reading.language)
    by, high = ranking.by, ranking.high
    if ranking.limit > 1 or not isinstance(by, Measure):
        limit = f"{ranking.limit} " if ranking.limit > 1 else ""
        return words.things.format(end=words.first if high else words.only, limit=limit, things=thing, measure=_by(ranking, words))
    counted = by.function == "count" or bool(counted_noun(by, schema))
    if counted:
        measure = by.ref.column if by.ref else by.table
        return words.best.format(thing=thing, end=words.most if high else words.fewest, measure=measure)
    measure = measure_words(by, words, short=True, whole=False)
    return words.best.format(thing=thing, end=words.highest if high else words.lowest, measure=measure)


def _noun(ref: Ref, schema: Schema, *, many: bool, language: str) -> str:
    """What the rows that a column identifies are called: "endpoints", "depot" of depot_code. Only English plurals are made."""
    column = ref.column
    if is_code(schema, ref) and naming(schema, ref) is not None:
        column = re.sub(r"[_\s-][^\W_]+$", "", column)
    if schema.is_when(ref) and schema.is_unique(ref):  # a row that has no better name than its day
        called = schema.tables[ref.table].label.lower() or ref.table
        return called[:-1] if not many and language == "en" and is_plural(called) else called
    if not many or language != "en":
        return column
    if stem(ref.table) == stem(column):  # endpoint of endpoints
        return ref.table
    return plural(column)


def _is_by(ref: Ref, ranking: Ranking) -> bool:
    return isinstance(ranking.by, Measure) and ranking.by.ref == ref


def _group(group: Group, words: TablePhrases) -> str:
    return words.unit_of.format(unit=group.unit, column=group.ref.column) if group.unit else group.ref.column


def _tested(conditions: tuple[Condition, ...], words: TablePhrases) -> str:
    tests = list(dict.fromkeys(_test(condition, words) + _days(condition, conditions) for condition in conditions))
    return words.where.format(tests=words.both.join(tests)) if tests else ""


def _days(condition: Condition, conditions: tuple[Condition, ...]) -> str:
    """The days that "last month" or "in September" came to; "" where the words name the year."""
    if not condition.said or _YEAR.search(condition.said):
        return ""
    same = [each for each in conditions if each.said == condition.said and each.ref == condition.ref]
    first = next((each.value for each in same if each.op == ">=" and _is_day(each.value)), None)
    end = next((each.value for each in same if each.op == "<" and _is_day(each.value)), None)
    last = (date.fromisoformat(end) - timedelta(days=1)).isoformat() if isinstance(end, str) else ""
    if not first and not last:
        return ""
    return f" ({first or '…'})" if first == last else f" ({first or '…'} – {last or '…'})"


def _is_day(value: object) -> bool:
    return isinstance(value, str) and bool(_DAY.fullmatch(value))


def _test(condition: Condition, words: TablePhrases) -> str:
    column = condition.ref.column
    if condition.said:
        return f"{column} {'in ' if _WITHIN.match(condition.said) else ''}{condition.said}"
    if condition.op == "is null":
        return words.missing.format(column=column)
    if condition.op == "is not null":
        return words.filled.format(column=column)
    if isinstance(condition.value, tuple):
        shown = ", ".join(map(str, condition.value[:_MOST_NAMED])) + (", …" if len(condition.value) > _MOST_NAMED else "")
        return f"{column} {condition.op} {shown}"
    return f"{column} {condition.op} {condition.value}"


def _joins(reading: Reading, schema: Schema) -> list[Join]:
    joins = schema.path(reading.tables) or []
    if reading.over is not None and reading.link is not None:
        joins = [*(schema.path(reading.over.tables) or []), *joins]
        if reading.link[0].table != reading.link[1].table:
            joins.append(Join(*reading.link, cost=0.0))
    return joins


def _joined(join: Join, words: TablePhrases) -> str:
    if join.left.column == join.right.column:
        return words.shared.format(left=join.left.table, right=join.right.table, column=join.left.column)
    return words.joined.format(left=_name(join.left), right=_name(join.right))


def _name(ref: Ref) -> str:
    return f"{ref.table}.{ref.column}"
