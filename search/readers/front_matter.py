"""The block of properties on top of a Markdown file: YAML between `---` lines or TOML between `+++` lines.

Untrusted like all of the document: its size and depth are bounded, YAML anchors and aliases are refused (a few lines of them
can unfold to gigabytes), and no value becomes anything but text, number, boolean, list or mapping. Dates stay as written.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from search import authors
from search.readers.cleaning import clean, one_line

if TYPE_CHECKING:
    import yaml

MAX_CHARACTERS = 64_000
MAX_DEPTH = 20
_YAML = re.compile(r"---[ \t]*\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)(?:^|\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_PROPERTY = re.compile(r"^[\w\"'][\w .\"'-]*:(?:\s|$)", re.MULTILINE)
_SENTENCES = re.compile(r"[\"']?(?:description|summary|abstract|excerpt|subtitle)[\"']?[ \t]*[:=]", re.IGNORECASE)
_CREATED = ("created", "created_at", "date_created")
_MODIFIED = ("modified", "updated", "lastmod", "last_modified", "last_updated", "updated_at", "modified_at")


class FrontMatterError(ValueError):
    """Front matter that cannot be used; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the document says about itself; fields as in `search.models.Extract`, dates as written."""

    title: str | None = None
    author: str | None = None
    language: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    date: str | None = None
    created: str | None = None
    modified: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def split(text: str) -> tuple[str, str, str]:
    """(kind, source, body): kind "yaml", "toml" or "" where there is none; text = source lines + body.

    A rule (`---`) on the first line is front matter only when a closing line follows and what stands between has properties.
    """
    for kind, pattern in (("yaml", _YAML), ("toml", _TOML)):
        match = pattern.match(text[: MAX_CHARACTERS + 2000])
        if match and (kind == "toml" or not match[1].strip() or _PROPERTY.search(match[1])):
            return kind, match[1], text[match.end() :]
    return "", "", text


def prose(lines: Sequence[str]) -> set[int]:
    """Which of the front matter's lines hold sentences about the document (a description or summary): worth searching too."""
    kept: set[int] = set()
    inside = False
    for number, line in enumerate(lines):
        if line.strip() and not line[0].isspace():
            inside = _SENTENCES.match(line) is not None
        if inside and line.strip():
            kept.add(number)
    return kept


def parse(kind: str, source: str) -> FrontMatter:
    """Read the properties. Raises FrontMatterError when they are too large, refused or not valid YAML or TOML."""
    if len(source) > MAX_CHARACTERS:
        raise FrontMatterError(f"larger than {MAX_CHARACTERS} characters")
    try:
        values = _plain(tomllib.loads(source) if kind == "toml" else _yaml(source))
    except FrontMatterError:
        raise
    except RecursionError as error:
        raise FrontMatterError("nested too deeply") from error
    except Exception as error:  # both parsers let the errors of int(), datetime() and their own tables through
        raise FrontMatterError(one_line(str(error), 200) or type(error).__name__) from error
    if values is None:
        return FrontMatter()
    if not isinstance(values, dict):
        raise FrontMatterError("not a mapping of names to values")
    return _arranged(values)


def _yaml(source: str) -> Any:
    import yaml

    loader = _loader()
    depth = 0
    try:
        for event in yaml.parse(source, Loader=loader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise FrontMatterError("anchors and aliases are not read")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise FrontMatterError(f"nested deeper than {MAX_DEPTH} levels")
        return yaml.load(source, Loader=loader)  # noqa: S506 (a SafeLoader with fewer types)
    except yaml.MarkedYAMLError as error:
        where = f"line {error.problem_mark.line + 2}: " if error.problem_mark else ""
        raise FrontMatterError(where + one_line(error.problem or "not valid YAML", 200)) from error


@cache
def _loader() -> type[yaml.SafeLoader]:
    """YAML as people mean it: dates, times and codes with leading zeros stay text, `no` and `on` are words (YAML 1.2)."""
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own attribute)

    for tag, pattern, first in (
        ("null", r"(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
        ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
        ("int", r"[-+]?(?:0|[1-9][0-9]{0,30})$", list("-+0123456789")),
        ("float", r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]{1,3})?$", list("-+0123456789")),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)
    return Loader


def _plain(value: Any, depth: int = 0) -> Any:
    """Only what JSON and SQLite can hold: a whole number of more than 64 bits becomes its digits."""
    if depth > MAX_DEPTH:
        raise FrontMatterError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return {clean(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if value is None or isinstance(value, bool) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    return clean(value if isinstance(value, str) else str(value))


def _arranged(values: dict[str, Any]) -> FrontMatter:
    """Known names, whatever their case, to their fields; all others to metadata."""
    names = {name.lower().strip().replace("-", "_"): name for name in reversed(values)}

    def take(*wanted: str) -> Any:
        """The first of the names that has a value; it leaves `values`, so that the rest is metadata."""
        present = [names[name] for name in wanted if name in names and values.get(names[name]) not in (None, "", [])]
        return values.pop(present[0]) if present else None

    title, language = _one(take("title")), _one(take("language", "lang"))
    author = authors.joined(_many(take("author", "authors"), split_words=False))
    tags = tuple(dict.fromkeys(tag.lstrip("#") for tag in _many(take("tags", "tag", "keywords"), split_words=True)))
    category = next(iter(_many(take("category", "categories"), split_words=False)), None)
    return FrontMatter(
        title=title,
        author=author,
        language=language.split("-")[0].split("_")[0].lower() if language else None,
        category=category,
        tags=tuple(tag for tag in tags if tag),
        date=_one(take("date")),
        created=_one(take(*_CREATED)),
        modified=_one(take(*_MODIFIED)),
        metadata={name: value for name, value in values.items() if value is not None},
    )


def _one(value: Any) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    return None if value is None or isinstance(value, dict) else one_line(str(value)) or None


def _many(value: Any, *, split_words: bool) -> list[str]:
    """A list, or one text with commas; with `split_words` also a text with spaces (`tags: gateway timeout`)."""
    if isinstance(value, dict):
        value = value.get("name")
    if isinstance(value, list):
        items = [item.get("name") if isinstance(item, dict) else item for item in value]
    elif isinstance(value, str) and split_words:
        items = [part.strip().strip("\"'") for part in (value.split(",") if "," in value else value.split())]
    else:
        items = [value]
    return [text for text in (one_line(str(item), 200) for item in items if item is not None) if text]
