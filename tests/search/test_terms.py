"""What is derived from text for the keyword index, and how queries are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.terms import MAX_REPEATS, MAX_TERMS, Unit, derived, derived_terms, fold, parse


def looked_for(query: str) -> set[str]:
    return {unit.tokens + "*" * unit.prefix for unit in parse(query).words}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("plain English words", ""),
        ("合約轉換", "合約 約轉 轉換 換"),
        ("東京タワー", "東京 京タ タワ ワー ー"),
        ("한국어 검색", "한국 국어 어 검색 색"),
        ("ยาดี", "ยาด าดี ดี ี"),
        ("使用Python編程", "使用 用 python 編程 程"),
        ("得分308分", "得分 分 308 分"),
        ("foo_bar foo-bar foo.bar", "foobar"),
        ("FooBar", "foo bar"),
        ("HTTPServerError", "http server error"),
        ("the APIs of E1234", ""),
        ("ORA-00942 and ARC-4012", "ora00942 arc4012"),
        ("version 3.40.1 of 2024-05-01", ""),
        ("C++ and C++17, C# but not c", "cplusplus cplusplus cplusplus17 csharp"),
        ("on .NET", "dotnet"),
        ("ﬁle Straße ёлка йод ＡＢＣ", "file strasse елка abc"),
        ("soft\u00adhyphen", "softhyphen"),
        ("naïve café", ""),
    ],
)
def test_derived_terms_of_a_text(text: str, terms: str) -> None:
    assert derived(text) == terms


def test_terms_of_title_and_headings_weigh_more_than_those_of_the_text() -> None:
    assert derived("合約", title="轉換", headings=("換行",)).split().count("轉換") > 1
    assert "換行" in derived("合約", headings=("換行",))
    assert derived("FooBar FooBar", title="FooBar") == "foo bar"


@given(st.text(alphabet=st.sampled_from("aB_-.+# 合約한ยาดีé\u0301ﬁёК\u00ad½٣")))
def test_every_term_stands_for_a_stretch_of_the_text(text: str) -> None:
    for term in derived_terms(text):
        assert 0 <= term.start < term.end <= len(text)
        assert term.text
        assert term.text == " ".join(term.text.split())


def test_places_are_those_of_the_text_as_written() -> None:
    text = "e\u0301 ﬁ ﬁle 合約"
    assert {text[term.start : term.end] for term in derived_terms(text)} >= {"ﬁle", "合約", "約"}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("a" * 100_000, 0),
        ("a_" * 50_000, 0),
        ("aB" * 50_000, 0),
        ("A" * 100_000, 0),
        ("+" * 100_000, 0),
        ("aB " * 50_000, 2),
        ("合a" * 50_000, 100_000),
    ],
)
def test_long_data_gives_few_terms_and_ends(text: str, terms: int) -> None:
    # A pattern of quadratic cost would not come back from these in any bearable time.
    assert len(derived(text).split()) == terms
    assert len(set(parse(text).words)) <= MAX_TERMS


def test_folding_keeps_letters_that_are_letters_of_their_own() -> None:
    assert [fold(word) for word in ("й", "ё", "ά", "naïve", "हिन्दी")] == ["й", "е", "α", "naïve", "हिन्दी"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("gateway timeout", {"gateway", "timeout"}),
        ("where is the gateway", {"gateway"}),
        ("what is the", {"what", "is", "the"}),
        ("the IT department", {"it", "department"}),
        ("gateway AND timeout", {"gateway", "timeout"}),
        ("AND", {"and"}),
        ("NEAR(", {"near"}),
        ("foo(", {"foo"}),
        ("C++", {"cplusplus"}),
        ("C#", {"csharp"}),
        (".NET", {"dotnet"}),
        (".gitignore", {"dotgitignore", "gitignore"}),
        ("e-mail", {"email", "mail"}),
        ("FooBar", {"foobar", "foo", "bar"}),
        ("foo_bar", {"foobar", "foo", "bar"}),
        ("foo-bar", {"foobar", "foo", "bar"}),
        ("ORA-00942", {"ora00942", "ora", "00942"}),
        ("0x80070005", {"0x80070005"}),
        ("3.40.1", {"3 40 1"}),
        ("PL/pgSQL", {"pl", "pgsql", "pg", "sql"}),
        ("deploy*", {"deploy*"}),
        ("合", {"合*"}),
        ("合約", {"合約"}),
        ("合約轉換", {"合約", "約轉", "轉換"}),
        ("ยา", {"ยา*"}),
        ("tar --verbose - file -5", {"tar", "verbose", "file", "5"}),
        ('a 5" disk', {"5", "disk"}),
        ("💥 boom", {"boom"}),
        ("x\0y \ud800 z", {"x", "y", "z"}),
    ],
)
def test_words_that_a_query_looks_for(query: str, words: set[str]) -> None:
    assert looked_for(query) == words


@pytest.mark.parametrize("query", ["", " ", '"', '""', "*", ":", "^", "-", "--", "\0", "\ud800", "💥", "()", "' OR 1=1"[:1]])
def test_signs_alone_look_for_nothing(query: str) -> None:
    assert parse(query).match == ""


def test_a_quoted_phrase_must_occur() -> None:
    parsed = parse('error "connection refused"')
    assert parsed.phrases == ((Unit("connection refused"),),)
    assert parsed.requirement == '"connection refused"'
    assert parse("“connection refused”").phrases == parsed.phrases


def test_quotation_marks_in_a_long_description_only_quote() -> None:
    query = 'describe text formatting systems scribe bravo nroff editors documents layout "what you see" printing'
    assert parse(query).phrases == ()
    assert "see" in looked_for(query)


def test_words_with_a_minus_are_left_out() -> None:
    parsed = parse('gateway -staging -"blue green" -合約 -C++')
    assert {unit.tokens for units in parsed.excluded for unit in units} == {"staging", "blue green", "合約", "cplusplus"}
    assert parsed.words == (Unit("gateway"),)
    assert parsed.text == "gateway"


@pytest.mark.parametrize("query", ["foo-bar", "a - b", "--flag", "exit code -9", "blue–green"])
def test_other_hyphens_leave_nothing_out(query: str) -> None:
    assert parse(query).excluded == ()


def test_a_query_of_exclusions_only_says_so() -> None:
    parsed = parse("-staging")
    assert parsed.match == ""
    assert "leave out" in parsed.notes[0]


def test_a_word_said_twice_counts_twice_up_to_a_limit() -> None:
    assert parse("parallel languages languages").words == (Unit("parallel"), Unit("languages"), Unit("languages"))
    assert parse("languages " * 50).words == (Unit("languages"),) * MAX_REPEATS


def test_a_very_long_query_is_cut_and_the_cut_is_said() -> None:
    parsed = parse(" ".join(f"word{number}" for number in range(20_000)))
    assert len(set(parsed.words)) == MAX_TERMS
    assert str(MAX_TERMS) in parsed.notes[0]


@given(st.text())
def test_any_text_can_be_parsed(query: str) -> None:
    parsed = parse(query)
    assert all(unit.tokens and '"' not in unit.tokens for unit in parsed.words)


def test_quotes_that_pair_anew_when_an_exclusion_is_taken_out_end() -> None:
    parsed = parse('one"two "three four five six seven eight" -"nine"ten" eleven "twelve""thirteen -"fourteen')
    assert parsed.words
    assert {unit.tokens for units in parsed.excluded for unit in units} <= {"nine", "fourteen"}
    odd = 'ªÂ[þ(\x9eî¤ńㄱm*ß"šª𬦛ŦDčꕈ쀞𰲬ċŴ"ŔŲXŞ𣬼J莾𦝘 "šª𬦛ŦDčꕈ쀞𰲬ċ0""0"0L\x93Í»õL'
    assert parse(odd).words
