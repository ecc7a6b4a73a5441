"""Calls within markup of their own. The table `FORMS`: an opening sign, and how to read what follows it.

A reader gets the text and the match of its opening; it gives the calls and where the markup ends, or None when nothing that can be
read stands there. A call whose argument text is cut is never given; a missing closing tag alone is no cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assistant.text_calls.names import Names
from assistant.text_calls.objects import Found, calls_of, plain_arguments
from assistant.text_calls.tolerant import Unreadable, arguments_at, value_at

Read = tuple[list[Found], int] | None


@dataclass(frozen=True, slots=True)
class Form:
    """A way to mark a call up. opening: where it begins. read: see the module."""

    opening: str
    read: Callable[[str, re.Match[str], Names], Read]


_FENCE = re.compile(r"\s*```[a-z_]*\s*")
_BETWEEN = re.compile(r"[\s;,]*")
_CLOSING = re.compile(
    r"\s*(?:```\s*)?(?:</(?:tool_calls?|function_calls?|functioncall|TOOLCALL|longcat_tool_call|function|invoke|"
    r"seed:tool_call|dots_function_call)>|<(?:end_function_call|tool_call\|)>|</[\w:]*(?:tool_calls?|function_calls?)>|"
    r"</(?:[｜|]DSML[｜|]\s*|[a-z]+:)(?:function_calls|tool_calls|calls|invoke)>|"
    r"<[|｜](?:/tool_call|tool_call_end|tool▁calls?▁end|tool_calls_section_end|tools_suffix|END_ACTION|END_RESPONSE|action_end|"
    r"python_end|eom_id|eot_id|call|end|close)[|｜]>)",
)
_PARAMETER_END = r"</(?:[｜|]DSML[｜|]\s*|[a-z]+:)?(?:parameter|param)>"
_PARAMETER = re.compile(
    r"<(?:[｜|]DSML[｜|]\s*|[a-z]+:)?(?:parameter|param)(?:=(?P<plain>[^>\s]+)|\s+name=[\"'](?P<named>[^\"'>]+)[\"'])(?P<more>[^>]*)>"
)
_BODY_END = re.compile(
    r"</(?:[｜|]DSML[｜|]\s*|[a-z]+:)?(?:function|invoke|tool_call)>|<function[ =]|<tool_call>"
    r"|<(?:[｜|]DSML[｜|]\s*|[a-z]+:)?invoke\s"
)
_ARG = re.compile(r"<arg_key>(.*?)</arg_key>\s*+<arg_value>(.*?)</arg_value>", re.DOTALL)
_JOINING = re.compile(r"[\s;,]*(?:\]\s*[-+]\s*\[|[-+])?\s*")  # lists of calls are added up by some models
_LIST_END = re.compile(r"\s*,?\s*\](?:\s*(?:\)|\[\d+\]|or \[\]))?")
_PYTHON_CALL = re.compile(r"(?:print\(\s*)?([^\W\d][\w.\-:]*)\(")
_K3_ARGUMENT = re.compile(
    r"<\|open\|>argument\s+key=\"([^\"]+)\"(?:\s+type=\"([^\"]*)\")?[^<]*<\|sep\|>(.*?)<\|close\|>argument(?:<\|sep\|>)?", re.DOTALL
)


def json_values(text: str, position: int, names: Names) -> Read:
    """One or more values after a tag, in a fence or not, apart from each other by space, ";" or ","."""
    fence = _FENCE.match(text, position)
    position = fence.end() if fence else position
    found: list[Found] = []
    read_any = False
    while True:
        start = _BETWEEN.match(text, position)
        begin = start.end() if start else position
        if text[begin : begin + 1] not in {"{", "["}:
            break
        try:
            value, end = value_at(text, begin)
        except Unreadable:
            break
        calls = calls_of(value, names, tagged=True)
        if calls is None:
            break
        found += calls
        position, read_any = end, True
    if not read_any:
        return None
    surplus = re.compile(r"[}\]]{0,2}").match(text, position)
    return found, surplus.end() if surplus else position


def _json(text: str, match: re.Match[str], names: Names) -> Read:
    return json_values(text, match.end(), names) or python_calls(text, match.end())


def python_calls(text: str, position: int) -> Read:
    """`[f(a=1), g()]`, `f(a=1)` or one call a line; names are taken as they are."""
    fence = _FENCE.match(text, position)
    position = fence.end() if fence else position
    opening = re.compile(r"\s*(\[?)\s*").match(text, position)
    bracket = bool(opening and opening[1])
    position = opening.end() if opening else position
    found: list[Found] = []
    while True:
        call = _PYTHON_CALL.match(text, position)
        if not call:
            break
        try:
            named, others, end = arguments_at(text, call.end())
        except Unreadable:
            return None
        found.append(Found(call[1].removesuffix(".call"), _arguments(named, others)))
        wrapped = re.compile(r"\s*\)").match(text, end) if call[0].startswith("print") else None
        position = wrapped.end() if wrapped else end
        gap = _JOINING.match(text, position)
        if not gap or not _PYTHON_CALL.match(text, gap.end()):
            break
        position = gap.end()
    closing = _LIST_END.match(text, position)
    # A bracket that is missing at the very end cuts no argument off.
    if not found or (bracket and not closing and text[position:].strip()):
        return None
    return found, closing.end() if bracket and closing else position


def _arguments(named: dict[str, Any], others: list[Any]) -> dict[str, Any]:
    """Named arguments; a single object in their place stands for them.

    Others get a made-up name, so that the check of the call tells the model which names there are.
    """
    if len(others) == 1 and isinstance(others[0], dict):
        return {**others[0], **named}
    return {**{f"argument_{number}": value for number, value in enumerate(others, 1)}, **named}


def _name_then_json(text: str, match: re.Match[str], names: Names) -> Read:
    """The name stands in the opening, an object follows; nothing stands for no arguments where the markup is closed."""
    fence = _FENCE.match(text, match.end())
    position = fence.end() if fence else match.end()
    try:
        value, end = value_at(text, position)
    except Unreadable:
        closing = _CLOSING.match(text, position)
        return ([Found(match["name"], {})], closing.end()) if closing else None
    arguments = plain_arguments(value)
    return None if arguments is None else ([Found(match["name"], arguments)], end)


def _parameters(text: str, match: re.Match[str], names: Names) -> Read:
    """A named element with an element for each parameter, or with a JSON object inside."""
    position = match.end()
    body_end = _BODY_END.search(text, position)
    stop = body_end.start() if body_end else len(text)
    arguments: dict[str, Any] = {}
    begin = _PARAMETER.search(text, position, stop)
    if begin is None:
        return _name_then_json(text, match, names) if text[position:stop].strip() or body_end else None
    end = stop
    while begin:
        following = _PARAMETER.search(text, begin.end(), stop)
        limit = following.start() if following else stop
        closing = re.compile(_PARAMETER_END).search(text, begin.end(), limit)
        if closing is None and following is None and body_end is None:
            return None
        value = text[begin.end() : closing.start() if closing else limit]
        arguments[begin["plain"] or begin["named"]] = _parameter_value(value, begin["more"] or "")
        end = closing.end() if closing else limit
        begin = following
    return [Found(match["name"], arguments)], end


def _parameter_value(text: str, attributes: str) -> Any:
    """Untyped text; lists and objects in it are read, all else is left to whoever checks the call."""
    if text.startswith("<![CDATA[") and text.endswith("]]>"):
        return text[9:-3]
    text = text.removeprefix("\n").removesuffix("\n")
    bare = text.strip()
    if 'string="true"' not in attributes and (bare[:1] in {"{", "["} or 'string="false"' in attributes):
        try:
            value, end = value_at(bare, 0)
        except Unreadable:
            return text
        if end == len(bare):
            return value
    return text


def _arg_keys(text: str, match: re.Match[str], names: Names) -> Read:
    """GLM: the name on the first line, then pairs of key and value; none for a call without arguments, which must be closed."""
    name = match["name"].strip()
    position = match.end()
    arguments: dict[str, Any] = {}
    while True:
        pair = _ARG.match(text, re.compile(r"\s*").match(text, position).end())  # type: ignore[union-attr]
        if not pair:
            break
        arguments[pair[1].strip()] = _parameter_value(pair[2], "")
        position = pair.end()
    closed = _CLOSING.match(text, position)
    if not arguments and not closed:
        return None
    if text.startswith("<arg_", re.compile(r"\s*").match(text, position).end()):  # type: ignore[union-attr]
        return None
    return [Found(name, arguments)], position


def _braces(text: str, match: re.Match[str], names: Names) -> Read:
    """Gemma: call:f{q:<escape>x<escape>}, its own quotes or none."""
    try:
        value, end = value_at(text, match.end() - 1)
    except Unreadable:
        return None
    return [Found(match["name"], value)], end


def _k3(text: str, match: re.Match[str], names: Names) -> Read:
    position = match.end()
    arguments: dict[str, Any] = {}
    while pair := _K3_ARGUMENT.match(text, position):
        written = pair[3]
        arguments[pair[1]] = written if pair[2] in {None, "", "string"} else _parameter_value(written, 'string="false"')
        position = pair.end()
    closing = re.compile(r"<\|close\|>call(?:<\|sep\|>)?").match(text, position)
    if closing is None:
        return None
    return [Found(match["name"], arguments)], closing.end()


def _deepseek(text: str, match: re.Match[str], names: Names) -> Read:
    fence = _FENCE.match(text, match.end())
    try:
        value, end = value_at(text, fence.end() if fence else match.end())
    except Unreadable:
        return None
    arguments = plain_arguments(value)
    return None if arguments is None else ([Found(match["old"] or match["new"], arguments)], end)


_N = r"(?P<name>[^\W\d][\w.\-:/]{0,100})"  # bounded, as is every run of blanks: the work grows with the text, not faster
_TAG = r"(?:tool_call|function_call|functioncall|TOOLCALL|tool_calls|longcat_tool_call|dots_function_call)"
FORMS: tuple[Form, ...] = (
    # Qwen3-Coder, Nemotron 3, Seed-OSS, Llama 3.1, MiniCPM: with or without a tag around it
    Form(rf"(?:<(?:\w+:)?tool_call>\s*)?<function(?:=|\s+name=[\"']){_N}[\"']?\s*>", _parameters),
    # MiniMax, DeepSeek V3.2 and V4, Muse, and what distilled models leak
    Form(
        r"(?:<(?:[｜|]DSML[｜|]\s*)?[\w:]*\s*(?:tool_calls?|function_calls|calls)>\s*)?"
        rf"<(?:[｜|]DSML[｜|]\s*|[a-z]+:)?invoke\s+name=[\"']{_N}[\"'][^>]*>",
        _parameters,
    ),
    # Kimi K2, K3
    Form(
        r"(?:<\|tool_calls_section_begin\|>\s*)?<\|tool_call_begin\|>\s*(?P<name>[\w.\-:/]{1,100}?)(?::\d+)?\s*<\|tool_call_argument_begin\|>",
        _name_then_json,
    ),
    Form(r"<\|open\|>call\s+tool=\"(?P<name>[^\"]+)\"[^<]*<\|sep\|>", _k3),
    # DeepSeek V3 and V3.1
    Form(
        r"(?:<｜tool▁calls▁begin｜>\s*)?<｜tool▁call▁begin｜>\s*(?:function\s*<｜tool▁sep｜>\s*(?P<old>[\w.\-:/]+)|(?P<new>[\w.\-:/]+)\s*"
        r"<｜tool▁sep｜>)\s*",
        _deepseek,
    ),
    # Mistral
    Form(rf"(?:\[TOOL_CALLS\]\s*)?\b{_N}\s*(?:\[CALL_ID\]\s*\w+\s*)?\[ARGS\]", _name_then_json),
    Form(rf"\[TOOL_CALLS\]\s*{_N}\s*(?=\{{)", _name_then_json),
    Form(rf"\b{_N}\s*\[TOOL_CALLS\]\s*(?=\{{)", _name_then_json),
    Form(r"\[TOOL_CALLS\]", _json),
    # gpt-oss, as sent and with its tokens stripped
    Form(
        r"(?:<\|start\|>)?(?:assistant\s*)?(?:<\|channel\|>\s*)?(?:(?:commentary|analysis)\s*)?to=(?P<name>[\w.\-:/]{1,100}?)"
        r"\s*(?:<\|channel\|>\s*commentary\s*)?(?:<\|constrain\|>\s*)?(?:(?:json|code)\s*)?(?:<\|message\|>\s*)?(?=\{)",
        _name_then_json,
    ),
    # Gemma
    Form(rf"<(?:start_function_call|\|tool_call)>\s*call:{_N}\{{", _braces),
    # GLM, Laguna, Spark; Hunyuan v3 with a sign after the name
    Form(
        rf"(?:<tool_calls>\s*)?<tool_call>\s*{_N}\s*(?:<tool_sep>\s*)?(?=<arg_key>|</tool_call>)",
        _arg_keys,
    ),
    # Functionary v3.2
    Form(r"^>>>(?P<name>(?!all\b)[^\W\d][\w.\-:/]{0,100})\n(?=\s*\{)", _name_then_json),
    # LFM2, Llama 4, OLMo 3: Python or JSON
    Form(r"<\|tool_call_start\|>|<\|python_start\|>|<\|python_tag\|>", _json),
    # Hermes, Qwen, Granite, Nemotron, Jamba, Ernie, Longcat, InternLM, Apertus, GigaChat, Command, functools
    Form(rf"<{_TAG}>|<function_calls>", _json),
    Form(r"<\|tool_call\|>|<\|tools_prefix\|>|<ifm\|tool_call>|<\|START_ACTION\|>|function call<\|role_sep\|>", _json),
    Form(r"<\|action_start\|>\s*(?:<\|(?:plugin|interpreter)\|>)?", _json),
    Form(r"(?:^|(?<=\s))functools(?=\s*\[)", _json),
)
CLOSING = _CLOSING
