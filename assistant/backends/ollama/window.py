"""Prompts that a server cuts without a word: how to notice it by the tokens that it has read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from assistant.messages import Usage

_WORD = re.compile(r"(?P<digits>[0-9]+)|(?P<ascii>[A-Za-z]+)|(?P<other>[^\W_]+)|[^\w\s]+|_+")


def least_tokens(body: Mapping[str, Any]) -> int:
    """A number of tokens that the prompt of a body has at least, by rules that hold for every tokenizer of today.

    A word is a token or more, three digits are, six letters of another script are, and two runs of other signs are.
    """
    halves = 0
    parts = [json.dumps(body.get("tools", ""), ensure_ascii=False)]
    for message in body["messages"]:
        parts += [message["content"], *(json.dumps(call["function"], ensure_ascii=False) for call in message.get("tool_calls", ()))]
    for text in parts:
        for found in _WORD.finditer(text):
            length = len(found[0])
            if found["digits"]:
                halves += 2 * -(-length // 3)
            elif found["other"]:
                halves += 2 * -(-length // 6)
            else:
                halves += 2 if found["ascii"] else 1
    return halves // 2


def fills_window(body: Mapping[str, Any], usage: Usage) -> bool:
    """Whether prompt and reply fill the window: what came before, or the end of the reply, may be cut."""
    window = body.get("options", {}).get("num_ctx")
    return window is not None and usage.total_tokens >= window


def was_cut(body: Mapping[str, Any], usage: Usage) -> bool:
    """Whether a server that cuts prompts has read far less than this one holds at least."""
    return 0 < usage.input_tokens < 0.8 * least_tokens(body)


__all__ = ["fills_window", "least_tokens", "was_cut"]
