"""The report of a run: one HTML file for a screen of any width, for paper, keyboard and screen reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assistant import settings
from assistant.evaluation.report.page import html
from assistant.evaluation.runs import Run


def write(run: Run, path: Path, compared: Run | None = None, *, fallen: Sequence[str] | None = None) -> None:
    """Write the report of a run, readable for its owner alone: it holds what documents and answers say. See `html`."""
    settings.write_private(path, settings.redact(html(run, compared, fallen=fallen)))


__all__ = ["html", "write"]
