'''Inputs of several lines between """ and """.'''

from __future__ import annotations

FENCE = '"""'


def unfenced(text: str) -> str:
    '''An input without the """ around it.'''
    inner = text.strip()
    if inner.startswith(FENCE):
        return inner.removeprefix(FENCE).removesuffix(FENCE).strip("\n")
    return text


def is_open(text: str) -> bool:
    '''Whether an input began with """ and has not ended with it.'''
    inner = text.strip()
    return inner.startswith(FENCE) and not (inner.endswith(FENCE) and len(inner) >= 2 * len(FENCE))
