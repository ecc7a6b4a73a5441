"""Citations: what an answer cites, quotes and counts is compared with what was retrieved, and what fails is marked.

    checked = check(answer, question=..., evidence=..., results=..., stored_text=...)
    checked.text        the answer for display, with [1] for keys and a mark after everything that failed
    checked.sources     what the numbers stand for

While an answer streams, `Checker.check` takes its finished blocks one after the other; `replace_keys` only numbers citations.
"""

from __future__ import annotations

from assistant.citations.checking import MARK, Checker, check
from assistant.citations.keys import Numbering, replace_keys
from assistant.citations.models import Checked, Citation, Number, Quote, origin, source

__all__ = ["MARK", "Checked", "Checker", "Citation", "Number", "Numbering", "Quote", "check", "origin", "replace_keys", "source"]
