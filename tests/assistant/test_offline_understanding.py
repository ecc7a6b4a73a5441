"""What the offline backend makes of a question. The catalogue is of no library that exists: no rule may know a name by itself."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.backends.offline import Catalogue
from assistant.backends.offline.names import singulars
from assistant.backends.offline.understand import Plan, understand

TODAY = date(2026, 10, 15)
CATALOGUE = Catalogue(
    categories=("recipes", "letters", "diaries", "lab-notes", "garden", "Protokolle"),
    tags=("pruning", "soil", "heating"),
    formats=("markdown", "pdf", "html", "text", "rust", "sql", "shell"),
    authors=("Ada Quill", "Bert Moss", "Cora Moss"),
    languages=("de", "en", "ja"),
    metadata={"state": ("draft", "final"), "applies_to": ("everyone", "tenants"), "rooms": ("2", "3")},
)


def plan(question: str) -> Plan:
    return understand(question, CATALOGUE, today=TODAY)


def summary(question: str) -> tuple[str, str, dict[str, Any]]:
    found = plan(question)
    return (
        found.intent,
        found.query,
        {name: value if isinstance(value, str) else list(value) for name, value in found.filters.items()},
    )


@pytest.mark.parametrize(
    ("question", "intent", "query", "filters"),
    [
        ("Which recipes deal with rhubarb?", "search", "rhubarb", {"category": ["recipes"]}),
        ("recipes", "list", "", {"category": ["recipes"]}),
        ("a recipe for rhubarb", "search", "rhubarb", {"category": ["recipes"]}),
        ("List all PDF documents", "list", "", {"format": ["pdf"]}),
        ("letters by Ada Quill about rent", "search", "rent", {"category": ["letters"], "author": ["Ada Quill"]}),
        ("What has Quill written about frost?", "search", "frost", {"author": ["Ada Quill"]}),
        ("Ada's diaries", "list", "", {"category": ["diaries"], "author": ["Ada Quill"]}),
        ("documents by Zoe Unknown", "list", "", {"author": ["Zoe Unknown"]}),
        ("garden documents tagged pruning and soil", "list", "", {"category": ["garden"], "tags": ["pruning", "soil"]}),
        ("documents tagged submarines", "list", "", {"tags": ["submarines"]}),
        ("Rust source files with a loop", "search", "loop", {"format": ["rust"]}),
        ("German letters about the roof", "search", "roof", {"category": ["letters"], "language": ["de"]}),
        ("Which documents are in French?", "list", "", {"language": ["fr"]}),
        ("Which recipes have state draft?", "list", "", {"category": ["recipes"], "metadata": ["state=draft"]}),
        ("draft recipes", "list", "", {"category": ["recipes"], "metadata": ["state=draft"]}),
        ("letters that apply to everyone", "list", "", {"category": ["letters"], "metadata": ["applies_to=everyone"]}),
        ("letters with more than 2 rooms", "list", "", {"category": ["letters"], "metadata": ["rooms>2"]}),
        ("Which recipes are final?", "list", "", {"category": ["recipes"], "metadata": ["state=final"]}),
        ("Which documents are PDFs?", "list", "", {"format": ["pdf"]}),
        ("What's new this week?", "list", "", {"after": "2026-10-12", "before": "2026-10-19"}),
        ("the most recent letter", "list", "", {"category": ["letters"]}),
        ("Which letters mention final?", "search", "final", {"category": ["letters"]}),
        ("letters with rooms > 2", "list", "", {"category": ["letters"], "metadata": ["rooms>2"]}),
        ("What do the lab notes say about mercury?", "search", "mercury", {"category": ["lab-notes"]}),
        ("In the diaries, what was said about snow?", "search", "snow", {"category": ["diaries"]}),
        ("How many recipes are there?", "count", "", {"category": ["recipes"]}),
        ("How many documents did Ada Quill write?", "count", "", {"author": ["Ada Quill"]}),
        ("Zeige alle PDF-Dokumente", "list", "", {"format": ["pdf"]}),
        ("Wie viele Dokumente gibt es auf Japanisch?", "count", "", {"language": ["ja"]}),
        ("Welches Protokoll handelt vom Dach?", "search", "Dach", {"category": ["Protokolle"]}),
        ("Quels documents sont en allemand ?", "list", "", {"language": ["de"]}),
        ("¿Cuántos documentos hay en japonés?", "count", "", {"language": ["ja"]}),
        ("日本語の文書を一覧で見せて", "list", "", {"language": ["ja"]}),
        ("文書は何件ありますか", "count", "", {}),
        ("有多少个文档?", "count", "", {}),
        ("how many files in category recipes?", "count", "", {"category": ["recipes"]}),
        ("how many documents are in the letters category?", "count", "", {"category": ["letters"]}),
        ("list documents in category lab-notes", "list", "", {"category": ["lab-notes"]}),
        ("how many files of type pdf?", "count", "", {"format": ["pdf"]}),
        ("documents with the soil tag", "list", "", {"tags": ["soil"]}),
        ("documents by author Ada Quill", "list", "", {"author": ["Ada Quill"]}),
        ("documents in the language German", "list", "", {"language": ["de"]}),
        ("documents in category submarines", "list", "", {"category": ["submarines"]}),
        ("letters in category recipes and diaries about frost", "search", "frost", {"category": ["letters", "recipes", "diaries"]}),
        ("Wie viele Dateien in der Kategorie recipes?", "count", "", {"category": ["recipes"]}),
        ("combien de documents dans la catégorie recipes ?", "count", "", {"category": ["recipes"]}),
        ("recipes类别有多少文件？", "count", "", {"category": ["recipes"]}),
    ],
)
def test_filters_come_from_the_words(question: str, intent: str, query: str, filters: dict[str, Any]) -> None:
    assert summary(question) == (intent, query, filters)


@pytest.mark.parametrize(
    "question",
    [
        "How do we go through the recipe step by step?",
        "How are letters graded?",
        "How many eggs do I need?",
        "Wie viele Eier brauche ich im Jahr?",
        "What may tenants paint?",
        "how do I write shell scripts that water plants?",
        "Does it rust in 2000 hours?",
        "What did the survey of 2023 find?",
        "Which price do we get back for September?",
        "Who waters the plants on Monday?",
        "garden for beginners",
        "expense reports for travel",
        "How do you say roof in German?",
        "Was it approved by Ada Quill?",
        "handling SQL injection",
        "polish the documents",
        "Why was the state final?",
        "Which documents are not in German?",
        "Which tags do we put on flower pots?",
        "What type of pump do we use?",
        "Which documents are not in category recipes?",
    ],
)
def test_words_that_only_look_like_filters_are_none(question: str) -> None:
    assert plan(question).filters == {}


@pytest.mark.parametrize(
    ("question", "after", "before"),
    [
        ("recipes from last month", "2026-09-01", "2026-10-01"),
        ("recipes from the last month", "2026-09-15", "2026-10-16"),
        ("letters since March", "2026-03-01", None),
        ("letters before 2025", None, "2025-01-01"),
        ("letters between May and August 2026", "2026-05-01", "2026-09-01"),
        ("the October letter", "2026-10-01", "2026-11-01"),
        ("letters from May and June 2026", "2026-05-01", "2026-07-01"),
        ("What happened to the roof in Q2 2025?", "2025-04-01", "2025-07-01"),
        ("letters older than one year", None, "2025-10-15"),
        ("Welche Briefe sind vom letzten Monat?", "2026-09-01", "2026-10-01"),
        ("Lettres depuis mars 2026", "2026-03-01", None),
        ("documents du mois dernier", "2026-09-01", "2026-10-01"),
        ("documentos del mes pasado", "2026-09-01", "2026-10-01"),
        ("先月の文書", "2026-09-01", "2026-10-01"),
        ("2025年3月以降の文書", "2025-03-01", None),
        ("上个月的文档", "2026-09-01", "2026-10-01"),
    ],
)
def test_dates_become_days(question: str, after: str | None, before: str | None) -> None:
    filters = plan(question).filters
    assert (filters.get("after"), filters.get("before")) == (after, before)


@pytest.mark.parametrize(
    ("question", "tested"),
    [
        ("letters changed since March", "modified"),
        ("Welche Dokumente wurden seit März geändert?", "modified"),
        ("letters created in 2025", "created"),
        ("letters from 2025", None),
    ],
)
def test_the_verb_says_which_date_is_meant(question: str, tested: str | None) -> None:
    assert plan(question).filters.get("date_field") == tested


@pytest.mark.parametrize(
    "question",
    ["INC-2026-007 证书过期事故持续了多少分钟？", "2026年13月の障害", "2026-02-30 的会议", "票号 2026-00", "TR-2026-10-15-7 とは"],
)
def test_a_name_or_a_day_that_does_not_exist_is_no_date(question: str) -> None:
    found = plan(question)
    assert "after" not in found.filters
    assert "before" not in found.filters


def test_a_date_with_two_readings_is_no_filter_and_is_told() -> None:
    found = plan("letters since 3/4/2026")
    assert "after" not in found.filters
    assert "2026-03-04" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("question", "intent", "query"),
    [
        ('"broken boiler valve"', "keyword", '"broken boiler valve"'),
        ("E1734", "keyword", "E1734"),
        ("max_flow_rate", "keyword", "max_flow_rate"),
        ("boiler pressure too low", "search", "boiler pressure too low"),
        ("find documents similar to this error: valve stuck: E17", "similar", "valve stuck: E17"),
        ("Dokumente ähnlich wie dieser Fehler: Ventil klemmt", "similar", "Ventil klemmt"),
        ('Traceback (most recent call last):\n  File "a.py", line 3\nValueError: no valve', "similar", None),
    ],
)
def test_the_tool_follows_the_form_of_the_question(question: str, intent: str, query: str | None) -> None:
    found = plan(question)
    assert found.intent == intent
    assert query is None or found.query == query


def test_of_a_long_stack_trace_the_end_is_what_is_looked_for() -> None:
    frames = "".join(f'  File "a.py", line {number}, in step\n' for number in range(300))
    assert plan(f"Traceback (most recent call last):\n{frames}ValueError: no valve").query.endswith("ValueError: no valve")


def test_a_passage_is_named_by_its_key() -> None:
    assert plan("documents similar to a1b2c3d4e5".replace("1", "2")).key == "a2b2c3d4e5"


@pytest.mark.parametrize(
    ("question", "group"),
    [
        ("How many recipes per author?", "author"),
        ("how many documents by year", "year"),
        ("Wie viele Dokumente pro Sprache?", "language"),
        ("which categories exist?", "category"),
        ("What file formats do I have?", "format"),
        ("list all tags", "tag"),
        ("which authors wrote letters?", "author"),
        ("Welche Sprachen gibt es?", "language"),
        ("¿qué categorías hay?", "category"),
        ("有哪些标签？", "tag"),
        ("どのカテゴリがありますか", "category"),
    ],
)
def test_counts_are_grouped_as_asked(question: str, group: str) -> None:
    assert (plan(question).intent, plan(question).group_by) == ("count", group)


def test_what_documents_say_is_not_counted_and_that_is_told() -> None:
    found = plan("How many letters mention the roof?")
    assert (found.intent, found.query) == ("search", "roof")
    assert "passages are shown instead" in " ".join(found.notes)


def test_the_newest_are_ordered_by_date() -> None:
    found = plan("Show me the latest 3 letters")
    assert (found.intent, found.order_by, found.limit) == ("list", "date", 3)


@pytest.mark.parametrize(
    ("question", "order_by", "oldest", "limit"),
    [
        ("list 5 recipes", "", False, 5),
        ("latest 3 letters", "date", False, 3),
        ("the three most recent letters", "date", False, 3),
        ("newest document?", "date", False, 1),
        ("show the last 3 letters", "date", False, 3),
        ("most recent letters", "date", False, 0),
        ("letters, oldest first", "date", True, 0),
        ("which 2 documents are the newest?", "date", False, 2),
        ("what was the last letter?", "date", False, 1),
        ("what are the 5 oldest letters?", "date", True, 5),
        ("die 3 neuesten Dokumente", "date", False, 3),
        ("das älteste Dokument", "date", True, 1),
        ("le document le plus récent", "date", False, 1),
        ("los 3 documentos más recientes", "date", False, 3),
        ("el documento más antiguo", "date", True, 1),
        ("最新の文書3件", "date", False, 3),
        ("最早的两个文档", "date", True, 2),
    ],
)
def test_a_number_and_an_order_before_what_is_listed(question: str, order_by: str, oldest: bool, limit: int) -> None:
    found = plan(question)
    assert (found.intent, found.query) == ("list", "")
    assert (found.order_by, found.oldest, found.limit) == (order_by, oldest, limit)


@pytest.mark.parametrize("question", ["list 3 ways to prune a rose", "top 5 causes of frost", "error 12 in the boiler"])
def test_other_numbers_are_looked_for(question: str) -> None:
    assert plan(question).limit == 0
    assert any(digit in plan(question).query for digit in "351")


def test_a_name_that_two_authors_share_is_no_author() -> None:
    assert "author" not in plan("letters by Moss").filters
    assert plan("letters by Cora").filters["author"] == ("Cora Moss",)


def test_what_is_in_quotation_marks_is_never_a_filter() -> None:
    assert plan('letters about "recipes since March"').filters == {"category": ("letters",)}


def test_a_capital_keeps_a_word_that_would_say_nothing() -> None:
    assert plan("recipes about Some").query == "Some"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is this?", "en"),
        ("Wo ist die Heizung?", "de"),
        ("Où est le chauffage ?", "fr"),
        ("¿Dónde está la caldera?", "es"),
        ("暖房はどこですか", "ja"),
        ("暖房装置故障対応", "ja"),
        ("暖房温度", "ja"),
        ("锅炉超时怎么办？", "zh"),
        ("鍋爐怎麼辦？", "zh"),
        ("有多少文件？", "zh"),
        ("E17", "en"),
    ],
)
def test_the_answer_speaks_the_question_s_language(question: str, language: str) -> None:
    assert plan(question).language == language


def test_how_it_was_understood_is_said() -> None:
    assert (
        plan("How many recipes appeared in Q2 2025?").said
        == "understood: count documents, category recipes, 2025-04-01 to 2025-06-30"
    )


@given(st.text(max_size=200))
def test_any_text_gives_a_plan(text: str) -> None:
    found = plan(text)
    assert found.intent in {"search", "keyword", "similar", "list", "count"}
    assert found.query or found.key or found.intent in {"list", "count"}


TELLING = "which recipes by Ada since March in German tagged soil and PDF how many the last month about roof"


@given(st.lists(st.sampled_from(TELLING.split())))
def test_any_order_of_telling_words_gives_a_plan(words: list[str]) -> None:
    assert set(plan(" ".join(words)).filters) <= {"category", "tags", "format", "author", "language", "metadata", "after", "before"}


@pytest.mark.parametrize(
    ("plural", "singular"), [("policies", "policy"), ("boxes", "box"), ("recipes", "recipe"), ("halves", "half")]
)
def test_a_plural_and_its_singular_meet(plural: str, singular: str) -> None:
    assert singulars(plural) & singulars(singular)


@pytest.mark.parametrize("pair", [("note", "not"), ("class", "clas"), ("status", "statu"), ("code", "cod")])
def test_different_words_do_not_meet(pair: tuple[str, str]) -> None:
    assert not singulars(pair[0]) & singulars(pair[1])
