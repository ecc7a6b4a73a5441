"""The check as a whole: block by block, as JSON, and the lines under an answer."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from cited import EVIDENCE, KEY, OTHER_KEY, OTHER_TEXT, TEXT, checked, passage

from assistant import render
from assistant.citations import Checker, check
from search import Coverage

ANSWER = """Restart the pool [fghij23456]. It "waits 30 seconds for psycopg" [abcde23456].

It was raised to 1,234.5 ms, or "1,235 ms"; see [zzzzz22222].

> The tracker leaks memory every day

[fghij23456]"""


def test_what_fails_is_marked_in_the_answer_and_never_hidden() -> None:
    assert (
        checked(ANSWER).text
        == """Restart the pool [1]. It "waits 30 seconds for psycopg" [2].

It was raised to 1,234.5 ms, or "1,235 ms" (⚠ altered); see [?].

> The tracker leaks memory every day (⚠ altered)

[1]"""
    )


def test_blocks_checked_one_by_one_read_like_the_whole() -> None:
    stored = {KEY: TEXT, OTHER_KEY: OTHER_TEXT}
    checker = Checker(question="", evidence=EVIDENCE, results=(), stored_text=stored.get)
    *blocks, last = ANSWER.split("\n\n")
    blocks[-1] += "\n\n" + last
    assert "\n\n".join(checker.check(block).text for block in blocks) == checked(ANSWER).text


def test_a_quotation_in_a_later_block_belongs_to_the_citation_before_it() -> None:
    checker = Checker(question="", evidence=EVIDENCE, results=(), stored_text={KEY: TEXT}.get)
    checker.check(f"From [{KEY}]:")
    assert checker.check("> Restart the pool first").quotes[0].verdict == "verified"


def test_verdicts_as_json() -> None:
    shown = checked('"Restart the pool last" [abcde23456] 30 31 [zzzzz22222]').as_objects()
    assert shown == {
        "citations": [
            {"key": KEY, "number": 1, "source": "runbooks/timeouts.md:3-7", "verdict": "retrieved"},
            {"key": "zzzzz22222", "number": None, "source": None, "verdict": "unknown"},
        ],
        "quotes": [
            {
                "text": "Restart the pool last",
                "key": KEY,
                "verdict": "altered",
                "nearest": "Restart the pool first",
                "other_key": None,
            }
        ],
        "numbers": [{"text": "30", "verdict": "found"}, {"text": "31", "verdict": "not found"}],
    }


def test_stored_text_is_asked_for_once_for_a_document() -> None:
    asked: list[str] = []

    def stored(key: str) -> str:
        asked.append(key)
        return TEXT

    check(
        f'"Restart the pool first" "ask the on-call engineer" [{KEY}]',
        question="",
        evidence=EVIDENCE,
        results=(),
        stored_text=stored,
    )
    assert asked == [KEY]


def plain_terminal() -> render.Terminal:
    return render.Terminal(io.StringIO())


def test_sources_show_place_key_date_headings_and_what_is_stale() -> None:
    stale = passage(
        "mmmmm22222", "x", path="a\x1b[31m.pdf", page=4, title="A", headings=("B",), date=None, stale="its file has changed"
    )
    answer = checked(f"One [{KEY}] two [mmmmm22222].", evidence=[*EVIDENCE, stale])
    assert render.source_lines(answer, plain_terminal()) == [
        f"[1] runbooks/timeouts.md:3  {KEY}  2026-10-15",
        "    Timeouts of the database > Database timeouts",
        "[2] a.pdf p. 4  mmmmm22222  (its file has changed since it was indexed)",
        "    A > B",
    ]


def test_a_source_is_a_link_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "/r/runbooks/timeouts.md\x1b\\" in render.source_lines(checked(f"[{KEY}]"), render.Terminal(Screen()))[0]


def test_doubts_say_what_failed_and_what_is_known() -> None:
    said = ("Restart the pool last", "The tracker leaks memory", "purple elephants dance\x1b")
    answer = checked(" ".join(f'"{words}" [{KEY}].' for words in said) + " 31 [zzzzz22222] [1]")
    assert render.doubt_lines(answer) == [
        "cited, but not retrieved in this conversation: zzzzz22222, 1",
        '"Restart the pool last" is altered; [1] has "Restart the pool first"',
        f'"The tracker leaks memory" stands in {OTHER_KEY}, not in [1]',
        '"purple elephants dance" does not stand in [1]',
        "in no result and no cited passage: 31",
    ]
    assert render.doubt_lines(checked(f'"Restart the pool first" [{KEY}]')) == []


@pytest.mark.parametrize(
    ("coverage", "note"),
    [
        (Coverage(412, 3, 900, 900, "2026-10-13T08:00:00+00:00"), "3 of 412 files had no text; the index is 2 days old"),
        (
            Coverage(5, 0, 9, 7, "2026-10-15T07:59:30+00:00"),
            "all 5 files had text; 2 of 9 passages without embedding; the index is up to the minute",
        ),
        (Coverage(0, 0, 0, 0, None), "nothing was indexed yet"),
    ],
)
def test_coverage_accompanies_what_counts_or_lists(coverage: Coverage, note: str) -> None:
    assert render.coverage_note(coverage, datetime(2026, 10, 15, 8, tzinfo=UTC)) == note
