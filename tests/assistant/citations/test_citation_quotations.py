"""Which words an answer quotes, whose they are, and the four verdicts on them."""

from __future__ import annotations

import pytest
from cited import KEY, OTHER_KEY, checked, passage

from assistant.citations import Quote


def verdicts(answer: str, **given: str) -> list[str]:
    return [quote.verdict for quote in checked(answer, **given).quotes]


@pytest.mark.parametrize(
    "quoted",
    [
        '"Restart the pool first"',
        "“Restart the pool first”",
        "„Restart the pool first“",
        "”Restart the pool first”",
        "«Restart the pool first»",
        "« Restart the pool first »",
        "»Restart the pool first«",
        "‹Restart the pool first›",
        "「Restart the pool first」",
        "『Restart the pool first』",
        "'Restart the pool first'",
        "‘Restart the pool first’",
        '"Restart the pool first."',
        '"restart the pool first"',
        '"Restart the **pool** first"',
        "“Restart the `pool` first …”",
        "\"Ask the 'on-call' engineer\"",
        '"ask the on-call engineer (never the customer)"',
        '"The gateway waits 30 seconds for psycopg"',
        '"**30 seconds** for `psycopg` and"',
        '"raised it to 1,234.5 ms - after INC‑2026‑014"',
        '"raised it to 1,234.5 ms—after INC-2026-014"',
        '"See the runbook for more"',
        '"errors fell to 4% within"',
        '"the international office keeps"',
        '"keeps well-known copies for"',
        '"The gateway waits … and then gives up"',
        '"The gateway waits [...] and then gives up. … Restart the pool"',
        "「追跡番号が十二桁から」",
        '"十四桁になります"',
        '"TR-4012"',
        '"Timeouts of the database"',
    ],
)
def test_words_of_the_cited_document_verify(quoted: str) -> None:
    answer = checked(f"It says: {quoted} [{KEY}].")
    assert [(quote.verdict, quote.key) for quote in answer.quotes] == [("verified", KEY)]
    assert answer.sound
    assert answer.text == f"It says: {quoted} [1]."


@pytest.mark.parametrize(
    ("quoted", "nearest"),
    [
        ('"Restart the pool last"', "Restart the pool first"),
        ('"The gateway waits 31 seconds for psycopg"', "The gateway waits **30 seconds** for `psycopg"),
        ('"RESTART THE POOL FIRST"', "Restart the pool first"),
        ('"TR-4013"', "TR-4012"),
        ('"estart the pool first"', "Restart the pool first"),
        ('"on 15 October 202"', "On 15 October 2026"),
        ("「追跡番号が十三桁から」", "追跡番号が十二桁から"),
    ],
)
def test_altered_words_are_shown_with_the_nearest_text(quoted: str, nearest: str) -> None:
    answer = checked(f"It says: {quoted} [{KEY}].")
    assert [(quote.verdict, quote.nearest) for quote in answer.quotes] == [("altered", nearest)]
    assert answer.text == f"It says: {quoted} (⚠ altered) [1]."


@pytest.mark.parametrize(
    "quoted",
    [
        '"purple elephants dance slowly"',
        '"See the runbook http://example.com/public for more"',
        '"fell by 5 °C"',
        '"234.5 ms after all"',
        '"to 102"',
        '"gateway … pool … customer"',
        '"and then gives up … The gateway waits 30 seconds"',
    ],
)
def test_words_that_do_not_stand_there_never_verify(quoted: str) -> None:
    assert "verified" not in verdicts(f"It says {quoted} [{KEY}].")


def test_words_of_another_document_name_it() -> None:
    answer = checked(f'"The tracker leaks memory" [{KEY}].')
    assert answer.quotes == (Quote("The tracker leaks memory", KEY, "elsewhere", other_key=OTHER_KEY),)
    assert answer.text == '"The tracker leaks memory" (⚠ stands in notes/tracker.md) [1].'
    assert checked(f'"The tracker leaks memory" [{KEY}]. It does [{OTHER_KEY}].').text.startswith(
        '"The tracker leaks memory" (⚠ stands in [2]) [1].'
    )


def test_another_document_is_named_by_the_passage_that_holds_the_words() -> None:
    evidence = [passage(), passage("kkkkk22222", "one two three", path="o.md"), passage("lllll22222", "four five six", path="o.md")]
    assert checked(f'"four five six" [{KEY}]', evidence=evidence).quotes[0].other_key == "lllll22222"


def test_a_quotation_without_a_citation_is_not_verified() -> None:
    assert [(quote.verdict, quote.key, quote.other_key) for quote in checked('"Restart the pool first"').quotes] == [
        ("elsewhere", None, KEY)
    ]


def test_a_value_of_a_result_may_be_quoted_without_a_citation_but_an_echo_may_not() -> None:
    results = ['{"documents":[{"title":"Weekly operations meeting"}],"why":["no document has the words made up by me"]}']
    assert checked('"Weekly operations meeting"', results=results).quotes[0].verdict == "verified"
    assert checked('"words made up by me"', results=results).quotes[0].verdict == "not found"


@pytest.mark.parametrize(
    "quoted",
    [
        '"pool"',
        '"pool party"',
        "「東京駅」",
        "it's the devs' and the users' choice",
        "rock 'n' roll",
        "the 'p99' of it",
        '24" and 27" wide',
    ],
)
def test_short_quotations_and_apostrophes_are_not_checked(quoted: str) -> None:
    assert checked(f"So {quoted} [{KEY}].").quotes == ()


def test_words_of_the_question_are_not_checked() -> None:
    assert verdicts('You asked for "purple Elephants dance".', question="Do purple elephants dance?") == []


def test_quotation_marks_inside_code_quote_nothing() -> None:
    assert verdicts('Run `print("hello big world")` or\n\n```go\nfmt.Println("hello big world")\n```\n') == []
    assert verdicts('```markdown\nIt says "hello big world" [abcde23456]\n```\n') == ["not found"]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("> The gateway waits 30 seconds\n> for psycopg\n\n[abcde23456]", "verified"),
        ("> The gateway waits 30 seconds [abcde23456]", "verified"),
        ("> The gateway waits 30 seconds\n> — the runbook [abcde23456]", "verified"),
        ("From [abcde23456]:\n\n> - Restart the pool first.\n> - Ask the on-call engineer", "verified"),
        ("From [abcde23456]:\n\n> - Restart the pool last.\n> - Ask the on-call engineer", "altered"),
    ],
)
def test_quoted_lines_are_a_quotation(answer: str, verdict: str) -> None:
    assert verdicts(answer) == [verdict]


@pytest.mark.parametrize(
    ("answer", "keys"),
    [
        ('In [fghij23456], "tracker leaks memory" matters. "Restart the pool" [abcde23456].', [OTHER_KEY, KEY]),
        ('"Restart the pool first." [abcde23456] "The tracker leaks memory." [fghij23456]', [KEY, OTHER_KEY]),
        ('"Restart the pool", "ask the on-call engineer" [abcde23456].', [KEY, KEY]),
        ('"The tracker leaks memory" [abcde23456][fghij23456].', [OTHER_KEY]),
        ('From [abcde23456]:\n- "Restart the pool first"\n- "tracker leaks memory" [fghij23456]', [KEY, OTHER_KEY]),
        ('- "Restart the pool first" [abcde23456]\n- "tracker leaks memory" [fghij23456]', [KEY, OTHER_KEY]),
        ('"Restart the pool first [abcde23456], he said." ', [KEY]),
        ('- "Restart the pool first"\n- "ask the on-call engineer"\n\nSource: [abcde23456]', [KEY, KEY]),
    ],
)
def test_a_quotation_belongs_to_the_nearest_citation(answer: str, keys: list[str]) -> None:
    assert [quote.key for quote in checked(answer).quotes] == keys


def test_a_bracket_of_the_document_stays_in_a_verified_quotation() -> None:
    text = "as shown in [1] and [qwerty2345] the pool is full"
    answer = checked(f'"as shown in [1] and [qwerty2345] the pool" [{KEY}]', text=text)
    assert answer.text == '"as shown in [1] and [qwerty2345] the pool" [1]'
    assert answer.sound


def test_a_stray_mark_does_not_take_a_quotation_apart() -> None:
    assert verdicts(f"“Restart the pool last „first” [{KEY}]") == ["altered"]
    assert verdicts(f"“Restart the pool last\n\n„first” [{KEY}]") == ["altered"]
    assert verdicts(f'A 24" screen. "Restart the pool first" [{KEY}]') == ["verified"]
    assert verdicts(f'A stray " here. "Restart the pool first" [{KEY}]') == ["verified"]


def test_quoted_lines_that_begin_inside_marks_go_on_after_them() -> None:
    answer = f"“Restart the pool first.\n> Ask the on-call engineer” and\n> purple elephants dance [{KEY}]"
    assert verdicts(answer) == ["verified", "not found"]


def test_a_document_that_is_gone_is_compared_by_its_passage() -> None:
    evidence = [passage("mmmmm22222", "four five six seven")]
    assert checked('"four five six" [mmmmm22222]', evidence=evidence).quotes[0].verdict == "verified"


HOSTILE = ['"', "“a", "'a ", '"a b c" ', "[", "`", "> ", "「", '["a b c"](', "(a ", "1 234 ", "2026-", "[1]", "```\n"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_answers_end(piece: str) -> None:
    # What grows with the square would not come back from these in any bearable time.
    checked((piece * 40_000)[:40_000])


@pytest.mark.parametrize(
    ("opening", "closing"), [('"a ', 'a" '), ('"a\n\n', 'a" '), ("“a ", "”"), ("“a\n\n", "” "), ("“a ", "” a\n\n")]
)
def test_quotations_within_quotations_end(opening: str, closing: str) -> None:
    checked(opening * 8000 + closing * 8000)
    checked(opening * 8000 + closing)


@pytest.mark.parametrize("piece", ["a ", "[a](", "*", "a-\n", "- ", "a b "])
def test_hostile_documents_end(piece: str) -> None:
    assert verdicts(f'"a b z a b" [{KEY}]', text=(piece * 100_000)[:100_000])[0] != "verified"
