"""When two names are the same: text in one of the ways that Unicode writes it, and without regard to case."""

from __future__ import annotations

import unicodedata


def composed(text: str) -> str:
    """Text with its accents joined to their letters (NFC), as most keyboards and file systems but macOS's write it."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Text without regard to case, in any script, and to how its accents are written."""
    return composed(composed(text).casefold())
