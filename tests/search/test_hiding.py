"""What a pattern hides: by folder, by glob, in full and from the root's name on, and never less than it may mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standin import StandIn

from search import FilterError, Filters, Library, functions, upkeep
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
        ("**", set(PATHS)),
        ("private/**/a.md", {"private/a.md"}),
        ("private/**/b.md", {"private/deep/b.md"}),
        ("work/**/**/c.md", {"work/private/c.md"}),
        ("notes/**/private/**/deep", {"private/deep/b.md"}),
        ("/**/private/a.md", {"private/a.md"}),
        ("/private", {"private/a.md", "private/deep/b.md"}),
        ("private/./deep/.", {"private/deep/b.md"}),
        ("rivate", set()),
    ],
)
def test_a_pattern_hides_what_lies_there(library: Library, pattern: str, hidden: set[str]) -> None:
    assert seen(library, pattern) == set(PATHS) - hidden


def test_a_folder_in_full_hides_what_lies_below_it_and_nothing_beside_it(library: Library, folder: Path) -> None:
    assert seen(library, str(folder / "work")) == {path for path in PATHS if not path.startswith("work/")}
    assert seen(library, str(folder)) == set()
    assert seen(library, str(folder)[:-1]) == set(PATHS)


def test_a_folder_above_the_indexed_one_is_known_by_its_name_and_by_globs(library: Library, folder: Path) -> None:
    above = folder.parent.name
    assert seen(library, above) == set()
    assert seen(library, f"{above}/**") == set()
    for pattern in (f"{above}/{folder.name}/work", f"{folder.parent.parent}/**/{folder.name}/work"):
        assert seen(library, pattern) == {path for path in PATHS if not path.startswith("work/")}


LINKED = ("vault", "vault/**", "{}/vault", "{}/va*", "{}/**/vault", "{}/vault/paper.md", "link", "{}/link")


@pytest.mark.parametrize("pattern", LINKED)
def test_a_root_that_is_a_link_is_hidden_by_both_of_its_places(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "paper.md").write_text("# Paper\n\nSome words.\n", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    assert seen_of(tmp_path / "link", tmp_path, pattern.format(tmp_path)) == set()


@pytest.mark.parametrize("pattern", [each for each in LINKED if "link" not in each] + ["loose", "paper.md", "other.md"])
def test_a_link_that_was_indexed_by_name_is_hidden_by_both_of_its_places(tmp_path: Path, pattern: str) -> None:
    for name in ("vault", "loose"):
        (tmp_path / name).mkdir()
    (tmp_path / "vault" / "paper.md").write_text("# Paper\n\nSome words.\n", encoding="utf-8")
    (tmp_path / "loose" / "other.md").symlink_to(tmp_path / "vault" / "paper.md")
    assert seen_of(tmp_path / "loose" / "other.md", tmp_path, pattern.format(tmp_path)) == set()


def seen_of(what: Path, place: Path, pattern: str) -> set[str]:
    """What is seen of a library of one folder or file, which is all of it without the pattern."""
    upkeep.index(place / "library.db", [what], StandIn())
    with Library.open(place / "library.db", embedder=StandIn()) as library:
        assert seen(library, "nothing")
        return seen(library, pattern)


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
    "pattern",
    [
        "",
        "  ",
        ".",
        "./",
        "/",
        "a\\b",
        "{a,b}/*",
        "!private",
        "../up",
        "a/../b",
        "[ab*",
        "a/**/b/**/c/**/d/**/e/**/f",
        "x" * 2000,
        "\0",
    ],
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
    db.executescript("CREATE TABLE _roots(id, path, named); CREATE TABLE documents(root, path)")
    db.execute("INSERT INTO _roots VALUES (1, '/home/n', '[]')")
    db.execute("INSERT INTO documents VALUES (1, ?)", (f"x/{name}/doc.md",))
    assert db.execute(f"SELECT count(*) FROM documents d WHERE {sql}", parameters).fetchone() == (0,)
