"""A small conversation to check answers against: two documents, one passage of each retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assistant.citations import Checked, check
from assistant.tools import Evidence

KEY = "abcde23456"
OTHER_KEY = "fghij23456"
TEXT = """# Database timeouts

The gateway waits **30 seconds** for `psycopg` and then gives up.
On 15 October 2026 we raised it to 1,234.5 ms — after INC-2026-014.

- Restart the pool first.
- Ask the "on-call" engineer (never the customer).

See [the runbook](http://example.com/secret) for more. Version 3.12.1 is required; error TR-4012 means a lost parcel.
It fell by -5 °C to 10².

追跡番号が十二桁から十四桁になります。

The inter-
national office keeps well-
known copies for three years. The errors fell to 4 % within a day.
"""
OTHER_TEXT = "The tracker leaks memory every night at noon."


def passage(key: str = KEY, text: str = TEXT, **fields: Any) -> Evidence:
    given: dict[str, Any] = {
        "path": "runbooks/timeouts.md",
        "root": "/r",
        "title": "Timeouts of the database",
        "headings": ("Database timeouts",),
        "page": None,
        "first_line": 3,
        "last_line": 7,
        "date": "2026-10-15",
    }
    return Evidence(key=key, text=text, **{**given, **fields})


EVIDENCE = (passage(), passage(OTHER_KEY, OTHER_TEXT, path="notes/tracker.md", title="Tracker", headings=(), date=None))


def checked(
    answer: str,
    *,
    question: str = "",
    results: Sequence[str] = (),
    evidence: Sequence[Evidence] = EVIDENCE,
    text: str | None = None,
) -> Checked:
    """The answer checked against the two documents, or against one that has this text."""
    stored = {KEY: TEXT if text is None else text, OTHER_KEY: OTHER_TEXT}
    return check(answer, question=question, evidence=evidence, results=results, stored_text=stored.get)
