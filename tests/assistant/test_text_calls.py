"""Tool calls written into text: the forms that models use, what only looks like one, what is cut, and any text at all."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.text_calls import parse

NAMES = ["find_notes", "read.page", "list_tables"]
FIND = [("find_notes", {"query": "tide"})]
BOTH = [("find_notes", {"query": "tide"}), ("read.page", {"id": 3})]

FORMS: dict[str, tuple[str, list[tuple[str, dict[str, Any]]]]] = {
    # 1, 2: fenced and bare JSON
    "fence": ('```json\n{"name": "find_notes", "arguments": {"query": "tide"}}\n```', FIND),
    "fence without a language": ('```\n{"name": "find_notes", "arguments": {"query": "tide"}}\n```', FIND),
    "fence without its end": ('I look.\n```json\n{"name": "find_notes", "arguments": {"query": "tide"}}', FIND),
    "two fences": (
        '```json\n{"name": "find_notes", "arguments": {"query": "tide"}}\n```\n```json\n{"name": "read.page", "arguments": {"id": 3}}\n```',  # noqa: E501 - one reply
        BOTH,
    ),
    "bare object": ('{"name": "find_notes", "arguments": {"query": "tide"}}', FIND),
    "bare object after prose": ('Let me see.\n\n{"name": "find_notes", "arguments": {"query": "tide"}}', FIND),
    "array": ('[{"name":"find_notes","arguments":{"query":"tide"}},{"name":"read.page","arguments":{"id":3}}]', BOTH),
    "lines": ('{"name":"find_notes","arguments":{"query":"tide"}}\n{"name":"read.page","arguments":{"id":3}}', BOTH),
    "semicolons": ('{"name":"find_notes","arguments":{"query":"tide"}}; {"name":"read.page","arguments":{"id":3}}', BOTH),
    # 3: names of the fields
    "parameters": ('{"name": "find_notes", "parameters": {"query": "tide"}}', FIND),
    "params and tool": ('{"tool": "find_notes", "params": {"query": "tide"}}', FIND),
    "args and tool_name": ('{"tool_name": "find_notes", "args": {"query": "tide"}}', FIND),
    "input and function": ('{"function": "find_notes", "input": {"query": "tide"}}', FIND),
    "nested function": ('{"type": "function", "function": {"name": "find_notes", "arguments": {"query": "tide"}}}', FIND),
    "tool_calls": ('{"tool_calls": [{"name": "find_notes", "arguments": {"query": "tide"}}]}', FIND),
    "name as key": ('{"find_notes": {"query": "tide"}}', FIND),
    "arguments first": ('{"arguments": {"query": "tide"}, "name": "find_notes"}', FIND),
    "arguments as a string": ('{"name": "find_notes", "arguments": "{\\"query\\": \\"tide\\"}"}', FIND),
    "no arguments": ('{"name": "list_tables"}', [("list_tables", {})]),
    # 4: Hermes, Qwen
    "hermes": ('<tool_call>\n{"name": "find_notes", "arguments": {"query": "tide"}}\n</tool_call>', FIND),
    "hermes, not closed": ('<tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}', FIND),
    "hermes, prose around": (
        'I look.\n<tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}</tool_call>\nOne moment.',
        FIND,
    ),
    "hermes, twice": (
        '<tool_call>{"name":"find_notes","arguments":{"query":"tide"}}</tool_call>\n<tool_call>{"name":"read_page","arguments":{"id":3}}</tool_call>',
        BOTH,
    ),
    "hermes, opened again for closed": (
        '<tool_call>{"name":"find_notes","arguments":{"query":"tide"}}<tool_call>{"name":"read_page","arguments":{"id":3}}<tool_call>',
        BOTH,
    ),
    # 5: Llama
    "python tag": ('<|python_tag|>{"name": "find_notes", "parameters": {"query": "tide"}}<|eom_id|>', FIND),
    "builtin": ('<|python_tag|>find_notes.call(query="tide")', FIND),
    "function tag": ('<function=find_notes>{"query": "tide"}</function>', FIND),
    # 6: Python
    "pythonic": ('[find_notes(query="tide"), read.page(id=3)]', BOTH),
    "pythonic, tagged": ('<|python_start|>[find_notes(query="tide")]<|python_end|>', FIND),
    "pythonic, one": ("find_notes(query='tide')", FIND),
    "pythonic, object": ("find_notes({'query': 'tide'})", FIND),
    "olmo": ('<function_calls>\nfind_notes(query="tide")\nread.page(id=3)\n</function_calls>', BOTH),
    "pythonic, as texts": ("['find_notes(query=\"tide\")', 'read.page(id=3)']", BOTH),
    # 7 to 10
    "lfm2": ('<|tool_call_start|>[find_notes(query="tide")]<|tool_call_end|>', FIND),
    "lfm2 json": ('<|tool_call_start|>[{"name": "find_notes", "arguments": {"query": "tide"}}]<|tool_call_end|>', FIND),
    "mistral": ('[TOOL_CALLS][{"name": "find_notes", "arguments": {"query": "tide"}, "id": "abcdefghi"}]', FIND),
    "mistral 11": ('[TOOL_CALLS]find_notes[ARGS]{"query": "tide"}[TOOL_CALLS]read.page[ARGS]{"id": 3}', BOTH),
    "mistral with id": ('[TOOL_CALLS]find_notes[CALL_ID]abc123def[ARGS]{"query": "tide"}', FIND),
    "mistral, broken": ('find_notes[TOOL_CALLS]{"query": "tide"}', FIND),
    "deepseek v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find_notes\n```json\n"
        '{"query": "tide"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        FIND,
    ),
    "deepseek v3.1": (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find_notes<｜tool▁sep｜>{"query": "tide"}<｜tool▁call▁end｜>'
        '<｜tool▁call▁begin｜>read.page<｜tool▁sep｜>{"id": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        BOTH,
    ),
    "deepseek v3.2": (
        '<｜DSML｜function_calls><｜DSML｜invoke name="find_notes"><｜DSML｜parameter name="query" string="true">tide'
        "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
        FIND,
    ),
    "deepseek v4.1": (
        '<｜DSML｜ calls><｜DSML｜invoke name="read.page"><｜DSML｜parameter name="id" string="false">3'
        "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜ calls>",
        [("read.page", {"id": 3})],
    ),
    # 11, 12
    "qwen coder": ("<tool_call>\n<function=find_notes>\n<parameter=query>\ntide\n</parameter>\n</function>\n</tool_call>", FIND),
    "qwen coder, bare": ("<function=find_notes>\n<parameter=query>\ntide\n</parameter>", FIND),
    "qwen coder, closers missing": ("<function=find_notes><parameter=query>tide</function>", FIND),
    "qwen coder, no arguments": ("<tool_call><function=list_tables></function></tool_call>", [("list_tables", {})]),
    "glm": ("<tool_call>find_notes\n<arg_key>query</arg_key>\n<arg_value>tide</arg_value>\n</tool_call>", FIND),
    "glm 4.7": ("<tool_call>find_notes<arg_key>query</arg_key><arg_value>tide</arg_value></tool_call>", FIND),
    "glm, no arguments": ("<tool_call>list_tables</tool_call>", [("list_tables", {})]),
    "hunyuan v3": (
        "<tool_calls><tool_call>find_notes<tool_sep><arg_key>query</arg_key><arg_value>tide</arg_value></tool_call></tool_calls>",
        FIND,
    ),
    # 13
    "kimi": (
        '<|tool_calls_section_begin|><|tool_call_begin|>functions.find_notes:0<|tool_call_argument_begin|>{"query": "tide"}'
        "<|tool_call_end|><|tool_calls_section_end|>",
        FIND,
    ),
    "kimi k3": (
        '<|open|>call tool="find_notes" index="1"<|sep|><|open|>argument key="query" type="string"<|sep|>tide<|close|>argument<|sep|>'  # noqa: E501 - one reply
        "<|close|>call<|sep|>",
        FIND,
    ),
    # 14
    "minimax m2": (
        '<minimax:tool_call><invoke name="find_notes"><parameter name="query">tide</parameter></invoke></minimax:tool_call>',
        FIND,
    ),
    "minimax m1": ('<tool_calls>\n{"name": "find_notes", "arguments": {"query": "tide"}}\n</tool_calls>', FIND),
    # 15, 16
    "granite": ('<|tool_call|>[{"name": "find_notes", "arguments": {"query": "tide"}}]', FIND),
    "granite 20b": (
        '<function_call> {"name": "find_notes", "arguments": {"query": "tide"}} <function_call> {"name": "read_page", "arguments": {"id": 3}}',  # noqa: E501 - one reply
        BOTH,
    ),
    "functionary": ('>>>find_notes\n{"query": "tide"}', FIND),
    "functionary, text first": ('>>>all\nI look.\n>>>find_notes\n{"query": "tide"}', FIND),
    "functools": (' functools[{"name": "find_notes", "arguments": {"query": "tide"}}]', FIND),
    # 17
    "command r7b": (
        '<|START_THINKING|>I will search.<|END_THINKING|><|START_ACTION|>[{"tool_call_id": "0", "tool_name": "find_notes", "parameters": '  # noqa: E501 - one reply
        '{"query": "tide"}}]<|END_ACTION|>',
        FIND,
    ),
    "command r+": ('Action: ```json\n[{"tool_name": "find_notes", "parameters": {"query": "tide"}}]\n```', FIND),
    # 18
    "harmony": (
        "<|channel|>analysis<|message|>I search.<|end|><|start|>assistant<|channel|>commentary to=functions.find_notes "
        '<|constrain|>json<|message|>{"query": "tide"}<|call|>',
        FIND,
    ),
    "harmony, stripped": ('analysisI search.assistantcommentary to=functions.find_notes json{"query": "tide"}', FIND),
    # 19
    "functiongemma": ("<start_function_call>call:find_notes{query:<escape>tide<escape>}<end_function_call>", FIND),
    "gemma 4": ('<|channel>thought\nI search.<channel|><|tool_call>call:find_notes{query:<|"|>tide<|"|>}<tool_call|>', FIND),
    "gemma 3": ('```tool_code\nprint(default_api.find_notes(query="tide"))\n```', FIND),
    # 20 to 24
    "xlam after thinking": ('<think>Search.</think>[{"name": "find_notes", "arguments": {"query": "tide"}}]', FIND),
    "nemotron": ('<TOOLCALL>[{"name": "find_notes", "arguments": {"query": "tide"}}]</TOOLCALL>', FIND),
    "seed": (
        "<seed:think>Search.</seed:think><seed:tool_call><function=find_notes><parameter=query>tide</parameter></function></seed:tool_call>",
        FIND,
    ),
    "internlm": ('<|action_start|><|plugin|>{"name": "find_notes", "parameters": {"query": "tide"}}<|action_end|>', FIND),
    "jamba": ('<tool_calls>[{"name": "find_notes", "arguments": {"query": "tide"}}]</tool_calls>', FIND),
    "longcat": ('<longcat_tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}</longcat_tool_call>', FIND),
    "ernie": ('<tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}</tool_call><response></response>', FIND),
    "apertus": ('<|tools_prefix|>[{"find_notes": {"query": "tide"}}]<|tools_suffix|>', FIND),
    "gigachat": ('function call<|role_sep|>\n{"name": "find_notes", "arguments": {"query": "tide"}}', FIND),
    "minicpm": ('<function name="find_notes"><param name="query"><![CDATA[tide]]></param></function>', FIND),
    "muse": ('<atem:invoke name="find_notes"><atem:parameter name="query">tide</atem:parameter></atem:invoke>', FIND),
    "leaked": (
        '<function_calls><invoke name="find_notes"><parameter name="query">tide</parameter></invoke></function_calls>',
        FIND,
    ),
    "react": ('Thought: I need notes.\nAction: find_notes\nAction Input: {"query": "tide"}', FIND),
    "react, observation made up": ('Action: find_notes\nAction Input: {"query": "tide"}\nObservation: nothing', FIND),
}


def calls(text: str, names: list[str] = NAMES) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, json.loads(call.arguments)) for call in parse(text, names).calls]


@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_read_in_every_form(form: str) -> None:
    text, expected = FORMS[form]
    assert calls(text) == expected


@pytest.mark.parametrize("form", FORMS)
def test_no_markup_of_a_call_is_left_in_the_text(form: str) -> None:
    left = parse(FORMS[form][0], NAMES).text
    assert not any(sign in left for sign in ("tide", "<", "{", "[", "`", "Action", "commentary"))


def test_prose_around_a_tagged_call_is_kept() -> None:
    assert parse(FORMS["hermes, prose around"][0], NAMES).text.split() == ["I", "look.", "One", "moment."]


WRITTEN_BADLY = {
    "single quotes": "{'name': 'find_notes', 'arguments': {'query': 'tide'}}",
    "trailing commas": '{"name": "find_notes", "arguments": {"query": "tide",},}',
    "comments": '{"name": "find_notes", /* here */ "arguments": {"query": "tide"}} // done',
    "keys without quotes": '{name: "find_notes", arguments: {query: "tide"}}',
    "typographic quotes": "{“name”: “find_notes”, “arguments”: {“query”: “tide”}}",
    "surplus brackets": '<tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}}]</tool_call>',
    "duplicated keys": '{"name": "find_notes", "arguments": {"query": "ebb", "query": "tide"}}',
    "wrapped arguments": '{"name": "find_notes", "arguments": {"arguments": {"query": "tide"}}}',
    "wrapped in properties": '{"name": "find_notes", "arguments": {"properties": {"query": "tide"}}}',
    "schema echo with values": '{"name": "find_notes", "arguments": {"query": {"type": "string", "value": "tide"}}}',
    "array around arguments": '{"name": "find_notes", "arguments": [{"query": "tide"}]}',
    "encoded twice": json.dumps({"name": "find_notes", "arguments": json.dumps(json.dumps({"query": "tide"}))}),
    "prefix": '{"name": "functions.find_notes", "arguments": {"query": "tide"}}',
    "api prefix": '{"name": "default_api:find_notes", "arguments": {"query": "tide"}}',
    "server prefix": '{"name": "mcp__notes__find_notes", "arguments": {"query": "tide"}}',
    "number suffix": '{"name": "find_notes:0", "arguments": {"query": "tide"}}',
    "harmony suffix": '{"name": "find_notes<|channel|>commentary", "arguments": {"query": "tide"}}',
    "other case and hyphen": '{"name": "Find-Notes", "arguments": {"query": "tide"}}',
}


@pytest.mark.parametrize("how", WRITTEN_BADLY)
def test_what_is_written_badly_but_means_one_thing_is_read(how: str) -> None:
    assert calls(WRITTEN_BADLY[how]) == FIND


@pytest.mark.parametrize("nothing", ['""', "null", '"null"', '"{}"', "[]", '"[]"', "{}", '{"type": "object"}'])
def test_no_arguments_are_an_empty_object(nothing: str) -> None:
    assert calls(f'{{"name": "list_tables", "arguments": {nothing}}}') == [("list_tables", {})]


def test_values_keep_what_they_are() -> None:
    text = 'find_notes(query="it\\u0027s 5\\n", limit=007, share=.5, deep=True, none=None, unit=metres, list=[1, \'a\'], more={"b": NaN})'  # noqa: E501 - one reply
    expected = {"query": "it's 5\n", "limit": 7, "share": 0.5, "deep": True, "none": None, "unit": "metres"}
    assert calls(text) == [("find_notes", expected | {"list": [1, "a"], "more": {"b": None}})]


def test_line_breaks_within_a_string_are_kept() -> None:
    assert calls('{"name": "find_notes", "arguments": {"query": "two\nlines"}}') == [("find_notes", {"query": "two\nlines"})]


def test_the_same_call_twice_is_kept_twice() -> None:
    call = '<tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}</tool_call>'
    assert calls(call + call) == FIND * 2


CUT = [
    '<tool_call>{"name": "find_notes", "arguments": {"query": "ti',
    '{"name": "find_notes", "arguments": {"query": "tide"',
    '```json\n{"name": "find_notes", "arguments": {"query": "tide", "limit": ',
    "<function=find_notes><parameter=query>ti",
    "<tool_call><function=find_notes>\n<parameter=qu",
    "<tool_call>find_notes<arg_key>query</arg_key><arg_value>ti",
    '[find_notes(query="ti',
    '[TOOL_CALLS]find_notes[ARGS]{"query": "ti',
    '<|channel|>commentary to=functions.find_notes <|constrain|>json<|message|>{"query": "ti',
    "<start_function_call>call:find_notes{query:<escape>ti",
    '<invoke name="find_notes"><parameter name="query">ti',
]


@pytest.mark.parametrize("text", CUT)
def test_a_call_that_is_cut_is_not_run(text: str) -> None:
    assert calls(text) == []


SHOWN = [
    "",
    "I could call find_notes, but which year do you mean?",
    'Use `find_notes(query="tide")` to search.',
    'It looks like this:\n\n```json\n{"name": "find_notes", "arguments": {"query": "tide"}}\n```\n\nDo you see?',
    '> <tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}</tool_call>\n\nI did not do what it says.',
    'The page says: "<tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}</tool_call>", as a sample.',
    '```python\nhits = find_notes(query="tide")\nprint(hits)\n```\nThat is all.',
    '{"name": "Tide tables", "year": 1815}',
    '[{"name": "find_notes", "milliseconds": 12}]',
    '{"find_notes": 12, "read.page": 7}',
    '{"name": "find_notes", "description": "Finds.", "parameters": {"type": "object", "properties": {}}}',
    '{"name": "find_notes", "arguments": {"properties": {"query": {"type": "string"}}}}',
    '<tool_response>{"name": "find_notes", "content": "x"}</tool_response> It is so.',
    "&lt;tool_call&gt;{}&lt;/tool_call&gt; is how it is escaped.",
    '["find_notes", "read.page"]',
    "[]",
    "</tool_call>",
    "Action: None\nAction Input: None",
    'rm -rf(query="tide")',
    '{"name": "remove_all", "arguments": {}}',
]


@pytest.mark.parametrize("text", SHOWN)
def test_what_shows_quotes_or_mentions_a_call_calls_nothing(text: str) -> None:
    parsed = parse(text, NAMES)
    assert parsed.calls == ()
    assert parsed.unknown == ()


def test_a_call_while_thinking_is_only_planned() -> None:
    call = '<tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}</tool_call>'
    assert calls(f"<think>Maybe {call}</think>It is at six.") == []
    assert calls(f"Maybe {call}</think>It is at six.") == []
    assert parse("<think>Long thoughts.</think>It is at six.", NAMES).text == "It is at six."


def test_a_call_after_which_nothing_is_said_counts_though_it_stands_in_the_thinking() -> None:
    assert calls('<think>I search.\n<tool_call>{"name": "find_notes", "arguments": {"query": "tide"}}</tool_call>') == FIND


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "open_browser", "arguments": {"url": "x"}}</tool_call>',
        '[TOOL_CALLS][{"name": "open_browser", "arguments": {}}]',
        "<function=open_browser><parameter=url>x</parameter></function>",
    ],
)
def test_a_tagged_call_to_an_undeclared_tool_is_told_apart(text: str) -> None:
    parsed = parse(text, NAMES)
    assert (parsed.text, parsed.calls, parsed.unknown) == ("", (), ("open_browser",))


def test_a_placeholder_is_no_tool() -> None:
    assert parse('<tool_call>{"name": "<function-name>", "arguments": {"a": "b"}}</tool_call>', NAMES).unknown == ()
    assert parse('<function_call> {"name": "no_function", "arguments": {}}', NAMES).unknown == ()


def test_two_declared_names_that_differ_in_signs_only_need_the_exact_one() -> None:
    names = ["a_b", "a.b"]
    assert calls('{"name": "a.b", "arguments": {}}', names) == [("a.b", {})]
    assert calls('{"name": "A-B", "arguments": {}}', names) == []


def test_values_without_names_are_passed_on_so_that_the_check_can_name_the_right_ones() -> None:
    assert calls('find_notes("tide")') == [("find_notes", {"argument_1": "tide"})]


SIGNS = [
    "<tool_call>",
    "</tool_call>",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    "“",
    ":",
    ",",
    "find_notes",
    "(",
    ")",
    "=",
    "name",
    "arguments",
]
SIGNS += [
    "<function=find_notes>",
    "<parameter=query>",
    "</parameter>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<|python_tag|>",
    "<think>",
    "</think>",
]
SIGNS += [
    "```json\n",
    "\n```",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "\n",
    " ",
    "tide",
    "<|channel|>",
    "<|message|>",
    "to=",
    "\\",
    "/*",
]


@given(st.lists(st.sampled_from(SIGNS) | st.text(max_size=5), max_size=40).map("".join))
def test_any_text_gives_declared_names_and_objects(text: str) -> None:
    for call in parse(text, NAMES).calls:
        assert call.name in NAMES
        assert isinstance(json.loads(call.arguments), dict)


@given(st.text(st.characters(exclude_characters="<[{(`>", exclude_categories=["Cs"])))
def test_text_without_signs_calls_nothing_and_stays(text: str) -> None:
    parsed = parse(text, NAMES)
    assert parsed.calls == ()
    if not text.startswith(("analysis", "assistantfinal")) and "</" not in text:
        assert parsed.text == text.strip()


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text() | st.integers() | st.booleans() | st.none(), max_size=4))
def test_any_arguments_come_through_the_commonest_form(arguments: dict[str, Any]) -> None:
    if set(arguments) <= {"arguments", "properties"} or arguments == {"type": "object"}:
        return
    text = f"<tool_call>{json.dumps({'name': 'find_notes', 'arguments': arguments})}</tool_call>"
    assert calls(text) == [("find_notes", arguments)]


@pytest.mark.parametrize(
    "sign",
    [
        *("<tool_call>", "{", "[", "<function=f><parameter=a>", '{"', "{“", "<think>", "`", "> ", "f(", "[TOOL_CALLS]"),
        *(" ", "\t", "\n", " \n", "a.", "to=", "assistant "),
    ],
)
def test_much_of_any_sign_ends(sign: str) -> None:
    assert parse(sign * (300_000 // len(sign)), NAMES).calls == ()


@pytest.mark.parametrize("begun", ["", "```json\n", "Action: ", "to=f", "<tool_call>f", "<tool_call>f<arg_key>", "f"])
@pytest.mark.parametrize("blank", [" ", "\n", "\t"])
def test_a_model_that_is_stuck_in_blanks_ends(begun: str, blank: str) -> None:
    assert parse(f"{begun}{blank * 100_000}x", NAMES).calls == ()


@pytest.mark.evals
def test_replies_of_real_models(evals: Path) -> None:
    right = total = 0
    for file in sorted((evals / "text_calls").glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            found = Counter(call.name for call in parse(row["raw_text"], row["names"]).calls)
            expected = [call.get("name") or next(iter(call)) for call in row["expected_calls"] or ()]
            if not expected:
                assert not found, row["id"]
                continue
            total += 1
            folded = {name.casefold().replace(".", "_").replace("-", "_"): name for name in row["names"]}
            right += found == Counter(folded[name.casefold().replace(".", "_").replace("-", "_")] for name in expected)
    assert right >= 0.97 * total
