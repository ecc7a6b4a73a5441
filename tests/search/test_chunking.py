from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standin import StandIn

from search.chunking import MAX_CHARACTERS, Chunk, chunk, embedded_text
from search.models import Block, Extract

TOKENIZER = StandIn()
_pieces = st.sampled_from(
    ["word", "two words", ".", "。", "\n", "\n\n", " ", "\t", "合約轉換", "ภาษาไทย", "x" * 400, "a. b. c.", "— é", "🙂"]
)
texts = st.lists(_pieces, max_size=120).map(" ".join) | st.lists(_pieces, max_size=120).map("".join) | st.text(max_size=600)


def extract(text: str, *blocks: Block, **more: object) -> Extract:
    return Extract(text=text, format="markdown", blocks=blocks, **more)  # type: ignore[arg-type]


def heading(text: str, line: str, level: int) -> Block:
    start = text.index(line)
    return Block(start, start + len(line), "heading", level, line.lstrip("# "))


def block(text: str, body: str, kind: str) -> Block:
    start = text.index(body)
    return Block(start, start + len(body), kind)  # type: ignore[arg-type]


def shown(text: str, chunks: list[Chunk]) -> list[str]:
    return [text[piece.start : piece.end] for piece in chunks]


@settings(max_examples=150, deadline=None)
@given(texts)
def test_every_character_that_is_not_white_space_lies_in_exactly_one_passage(text: str) -> None:
    chunks = chunk(extract(text), TOKENIZER, max_tokens=40)
    position = 0
    for piece in chunks:
        assert not text[position : piece.start].strip()
        assert piece.start < piece.end
        position = piece.end
    assert not text[position:].strip()


@settings(max_examples=150, deadline=None)
@given(texts)
def test_no_passage_is_longer_than_the_model_reads(text: str) -> None:
    for piece in chunk(extract(text, title="A title of its own"), TOKENIZER, max_tokens=40):
        counted = len(TOKENIZER.token_starts(embedded_text(piece.context, text[piece.start : piece.end])))
        assert counted == piece.tokens <= 40
        assert piece.end - piece.start <= MAX_CHARACTERS


@settings(max_examples=100, deadline=None)
@given(texts, st.integers(1, 500))
def test_lines_are_counted_as_in_the_file(text: str, first: int) -> None:
    for piece in chunk(extract(text, first_line=first), TOKENIZER, max_tokens=40):
        assert piece.first_line == first + text.count("\n", 0, piece.start)
        assert piece.last_line == first + text.count("\n", 0, piece.end)


def test_a_passage_knows_the_path_of_its_headings() -> None:
    text = "# Guide\n\nIntro.\n\n## Install\n\nRun it.\n\n### Linux\n\nUse apt.\n\n## Use\n\nPress.\n"
    marks = [heading(text, line, level) for line, level in (("# Guide", 1), ("## Install", 2), ("### Linux", 3), ("## Use", 2))]
    chunks = chunk(extract(text, *marks), TOKENIZER)
    assert [piece.headings for piece in chunks] == [
        ("Guide",),
        ("Guide", "Install"),
        ("Guide", "Install", "Linux"),
        ("Guide", "Use"),
    ]


def test_a_heading_stands_in_the_text_of_its_first_passage_and_is_not_embedded_twice() -> None:
    text = "# Guide\n\n## Install\n\nRun it."
    (only,) = chunk(extract(text, heading(text, "# Guide", 1), heading(text, "## Install", 2)), TOKENIZER)
    assert text[only.start : only.end] == text
    assert only.headings == ("Guide", "Install")
    assert only.context == ""


def test_later_passages_of_a_section_are_embedded_with_the_whole_path_and_the_title() -> None:
    text = "## Install\n\n" + "\n\n".join(f"Paragraph {number} says a few words." for number in range(30))
    chunks = chunk(extract(text, heading(text, "## Install", 2), title="Guide"), TOKENIZER, max_tokens=60)
    assert chunks[0].context == "Guide"
    assert {piece.context for piece in chunks[1:]} == {"Guide > Install"}


def test_a_code_block_that_fits_is_not_cut() -> None:
    code = "```\n" + "\n".join(f"line {number} = value" for number in range(8)) + "\n```"
    text = "Words before it. " * 6 + "\n\n" + code + "\n\n" + "Words after it. " * 6
    chunks = chunk(extract(text, block(text, code, "code")), TOKENIZER, max_tokens=60)
    assert any(code in passage for passage in shown(text, chunks))


@pytest.mark.parametrize("kind", ["code", "table"])
def test_a_longer_code_block_or_table_is_cut_at_line_ends(kind: str) -> None:
    lines = [f"| row {number} | value {number * 7} |" for number in range(60)]
    text = "\n".join(lines)
    chunks = chunk(extract(text, block(text, text, kind)), TOKENIZER, max_tokens=60)
    assert len(chunks) > 1
    assert "\n".join(shown(text, chunks)).split("\n") == lines


def test_prose_is_cut_between_sentences() -> None:
    text = " ".join(f"This is sentence number {number} of a long paragraph." for number in range(60))
    for passage in shown(text, chunk(extract(text), TOKENIZER, max_tokens=60)):
        assert passage.startswith("This is sentence")
        assert passage.endswith("paragraph.")


def test_no_passage_crosses_a_page() -> None:
    text = "First page.\n\nSecond page starts.\n\nStill second.\n\nThird."
    starts = (0, text.index("Second"), text.index("Third"))
    chunks = chunk(extract(text, page_starts=starts), TOKENIZER)
    assert [(piece.page, text[piece.start : piece.end]) for piece in chunks] == [
        (1, "First page."),
        (2, "Second page starts.\n\nStill second."),
        (3, "Third."),
    ]


def test_an_edit_in_one_section_leaves_the_passages_of_the_others_alone() -> None:
    def passages(middle: str) -> list[str]:
        text = f"# A\n\n{'Alpha words. ' * 40}\n\n# B\n\n{middle}\n\n# C\n\n{'Gamma words. ' * 40}"
        marks = [heading(text, line, 1) for line in ("# A", "# B", "# C")]
        return shown(text, chunk(extract(text, *marks), TOKENIZER, max_tokens=60))

    before, after = passages("Beta words. " * 20), passages("Something else entirely. " * 33)
    assert [p for p in before if "Beta" not in p and "# B" not in p] == [
        p for p in after if "Something" not in p and "# B" not in p
    ]


def test_a_section_does_not_end_in_a_scrap() -> None:
    text = "\n\n".join(f"Paragraph {number} has six words." for number in range(9))
    sizes = [piece.tokens for piece in chunk(extract(text), TOKENIZER, max_tokens=60)]
    assert min(sizes) >= 15


def test_a_long_heading_path_does_not_crowd_out_the_text() -> None:
    title = "word " * 400
    chunks = chunk(extract("Some text of the document. " * 50, title=title), TOKENIZER, max_tokens=100)
    assert all(len(TOKENIZER.token_starts(piece.context)) <= 60 for piece in chunks)


def test_a_limit_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens: got 10, want 32 or more"):
        chunk(extract("text"), TOKENIZER, max_tokens=10)
