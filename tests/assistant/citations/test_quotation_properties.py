"""The promise on quotations: a span of a document always verifies, one with a letter or digit replaced never does.

What stands nowhere is told here by a rule of its own: letters and digits alone, whatever their case. It is looser than the check.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assistant.citations import Checked, check
from assistant.tools import Evidence

LIBRARY = Path(__file__).parents[3] / "data" / "library"
DOCUMENTS = {path.relative_to(LIBRARY).as_posix(): path.read_text("utf-8") for path in sorted(LIBRARY.rglob("*.md"))}
KEY = "abcde23456"

DASHES = "-‐‑–—−"
SPACES = " \u00a0\u2009\u3000\t\n"
SINGLE = "'’‘"
MARKS = [("“", "”"), ("«", "»"), ("「", "」"), ("„", "“"), ('"', '"'), ("『", "』")]
UNSPACED = "[\u3040-\u30ff\u4e00-\u9fff\u0e01-\u0e4e]"


def checked(answer: str, text: str) -> Checked:
    passage = Evidence(KEY, "a.md", "/r", "", (), None, 1, 9, None, text[:300])
    return check(answer, question="", evidence=[passage], results=[], stored_text=lambda _: text)


def letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def is_mark(character: str) -> bool:
    """Whether it belongs to the letter before it; the Thai am is a mark and a letter in one."""
    return unicodedata.category(unicodedata.normalize("NFKC", character or "x")[0])[0] == "M"


@st.composite
def spans(draw: st.DrawFn, document: str) -> str:
    """Words of a document in a row, three at least; in scripts without spaces a part of them."""
    words = list(re.finditer(r"\S+", document))
    first = draw(st.integers(0, len(words) - 3))
    last = draw(st.integers(first + 2, min(first + 25, len(words) - 1)))
    return document[words[first].start() : words[last].end()]


@st.composite
def parts(draw: st.DrawFn, document: str) -> str:
    """A part of a run of letters that no space sets apart, six at least."""
    runs = re.findall(f"{UNSPACED}{{8,}}", document)
    run = draw(st.sampled_from(runs))
    start = draw(st.integers(0, len(run) - 7))
    part = run[start : draw(st.integers(start + 6, len(run)))]
    following = run[start + len(part) : start + len(part) + 1]
    assume(not is_mark(part[0]) and not is_mark(following))
    return part


@st.composite
def quoted(draw: st.DrawFn, span: str) -> str:
    """A span between marks that do not stand in it, or as quoted lines."""
    fitting = [pair for pair in MARKS if not {*pair} & {*span}]
    if draw(st.booleans()) and fitting:
        opening, closing = draw(st.sampled_from(fitting))
        return f"It says {opening}{span}{closing} [{KEY}]."
    return "> " + span.replace("\n", "\n> ") + f"\n\n[{KEY}]"


def retyped(draw: st.DrawFn, span: str) -> str:
    """The span as another keyboard or another line length would have it."""
    kinds = {**dict.fromkeys(DASHES, DASHES), **dict.fromkeys(SPACES, SPACES), **dict.fromkeys(SINGLE, SINGLE)}
    typed = "".join(draw(st.sampled_from(kinds[c])) if c in kinds else c for c in span)
    typed = re.sub(r"\n\s*\n", "\n", typed)
    return unicodedata.normalize(draw(st.sampled_from(["NFC", "NFD"])), typed)


def verdicts(answer: str, text: str) -> list[str]:
    return [quote.verdict for quote in checked(answer, text).quotes]


@given(st.data(), st.sampled_from(sorted(DOCUMENTS)))
@settings(max_examples=100, deadline=None)
def test_a_span_of_a_document_verifies(data: st.DataObject, name: str) -> None:
    span = data.draw(spans(DOCUMENTS[name]))
    found = verdicts(data.draw(quoted(span)), DOCUMENTS[name])
    assert set(found) <= {"verified"}
    assert found or len([word for word in span.split() if letters(word)]) < 6


@given(st.data(), st.sampled_from(sorted(DOCUMENTS)))
@settings(max_examples=100, deadline=None)
def test_a_span_verifies_however_it_is_typed(data: st.DataObject, name: str) -> None:
    span = retyped(data.draw, data.draw(spans(DOCUMENTS[name])))
    assert set(verdicts(data.draw(quoted(span)), DOCUMENTS[name])) <= {"verified"}


@given(st.data(), st.sampled_from([name for name, text in sorted(DOCUMENTS.items()) if re.search(f"{UNSPACED}{{8}}", text)]))
@settings(max_examples=100, deadline=None)
def test_a_part_of_a_sentence_without_spaces_verifies(data: st.DataObject, name: str) -> None:
    part = data.draw(parts(DOCUMENTS[name]))
    assert verdicts(f"「{part}」[{KEY}]", DOCUMENTS[name]) == ["verified"]


@given(st.data(), st.sampled_from(sorted(DOCUMENTS)))
@settings(max_examples=100, deadline=None)
def test_a_span_with_a_letter_or_digit_replaced_never_verifies(data: st.DataObject, name: str) -> None:
    text = DOCUMENTS[name]
    span = data.draw(spans(text) | (parts(text) if re.search(f"{UNSPACED}{{8}}", text) else spans(text)))
    places = [number for number, character in enumerate(span) if character.isalnum()]
    assume(places and not re.search(r"\.\.\.|…", span))
    at = data.draw(st.sampled_from(places))
    new = data.draw(st.sampled_from("abcxyzABZ0189éßж中ทの"))
    replaced = span[:at] + new + span[at + 1 :]
    assume(letters(replaced) not in letters(text))
    assert verdicts(data.draw(quoted(replaced)), text)[:1] != ["verified"]


ALPHABET = "ab1 \n-'\u2019\u201e*_`#>|.,:()[]é\u0301ﬁ½²中の한ทิ\u00ad\u200b"


@given(st.data(), st.text(st.sampled_from(ALPHABET), min_size=12, max_size=80).filter(lambda text: len(text.split()) >= 3))
@settings(max_examples=100, deadline=None)
def test_a_span_of_any_text_verifies(data: st.DataObject, text: str) -> None:
    span = data.draw(spans(text))
    assert set(verdicts(f"“{span}” [{KEY}]", text)) <= {"verified"}


@given(st.data(), st.text(st.sampled_from(ALPHABET), min_size=12, max_size=80).filter(lambda text: len(text.split()) >= 3))
@settings(max_examples=100, deadline=None)
def test_a_replaced_character_of_any_text_never_verifies(data: st.DataObject, text: str) -> None:
    span = data.draw(spans(text))
    places = [number for number, character in enumerate(span) if character.isalnum()]
    assume(places)
    at = data.draw(st.sampled_from(places))
    replaced = span[:at] + data.draw(st.sampled_from("zZ9ж语")) + span[at + 1 :]
    assume(letters(replaced) not in letters(text) and "..." not in unicodedata.normalize("NFKC", replaced))
    assert verdicts(f"“{replaced}” [{KEY}]", text)[:1] != ["verified"]  # what begins like quoted lines inside it comes later


@pytest.mark.parametrize("name", ["international/2026-08-18-thai-support-guide.md", "international/2026-03-27-tozai-barcode.md"])
def test_the_library_has_documents_without_spaces(name: str) -> None:
    assert re.search(f"{UNSPACED}{{8}}", DOCUMENTS[name])
