"""Promise 2: after a text is removed, no function of the library returns it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from holdings import unsound
from standin import StandIn

from search import Filters, Library, NotFoundError, QueryError, upkeep
from search.tables import catalogue
from search.tables.names import quoted

SECRET = "The combination of the safe is heliotrope seventeen."
KEPT = "The safe was delivered in spring and stands in the cellar."
Write = Callable[[str, str], Path]


@pytest.fixture
def secret_file(write: Write) -> Path:
    """A file with the text that is to go, beside one that stays."""
    write("kept.md", f"# Deliveries\n\n{KEPT}\n")
    return write("vault/secret.md", f"---\ntags: [heliotrope]\nauthor: Heliotrope\n---\n# Heliotrope\n\n{SECRET}\n")


@pytest.fixture
def secret_keys(secret_file: Path, folder: Path, library_file: Path, embedder: StandIn) -> list[str]:
    """Every citation key that the text ever had: the folder is indexed, the file renamed, the folder indexed again."""
    keys = []
    for name in ("first.md", "second.md", "secret.md"):
        secret_file.with_name("secret.md").rename(secret_file.with_name(name)) if name != "secret.md" else None
        upkeep.index(library_file, [folder], embedder)
        with Library.open(library_file, embedder=embedder) as library:
            keys += [hit.passage.key for hit in library.keyword_search("heliotrope")]
        if name != "secret.md":
            secret_file.with_name(name).rename(secret_file)
    assert len(set(keys)) == 3
    return keys


def by_deleting_the_file(file: Path, library: Path, embedder: StandIn) -> None:
    file.unlink()
    upkeep.index(library, [file.parents[1]], embedder)


def by_deleting_its_folder(file: Path, library: Path, embedder: StandIn) -> None:
    file.unlink()
    file.parent.rmdir()
    upkeep.index(library, [], embedder)


def by_forgetting_the_file(file: Path, library: Path, embedder: StandIn) -> None:
    assert upkeep.forget(library, file) == 1


def by_forgetting_its_folder(file: Path, library: Path, embedder: StandIn) -> None:
    assert upkeep.forget(library, file.parent) == 1
    upkeep.index(library, [], embedder)


def by_editing_the_text_away(file: Path, library: Path, embedder: StandIn) -> None:
    file.write_text("# Notes\n\nNothing to see here any more.\n", "utf-8")
    upkeep.index(library, [file.parents[1]], embedder)


def by_emptying_the_file(file: Path, library: Path, embedder: StandIn) -> None:
    file.write_text("", "utf-8")
    upkeep.index(library, [file.parents[1]], embedder)


def by_ignoring_it(file: Path, library: Path, embedder: StandIn) -> None:
    (file.parents[1] / ".archivistignore").write_text("vault/\n", "utf-8")
    upkeep.index(library, [file.parents[1]], embedder)


def by_rebuilding_without_it(file: Path, library: Path, embedder: StandIn) -> None:
    file.unlink()
    upkeep.rebuild(library, [], embedder)


REMOVALS = [
    by_deleting_the_file,
    by_deleting_its_folder,
    by_forgetting_the_file,
    by_forgetting_its_folder,
    by_editing_the_text_away,
    by_emptying_the_file,
    by_ignoring_it,
    by_rebuilding_without_it,
]
_SECRET = re.compile("heliotrope|combination|seventeen", re.IGNORECASE)


def everything_said(library: Library) -> Iterator[str]:
    """All that the functions of a library return, as text."""
    for query in ("heliotrope", SECRET, '"heliotrope seventeen"', "heliotr*", "combination safe"):
        for mode in ("keyword", "vector", "hybrid"):
            for by_document in (False, True):
                yield from (str(asdict(hit)) for hit in library.search(query, mode=mode, limit=50, by_document=by_document))
    for filters in (Filters(), Filters(tags=("heliotrope",)), Filters(author=("heliotrope",)), Filters(title="heliotrope")):
        page = library.filter_documents(filters)
        yield from (str(asdict(document)) for document in page.items)
        yield from ("\n".join(library.read(document).lines) for document in page.items if document.text_status == "ok")
    for group in ("tag", "author", "category", "format"):
        yield str(library.count_documents(group_by=group))
    for hit in library.vector_search("safe", limit=50):
        yield from (str(asdict(other)) for other in library.vector_search(hit.passage, limit=50))
        yield from (str(asdict(passage)) for passage in library.neighbours(hit.passage) if passage)
    yield from library.notes("heliotropes", Filters(tags=("heliotropes",), author=("heliotropes",)))
    yield from library.why_empty("heliotropes", Filters(tags=("heliotropes",)))
    yield str(library.status())
    yield from said_of_tables(library)


def said_of_tables(library: Library) -> Iterator[str]:
    """What the catalogue says of the tables that there are, and all that stands in them."""
    for table in catalogue.read_tables(library._connection):
        yield str(asdict(table))
        yield from map(str, library._connection.execute(f"SELECT * FROM {quoted(table.name)}"))


def unquoted(said: str) -> str:
    """Without the words of the question that an answer repeats."""
    return said.replace("heliotropes", "")


def test_every_function_returns_the_text_before_it_is_removed(
    secret_keys: list[str], secret_file: Path, library_file: Path, embedder: StandIn
) -> None:
    with Library.open(library_file, embedder=embedder) as library:
        assert sum(bool(_SECRET.search(unquoted(said))) for said in everything_said(library)) > 20
        assert {library.passage(key)[1].text for key in secret_keys} == {library.passage(secret_keys[-1])[1].text}
        assert SECRET in library.passage(secret_keys[0])[1].text


@pytest.mark.parametrize("remove", REMOVALS)
@pytest.mark.parametrize("was_open", [False, True], ids=["opened after", "open all the time"])
def test_no_function_returns_the_text_of_a_removed_file(
    remove: Callable[[Path, Path, StandIn], None],
    was_open: bool,
    secret_keys: list[str],
    secret_file: Path,
    library_file: Path,
    embedder: StandIn,
) -> None:
    opened = Library.open(library_file, embedder=embedder) if was_open else None
    if opened:
        old = opened.passage(secret_keys[0])[1]
        assert any(_SECRET.search(said) for said in everything_said(opened))
    remove(secret_file, library_file, embedder)
    with opened or Library.open(library_file, embedder=embedder) as library:
        assert [said for said in everything_said(library) if _SECRET.search(unquoted(said))] == []
        assert any(KEPT in said for said in everything_said(library))
        for key in secret_keys:
            with pytest.raises(NotFoundError):
                library.passage(key)
        for path in ("vault/first.md", "vault/second.md"):
            with pytest.raises(QueryError):
                library.document(path)
        if opened:
            # Records from before the removal are no way to the text, not even when another document has their ids by now.
            for function in (library.vector_search, library.read, library.neighbours):
                with pytest.raises(QueryError):
                    function(old)
        assert library._connection.execute("SELECT count(*) FROM _moved_keys").fetchone()[0] == 0


@pytest.fixture
def secret_table(write: Write) -> Path:
    """A table with the text that is to go in its name, a header and its rows, beside one that stays and wishes for its name."""
    write("zones/heliotrope.csv", "zone,safe\nnorth,1\nsouth,2\n")
    write("kept.md", f"# Deliveries\n\n{KEPT}\n")
    return write("vault/heliotrope.csv", "safe,heliotrope code\ncellar,seventeen\nattic,combination\n")


def by_taking_its_folder_over(file: Path, library: Path, embedder: StandIn) -> None:
    (file.parents[1] / ".archivistignore").write_text("vault/\n", "utf-8")
    upkeep.index(library, [file.parents[2]], embedder)


def by_renaming_it_to_a_text_and_emptying_it(file: Path, library: Path, embedder: StandIn) -> None:
    file.rename(file.with_suffix(".txt"))
    upkeep.index(library, [file.parents[1]], embedder)
    file.with_suffix(".txt").write_text("", "utf-8")
    upkeep.index(library, [], embedder)


def by_breaking_the_file(file: Path, library: Path, embedder: StandIn) -> None:
    file.write_bytes(b"\x00\x01\x02" * 500)
    upkeep.index(library, [file.parents[1]], embedder)


def by_forgetting_the_root(file: Path, library: Path, embedder: StandIn) -> None:
    assert upkeep.forget(library, file.parents[1]) == 3
    upkeep.index(library, [file.parents[1] / "kept.md", file.parents[1] / "zones" / "heliotrope.csv"], embedder)


@pytest.mark.parametrize(
    "remove",
    [
        *REMOVALS,
        by_taking_its_folder_over,
        by_renaming_it_to_a_text_and_emptying_it,
        by_breaking_the_file,
        by_forgetting_the_root,
    ],
)
def test_no_table_is_left_of_a_removed_file(
    remove: Callable[[Path, Path, StandIn], None], secret_table: Path, folder: Path, library_file: Path, embedder: StandIn
) -> None:
    upkeep.index(library_file, [folder], embedder)
    with Library.open(library_file, embedder=embedder) as library:
        before = " ".join(said_of_tables(library))
        assert all(word in before for word in ("heliotrope_code", "seventeen", "combination"))
        assert [table.name for table in catalogue.read_tables(library._connection)] == ["heliotrope", "zones_heliotrope"]
    remove(secret_table, library_file, embedder)
    assert unsound(library_file) == []
    with Library.open(library_file, embedder=embedder) as library:
        said = "\n".join(everything_said(library))
        assert not re.search("heliotrope.code|seventeen|combination", said, re.IGNORECASE)
        assert "('north', 1)" in said, "the other table, which may have the name now, stays"


def test_a_record_of_a_removed_document_never_reads_another_one(
    write: Write, indexed: Callable[[], Library], folder: Path, library_file: Path, embedder: StandIn
) -> None:
    gone = write("gone.md", f"# Gone\n\n{SECRET}\n")
    library = indexed()
    document, passage, _ = library.passage(library.keyword_search("heliotrope")[0].passage.key)
    gone.unlink()
    upkeep.index(library_file, [folder], embedder)
    write("other.md", f"# Other\n\n{KEPT}\n")
    upkeep.index(library_file, [folder], embedder)
    for what in (document, passage):
        with pytest.raises(NotFoundError):
            library.read(what)


def test_a_record_of_a_document_that_was_indexed_again_reads_what_is_there_now(
    write: Write, indexed: Callable[[], Library], folder: Path, library_file: Path, embedder: StandIn
) -> None:
    write("a.md", "# First\n\nThe first note.\n")
    write("b.md", "# Second\n\nThe second note.\n")
    library = indexed()
    document, passage, _ = library.passage(library.keyword_search("first")[0].passage.key)
    write("a.md", "# First\n\nThe first note.\n\n## Added\n\nWith an addition.\n")
    upkeep.index(library_file, [folder], embedder)
    assert "With an addition." in library.read(document).lines
    assert "The first note." in library.read(passage).lines
    assert library.neighbours(passage)[1] is not None


def test_a_sentence_that_was_edited_away_is_gone_and_the_others_stay(
    write: Write, indexed: Callable[[], Library], folder: Path, library_file: Path, embedder: StandIn
) -> None:
    file = write("note.md", f"# Note\n\n## One\n\n{KEPT}\n\n## Two\n\n{SECRET} It was changed in May.\n")
    library = indexed()
    key = library.keyword_search("delivered cellar")[0].passage.key
    file.write_text(file.read_text("utf-8").replace(SECRET, ""), "utf-8")
    upkeep.index(library_file, [folder], embedder)
    assert [said for said in everything_said(library) if _SECRET.search(unquoted(said))] == []
    assert KEPT in library.passage(key)[1].text
    assert "changed in May" in library.keyword_search("changed")[0].passage.text
