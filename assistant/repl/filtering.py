"""The filters that stay: read from what is typed behind /filter, and written as they are shown in the prompt.

They are the options of the command line (`--category runbooks`), with a short form: `category:runbooks during:"last month"`.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from assistant import options
from assistant.errors import UsageError

if TYPE_CHECKING:
    from search import Condition, Filters

# The name that is typed, and the field of Filters that it sets.
NAMES: Mapping[str, str] = {
    "category": "category",
    "tag": "tags",
    "source": "source",
    "type": "format",
    "author": "author",
    "language": "language",
    "title": "title",
    "after": "after",
    "before": "before",
    "during": "during",
    "date-field": "date_field",
    "where": "metadata",
}
_SHORT = re.compile(r"([a-z][a-z-]*):(.+)", re.DOTALL)
_PLAIN = re.compile(r"[^\s\"'\\]+")
_EXAMPLE = '/filter category:runbooks during:"last month"'


def read(typed: str, before: Filters) -> Filters:
    """The filters after what is typed: each that is named replaces its earlier value, the others stay.

    Raises UsageError for what is not understood and FilterError for a date or a condition that is not.
    """
    words = _words(typed)
    given = _parsed(words)
    named = {NAMES[name]: getattr(given, NAMES[name]) for name in _named(words)}
    return replace(before, **named)


def without(names: Sequence[str], before: Filters) -> Filters:
    """The filters without those that are named, without all when none is. Raises UsageError for a name that no filter has."""
    from search import Filters

    empty = Filters()
    return replace(before, **{field: getattr(empty, field) for field in map(NAMES.get, map(_known, names or NAMES)) if field})


def written(filters: Filters) -> str:
    """Filters in the short form, "" without any: what /filter would be given for them."""
    parts = []
    for name, field in NAMES.items():
        value = getattr(filters, field)
        if not value or (field, value) == ("date_field", "date"):
            continue
        values = value if isinstance(value, tuple) else (value,)
        parts += [f"{name}:{quoted(one if isinstance(one, str) else condition(one))}" for one in values]
    return " ".join(parts)


def quoted(value: str) -> str:
    """A value as it is typed: in quotes where it holds a space or a quote."""
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def condition(test: Condition) -> str:
    """A condition on metadata as it is typed."""
    if test.operator == "in":
        return f"{test.key} in {', '.join(map(str, test.value)) if isinstance(test.value, tuple) else test.value}"
    value = str(test.value).lower() if isinstance(test.value, bool) else test.value
    return f"{test.key}{test.operator}{value}"


def _words(typed: str) -> list[str]:
    """What is typed as words of a command line, short forms made long."""
    try:
        words = shlex.split(typed)
    except ValueError as error:
        raise UsageError(f"filter: {str(error).lower()}: {typed!r}", _EXAMPLE) from None
    made: list[str] = []
    for word in words:
        short = _SHORT.fullmatch(word)
        if short and not (made and made[-1].startswith("--") and "=" not in made[-1]):
            made.append(f"--{_known(short[1])}={short[2]}")  # one word: the value may begin with "--" itself
        else:
            made.append(word)
    return made


def _named(words: Sequence[str]) -> list[str]:
    return [word[2:].partition("=")[0] for word in words if word.startswith("--") and word[2:].partition("=")[0] in NAMES]


def _known(name: str) -> str:
    name = name.lstrip("-")
    if name in NAMES:
        return name
    near = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"filter: no filter {name!r}{meant}; the filters are {', '.join(NAMES)}", _EXAMPLE)


def _parsed(words: Sequence[str]) -> Filters:
    """The words through the same options as on the command line. Raises UsageError."""
    from search import FilterError

    given: dict[str, Any] = {}

    @click.command(add_help_option=False)
    @options.filter_options
    def taking(**values: Any) -> None:
        given.update(values)

    try:
        taking.main(list(words), prog_name="/filter", standalone_mode=False)
    except click.ClickException as error:
        raise UsageError(f"filter: {error.format_message()}", _EXAMPLE) from None
    if given.get("today") is not None:
        raise FilterError("today: the day is chosen when the program is started", "archivist chat --today 2026-10-15")
    return options.filters(given)
