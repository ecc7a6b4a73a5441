"""Which brackets cite: a key counts as retrieved only when it was, in whatever form a model writes it."""

from __future__ import annotations

import pytest
from cited import EVIDENCE, KEY, OTHER_KEY, TEXT, checked, passage
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.citations import Numbering, replace_keys


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It waits [abcde23456].", "It waits [1]."),
        ("It waits [ABCDE23456].", "It waits [1]."),
        ("It waits (abcde23456).", "It waits [1]."),
        ("It waits 【abcde23456】.", "It waits [1]."),
        ("It waits [[abcde23456]].", "It waits [1]."),
        ("It waits `[abcde23456]`.", "It waits [1]."),
        ("It waits [`abcde23456`].", "It waits [1]."),
        ("It waits [^abcde23456].", "It waits [1]."),
        ("It waits [key: abcde23456].", "It waits [1]."),
        ("It waits [hits abcde23456].", "It waits [1]."),
        ("It waits [#abcde23456, lines 3-7].", "It waits [1]."),
        ("It waits [abcde23456](http://evil.example/?q=1).", "It waits [1]."),
        ("It waits [abcde23456](#abcde23456).", "It waits [1]."),
        ("See [the runbook](abcde23456).", "See the runbook [1]."),
        ("See [the runbook](#abcde23456).", "See the runbook [1]."),
        ("See the runbook abcde23456 for it.", "See the runbook [1] for it."),
        ("It waits [fghij23456, abcde23456].", "It waits [1, 2]."),
        ("It waits [abcde23456; fghij23456].", "It waits [1, 2]."),
        ("It waits [abcde23456][fghij23456][abcde23456].", "It waits [1][2][1]."),
        ("It waits [abcde23456,\nfghij23456].", "It waits [1, 2]."),
        ("東斎[abcde23456]。", "東斎[1]。"),
        ("It waits [abcde2].", "It waits [1]."),
        ("It waits [abcd].", "It waits [abcd]."),
    ],
)
def test_a_retrieved_key_becomes_a_number(written: str, shown: str) -> None:
    answer = checked(written)
    assert answer.text == shown
    assert all(citation.verdict == "retrieved" for citation in answer.citations)


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("It waits [zzzzz22222].", ["zzzzz22222"]),
        ("It waits [a1b2c3d4e5].", ["a1b2c3d4e5"]),
        ("It waits (zzzzz22222).", ["zzzzz22222"]),
        ("It waits [hit zzzzz22222](x).", ["zzzzz22222"]),
        ("It waits [abcde23456, zzzzz22222].", ["zzzzz22222"]),
        ("See [the runbook](zzzzz22222).", ["zzzzz22222"]),
        ("It waits [qwertyuiop].", ["qwertyuiop"]),
        ("It waits [1].", ["1"]),
        ("It waits[1].", ["1"]),
        ("It waits [1, 2].", ["1, 2"]),
        ("It waits [^3].", ["^3"]),
        ("It waits 【4†source】.", ["4†source"]),
    ],
)
def test_a_key_that_was_not_retrieved_is_marked_and_has_no_number(written: str, keys: list[str]) -> None:
    answer = checked(written)
    assert [citation.key for citation in answer.citations if citation.verdict == "unknown"] == keys
    assert all(
        citation.number is None and citation.evidence is None for citation in answer.citations if citation.verdict == "unknown"
    )
    assert "?]" in answer.text
    assert not answer.sound


@pytest.mark.parametrize(
    "text",
    [
        "the table [2026] and [sic] and [...] and [ ] and [x]",
        "an index such as `rows[1]`",
        "```python\nrows[1] = [zzzzz22222]\n```",
        "a word (background) in brackets",
        "[background](http://example.com) is a link",
        "commit zzzzz22222 is bare",
    ],
)
def test_other_brackets_cite_nothing(text: str) -> None:
    assert checked(text).citations == ()


def test_ten_letters_that_a_passage_has_as_a_word_are_a_word() -> None:
    assert checked("it is [deployment]", evidence=[passage(text="a deployment of it")]).citations == ()
    assert checked("it is [deployment]", question="which deployment?").citations == ()
    assert [citation.verdict for citation in checked("it is [deployment]").citations] == ["unknown"]


def test_the_beginning_of_two_keys_is_none_of_them() -> None:
    evidence = [passage("abcde23456"), passage("abcde27777")]
    assert checked("It waits [abcde2].", evidence=evidence).citations == ()
    assert checked("It waits [abcde27].", evidence=evidence).citations[0].key == "abcde27777"


def test_sources_are_numbered_by_first_use() -> None:
    answer = checked("One [fghij23456]. Two [abcde23456]. Three [fghij23456].")
    assert [(source.number, source.key) for source in answer.sources] == [(1, OTHER_KEY), (2, KEY)]
    assert answer.sources[0].evidence == EVIDENCE[1]


def test_blocks_of_a_stream_keep_their_numbers() -> None:
    numbering = Numbering(EVIDENCE)
    blocks = ["One [fghij23456].", "Two [abcde23456], [zzzzz22222].", "Three [fghij23456]."]
    assert [replace_keys(block, numbering) for block in blocks] == ["One [1].", "Two [2], [?].", "Three [1]."]


BRACKETED = st.text(st.sampled_from("abcde23456 zy[]()【】#^:,-1\n"), max_size=60)


@given(BRACKETED, st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz234567"), min_size=10, max_size=10))
@settings(max_examples=200, deadline=None)
def test_unknown_keys_never_count_as_retrieved(text: str, key: str) -> None:
    evidence = [one for one in EVIDENCE if one.key != key]
    answer = checked(f"{text} [{key}] ({key}) {text}", evidence=evidence)
    retrieved = {one.key for one in evidence}
    assert all((citation.verdict == "retrieved") == (citation.key in retrieved) for citation in answer.citations)
    assert f"[{key}]" not in answer.text or key in TEXT


@given(st.text(st.characters(codec=None)) | st.text(st.sampled_from("\"'“”„«»[]()>`~\n *1.2-:/abcde23456十年")))
@settings(max_examples=300, deadline=None)
def test_any_text_can_be_checked(answer: str) -> None:
    once = checked(answer, question=answer[:5], results=[answer])
    assert len(once.text) >= 0
    assert once == checked(answer, question=answer[:5], results=[answer])
