"""Reading JSON lines of sets that others have made: objects with the fields they must have, or an error with the line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assistant.errors import UserError


def rows(path: Path, *wanted: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their line numbers. Raises UserError for a line that is none or lacks one of the fields."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}", "name the folder or the file that holds the set") from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}:{number}: not JSON: {error}") from None
        if not isinstance(row, dict) or not all(name in row for name in wanted):
            raise UserError(f"{path}:{number}: want an object with {', '.join(wanted)}")
        yield number, row
