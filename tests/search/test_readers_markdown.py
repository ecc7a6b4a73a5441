"""Markdown: properties from the front matter, exact blocks, the file's own line numbers, no hidden text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.models import Extract
from search.readers import read


def markdown(source: str) -> Extract:
    return read(Path("note.md"), source.encode())


PROPERTIES = """---
title: "Gateway: timeouts"
date: 2026-09-12
tags: [gateway, "time out", "#ops"]
category: Runbooks
author:
  - Ada
  - Grace
lang: de-DE
updated: 2026-10-01 10:30
severity: 2
code: 0123
reviewed: 2026-09-30
draft: no
nested: {owner: Mia, since: 2025-01-02}
---
# First heading

Body.
"""


def test_front_matter_becomes_properties_and_dates_stay_as_written() -> None:
    extract = markdown(PROPERTIES)
    assert (extract.title, extract.date, extract.category) == ("Gateway: timeouts", "2026-09-12", "Runbooks")
    assert (extract.author, extract.language) == ("Ada; Grace", "de")
    assert extract.tags == ("gateway", "time out", "ops")
    assert extract.modified == "2026-10-01 10:30"
    assert dict(extract.metadata) == {
        "severity": 2,
        "code": "0123",
        "reviewed": "2026-09-30",
        "draft": "no",
        "nested": {"owner": "Mia", "since": "2025-01-02"},
    }
    json.dumps(dict(extract.metadata))


def test_the_text_begins_below_the_front_matter_at_its_line_of_the_file() -> None:
    extract = markdown(PROPERTIES)
    assert extract.text == "# First heading\n\nBody.\n"
    assert PROPERTIES.split("\n")[extract.first_line - 1] == "# First heading"


def test_a_description_in_the_front_matter_can_be_found_at_its_line() -> None:
    source = "---\nname: x\ndescription: Weighs a decision\n  and its cost\ntools: Read\n---\n\nBody\n"
    extract = markdown(source)
    lines = extract.text.split("\n")
    assert lines[:2] == ["description: Weighs a decision", "  and its cost"]
    assert "tools" not in extract.text
    for number, line in enumerate(lines):
        assert not line or source.split("\n")[extract.first_line - 1 + number] == line


def test_toml_front_matter_is_read_too() -> None:
    extract = markdown('+++\ntitle = "T"\ndate = 2026-09-12\ntags = ["a", "b"]\nrank = 1.5\n+++\nBody\n')
    assert (extract.title, extract.date, extract.tags, dict(extract.metadata)) == ("T", "2026-09-12", ("a", "b"), {"rank": 1.5})
    assert (extract.text, extract.first_line) == ("Body\n", 7)


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("a, b c,a", ("a", "b c")),
        ("a b", ("a", "b")),
        ("a", ("a",)),
        ("[]", ()),
        ("2024", ("2024",)),
        ("[x, null, 3]", ("x", "3")),
        ("gateway, \"time out\", 'ops'", ("gateway", "time out", "ops")),
    ],
)
def test_tags_are_a_list_or_words(written: str, tags: tuple[str, ...]) -> None:
    assert markdown(f"---\ntags: {written}\n---\nBody\n").tags == tags


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("a: &x [1, 1]\nb: [*x, *x, *x]", "anchors and aliases are not read"),
        ("a: " + "[" * 500, "nested deeper than 20 levels"),
        ("title: a: b", "line 2: mapping values are not allowed here"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("? [a]\n: b\nc: d", "unhashable"),
        ('priority: !!int ""', "index out of range"),
        ('priority: !!float ""', "index out of range"),
        ("done: !!bool maybe", "maybe"),
        ('due: !!timestamp "abc"', "NoneType"),
        ("n: !!int 0x" + "f" * 4000, "digits"),
    ],
)
def test_front_matter_that_cannot_be_read_is_noted_and_its_words_stay_in_the_text(source: str, reason: str) -> None:
    extract = markdown(f"---\n{source}\n---\nBody\n")
    assert extract.notes[0].startswith("front matter not read: ")
    assert reason in extract.notes[0]
    assert extract.text == f"{source}\n\nBody\n"
    assert extract.first_line == 2


def test_toml_numbers_of_any_size_are_read_or_noted() -> None:
    assert markdown(f"+++\nn = {10**30}\n+++\nBody\n").metadata == {"n": str(10**30)}
    assert "digits" in markdown(f"+++\nn = {'9' * 5000}\n+++\nBody\n").notes[0]


def test_a_rule_on_the_first_line_is_not_front_matter() -> None:
    extract = markdown("---\n\nA paragraph.\n\n---\n\nAnother.\n")
    assert extract.text == "---\n\nA paragraph.\n\n---\n\nAnother.\n"
    assert extract.first_line == 1


def test_without_a_title_the_first_heading_of_level_one_is_the_title() -> None:
    assert markdown("## Two\n\n# *One* with `a_b_c` and [link](http://x)\n").title == "One with a_b_c and link"
    assert markdown("## Two\n\nText\n").title is None


BLOCKS = """Intro line
goes on.

Setext *title*
==============

```python
# not a heading

x = 1
```

    indented

| a | b |
|---|---|
| 1 | 2 |

- one
  - two

      deep code

- three

> quoted
> # not top level

### Closed ###
"""


def test_blocks_are_the_top_level_parts_and_their_offsets_are_exact() -> None:
    extract = markdown(BLOCKS)
    assert [(block.kind, block.level, block.text, extract.text[block.start : block.end]) for block in extract.blocks] == [
        ("paragraph", 0, "", "Intro line\ngoes on."),
        ("heading", 1, "Setext title", "Setext *title*\n=============="),
        ("code", 0, "", "```python\n# not a heading\n\nx = 1\n```"),
        ("code", 0, "", "    indented"),
        ("table", 0, "", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("list", 0, "", "- one\n  - two\n\n      deep code\n\n- three"),
        ("quote", 0, "", "> quoted\n> # not top level"),
        ("heading", 3, "Closed", "### Closed ###"),
    ]


@given(st.text(alphabet="ab #>-*`|\n\t<!=[]():&;1.", max_size=200))
def test_blocks_never_overlap_and_lines_never_move(source: str) -> None:
    extract = markdown(source)
    position = 0
    for block in extract.blocks:
        assert position <= block.start < block.end <= len(extract.text)
        position = block.end
    if extract.first_line == 1 and extract.text:
        assert extract.text.count("\n") == source.count("\n")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a <!-- secret\nsecret --> b\nc\n", "a \n b\nc\n"),
        ("<!-- secret\n\nsecret -->\n\nshown\n", "\n\n\n\nshown\n"),
        ('<div style="display: none">secret <div>secret</div> secret</div>shown\n', "shown\n"),
        ("<span hidden>secret</span>shown\n", "shown\n"),
        ("<span style='height:0;overflow:hidden'>secret</span>shown\n", "shown\n"),
        ("<span style=display&#58;none>secret</span>shown\n", "shown\n"),
        ('<span style="display:/**/none">secret</span>shown\n', "shown\n"),
        ('<b title="display:none">shown</b>\n', '<b title="display:none">shown</b>\n'),
        ("<script>\nsecret\n</script>\nshown\n", "\n\n\nshown\n"),
        ("[//]: # (secret)\n\nshown\n", "\n\nshown\n"),
        ('[comment]: <> "secret"\n\nshown\n', "\n\nshown\n"),
        ("`<!-- code -->` shown\n", "`<!-- code -->` shown\n"),
        ("```\n<!-- code -->\n[//]: # (code)\n```\n", "```\n<!-- code -->\n[//]: # (code)\n```\n"),
        ("```\n<!-- code -->\n```\n\n[//]: # (secret)\n", "```\n<!-- code -->\n```\n\n\n"),
        ("- item\n\n      <!-- code -->\n", "- item\n\n      <!-- code -->\n"),
        ("text with <!-- only an opening\n", "text with <!-- only an opening\n"),
        ("<b>bold</b> and <br> stay\n", "<b>bold</b> and <br> stay\n"),
    ],
)
def test_what_a_page_would_not_show_is_not_text_and_lines_keep_their_numbers(source: str, shown: str) -> None:
    assert markdown(source).text == shown


def test_a_comment_that_is_never_closed_is_noted() -> None:
    extract = markdown("shown\n\n<!-- secret\n\nsecret\n")
    assert extract.text == "shown\n\n\n\n\n"
    assert extract.notes == ("a comment or hidden element is never closed: what follows it is left out",)


def test_embedded_images_lose_their_data() -> None:
    extract = markdown(f"![plot](data:image/png;base64,{'iVBORw0KGgo' * 50}) shown\n")
    assert extract.text == "![plot](data:image/png;base64,) shown\n"


@pytest.mark.parametrize("unit", ["> ", "[", "- ", "*a ", "<!--", "<div hidden>", "`", "#", "![](", "&"])
def test_pathological_nesting_is_read(unit: str) -> None:
    assert markdown("start\n\n" + unit * 20_000).text.startswith("start")
