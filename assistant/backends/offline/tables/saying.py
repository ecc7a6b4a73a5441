"""A Reading in words: "average of latency.response_ms over the top 5 endpoints by queries", so that a person can object.

In: a Reading, a Schema. Out: one line. Numbers and times stand as the question has them; the exact ones stand in the SQL.
"""

from __future__ import annotations

from assistant.backends.offline.tables.models import Condition, Group, Measure, Ranking, Reading
from assistant.backends.offline.tables.phrases import TablePhrases, table_phrases
from assistant.backends.offline.tables.schema import Join, Ref, Schema
from assistant.backends.offline.tables.vocabulary import stem

_ENDS = {"en": ("highest", "lowest"), "de": ("größte", "kleinste")}
_MOST_NAMED = 5


def said(reading: Reading, schema: Schema) -> str:
    """What was understood."""
    words = table_phrases(reading.language)
    text = _asked(reading, words)
    if reading.over is not None:
        text += words.over.format(things=_ranked_things(reading.over, words, inner=True))
    text += _tested(reading.conditions, words)
    joins = _joins(reading, schema)
    if joins:
        text += f" ({'; '.join(_joined(join, words) for join in joins)})"
    return text


def headline_words(reading: Reading, words: TablePhrases) -> str:
    """What a single number is; "" where the Reading has no measure."""
    measures = [measure for measure in reading.measures if measure.function]
    if len(measures) != 1 or reading.groups or reading.spread or reading.ratio:
        return ""
    text = measure_words(measures[0], words, short=True, whole=False)
    if reading.over is not None:
        text += words.over.format(things=things_words(reading.over, words))
    return text + _tested(reading.conditions, words)


def things_words(reading: Reading, words: TablePhrases) -> str:
    """What a ranking finds: "the top 5 endpoints by queries"."""
    return _ranked_things(reading, words, inner=True)


def measure_words(measure: Measure, words: TablePhrases, *, short: bool = False, whole: bool = True) -> str:
    """A measure in words. whole: with the name of its table."""
    forms = words.short if short else words.functions
    column = (_name(measure.ref) if whole else measure.ref.column) if measure.ref else ""
    return forms[measure.function].format(column=column, table=measure.table)


def _asked(reading: Reading, words: TablePhrases) -> str:
    whole = reading.over is not None or len(reading.tables) > 1
    measures = [measure for measure in reading.measures if measure.function]
    groups = words.each.format(groups=words.both.join(_group(group, words) for group in reading.groups)) if reading.groups else ""
    if reading.spread:
        return words.spread.format(measure=measure_words(measures[0], words)) + groups
    ranking = reading.ranking
    if ranking is not None and ranking.limit and (reading.groups or reading.select):
        text = _ranked_things(reading, words)
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


def _ranked_things(reading: Reading, words: TablePhrases, *, inner: bool = False) -> str:
    ranking = reading.ranking
    assert ranking is not None
    refs = [group.ref for group in reading.groups] or list(reading.select)
    named = [ref for ref in refs if not _is_by(ref, ranking)] or refs
    own = stem(named[0].table) == stem(named[0].column)  # endpoint of endpoints
    things = named[0].table if own and ranking.limit > 1 else ", ".join(ref.column for ref in named[:2])
    end = words.first if ranking.high else words.only
    limit = f"{ranking.limit} " if ranking.limit > 1 else ""
    text = words.things.format(end=end, limit=limit, things=things, measure=_by(ranking, words))
    return text + (_tested(reading.conditions, words) if inner else "")


def _is_by(ref: Ref, ranking: Ranking) -> bool:
    return isinstance(ranking.by, Measure) and ranking.by.ref == ref


def _group(group: Group, words: TablePhrases) -> str:
    return words.unit_of.format(unit=group.unit, column=group.ref.column) if group.unit else group.ref.column


def _tested(conditions: tuple[Condition, ...], words: TablePhrases) -> str:
    tests = list(dict.fromkeys(_test(condition, words) for condition in conditions))
    return words.where.format(tests=words.both.join(tests)) if tests else ""


def _test(condition: Condition, words: TablePhrases) -> str:
    column = condition.ref.column
    if condition.said:
        return f"{column} {condition.said}"
    if condition.op == "is null":
        return words.missing.format(column=column)
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
