"""What a pattern hides: by folder, by glob, in full and from the root's name on, and never less than it may mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search import FilterError, Filters, Library, functions
from search.hiding import hiding_sql, revealed

PATHS = ("private/a.md", "private/deep/b.md", "work/private/c.md", "work/[x]/d.md", "notes/e.md", "notes/Äpfel.md", "f.key.md")


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    for path in PATHS:
        write(path, f"# {path}\n\nSome words in {path}.\n")
    return indexed()


def seen(library: Library, *patterns: str) -> set[str]:
    return {document.path for document in library.filter_documents(Filters(hidden=patterns)).items}


@pytest.mark.parametrize(
    ("pattern", "hidden"),
    [
        ("private", {"private/a.md", "private/deep/b.md", "work/private/c.md"}),
        ("private/", {"private/a.md", "private/deep/b.md", "work/private/c.md"}),
        ("./PRIVATE/**", {"private/a.md", "private/deep/b.md", "work/private/c.md"}),
        ("**/private/*", {"private/a.md", "private/deep/b.md", "work/private/c.md"}),
        ("private/deep", {"private/deep/b.md"}),
        ("notes/private/a.md", {"private/a.md"}),
        ("work/[x]", {"work/[x]/d.md"}),
        ("*.key.md", {"f.key.md"}),
        ("notes/a\u0308pfel.md", {"notes/Äpfel.md"}),
        ("notes", set(PATHS)),
        ("*", set(PATHS)),
        ("rivate", set()),
    ],
)
def test_a_pattern_hides_what_lies_there(library: Library, pattern: str, hidden: set[str]) -> None:
    assert seen(library, pattern) == set(PATHS) - hidden


def test_a_folder_in_full_hides_what_lies_below_it_and_nothing_beside_it(library: Library, folder: Path) -> None:
    assert seen(library, str(folder / "work")) == {path for path in PATHS if not path.startswith("work/")}
    assert seen(library, str(folder)) == set()
    assert seen(library, str(folder)[:-1]) == set(PATHS)


def test_hidden_documents_are_out_of_every_way_to_reach_them(library: Library) -> None:
    hidden = Filters(hidden=("private",))
    assert {hit.document.path for hit in library.keyword_search("words", hidden)} == seen(library, "private")
    assert {hit.document.path for hit in library.vector_search("words", Filters(within=hidden))} == seen(library, "private")
    assert library.count_documents(hidden)["total"] == 4
    assert library.why_empty("nonsense", hidden) == library.why_empty("nonsense", Filters(within=hidden))
    assert "hidden" not in "".join(library.why_empty("x", Filters(category=("none",), within=hidden)))


def test_what_is_hidden_is_counted_within_the_other_filters(library: Library) -> None:
    assert len(library.hidden(Filters(hidden=("private",)))) == 3
    assert len(library.hidden(Filters(source=("work/*",), within=Filters(hidden=("private",))))) == 1
    assert library.hidden(Filters()) == frozenset()


def test_nothing_is_hidden_in_filters_that_are_revealed() -> None:
    assert revealed(Filters(title="x", hidden=("a",), within=Filters(hidden=("b",)))) == Filters(title="x", within=Filters())


@pytest.mark.parametrize(
    "pattern", ["", "  ", ".", "./", "/", "a\\b", "{a,b}/*", "!private", "../up", "a/../b", "[ab*", "x" * 2000, "\0"]
)
def test_a_pattern_that_might_hide_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(FilterError, match="local_only: got"):
        hiding_sql([pattern])


@given(st.text(st.characters(exclude_characters="\0\\{}!/*?", exclude_categories=("Cs",)), min_size=1, max_size=12))
def test_a_folder_is_hidden_by_its_own_name_whatever_is_in_it(name: str) -> None:
    if name.strip() != name or name.strip(".") == "":
        return
    sql, parameters = hiding_sql([name])
    db = sqlite3.connect(":memory:")
    functions.add_functions(db)
    db.executescript("CREATE TABLE _roots(id, path); CREATE TABLE documents(root, path); INSERT INTO _roots VALUES (1, '/home/n')")
    db.execute("INSERT INTO documents VALUES (1, ?)", (f"x/{name}/doc.md",))
    assert db.execute(f"SELECT count(*) FROM documents d WHERE {sql}", parameters).fetchone() == (0,)
