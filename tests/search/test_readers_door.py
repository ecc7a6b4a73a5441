"""read() chooses the reader, and says why a file has no text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from search.models import Extract
from search.readers import FORMATS, read


@pytest.mark.parametrize(
    ("name", "data", "format_name"),
    [
        ("a.py", b"import os\n", "python"),
        ("a.GO", b"package main\n", "go"),
        ("a.sql", b"select 1;\n", "sql"),
        ("a.sh", b"ls\n", "shell"),
        ("a.js", b"let a;\n", "javascript"),
        ("a.json", b"{}\n", "json"),
        ("a.yml", b"a: 1\n", "yaml"),
        ("a.log", b"started\n", "text"),
        ("README", b"hello\n", "text"),
        ("Makefile", b"all:\n", "make"),
        ("run", b"#!/usr/bin/env python3\nprint()\n", "python"),
        ("run", b"#!/bin/bash -e\nls\n", "shell"),
        ("a.md", b"# A\n", "markdown"),
        ("page", b"<!DOCTYPE html><p>hello", "html"),
        ("a.xml", b"<a>x</a>", "xml"),
        ("a.unknown", b"just words\n", "text"),
        ("a.csv", b"a,b\n1,2\n", "csv"),
        ("a.TSV", b"a\tb\n1\t2\n", "tsv"),
        ("a.tab", b"a\tb\n1\t2\n", "tsv"),
        ("a.jsonl", b'{"a": 1}\n{"a": 2}\n', "json"),
    ],
)
def test_the_format_has_the_name_that_a_person_would_type(name: str, data: bytes, format_name: str) -> None:
    extract = read(Path(name), data)
    assert extract.format == format_name
    assert extract.no_text is None


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.csv", b",,\n,,\n", "empty: no value in any cell"),
        ("a.tsv", b" \t\n", "empty: only white space"),
        ("a.csv", bytes(range(256)), "binary: the content is not text"),
        ("a.db", b"\x00\x01 something else", "binary: no SQLite database, or an encrypted one"),
        ("a.docx", b"PK\x03\x04", "no reader for .docx yet"),
        ("a.eml", b"From: a\n\nb", "no reader for .eml yet"),
        ("a.zip", b"PK\x03\x04", "no reader for .zip yet"),
        ("a.png", b"\x89PNG", "binary: image"),
        ("a.mp3", b"ID3", "binary: audio"),
        ("a.bin", bytes(range(256)), "binary, no reader for .bin"),
        ("a.xyz", b"PK\x03\x04 and text", "binary, no reader for .xyz"),
        ("program", b"\x7fELF" + bytes(100), "binary, no reader for it"),
        ("a.txt", bytes(range(256)), "binary: the content is not text"),
        ("a.md", bytes(range(256)), "binary: the content is not text"),
        ("a.html", bytes(range(256)), "binary: the content is not text"),
        ("a.txt", b"", "empty file"),
        ("a.pdf", b"", "empty file"),
        ("a.md", b"", "empty file"),
        ("a.txt", b" \n\t\n", "empty: only white space"),
        ("a.md", b"---\ntitle: T\n---\n \n", "empty: nothing below the front matter"),
    ],
)
def test_a_file_without_text_says_why(name: str, data: bytes, reason: str) -> None:
    extract = read(Path(name), data)
    assert (extract.text, extract.no_text) == ("", reason)


def test_lines_of_text_and_code_are_those_of_the_file() -> None:
    data = b"one\r\ntwo\x0cstill two\rthree\n\n\tfive\xe2\x80\xa8still five"
    extract = read(Path("a.txt"), data)
    assert extract.text.split("\n") == ["one", "two still two", "three", "", "\tfive\u2028still five"]
    assert extract.first_line == 1


def test_a_reader_is_a_function_from_content_and_name_to_an_extract() -> None:
    for suffix, reader in FORMATS.items():
        if suffix not in {".pdf", ".xlsx", ".xlsm", ".ods", ".parquet", ".pq"}:  # these refuse what they cannot open
            assert isinstance(reader(b"<a>words</a>", Path(f"a{suffix}")), Extract)


def test_readers_import_their_libraries_only_when_used() -> None:
    program = (
        "import sys; from pathlib import Path; from search.readers import read; read(Path('a.txt'), b'words');"
        "heavy = ('pypdf', 'selectolax', 'markdown_it', 'yaml', 'charset_normalizer', 'openpyxl', 'pyarrow');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
