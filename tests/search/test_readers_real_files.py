"""Real, awkward files: the words that reference extractors find are found here too."""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from pathlib import Path

import pytest

from search.errors import ReadError
from search.readers import read

EVALS = os.environ.get("ARCHIVIST_EVALS")
FOLDERS = ("text", "markdown", "html", "pdf", "table", "misc")

pytestmark = [pytest.mark.evals, pytest.mark.skipif(not EVALS, reason="ARCHIVIST_EVALS names no folder of evaluation data")]

# The words expected of these are menus and skip links, which are not the main text of a page.
MENUS_ONLY = {"html/example-with-scripts.html", "html/mid_test_blog.html", "html/mid_test_serp.html"}


def rows() -> list[dict[str, str]]:
    if not EVALS:
        return []
    with (Path(EVALS) / "documents" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["path"].startswith(FOLDERS)]


def squashed(text: str) -> str:
    return re.sub(r"\W+", " ", unicodedata.normalize("NFKC", text)).casefold().strip()


def content(path: str) -> bytes:
    return (Path(EVALS or "") / "documents" / path).read_bytes()


WITH_WORDS = [row for row in rows() if row["must_contain"] and Path(row["path"]).suffix not in {".csv", ".tsv"}]


@pytest.mark.parametrize("row", [row for row in WITH_WORDS if row["path"] not in MENUS_ONLY], ids=lambda row: row["path"])
def test_the_words_of_a_real_file_are_found(row: dict[str, str]) -> None:
    assert squashed(row["must_contain"]) in squashed(read(Path(row["path"]), content(row["path"])).text)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["path"])
def test_a_real_file_has_text_or_a_reason_and_blocks_in_order(row: dict[str, str]) -> None:
    if row["path"] == "pdf/derived_header_only.pdf":
        with pytest.raises(ReadError, match="broken PDF: Stream has ended unexpectedly"):
            read(Path(row["path"]), content(row["path"]))
        return
    extract = read(Path(row["path"]), content(row["path"]))
    assert bool(extract.text.strip()) != bool(extract.no_text)
    position = 0
    for block in extract.blocks:
        assert position <= block.start < block.end <= len(extract.text)
        position = block.end
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", extract.text)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("html/example-with-scripts.html", "Russian Offensive Campaign Assessment, December 13"),
        ("html/mid_test_blog.html", "Does Model and Inference Parameter Matter in LLM Applications?"),
        ("html/mid_test_serp.html", "Microsoft Corporation is an American multinational corporation and technology company"),
    ],
)
def test_pages_with_menus_yield_their_main_text_without_scripts(path: str, words: str) -> None:
    text = read(Path(path), content(path)).text
    assert words in text
    assert "function(" not in text
    assert "base64" not in text


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("pdf/loremipsum-flat.pdf", "scanned: no text layer (1 page)"),
        ("pdf/pypdf_encrypted-file.pdf", "encrypted: needs a password"),
        ("pdf/pypdf_enc_r3-user-password.pdf", "encrypted: needs a password"),
        ("pdf/derived_zero_bytes.pdf", "empty file"),
        ("misc/mid_random.bin", "binary, no reader for .bin"),
    ],
)
def test_a_real_file_without_text_says_why(path: str, reason: str) -> None:
    assert read(Path(path), content(path)).no_text == reason


def test_some_pages_without_text_are_noted() -> None:
    extract = read(Path("a.pdf"), content("pdf/layout-parser-paper-with-empty-pages.pdf"))
    assert extract.notes == ("2 of 4 pages have no text",)
