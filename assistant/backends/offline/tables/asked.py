"""What a question asks of tables, as far as its words alone say it: measures, rankings, groups, the noun that is asked for.

It holds links, not columns yet: which of a link's meanings is meant depends on the other links. `asking` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assistant.backends.offline.tables.linking import Link
from assistant.backends.offline.tables.models import Function


@dataclass(frozen=True, slots=True)
class Spec:
    """A measure as it is said: functions, whether things are counted, what it is of, and where it begins."""

    at: int
    functions: tuple[Function, ...] = ()
    counted: bool = False
    distinct: bool = False
    link: Link | None = None
    quality: tuple[str, ...] = ()


@dataclass(slots=True)
class Ranked:
    """An order as it is said. by: None where only how many are wanted is said. entity: what is ranked. common: by how often."""

    at: int
    high: bool = True
    limit: int = 0
    by: Spec | None = None
    entity: Link | None = None
    common: bool = False
    plain: bool = False  # "ordered by …": the rows stay what they are
    said: str = ""


@dataclass
class Asked:
    """What is asked.

    subject: the noun behind "which" or "list". groups: links, or units of time, that rows are put together by. together: one number
    for all is wanted. quotient: of the first two measures. direction: of an order that is said, True downwards.
    """

    specs: list[Spec] = field(default_factory=list)
    ranked: Ranked | None = None
    groups: list[tuple[Link | None, str]] = field(default_factory=list)
    subject: Link | None = None
    singular: bool = False
    together: bool = False
    quotient: bool = False
    direction: bool | None = None
