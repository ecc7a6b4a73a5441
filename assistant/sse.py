"""Server-sent events as providers write them: lines in, the data of each event out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator


def sse_events(lines: Iterable[str]) -> Iterator[str]:
    """The data of each server-sent event, until the lines end or `[DONE]` comes.

    Comments and other fields are skipped, several data lines are one event, an event that the end cuts short is given as it is.
    Two things beside the standard, both seen: JSON in bare lines (an error in the middle of a stream) is given once its brackets
    are balanced; `error: {...}` (llama-server) is given as {"error": ...}.
    """
    data: list[str] = []
    bare: list[str] = []
    depth = 0
    for line in _split_at_returns(lines):
        begins = not bare and line.lstrip()[:1] in {"{", "["}
        if data and (begins or not line):
            yield "\n".join(data)
            data = []
        if bare or begins:
            bare.append(line)
            depth += _opened_brackets(line)
            if depth <= 0:
                yield "\n".join(bare)
                bare, depth = [], 0
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "error" and value:
            yield f'{{"error": {value}}}'
        elif name == "data" and value.strip() == "[DONE]":
            break
        elif name == "data":
            data.append(value)
    if data or bare:
        yield "\n".join(data or bare)


def _split_at_returns(lines: Iterable[str]) -> Iterator[str]:
    """Lines that may end, or be divided, by carriage returns; without a byte order mark before the first."""
    for number, line in enumerate(lines):
        text = line.removeprefix("\ufeff") if number == 0 else line
        yield from text.removesuffix("\r").split("\r")


def _opened_brackets(line: str) -> int:
    """How many brackets of JSON a line leaves open; a string never runs over the end of a line."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
    return len(re.findall(r"[\[{]", bare)) - len(re.findall(r"[\]}]", bare))
