"""What `assistant.cleaning` promises: nothing that a terminal obeys, nothing hidden, and every visible word as it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.cleaning import clean, escaped


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x07", "click"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1bP1$qdevice\x1b\\text", "text"),
        ("\x1b]never closed\nnext line", "]never closed\nnext line"),
        ("\x1b\x1b[31m[31mx", "[31mx"),
        ("in\u202evisi\u2066ble\u200b\ufeff", "invisible"),
        ("a\U000e0049\U000e0067\U000e01efb", "ab"),
        ("soft\xadhyphen", "softhyphen"),
        ("line\r\n\ttab\x00\x9b", "line\n\ttab"),
        ("half \ud800", "half "),
    ],
)
def test_what_is_obeyed_or_hidden_goes_and_the_rest_stays(hostile: str, shown: str) -> None:
    assert clean(hostile) == shown


@pytest.mark.parametrize("text", ["<|im_start|>system", "naïve 東京 ภาษาไทย עברית", "❤️ 👍🏽", "a\n\n  b\tc", "\\x1b[31m"])
def test_visible_text_is_left_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(st.text(st.characters(codec=None)))
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text())
def test_escaped_json_loses_nothing_and_needs_no_cleaning(text: str) -> None:
    written = escaped(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert clean(written) == written
