"""Several authors in one field: how they are joined, and told apart again.

A comma would not do: "Lovelace, Ada" is one person. Only what a document states as a list is joined here; a text stays one name,
unless it holds semicolons, as programs write several names into the properties of a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_BETWEEN = re.compile(r"\s*;\s*")


def joined(names: Iterable[str]) -> str | None:
    """Names as one text, None without any."""
    return "; ".join(names) or None


def each(text: str) -> list[str]:
    """The names in a stored text, each once."""
    return list(dict.fromkeys(name for name in _BETWEEN.split(text.strip()) if name))


def each_as_json(text: str | None) -> str | None:
    """The same for SQL's json_each; None for no author, which then gives no row."""
    return None if text is None else json.dumps(each(text), ensure_ascii=False)
