"""What `assistant.render` promises: nothing a terminal would obey, lines that fit, styles and links only where they belong."""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant import render
from search import Coverage, DateRange, Document, Hit, Passage

HOSTILE = "a\x1b[31mred\x1b]8;;http://evil\x1b\\click\x07\x9b1mC1\r\x08\x00\u202eoverride\u2066isolate\u061cmark\u200bzero\ufeff\U000e0041tag\ud800"


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    return Screen()


def document(**fields: Any) -> Document:
    given: dict[str, Any] = {
        **dict.fromkeys(["category", "author", "language", "date_source", "created", "modified", "pages"]),
        "id": 1,
        "root": "/r",
        "path": "a.md",
        "title": "T",
        "format": "markdown",
        "tags": (),
        "date": "2026-10-01",
        "size": 1,
        "text_status": "ok",
        "metadata": {},
        "indexed_at": "2026-10-01T00:00:00Z",
    }
    return Document(**{**given, **fields})


def hit(text: str = "the gateway", **fields: Any) -> Hit:
    headings = fields.pop("headings", ())
    matched = fields.pop("matched", ())
    page = fields.pop("page", None)
    passage = Passage(1, "a1b2c3d4e5".replace("1", "2"), 1, 0, headings, page, 3, 5, 0, len(text), text, 9)
    return Hit(document(**fields), passage, 1.0, matched=matched)


# What a terminal would obey


@given(st.text(st.characters(codec=None)))
@example(HOSTILE)
def test_safe_text_holds_nothing_that_a_terminal_obeys_or_hides(text: str) -> None:
    for shown in (render.safe(text), render.one_line(text)):
        for character in shown:
            assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"} or character in "\t\n"
            assert unicodedata.bidirectional(character) not in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert "\n" not in render.one_line(text)
    assert "\t" not in render.one_line(text)


@given(st.text(max_size=50))
def test_text_without_such_characters_is_left_alone(text: str) -> None:
    plain = "".join(c for c in text if unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} and ord(c) < 0xE0000)
    assert render.safe(plain) == plain


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(VALUES)
@example({HOSTILE: [HOSTILE]})
@example('back\\slash " quote \\u202e')
def test_json_loses_nothing_and_holds_nothing_a_terminal_obeys(value: object) -> None:
    written = render.as_json(value)
    if not any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(value, ensure_ascii=False)):
        assert json.loads(written) == value
    assert render.safe(written) == written
    assert "\n" not in written


@pytest.mark.parametrize("field", ["text", "title", "path", "date", "headings", "matched"])
def test_hits_show_nothing_hostile_of_a_document(screen: Screen, monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    values: dict[str, Any] = {field: (HOSTILE,) if field in {"headings", "matched"} else HOSTILE}
    if field == "date":
        values = {"date": "2026-10-01"}
    render.hits([hit(**values)], render.Terminal(screen), explain=True)
    assert render.safe(screen.getvalue()) == screen.getvalue()
    assert "\x1b" not in screen.getvalue()


def test_only_our_own_escapes_stand_around_hostile_text(screen: Screen) -> None:
    shown = hit(HOSTILE, path=HOSTILE, title=HOSTILE, matched=("red",), root="/r")
    shown = Hit(document(path="x\x1b]8;;http://evil\x1b\\.md", title=HOSTILE), shown.passage, 1.0, matched=("red",))
    render.hits([shown], render.Terminal(screen), explain=False)
    written = screen.getvalue()
    assert written.count("\x1b]8;;file://") == 1
    rest = re.sub(r"\x1b\]8;;(?:file://[\w.%/-]*)?\x1b\\|\x1b\[(?:1|2|0|1;33)m", "", written)
    assert render.safe(rest) == rest
    assert "red" in rest


# Styles and links


@pytest.mark.parametrize(
    ("environment", "styled", "linked"),
    [
        ({}, True, True),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": ""}, False, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_styles_and_links_follow_the_terminal(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], styled: bool, linked: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    terminal = render.Terminal(screen)
    assert (terminal.style("x", "1") != "x", terminal.link("x", Path("/a"), 1) != "x") == (styled, linked)


def test_no_terminal_gets_no_style_and_no_link(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = render.Terminal(io.StringIO())
    assert (terminal.style("x", "1"), terminal.link("x", Path("/a"), 1), terminal.interactive) == ("x", "x", False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert render.Terminal(io.StringIO()).style("x", "1") == "\x1b[1mx\x1b[0m"


def test_a_link_leads_to_the_file_with_its_name_quoted(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = render.Terminal(screen)
    written = terminal.link("x", Path("/a b/ü;\x1b\n%.md"), 7)
    assert re.fullmatch(r"\x1b\]8;;file://[\w.-]+/a%20b/%C3%BC%3B%1B%0A%25\.md\x1b\\x\x1b\]8;;\x1b\\", written)
    monkeypatch.setenv("EDITOR_URI", "vscode://file/{path}:{line}:{col}\x1b\\")
    assert terminal.link("x", Path("/a b.md"), 7) == "\x1b]8;;vscode://file//a%20b.md:7:1\\\x1b\\x\x1b]8;;\x1b\\"
    assert terminal.link("x", Path("corpus/1"), 7) == "x", "texts of programs are no files"


def test_what_a_stream_cannot_show_becomes_a_question_mark() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    render.Terminal(stream).write("Grüße 日本 …")
    stream.flush()
    assert raw.getvalue() == b"Gr??e ?? ?\n"


# Snippets

WIDTHS = [40, 41, 80, 140]
LONG = {
    "English": " ".join(f"word{number}" for number in range(300))
    + " gateway "
    + " ".join(f"more{number}" for number in range(300)),
    "Japanese": "日本語の文章です。" * 60 + "接続" + "長い説明が続きます。" * 60,
    "Japanese, not so long": "日本語の文章です。" * 15 + "接続" + "長い説明。",
    "Thai": "ข้อความภาษาไทย" * 40 + "gateway" + "ความปลอดภัย" * 40,
    "one long word": "x" * 500 + "-gateway-" + "y" * 500,
    "sharp s": "Straße ß " * 100 + "gateway " + "ß " * 100,
}


def columns(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", LONG)
def test_a_snippet_shows_the_matched_word_in_three_lines_that_fit(name: str, width: int) -> None:
    word = "接続" if "Japanese" in name else "gateway"
    lines = render.snippet(LONG[name], (word,), width)
    assert 1 <= len(lines) <= 3
    assert all(columns(line) <= width for line in lines)
    assert word in "".join(lines).replace(" ", "")


@given(st.text(max_size=300), st.lists(st.text(max_size=5), max_size=3), st.sampled_from(WIDTHS))
def test_any_snippet_fits(text: str, matched: list[str], width: int) -> None:
    lines = render.snippet(text, matched, width)
    assert len(lines) <= 3
    assert all(columns(line) <= width and "\n" not in line for line in lines)


def test_a_short_text_is_shown_whole_without_marks_of_omission() -> None:
    assert render.snippet("the gateway\ntimes   out", ("gateway",), 80) == ["the gateway times out"]
    assert render.snippet("日本語のテキスト", (), 40) == ["日本語のテキスト"]
    assert render.snippet("", (), 40) == []
    for spaced in ("done 🎉 yes🎉", "the word 「接続」 is「接続」here", "使用Python 3 编程 now"):
        assert render.snippet(spaced, (), 80) == [spaced]
    assert render.snippet("# Gateway\n\nThe text", (), 80) == ["The text"]
    assert render.snippet("# Gateway", (), 80) == ["# Gateway"]


@pytest.mark.parametrize("text", ["-" * 5000 + "x", "|---" * 2000 + "x", ": " * 5000 + "x", "# \n" * 3000 + "x", " " * 20000 + "x"])
def test_no_text_of_a_document_keeps_a_snippet_busy(text: str) -> None:
    assert len(render.snippet(text, (), 80)) <= 3


def test_matched_words_are_marked_as_words(screen: Screen) -> None:
    terminal = render.Terminal(screen)
    assert render.mark("art in a Party, ART", ("art",), terminal) == "\x1b[1;33mart\x1b[0m in a Party, \x1b[1;33mART\x1b[0m"
    assert render.mark("C++ and 接続中", ("C++", "接続"), terminal) == "\x1b[1;33mC++\x1b[0m and \x1b[1;33m接続\x1b[0m中"
    assert render.mark("a (b) .*", (".*", "", " "), terminal) == "a (b) \x1b[1;33m.*\x1b[0m"
    assert render.mark("x", (), terminal) == "x"


@pytest.mark.parametrize("width", ["1", "20", "40", "57"])
def test_lines_fit_a_narrow_terminal(screen: Screen, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("NO_COLOR", "1")
    found = [
        hit(LONG[name], title="A rather long title " * 5, headings=("見出し" * 20,), matched=("gateway", "接続")) for name in LONG
    ]
    render.hits(found, render.Terminal(screen), explain=False)
    lines = screen.getvalue().splitlines()
    assert len(lines) > len(found) * 3
    assert max(map(columns, lines)) <= max(40, int(width))


def test_hits_are_numbered_with_place_key_and_date(capsys: pytest.CaptureFixture[str]) -> None:
    found = [hit(headings=("T", "Part"), matched=("gateway",)), hit(path="b.pdf", page=4, date=None)]
    render.hits(found, render.Terminal(sys.stdout), explain=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1  a.md:3  a2b2c3d4e5  2026-10-01"
    assert lines[1] == "   T > Part"
    assert lines[2] == "   the gateway"
    assert lines[3] == "   score 1.000; keyword -; vector -; matched gateway"
    assert lines[4] == "2  b.pdf p. 4  a2b2c3d4e5"


# Words for figures


@pytest.mark.parametrize(
    ("resolved", "field", "words"),
    [
        (None, "date", None),
        (DateRange("2026-09-01", "2026-09-30"), "date", "dated 2026-09-01 to 2026-09-30"),
        (DateRange("2026-09-01", "2026-09-01"), "modified", "changed 2026-09-01"),
        (DateRange("2026-09-01", None), "created", "created 2026-09-01 or later"),
        (DateRange(None, "2026-09-30"), "date", "dated 2026-09-30 or earlier"),
    ],
)
def test_ranges_in_words(resolved: DateRange | None, field: str, words: str | None) -> None:
    assert render.date_range(resolved, field) == words


def test_ages_and_coverage_in_words() -> None:
    now = datetime(2026, 10, 15, 12, tzinfo=UTC)
    for moment, words in (
        ("2026-10-15T11:59:30Z", "just now"),
        ("2026-10-15T11:59:00Z", "1 minute ago"),
        ("2026-10-15T10:00:00Z", "2 hours ago"),
        ("2026-10-13T12:00:00Z", "2 days ago"),
        ("2026-10-16T12:00:00Z", "just now"),
    ):
        assert render.age(moment, now) == words
    assert render.coverage(Coverage(60, 3, 100, 90, None)) == "60 documents, 3 without text, 10 passages not embedded"
    assert [render.bytes_in_words(size) for size in (0, 1500, 2_340_000)] == ["0.0 kB", "1.5 kB", "2.3 MB"]


def test_marks_upon_one_letter_take_its_column_however_many_they_are() -> None:
    piled = "e" + "\u0301" * 100_000
    assert render.wrapped(f"{piled} and more", 8) == [f"{piled} and", "more"]
    assert render.cut(f"abc{piled}fgh", 5) == f"abc{piled}…"
