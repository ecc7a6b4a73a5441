"""Keyword search: the full-text index asked safely, and what it matched.

In: an open library and a person's query. Out: passage ids with BM25 scores, best first, and the matched stretches of a text.
How a query is read: search/terms.py. Weights and their figures: docs/quality.md.
"""

from __future__ import annotations

import json
import math
import sqlite3
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from search.errors import QueryError
from search.terms import TOKENIZER, ParsedQuery, Term, Unit, derived_terms, parse

WEIGHTS = (2.0, 2.0, 1.0, 2.0)  # title, headings, text, derived terms
_RANK = f"bm25(_passages_fts, {', '.join(map(str, WEIGHTS))})"
_PROBE_RANK_MARGIN = 16
_LEAST_IDF = 1e-6  # FTS5's own, for a word that more than half of the passages hold


def read(connection: sqlite3.Connection, query: str, *, allowed_sql: tuple[str, Sequence[object]] | None = None) -> ParsedQuery:
    """A query as this library can answer it.

    A quoted phrase must occur. Where it stands beside other words and occurs nowhere, it is a quotation rather than a condition:
    then its words are looked for like the others, and the notes say so.
    """
    parsed = parse(query)
    if parsed.phrases and parsed.words and not _best(connection, parsed.requirement, allowed_sql, 1):
        loose = parse(query, phrases_required=False)
        return replace(loose, notes=(*loose.notes, "no passage holds the quoted phrase: its words were looked for instead"))
    return parsed


def search(
    connection: sqlite3.Connection,
    query: str | ParsedQuery,
    *,
    allowed_sql: tuple[str, Sequence[object]] | None = None,
    limit: int,
) -> list[tuple[int, float]]:
    """The best passages for a query: (passage id, BM25 score), higher is better, equal scores by path, then ordinal.

    allowed_sql: a SELECT of document ids with its bound parameters, tested before the top `limit` are taken. A query without
    anything to look for gives []; why, is in `terms.parse(query).notes`. Raises QueryError for a limit below 1.
    """
    if limit < 1:
        raise QueryError(f"limit: got {limit}, want 1 or more")
    parsed = read(connection, query, allowed_sql=allowed_sql) if isinstance(query, str) else query
    match = _with_inflections(parsed).match
    if not match:
        return []
    wanted = limit + _PROBE_RANK_MARGIN
    while True:
        found = _best(connection, match, allowed_sql, wanted)
        # Equal scores may go on beyond what was fetched; their order is decided by path, so all of them are needed.
        if len(found) < wanted or found[limit - 1][1] > found[-1][1]:
            return in_order(connection, found, limit=limit)
        wanted *= 4


def count(connection: sqlite3.Connection, parsed: ParsedQuery, *, allowed_sql: tuple[str, Sequence[object]] | None = None) -> int:
    """How many passages match a query."""
    match = _with_inflections(parsed).match
    if not match:
        return 0
    select, bound = ("", ()) if allowed_sql is None else allowed_sql
    only = f" CROSS JOIN passages p ON p.id = _passages_fts.rowid AND p.document_id IN ({select})" if select else ""
    sql = f"SELECT count(*) FROM _passages_fts{only} WHERE _passages_fts MATCH ?"
    return int(connection.execute(sql, (*bound, match)).fetchone()[0])


def coverage(connection: sqlite3.Connection, parsed: ParsedQuery, passages: Sequence[int]) -> dict[int, float]:
    """The share of a query that each of some passages holds, 0 to 1: its words weighed by how rare they are (BM25's idf).

    Unlike BM25 it does not grow with the number of times that a word occurs. Passages that hold none are left out.
    """
    said = Counter([*parsed.words, *(unit for phrase in parsed.phrases for unit in phrase)])
    population = int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])
    held: defaultdict[int, list[float]] = defaultdict(list)
    whole: list[float] = []
    asked_for = json.dumps(list(passages))
    for unit, times in said.items():
        # The + keeps FTS5 from asking the index once for each passage, which takes ten times as long.
        found, among = connection.execute(
            "SELECT count(*), json_group_array(rowid) FILTER (WHERE +rowid IN (SELECT value FROM json_each(?))) "
            "FROM _passages_fts WHERE _passages_fts MATCH ?",
            (asked_for, unit.match),
        ).fetchone()
        weight = times * max(math.log((population - found + 0.5) / (found + 0.5)), _LEAST_IDF)
        whole.append(weight)
        for passage in json.loads(among):
            held[passage].append(weight)
    return {passage: math.fsum(weights) / math.fsum(whole) for passage, weights in held.items()}


def _best(
    connection: sqlite3.Connection, match: str, allowed_sql: tuple[str, Sequence[object]] | None, limit: int
) -> list[tuple[int, float]]:
    if allowed_sql is None:
        sql = f"SELECT rowid, {_RANK} AS rank_ FROM _passages_fts WHERE _passages_fts MATCH ? ORDER BY rank_ LIMIT ?"
        parameters: list[object] = [match, limit]
    else:
        select, bound = allowed_sql
        # CROSS JOIN keeps the index outside: the other way round FTS5 would run the whole query once per allowed passage.
        sql = (
            f"SELECT p.id, {_RANK} AS rank_ FROM _passages_fts CROSS JOIN passages p ON p.id = _passages_fts.rowid "
            f"WHERE _passages_fts MATCH ? AND p.document_id IN ({select}) ORDER BY rank_ LIMIT ?"
        )
        parameters = [match, *bound, limit]
    return [(int(row[0]), -float(row[1])) for row in connection.execute(sql, parameters)]


def in_order(connection: sqlite3.Connection, scored: Iterable[tuple[int, float]], *, limit: int) -> list[tuple[int, float]]:
    """The best `limit` of (passage id, score): by score, equal ones by the document's path, then the passage's ordinal."""
    ranked = sorted(scored, key=lambda pair: -pair[1])
    if len(ranked) > limit:
        ranked = [pair for pair in ranked if pair[1] >= ranked[limit - 1][1]]
    places = _places(connection, [identifier for identifier, _ in ranked])
    ranked.sort(key=lambda pair: (-pair[1], places.get(pair[0], ("", "", 0)), pair[0]))
    return ranked[:limit]


def _places(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, tuple[str, str, int]]:
    places: dict[int, tuple[str, str, int]] = {}
    for start in range(0, len(ids), 500):
        part = ids[start : start + 500]
        rows = connection.execute(
            "SELECT p.id, d.path, d.root, p.ordinal FROM passages p JOIN documents d ON d.id = p.document_id "
            f"WHERE p.id IN ({', '.join('?' * len(part))})",
            part,
        )
        places.update((int(row[0]), (str(row[1]), str(row[2]), int(row[3]))) for row in rows)
    return places


def condition_sql(query: str | ParsedQuery) -> tuple[str, list[object]] | None:
    """What every hit must satisfy whatever finds it: quoted phrases and exclusions, as a condition on `passages.id`.

    For searches that rank by meaning: they cannot see what a person left out or put in quotation marks. None: no such condition.
    """
    parsed = parse(query) if isinstance(query, str) else query
    conditions: list[str] = []
    bound: list[object] = []
    for operator, match in (("IN", parsed.requirement), ("NOT IN", parsed.exclusion)):
        if match:
            conditions.append(f"passages.id {operator} (SELECT rowid FROM _passages_fts WHERE _passages_fts MATCH ?)")
            bound.append(match)
    return (" AND ".join(conditions), bound) if conditions else None


def matched_words(query: str | ParsedQuery, text: str) -> tuple[str, ...]:
    """The stretches of `text` that the query matched, as they stand in it, each once, in order of appearance."""
    return tuple(dict.fromkeys(text[start:end] for start, end in spans(query, text)))


def spans(query: str | ParsedQuery, text: str) -> list[tuple[int, int]]:
    """Where the query's words, stems, prefixes and phrases stand in `text`: (start, end) characters, ascending, disjoint.

    Any of them counts, also when the text as a whole is no hit. An index in memory with the library's own tokenizer answers, so
    what is shown as matched is what was matched.
    """
    parsed = _with_inflections(parse(query) if isinstance(query, str) else query)
    match = parsed.any_match
    if not match or not text:
        return []
    derived = derived_terms(text)
    starts: list[int] = []
    length = 0
    for term in derived:
        starts.append(length)
        length += len(term.text) + 1
    plain, terms = _highlighted(match, text, " ".join(term.text for term in derived))
    for start, end in terms:
        for position in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
            plain.append(_stretch(derived[position], parsed))
    return _merged(plain)


def _stretch(term: Term, parsed: ParsedQuery) -> tuple[int, int]:
    """Where a derived term that matched stands: an n-gram that was found by its beginning, only as far as that goes."""
    end = term.end
    if not term.name and len(term.text) <= 3:
        units = [*parsed.words, *(unit for phrase in parsed.phrases for unit in phrase)]
        begun = [len(unit.tokens) for unit in units if unit.prefix and term.text.startswith(unit.tokens)]
        if begun and not any(term.text in unit.tokens.split() for unit in units):
            end = min(end, term.start + max(begun))
    return term.start, end


# Stems are shorter than words: "operati*" is no beginning of "oper", under which "operation" stands in the index.
_ENDINGS = (
    *("ation", "ations", "ization", "ing", "ion", "ions", "ive", "ivity", "able", "ability", "ible", "ibility", "ness"),
    *("ment", "ity", "al", "ality", "ally", "ed", "er", "ize", "izing", "ism", "ist", "ous", "ful", "ly"),
)
_SHORTEST_STEM = 4


def _with_inflections(parsed: ParsedQuery) -> ParsedQuery:
    """The query with words added that begin with one of its prefixes and whose stem does not, one for each stem."""
    prefixes = [unit.tokens for unit in parsed.words if unit.prefix and unit.tokens.isascii() and unit.tokens.isalpha()]
    added: dict[str, Unit] = {}
    for prefix in dict.fromkeys(prefixes):
        completions = [prefix + ending[cut:] for ending in _ENDINGS for cut in range(len(ending)) if prefix.endswith(ending[:cut])]
        start, *stems = _stems([prefix, *completions])
        for word, stem in zip(completions, stems, strict=True):
            if len(stem) >= _SHORTEST_STEM and not stem.startswith(start):
                added.setdefault(stem, Unit(word))
    return replace(parsed, words=(*parsed.words, *added.values())) if added else parsed


def _stems(words: Sequence[str]) -> list[str]:
    """The words as the index holds them."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f'CREATE VIRTUAL TABLE _words USING fts5(word, tokenize="{TOKENIZER}")')
        connection.execute("CREATE VIRTUAL TABLE _stems USING fts5vocab(_words, 'instance')")
        connection.execute("INSERT INTO _words VALUES (?)", (" ".join(words),))
        return [str(row[0]) for row in connection.execute("SELECT term FROM _stems ORDER BY offset")]
    finally:
        connection.close()


_OPEN, _CLOSE = "\x01", "\x02"
_MARKERS = dict.fromkeys(map(ord, "\x00\x01\x02"), " ") | dict.fromkeys(range(0xD800, 0xE000), " ")


def _highlighted(match: str, text: str, terms: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f'CREATE VIRTUAL TABLE _match USING fts5(text, terms, tokenize="{TOKENIZER}")')
        connection.execute("INSERT INTO _match VALUES (?, ?)", (text.translate(_MARKERS), terms))
        row = connection.execute(
            "SELECT highlight(_match, 0, ?, ?), highlight(_match, 1, ?, ?) FROM _match WHERE _match MATCH ?",
            (_OPEN, _CLOSE, _OPEN, _CLOSE, match),
        ).fetchone()
    finally:
        connection.close()
    return (_marked(row[0]), _marked(row[1])) if row else ([], [])


def _marked(text: str) -> list[tuple[int, int]]:
    """The places of the marked stretches in the text without its marks."""
    places: list[tuple[int, int]] = []
    position = start = 0
    for piece in text.replace(_CLOSE, _OPEN).split(_OPEN):
        start, position = position, position + len(piece)
        places.append((start, position))
    return places[1::2]


def _merged(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
