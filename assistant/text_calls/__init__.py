"""Tool calls that models write into their text, found and brought into one form.

Read are, by the sign that opens them: JSON in a fence or bare, alone or at the end of a message, with all the usual names of
its fields; the tags of Hermes and Qwen, Qwen3-Coder, Llama 3 and 4, LFM2, Mistral, DeepSeek V3 to V4, GLM, Kimi K2 and K3,
MiniMax M1 and M2, Granite, Functionary, FireFunction and Phi-4-mini, Command-R, gpt-oss, Gemma, xLAM, Nemotron, Seed-OSS,
InternLM, Jamba, Hunyuan, Longcat, Ernie, Apertus, GigaChat, MiniCPM, Muse, OLMo 3, dots and K2-Horizon; Python calls in a list
or alone; ReAct's "Action:" lines.
Not read: the nested elements of MiniMax M3, the markup of Step3, Inkling and PLaMo3.

Text that shows, quotes or mentions a call calls nothing; a call whose argument text is cut is never given.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from assistant.text_calls import thinking, untagged
from assistant.text_calls.names import Names, undeclared
from assistant.text_calls.objects import Found, as_json
from assistant.text_calls.tagged import CLOSING, FORMS

_MOST_OPENINGS = 200  # tried in one text: what is worth reading holds fewer, and the work stays bounded
_OPENING = re.compile(
    "|".join(f"(?P<f{number}>{re.sub(r'[(][?]P<(?!f[0-9])[a-z]+>', '(?:', form.opening)})" for number, form in enumerate(FORMS)),
    re.MULTILINE,
)
_EACH = [re.compile(form.opening, re.MULTILINE) for form in FORMS]
_QUOTING = "\"'“„«「『`"
_LEFTOVER = re.compile(
    r"<\|(?:eom_id|eot_id|im_end|im_start|endoftext|end_of_text|return|call|start_of_role|end_of_role)\|>|</s>|<end_of_turn>|"
    r"</?response>|<\|tool_calls_section_(?:begin|end)\|>|<｜tool▁calls▁(?:begin|end)｜>|<｜end▁of▁sentence｜>"
)
_EMPTY = re.compile(r"\[TOOL_CALLS\]\s*(?:\[\s*\])?|</?(?:tool_calls?|function_calls?|TOOLCALL|functioncall)>(?:\s*\[\s*\])?")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>(?!>>)[^\n]*$", re.MULTILINE)
_INLINE_CODE = re.compile(r"`[^`\n]+`")


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call: its name as declared, its arguments as the JSON text of an object."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ParsedText:
    """text: without the markup of calls and without thinking. calls: in their order. unknown: names of well-formed tagged calls to
    tools that are not declared.
    """

    text: str
    calls: tuple[TextCall, ...] = ()
    unknown: tuple[str, ...] = ()


def parse(text: str, names: Collection[str]) -> ParsedText:
    """The calls in a reply. Never raises; the work is bounded by the length of the text."""
    declared = Names(names)
    said, thought = thinking.split(text)
    parsed = _parse(said, declared)
    if not parsed.calls and not parsed.unknown and not said.strip() and thought.strip():
        # Nothing follows the thinking: what was planned last is what is meant.
        planned = _parse(thought, declared)
        return ParsedText("", planned.calls, planned.unknown)
    return parsed


def _parse(said: str, declared: Names) -> ParsedText:
    found: list[Found] = []
    kept = ""
    position = 0
    for start, end, calls in _tagged(said, declared):
        kept += said[position:start]
        position = end
        found += calls
    rest = kept + said[position:]
    if not found and position == 0:
        calls, rest = untagged.calls_at_end(rest, declared)
        found += calls
    named = [(declared.declared(call.name), call) for call in found]
    unknown = [undeclared(call.name) for name, call in named if name is None]
    return ParsedText(
        _tidy(rest),
        tuple(TextCall(name, as_json(call.arguments)) for name, call in named if name is not None),
        tuple(name for name in unknown if name is not None),
    )


def _tagged(said: str, declared: Names) -> Iterator[tuple[int, int, list[Found]]]:
    """Where markup begins and ends, with its calls; markup that is cut off ends with the text and holds none."""
    shown = _shown_only(said)
    position = 0
    for _ in range(_MOST_OPENINGS):
        opening = _OPENING.search(said, position)
        if opening is None:
            return
        position = opening.end()
        if any(start <= opening.start() < end for start, end in shown) or _is_quoted(said, opening.start()):
            continue
        read = None
        for form, pattern in zip(FORMS, _EACH, strict=True):
            match = pattern.match(said, opening.start())
            read = form.read(said, match, declared) if match else None
            if read:
                break
        if read:
            calls, end = read
            position = max(_closed(said, end), opening.end())
            yield opening.start(), position, calls
        elif _is_cut(said, opening.end()):
            yield opening.start(), len(said), []
            return


def _closed(said: str, position: int) -> int:
    """Past the closing tags that follow a call."""
    while closing := CLOSING.match(said, position):
        position = closing.end()
    return position


def _shown_only(said: str) -> list[tuple[int, int]]:
    """Stretches that show something: quoted lines, code in a line, and fenced code that is not what the message ends with."""
    shown = [match.span() for match in _QUOTED_LINE.finditer(said)]
    shown += [match.span() for match in _FENCED.finditer(said) if said[match.end() :].strip(" \n\t`")]
    shown += [match.span() for match in _INLINE_CODE.finditer(said)]
    return shown


def _is_quoted(said: str, position: int) -> bool:
    return position > 0 and said[position - 1] in _QUOTING


def _is_cut(said: str, position: int) -> bool:
    """Whether nothing but the beginning of a call follows: no closing tag, no blank line with prose after it."""
    rest = said[position:]
    return not re.search(r"</|<[|｜][^<>]*end|\n\s*\n", rest) and bool(re.match(r"\s*[{\[<(\w]", rest))


def _tidy(text: str) -> str:
    text = _LEFTOVER.sub("", text)
    if _EMPTY.fullmatch(text.strip()) or text.strip() in {"[]", "</tool_call>"}:
        return ""
    return text.strip()


__all__ = ["ParsedText", "TextCall", "parse"]
