"""Citation keys: short names of passages that mean the same in every clone of a folder.

In: a path relative to its root and the texts of its passages, in order. Out: a key for each.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence


def citation_keys(path: str, texts: Sequence[str]) -> list[str]:
    """The citation key of each passage of a document: 10 base32 characters of SHA-256 over path, text and n-th occurrence.

    path is relative to its root, so every clone of a folder gives the same keys, and an edit elsewhere leaves a key alone.
    """
    seen: Counter[str] = Counter()
    keys = []
    for text in texts:
        seen[text] += 1
        digest = hashlib.sha256(f"{path}\0{text}\0{seen[text]}".encode()).digest()
        keys.append(base64.b32encode(digest).decode("ascii")[:10].lower())
    return keys
