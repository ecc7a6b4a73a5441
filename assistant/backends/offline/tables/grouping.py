"""The columns that stand for a thing: "per service", "which author", "each month".

In: links, Meanings, the table that the question starts from. Out: Groups.
"""

from __future__ import annotations

from assistant.backends.offline.tables.linking import Link
from assistant.backends.offline.tables.meanings import Meanings
from assistant.backends.offline.tables.models import Group
from assistant.backends.offline.tables.row_names import naming, title
from assistant.backends.offline.tables.schema import Ref
from assistant.backends.offline.tables.sentence import Sentence

_SURE = 0.85  # share of a link's best score from which a meaning of it counts


class Grouping:
    """Finds the columns of things."""

    def __init__(self, sentence: Sentence, meanings: Meanings) -> None:
        self.sentence, self.meanings, self.schema = sentence, meanings, meanings.schema

    def groups(self, asked: list[tuple[Link | None, str]], base: str) -> tuple[Group, ...]:
        """What rows are put together by. asked: links, or units of time without one."""
        found: list[Group] = []
        for link, unit in asked:
            if link is not None:
                found += self.thing(link, base)
                continue
            group = self._time(base, unit)
            found += [group] if group else []
        return tuple(dict.fromkeys(found))

    def _time(self, base: str, unit: str) -> Group | None:
        """A unit of time, of the date that the question names or the table has; a column of that name comes before both."""
        named = [ref for link in self.sentence.links for ref in link.columns() if not link.is_value]
        for table in dict.fromkeys([*([base] if base else []), *self.meanings.in_play()]):
            refs = self.schema.columns(table)
            dates = [ref for ref in refs if self.schema.is_date(ref)]
            whole = [ref for ref in refs if self.schema.is_year(ref)] if unit == "year" else []
            # "warranty_months" holds how long, not when.
            whole = [ref for ref in refs if unit in ref.column.lower() and ref not in dates and not self.schema.unit(ref)] + whole
            best = next(iter((*(ref for ref in (*whole, *dates) if ref in named), *whole, *dates)), None)
            if best is not None:
                self.sentence.take(*(link for link in self.sentence.free_links() if best in link.columns()))
                return Group(best, "" if best in whole else unit)
        return None

    def thing(self, link: Link, base: str) -> list[Group]:
        """The columns that stand for a thing beside a table, and what a person calls it where they hold codes."""
        found = self._thing(link, base)
        names = [Group(name) for group in found if (name := self._called(group.ref)) is not None]
        return list(dict.fromkeys([*found, *names]))

    def _called(self, ref: Ref) -> Ref | None:
        """What a code stands for, or whom a row is of that only its day tells apart."""
        day = self.schema.is_when(ref) and self.schema.is_unique(ref)
        return title(self.schema, ref.table) if day else naming(self.schema, ref)

    def _thing(self, link: Link, base: str) -> list[Group]:
        """The columns that stand for a thing beside a table: its own column of that name, else the name of the thing's rows."""
        tables = self.meanings.tables(link)
        own = [each for each in link.candidates if each.ref.table == base and not each.is_table and each.value is None]
        sure = [each.ref for each in own if each.score >= _SURE * link.score]
        if base in tables:
            return [Group(ref) for ref in self.schema.label(base)]
        if sure and not (tables and self.schema.is_id(sure[0])):
            return [Group(sure[0])]
        nearest = self.meanings.nearest([self.schema.label(each)[0] for each in tables])
        if nearest is not None:
            same = self._same_in(base, nearest)
            if same is not None:
                return [Group(same)]
            self.meanings.choose(nearest.table)
            return self._named_rows(nearest.table)
        ref = own[0].ref if own else self.meanings.column(link)
        if ref is None:
            return []
        self.meanings.choose(ref.table)
        return [Group(ref)]

    def _same_in(self, base: str, label: Ref) -> Ref | None:
        """The column of a table that holds the same names as another's label: then no join is needed."""
        path = self.schema.path([base, label.table]) if base else None
        return path[0].left if path and len(path) == 1 and path[0].right == label else None

    def _named_rows(self, table: str) -> list[Group]:
        """The name of a table's rows, with their key where names may repeat."""
        label, key = self.schema.label(table), self.schema.key(table)
        unique = len(label) == 1 and self.schema.is_unique(label[0])
        return [Group(ref) for ref in ((key, *label) if key and not unique and key not in label else label)]

    def is_row(self, groups: tuple[Group, ...], table: str) -> bool:
        """Whether one of the groups is a single row of a table."""
        return any(group.ref.table == table and not group.unit and self.schema.is_unique(group.ref) for group in groups)
