"""What a reply says and what was only thought on the way to it."""

from __future__ import annotations

import re

# Each pair: where thinking begins and ends. A reply may begin inside of it: some templates open it for the model.
_PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought", "<channel|>"),
)
_HARMONY = re.compile(
    r"<\|channel\|>\s*+(\w++)([^<]*+(?:<\|constrain\|>[^<]*+)?)<\|message\|>(.*?)(?=<\|(?:end|call|return|start)\|>|\Z)", re.DOTALL
)
_HARMONY_STRIPPED = re.compile(r"\Aanalysis(.*?)assistant(?=final|commentary)", re.DOTALL)
_HARMONY_SIGNS = re.compile(r"<\|(?:start|end|return)\|>(?:assistant)?")


def split(text: str) -> tuple[str, str]:
    """What is said, and what was thought: "" where the reply has no thinking in it."""
    said, thought = _harmony(text)
    for opening, closing in _PAIRS:
        parts: list[str] = []
        end = said.find(closing)
        if end >= 0 and opening not in said[:end]:
            thought += said[:end]
            said = said[end + len(closing) :]
        position = 0
        while (begin := said.find(opening, position)) >= 0:
            parts.append(said[position:begin])
            end = said.find(closing, begin)
            thought += said[begin + len(opening) : end if end >= 0 else len(said)]
            position = end + len(closing) if end >= 0 else len(said)
        said = "".join(parts) + said[position:]
    return said, thought


def _harmony(text: str) -> tuple[str, str]:
    """The channels of gpt-oss: analysis is thought, a commentary to a tool stays in its markup, the rest is said."""
    if "<|channel|>" not in text:
        stripped = _HARMONY_STRIPPED.match(text)
        if not stripped:
            return text.removeprefix("assistantfinal"), ""
        return text[stripped.end() :].removeprefix("final"), stripped[1]
    thought: list[str] = []

    def channel(match: re.Match[str]) -> str:
        if "to=" in match[2]:
            return match[0]
        if match[1] == "analysis":
            thought.append(match[3])
            return ""
        return match[3]

    return _HARMONY_SIGNS.sub("", _HARMONY.sub(channel, text)), "".join(thought)
