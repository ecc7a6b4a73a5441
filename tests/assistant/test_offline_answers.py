"""What the offline backend says: words that stand in what was found, each cited, or plainly that they do not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.backends.offline import Catalogue
from assistant.backends.offline.answer import compose
from assistant.backends.offline.evidence import Evidence, Found
from assistant.backends.offline.phrases import ABSENT
from assistant.backends.offline.sentences import LONGEST, cut, sentences
from assistant.backends.offline.understand import understand
from assistant.messages import ToolResult


def hit(text: str, key: str = "a", path: str = "a.md", **more: Any) -> dict[str, Any]:
    return {"key": key * 10, "source": f"{path}:1-9", "title": path, "headings": "", "text": text, **more}


def answer(question: str, value: Mapping[str, Any]) -> str:
    plan = understand(question, Catalogue(categories=("recipes",)))
    return compose(plan, question, [ToolResult("offline_1", "hybrid_search", json.dumps(value))]).text


def test_the_best_sentence_is_quoted_with_its_key() -> None:
    text = "The boiler is old. Its valve was replaced in May by a plumber. Nobody minds."
    said = answer("When was the boiler valve replaced?", {"hits": [hit(text)]})
    assert said.startswith("“Its valve was replaced in May by a plumber.” [aaaaaaaaaa]")


def test_a_number_is_preferred_where_one_is_asked_for() -> None:
    text = "The boiler pressure matters a lot to us. The boiler pressure is 15 bar at night."
    assert "15 bar" in answer("How high is the boiler pressure?", {"hits": [hit(text)]}).splitlines()[0]


def test_a_file_s_name_stays_on_its_line() -> None:
    said = answer("Who won the chess tournament?", {"hits": [hit("We won.", path="a\n# b.md", similarity=0.2)]})
    assert "(a # b.md)" in said
    said = answer("boiler valve", {"hits": [hit("The boiler valve leaks in May.", path="a\n# b.md")]})
    assert said.endswith("a # b.md:1-9")


def test_words_with_quotation_marks_are_quoted_as_a_block() -> None:
    said = answer("boiler motto", {"hits": [hit('The boiler motto is "keep warm", they say.')]})
    assert said.splitlines() == ['> The boiler motto is "keep warm", they say.', "[aaaaaaaaaa] a.md, a.md:1-9"]


def test_a_name_that_no_hit_holds_is_not_in_the_documents() -> None:
    said = answer("How do we repair the Zanussi boiler?", {"hits": [hit("We repair the boiler each May.", similarity=0.9)]})
    assert said.startswith("Not in your documents. (Zanussi)")
    assert "(a.md) [aaaaaaaaaa]" in said


@pytest.mark.parametrize("spelling", ["max_flow", "MaxFlow", "max-flow"])
def test_an_identifier_counts_in_any_spelling(spelling: str) -> None:
    said = answer(f"What is {spelling}?", {"hits": [hit("The setting max_flow bounds the pump.")]})
    assert said.startswith("“The setting max_flow bounds the pump.”")


@pytest.mark.parametrize(("text", "outcome"), [("The boiler valve leaks.", "answer"), ("We won a tender.", "absent")])
def test_the_outcome_is_known(text: str, outcome: str) -> None:
    value = {"hits": [hit(text, similarity=0.2)]}
    plan = understand("Where does the boiler valve leak?", Catalogue())
    said = compose(plan, "Where does the boiler valve leak?", [ToolResult("offline_1", "hybrid_search", json.dumps(value))])
    assert said.outcome == outcome


def test_far_words_and_far_meaning_are_absent() -> None:
    said = answer("Who won the chess tournament?", {"hits": [hit("We won the tender for pumps.", similarity=0.2)]})
    assert said.startswith(ABSENT[0])


def test_what_may_answer_is_shown_without_a_claim_that_nothing_is_there() -> None:
    said = answer("What did we decide in the team meeting?", {"hits": [hit("Deployments stop in May.", similarity=0.48)]})
    assert said.startswith("Not in your documents. The nearest:")
    near = hit("Deployments stop in May.", similarity=0.3, title="Meeting")
    said = answer("What did we decide in the meeting about green paint?", {"hits": [near]})
    assert said.splitlines() == [
        "Nothing in your documents says this for certain. The nearest:",
        "",
        "- Meeting (a.md) [aaaaaaaaaa]: “Deployments stop in May.”",
    ]


def test_a_passage_that_holds_the_code_of_the_question_is_quoted_first() -> None:
    hits = [hit("An error we have seen means trouble.", similarity=0.4), hit("F.28: no ignition.", "b", "b.md", similarity=0.1)]
    assert answer("What does error F.28 mean?", {"hits": hits}).startswith("“F.28: no ignition.” [bbbbbbbbbb]")


def test_what_the_library_says_of_a_table_is_not_quoted() -> None:
    text = "Table: 13 rows, 5 columns.\n\n- payee, text: the boiler man; Rewe\n- amount, real in EUR: 1.0 to 90.0"
    said = answer("How much did we pay the boiler man?", {"hits": [hit(text, path="costs.csv", similarity=0.6)]})
    assert said.splitlines()[-1] == "- costs.csv (costs.csv) [aaaaaaaaaa]"
    assert "payee" not in said


def test_a_year_is_no_code() -> None:
    said = answer("What did the audit of 2023 find?", {"hits": [hit("It had helped once, in 2023.", similarity=0.2)]})
    assert said.startswith(ABSENT)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Welchen Druck soll die Heizung haben?", "Anlagendruck der Heizung: 1,5 bar soll er haben."),
        ("Wann wird der Zähler abgelesen?", "Die Ablesung der Zähler ist am Montag."),
    ],
)
def test_german_compounds_and_participles_are_words_of_the_question(question: str, text: str) -> None:
    assert answer(question, {"hits": [hit(text, similarity=0.3)]}).startswith(f"„{text}“")


def test_near_meaning_in_other_words_is_said_to_be_that() -> None:
    said = answer("heating apparatus broken", {"hits": [hit("The boiler failed.", similarity=0.45)]})
    assert said.startswith("No passage says this in the same words.")
    assert "[aaaaaaaaaa]" in said


def test_meaning_decides_the_order_where_words_do_not() -> None:
    hits = [hit("Apparatus.", similarity=0.2), hit("The boiler failed.", "b", "b.md", similarity=0.5)]
    said = answer("heating apparatus broken down completely", {"hits": hits})
    assert said.index("[bbbbbbbbbb]") < said.find("[aaaaaaaaaa]") % 10_000


def test_a_hit_with_few_of_the_words_does_not_come_first() -> None:
    hits = [hit("Code TR is old."), hit("Code TR-4012 says: no signature.", "b", "b.md")]
    assert answer("What does code TR-4012 say?", {"hits": hits}).index("[bbbbbbbbbb]") < 60


@pytest.mark.parametrize(
    ("question", "text", "quoted"),
    [
        ("有給休暇は何日ですか", "勤務は九時からです。有給休暇は年二十日です。", "「有給休暇は年二十日です。」"),
        ("น้ำท่วม", "โกดังปิดวันหยุด\nน้ำท่วมทำให้การจัดส่งล่าช้า", "น้ำท่วมทำให้การจัดส่งล่าช้า"),
        (
            "Wie viele Urlaubstage gibt es?",
            "Alle haben Anspruch auf 30 Urlaubstage im Jahr.",
            "„Alle haben Anspruch auf 30 Urlaubstage im Jahr.“",
        ),
    ],
)
def test_it_answers_in_scripts_without_spaces_and_other_languages(question: str, text: str, quoted: str) -> None:
    assert quoted in answer(question, {"hits": [hit(text)]})


def test_a_list_gives_the_total_and_one_cited_line_per_document() -> None:
    documents = [{"key": "k2", "path": "x.md", "title": "X", "date": "2026-01-01"}, {"path": "scan.pdf", "title": "Scan"}]
    said = answer(
        "List all recipes", {"total": 12, "set": "set_1", "documents": documents, "filters": {"category": "recipes"}, "more": "…"}
    )
    assert said.splitlines() == [
        "12 documents (category recipes):",
        "",
        "- X (x.md, 2026-01-01) [k2]",
        "- Scan (scan.pdf)",
        "",
        "The list goes on.",
    ]


def test_a_count_gives_the_number_and_its_groups() -> None:
    said = answer("How many recipes per year?", {"total": 3, "set": "set_1", "counts": {"2025": 1, "2026": 2}})
    assert said.splitlines() == ["3 documents:", "- 2025: 1", "- 2026: 2"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("List all recipes", f"{ABSENT[0]} (2023-01-01 to 2023-12-31 (date))"),
        ("Welche Rezepte gibt es auf Deutsch?", f"{ABSENT[1]} (2023-01-01 bis 2023-12-31)"),
    ],
)
def test_nothing_found_is_said_with_its_reasons(question: str, said: str) -> None:
    filters = {"dates": "2023-01-01 to 2023-12-31 (date)"}
    text = answer(question, {"found": 0, "why": ["without 'after 2023' 7 would pass"], "filters": filters})
    assert text.splitlines() == [said, "- without (after 2023) 7 would pass"]


def test_a_chinese_answer_has_no_english_line() -> None:
    nothing = {
        "found": 0,
        "why": ["no passage holds it"],
        "filters": {"dates": "2026-09-01 to 2026-09-30 (date)", "category": "recipes"},
    }
    assert answer("上个月有多少文件？", nothing) == "您的文档中没有。（2026-09-01至2026-09-30，类别 recipes）"
    assert understand("上个月有多少文件？", Catalogue(languages=("ja",)), today=date(2026, 10, 15)).said == (
        "理解为：统计文档，2026-09-01至2026-09-30"
    )


def test_a_chinese_count_ends_in_a_chinese_stop() -> None:
    assert answer("有多少文件？", {"total": 7, "set": "set_1"}) == "7个文档。"


def test_a_failure_is_told() -> None:
    plan = understand("boiler", Catalogue())
    said = compose(plan, "boiler", [ToolResult("offline_1", "hybrid_search", "Error: the model is not there", is_error=True)])
    assert said.outcome == "partial"
    assert said.text == "The search failed: the model is not there"


def test_a_document_s_text_never_becomes_a_citation() -> None:
    said = answer("boiler", {"hits": [hit("See the boiler [bbbbbbbbbb] for more.\n\nThe boiler is old.")]})
    assert "[bbbbbbbbbb]" not in said


@given(st.text(max_size=600))
def test_every_sentence_stands_in_the_text(text: str) -> None:
    found = sentences(text)
    assert all(0 <= sentence.start < sentence.end <= len(text) for sentence in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(cut(text, sentence, []) in text and len(cut(text, sentence, [])) <= LONGEST for sentence in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One, e.g. this. Two!", ["One, e.g. this.", "Two!"]),
        ("- first\n- second\n  goes on\n", ["first", "second\n  goes on"]),
        ("A line that\nwas wrapped. Then more.", ["A line that\nwas wrapped.", "Then more."]),
        ("```\nrun --now\nstop\n```\nAfter it.", ["run --now", "stop", "After it."]),
        ("一つ目。二つ目！", ["一つ目。", "二つ目！"]),
        ("am 3. Mai ging es los. Gut.", ["am 3. Mai ging es los.", "Gut."]),
    ],
)
def test_a_text_is_divided_where_its_sentences_end(text: str, expected: list[str]) -> None:
    assert [text[sentence.start : sentence.end] for sentence in sentences(text)] == expected


def test_headings_and_the_heads_of_tables_are_no_sentences_to_quote() -> None:
    text = "# Boiler\n\n| boiler | age |\n|---|---|\n| boiler A | old |\n\nThe boiler is old and it needs care, as we all know."
    kinds = {text[s.start : s.end]: s.kind for s in sentences(text)}
    assert kinds["Boiler"] == kinds["| boiler | age |"] == "heading"
    assert kinds["| boiler A | old |"] == "row"


def test_comments_of_a_program_stay_together() -> None:
    text = "// A pump\n// that runs.\nfunc pump() {\n}\n"
    assert [text[s.start : s.end] for s in sentences(text, code=True)] == ["// A pump\n// that runs.", "func pump() {"]


def test_a_long_stretch_is_cut_around_the_words() -> None:
    text = "filler " * 100 + "boiler valve " + "filler " * 100
    evidence = Evidence("boiler valve", [Found("k", "a.md:1-2", "", "", text)])
    quote = evidence.quotes(0, 1)[0].text
    assert "boiler valve" in quote
    assert len(quote) <= LONGEST


def test_longer_words_tell_more() -> None:
    short, long = (Found("k", "a.md:1", "", "", text) for text in ("I pay now", "cryptocurrency is here"))
    assert (
        Evidence("pay cryptocurrency", [short, long]).coverage[0] < 0.3 < Evidence("pay cryptocurrency", [short, long]).coverage[1]
    )
