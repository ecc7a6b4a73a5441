"""What the command line promises: every command, exit codes, streams, forms for programs, terminals, pipes, Ctrl-C."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from standin import StandIn

from assistant import render
from assistant.cli import main, run

ROOT = Path(__file__).resolve().parents[2]
Write = Callable[[str, str], Path]
COMMANDS = ["index", "search", "show", "tables", "sql", "status", "roots", "forget"]


@dataclass(frozen=True)
class Done:
    """What a command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        loaded = json.loads(self.out)
        assert self.out.count("\n") == 1, "one object on one line"
        assert isinstance(loaded, dict)
        return loaded


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stand-in in place of every model; the names that were asked for."""
    asked: list[str] = []

    def load(name: str, **_: object) -> StandIn:
        asked.append(name)
        return StandIn()

    monkeypatch.setattr("search.embedding.load_embedder", load)
    return asked


@pytest.fixture
def archivist(
    library_file: Path, model: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Runs a command line on the library of this test."""
    monkeypatch.setenv("ARCHIVIST_LIBRARY", str(library_file))

    def command(*argv: object) -> Done:
        capsys.readouterr()
        code = run([str(word) for word in argv])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return command


Archivist = Callable[..., Done]


@pytest.fixture
def notes(write: Write, folder: Path, archivist: Archivist) -> Path:
    """An indexed folder of a few notes."""
    write(
        "runbooks/gateway.md", "---\ntags: [edge]\ndate: 2026-09-03\nseverity: high\n---\n# Gateway\n\nThe gateway has a timeout.\n"
    )
    write("runbooks/cache.md", "---\ntags: [edge]\ndate: 2026-10-01\n---\n# Cache\n\nThe cache has a timeout, it is cold.\n")
    write("guides/日本語.md", "# 接続\n\n接続がタイムアウトしました。\n")
    write("guides/empty.md", "")
    assert archivist("index", folder).code == 0
    return folder


def key_of(archivist: Archivist, *search: object) -> str:
    return str(archivist("search", *search, "--mode", "keyword", "--json").json["hits"][0]["key"])  # type: ignore[index]


# Front


def test_help_names_every_command(archivist: Archivist) -> None:
    for flag in ("-h", "--help"):
        done = archivist(flag)
        assert (done.code, done.err) == (0, "")
        assert all(f"  {command} " in done.out for command in COMMANDS)
    for command in COMMANDS:
        done = archivist(command, "--help")
        assert (done.code, done.err) == (0, "")
        assert "--library" in done.out


def test_the_version_is_told(archivist: Archivist) -> None:
    done = archivist("--version")
    assert (done.code, done.out[:10], done.err) == (0, "archivist ", "")


def test_without_arguments_the_help_is_shown_as_a_usage_error(archivist: Archivist) -> None:
    done = archivist()
    assert (done.code, done.out) == (2, "")
    assert "Usage: archivist" in done.err


@pytest.mark.parametrize("question", ["how do we fix the gateway", "gateway?", "gateway timeout"])
def test_a_question_in_place_of_a_command_is_answered(archivist: Archivist, notes: Path, question: str) -> None:
    done = archivist(question, "-m", "offline")
    assert done.code == 0
    assert "runbooks/gateway.md:" in done.out
    asked = archivist(question, "-m", "offline", "--json")
    assert (asked.json["question"], asked.json["model"]) == (question, "offline")


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("serach", "search"), ("idnex", "index"), ("stats", "status"), ("root", "roots"), ("xyzzy", None), ("", None)],
)
def test_an_unknown_word_is_a_usage_error_that_names_the_nearest_command(
    archivist: Archivist, word: str, nearest: str | None
) -> None:
    done = archivist(word)
    assert (done.code, done.out) == (2, "")
    assert f"no command {word!r}" in done.err
    assert (f"did you mean '{nearest}'?" in done.err) == (nearest is not None)
    assert "the commands are index, status" in done.err


@pytest.mark.parametrize(
    "argv",
    [
        ["search"],
        ["search", "a", "b"],
        ["search", "x", "--like", "abcd"],
        ["search", "--like", "abcd", "--like-text", "x"],
        ["search", "--like-text", "x", "--mode", "keyword"],
        ["search", "x", "--json", "--csv"],
        ["search", "x", "--mode", "fuzzy"],
        ["search", "x", "--limit", "many"],
        ["search", "x", "--limit", "0"],
        ["search", " "],
        ["search", "x", "--today", "tomorrow"],
        ["search", "x", "--during", "when pigs fly"],
        ["search", "x", "--where", "severity"],
        ["search", "x", "--nonsense"],
        ["search", "--like", "abc"],
        ["show"],
        ["show", "runbooks/gateway.md", "--lines", "x-y"],
        ["show", "runbooks/gateway.md", "--lines", "5000-6000"],
        ["show", "runbooks/gateway.md", "-C", "-1"],
        ["status", "extra"],
        ["forget"],
        ["index", "--watch", "--dry-run"],
        ["index", "--rebuild", "--prune"],
        ["index", "--max-size", "0"],
        ["index", ""],
        ["forget", ""],
        ["status", "-l", ""],
        ["search", "x", "--during", ""],
        ["search", "x", "--after", " "],
        ["search", "x", "--during", "last month", "--today", "0001-01-01"],
        ["search", "x", "--during", "tomorrow", "--today", "9999-12-31"],
        ["search", "x", "--before", "today", "--today", "0001-01-01"],
    ],
)
def test_what_cannot_be_understood_exits_2_with_nothing_on_standard_output(
    archivist: Archivist, notes: Path, argv: list[str]
) -> None:
    done = archivist(*argv)
    assert (done.code, done.out) == (2, "")
    assert done.err.strip()
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (["search", "x", "-l", "/missing/library.db"], "there is no library at", "archivist index DIR"),
        (["status", "-l", "/missing/library.db"], "there is no library at", "archivist index DIR"),
        (["show", "none.md"], "no document with the path", "archivist search"),
        (["show", "aaaaaaaaaa"], "no passage has the key", "search again"),
        (["search", "--like", "aaaaaaaaaa"], "no passage has the key", "search again"),
        (["index", "/missing/folder"], "no such file or folder", "check the spelling"),
        (["index", "/missing/folder", "--rebuild"], "no such file or folder", "check the spelling"),
        (["forget", "/missing/folder"], "no document with the path", "archivist status"),
    ],
)
def test_what_fails_exits_1_with_message_and_hint(
    archivist: Archivist, notes: Path, argv: list[str], message: str, hint: str
) -> None:
    done = archivist(*argv)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("archivist: ")
    assert message in done.err
    assert hint in done.err


def test_main_ends_by_exit_code(archivist: Archivist, notes: Path) -> None:
    assert main(["status"]) is None
    for argv, code in ((["nonsense"], 2), (["show", "none.md"], 1)):
        with pytest.raises(SystemExit) as caught:
            main(argv)
        assert caught.value.code == code


# Index


def test_index_tells_changes_on_standard_output_and_counts(archivist: Archivist, write: Write, folder: Path) -> None:
    write("a.md", "one")
    write("b.md", "two")
    write("empty.md", "")
    done = archivist("index", folder)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == ["+ a.md", "+ b.md"]
    assert lines[2].startswith("? empty.md: empty")
    assert re.fullmatch(
        r"2 added, 0 changed, 0 moved, 0 removed, 0 unchanged; 1 new without text; 2 passages embedded in .* s", lines[3]
    )
    write("a.md", "another")
    (folder / "b.md").rename(folder / "c.md")
    (folder / "empty.md").unlink()
    lines = archivist("index").out.splitlines()
    assert sorted(lines[:3]) == ["- empty.md", "> c.md (was b.md)", "~ a.md"]
    assert lines[3].startswith("0 added, 1 changed, 1 moved, 1 removed, 0 unchanged; 1 passage embedded")


def test_an_option_before_the_question_is_told_its_place(archivist: Archivist, notes: Path) -> None:
    done = archivist("-m", "offline", "how do we rotate keys?")
    assert (done.code, done.out) == (2, "")
    assert (
        'options come after the command or the question: archivist "how do we rotate keys?" -m ..., archivist chat -m ...'
        in done.err
    )
    assert " -- " not in done.err
    assert archivist("how do we rotate keys?", "-m", "offline").code == 0


def test_index_lists_the_first_20_of_each_kind_or_all(archivist: Archivist, write: Write, folder: Path) -> None:
    for number in range(25):
        write(f"{number:02}.md", f"text {number}")
    lines = archivist("index", folder, "--dry-run", "-l", folder.parent / "other.db")
    assert (lines.code, lines.out.splitlines()[-1]) == (
        0,
        "25 would be added, 0 would be changed, 0 would be moved, 0 would be removed, 0 unchanged",
    )
    assert not (folder.parent / "other.db").exists()
    lines = archivist("index", folder).out.splitlines()
    assert len([line for line in lines if line.startswith("+ ")]) == 21
    assert "+ … 5 more added (-v lists them)" in lines
    for number in range(25):
        (folder / f"{number:02}.md").write_text(f"other {number}")
    lines = archivist("index", "-v").out.splitlines()
    assert len([line for line in lines if line.startswith("~ ")]) == 25


def test_index_in_json_holds_counts_changes_and_messages(
    archivist: Archivist, write: Write, folder: Path, library_file: Path
) -> None:
    write("a.md", "one")
    done = archivist("index", folder, "--json")
    assert (done.code, done.err) == (0, "")
    whole = done.json
    assert (whole["added"], whole["embedded"], whole["dry_run"], whole["library"]) == (1, 1, False, str(library_file))
    assert whole["changes"] == [{"kind": "added", "path": "a.md", "reason": ""}]
    assert whole["messages"] == []


def test_a_quiet_index_says_nothing(archivist: Archivist, write: Write, folder: Path) -> None:
    write("a.md", "one")
    assert archivist("index", folder, "-q") == Done(0, "", "")
    assert archivist("index", "/missing", "-q").err.startswith("archivist: no such")


def test_a_dry_run_says_what_would_be(archivist: Archivist, notes: Path, library_file: Path, write: Write) -> None:
    write("new.md", "new")
    before = library_file.read_bytes()
    done = archivist("index", "--dry-run")
    assert done.out.splitlines() == [
        "+ new.md",
        "1 would be added, 0 would be changed, 0 would be moved, 0 would be removed, 4 unchanged",
    ]
    assert archivist("index", "--dry-run", "--json").json["dry_run"] is True
    assert library_file.read_bytes() == before


def test_strict_exits_1_when_a_file_could_not_be_read(archivist: Archivist, write: Write, folder: Path) -> None:
    write("fine.md", "one")
    write("empty.md", "")
    assert archivist("index", folder, "--strict").code == 0, "a file without text has not failed"
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF at all")
    done = archivist("index", folder)
    assert done.code == 0
    assert "! broken.pdf: " in done.out
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnor is this one")
    assert archivist("index", folder, "--strict").code == 1
    again = archivist("index", folder, "--strict")
    assert again.code == 1, "it still cannot be read"
    assert again.out.splitlines()[-1] == "0 added, 0 changed, 0 moved, 0 removed, 2 unchanged; 1 could not be read"


def test_removals_held_back_exit_1_with_the_way_out(archivist: Archivist, write: Write, folder: Path) -> None:
    files = [write(f"{number}.md", f"text {number}") for number in range(30)]
    archivist("index", folder)
    for file in files[1:]:
        file.unlink()
    done = archivist("index", folder)
    assert done.code == 1
    assert "29 of 30 documents" in done.err
    assert "--prune" in done.err
    assert archivist("index", folder, "--json").code == 1
    assert archivist("index", folder, "--prune").code == 0


def test_the_options_of_index_reach_the_library(archivist: Archivist, write: Write, folder: Path, model: list[str]) -> None:
    for path in ("a.md", "b.txt", "drafts/c.md"):
        write(path, path)
    write("large.md", "x " * 600_000)
    done = archivist("index", folder, "--include", "*.md", "--exclude", "drafts/**", "--max-size", "1", "--embedder", "some/model")
    assert model == ["some/model"]
    assert [line for line in done.out.splitlines() if line[0] in "+!"] == [
        "! large.md: larger than 1 MB; --max-size raises the limit",
        "+ a.md",
    ]
    assert archivist("index").out.splitlines()[-1].endswith("1 unchanged")


def test_rebuild_makes_the_library_anew(archivist: Archivist, notes: Path) -> None:
    done = archivist("index", "--rebuild")
    assert done.code == 0
    assert done.out.splitlines()[-1].startswith("3 added")
    assert archivist("status", "--json").json["coverage"]["documents"] == 4  # type: ignore[index]


# Search


def test_results_are_on_standard_output_and_notes_on_standard_error(archivist: Archivist, notes: Path) -> None:
    done = archivist("search", "gateway timeout", "--mode", "keyword", "--during", "last month", "--category", "runbook,runbooks")
    assert done.code == 0
    assert done.out == ""
    done = archivist("search", "timeout", "--mode", "keyword", "--during", "last month")
    assert re.match(r"1  runbooks/gateway\.md:\d+  [a-z2-7]{10}  2026-09-03\n", done.out)
    assert "dated 2026-09-01 to 2026-09-30" in done.err
    assert "4 documents, 1 without text, indexed just now" in done.err
    assert "dated" not in done.out
    assert archivist("search", "timeout", "--mode", "keyword", "--during", "last month", "-q").err == ""


def test_an_empty_result_exits_0_and_is_explained_on_standard_error(archivist: Archivist, notes: Path) -> None:
    done = archivist("search", "timeout", "--mode", "keyword", "--category", "runbook")
    assert (done.code, done.out) == (0, "")
    assert 'no category "runbook"; nearest: "runbooks"' in done.err
    whole = archivist("search", "timeout", "--mode", "keyword", "--category", "runbook", "--json").json
    assert whole["hits"] == []
    assert any("without 'category runbook'" in note for note in whole["notes"])  # type: ignore[attr-defined]


def test_search_in_json_is_one_object(archivist: Archivist, notes: Path, library_file: Path) -> None:
    done = archivist("search", "gateway", "--mode", "keyword", "--after", "2026-09-01", "--json")
    assert done.err.count("\n") == 1, "the resolved range"
    whole = done.json
    assert set(whole) == {"query", "like", "like_text", "mode", "library", "range", "coverage", "notes", "hits"}
    assert whole["range"] == {"start": "2026-09-01", "end": None, "field": "date"}
    assert whole["library"] == str(library_file)
    hit = whole["hits"][0]  # type: ignore[index]
    assert (hit["path"], hit["root"], hit["category"], hit["headings"]) == (
        "runbooks/gateway.md",
        str(notes),
        "runbooks",
        ["Gateway"],
    )
    assert (hit["keyword"]["rank"], hit["vector"]["rank"], hit["matched"]) == (1, None, ["Gateway", "gateway"])
    assert hit["text"].endswith("The gateway has a timeout.")


def test_search_in_lines_csv_and_paths(archivist: Archivist, notes: Path) -> None:
    search = ("search", "timeout 接続", "--mode", "keyword", "-q")
    whole = archivist(*search, "--json").json["hits"]
    lines = archivist(*search, "--jsonl")
    assert [json.loads(line) for line in lines.out.splitlines()] == whole
    rows = list(csv.DictReader(io.StringIO(archivist(*search, "--csv").out)))
    assert [row["key"] for row in rows] == [hit["key"] for hit in whole]  # type: ignore[attr-defined]
    assert list(rows[0]) == ["key", "path", "root", "title", "date", "category", "page", "first_line", "last_line", "score", "text"]
    assert all("\n" in row["text"] for row in rows)
    paths = archivist(*search, "--paths")
    assert paths.err == ""
    assert sorted(paths.out.splitlines()) == [
        str(notes / path) for path in ("guides/日本語.md", "runbooks/cache.md", "runbooks/gateway.md")
    ]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (b"it's a \\ name.md", "it's a \\ name.md"),
        (b"two\nlines.md", r'"two\nlines.md"'),
        (b'two\nand"\\.md', r'"two\nand\"\\.md"'),
        (b"caf\xe9.md", r'"caf\351.md"'),
        ("zero\u200bwidth.md".encode(), r'"zero\342\200\213width.md"'),
    ],
)
def test_a_printed_path_can_be_read_back_from_one_line(archivist: Archivist, folder: Path, name: bytes, written: str) -> None:
    (folder / os.fsdecode(name)).write_text("gateway")
    archivist("index", folder)
    line = archivist("search", "gateway", "--mode", "keyword", "--paths").out.removesuffix("\n")
    quote = '"' if written.startswith('"') else ""
    assert line == f"{quote}{folder}/{written.removeprefix(quote)}"


def test_forms_for_programs_are_complete_when_nothing_is_found(archivist: Archivist, notes: Path) -> None:
    search = ("search", "zzz", "--mode", "keyword", "-q")
    assert archivist(*search, "--jsonl").out == ""
    assert archivist(*search, "--paths").out == ""
    assert archivist(*search, "--csv").out.startswith("key,path,")
    assert archivist(*search, "--csv").out.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--category", "GUIDES"], {"guides/日本語.md"}),
        (["--tag", "edge", "--before", "2026-10-01"], {"runbooks/gateway.md"}),
        (["--source", "*cache*"], {"runbooks/cache.md"}),
        (["--type", "markdown", "--title", "gate"], {"runbooks/gateway.md"}),
        (["--where", "severity=high"], {"runbooks/gateway.md"}),
        (["--where", "severity!=high", "--category", "runbooks"], {"runbooks/cache.md"}),
        (["--author", "nobody"], set()),
        (["--during", "yesterday", "--today", "2026-10-02"], {"runbooks/cache.md"}),
        (["--documents", "-n", "1", "--category", "runbooks", "--category", "nothing"], {"runbooks/gateway.md"}),
    ],
)
def test_filters_on_the_command_line(archivist: Archivist, notes: Path, options: list[str], expected: set[str]) -> None:
    done = archivist("search", "timeout 接続", "--mode", "keyword", "--paths", *options)
    assert set(done.out.splitlines()) == {str(notes / path) for path in expected}


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_every_mode_finds_and_explains(archivist: Archivist, notes: Path, mode: str) -> None:
    done = archivist("search", "gateway timeout", "--mode", mode, "--explain")
    assert done.code == 0
    assert done.out.splitlines()[0].startswith("1  runbooks/gateway.md:")
    assert re.search(r"score -?\d+\.\d{3}; keyword .*; vector .*; matched ", done.out)


def test_similar_passages_by_key_and_by_text(archivist: Archivist, notes: Path, model: list[str]) -> None:
    key = key_of(archivist, "gateway")
    whole = archivist("search", "--like", key[:6], "--json").json
    assert (whole["like"], whole["query"], whole["mode"]) == (key[:6], None, "vector")
    assert whole["hits"][0]["path"] == "runbooks/cache.md"  # type: ignore[index]
    assert key not in [hit["key"] for hit in whole["hits"]]  # type: ignore[attr-defined]
    done = archivist("search", "--like-text", "the gateway has a timeout", "--paths", "-n", "1")
    assert done.out == f"{notes}/runbooks/gateway.md\n"


def test_keyword_search_and_show_ask_for_no_model(archivist: Archivist, notes: Path, model: list[str]) -> None:
    model.clear()
    key = key_of(archivist, "gateway")
    for argv in (["show", key], ["status"], ["roots"], ["search", "--like", key], ["forget", "guides/empty.md"]):
        assert archivist(*argv).code == 0
    assert model == []


def test_old_keys_are_answered_with_where_they_moved(archivist: Archivist, notes: Path) -> None:
    key = key_of(archivist, "gateway")
    (notes / "runbooks/gateway.md").rename(notes / "moved.md")
    archivist("index")
    for argv in (["show", key], ["search", "--like", key]):
        done = archivist(*argv)
        assert done.code == 0
        assert re.search(rf"{key} has moved to [a-z2-7]{{10}} in moved\.md", done.err)


# Show, status, roots, forget


def test_show_takes_a_key_or_a_path(archivist: Archivist, notes: Path) -> None:
    key = key_of(archivist, "gateway")
    done = archivist("show", key)
    assert done.code == 0
    assert f"runbooks/gateway.md:6  {key}" in done.out.splitlines()[0]
    assert "8  The gateway has a timeout." in done.out
    assert archivist("show", f"#{key.upper()}").out == done.out
    whole = archivist("show", "runbooks/gateway.md")
    assert whole.out.splitlines()[1:6] == [
        "Gateway",
        "date: 2026-09-03 (front matter)",
        "category: runbooks",
        "tags: edge",
        "metadata: severity=high",
    ]
    assert archivist("show", "gateway.md", "--lines", "8").out.splitlines()[6:] == ["8  The gateway has a timeout."]
    above = archivist("show", "gateway.md", "--lines", "2-4")
    assert (above.code, above.out) == (2, "")
    assert "the stored text begins at line 6, below the front matter" in above.err
    assert archivist("show", key, "-C", "100").code == 0


def test_show_in_json(archivist: Archivist, notes: Path) -> None:
    key = key_of(archivist, "gateway")
    whole = archivist("show", key, "--json").json
    assert whole["passage"]["key"] == key  # type: ignore[index]
    assert (whole["first_line"], whole["document"]["path"]) == (6, "runbooks/gateway.md")  # type: ignore[index]
    whole = archivist("show", "gateway.md", "--lines", "8-8", "--json").json
    assert (whole["passage"], whole["text"]) == (None, "The gateway has a timeout.")


def test_show_says_when_there_is_no_text_or_the_file_has_changed(archivist: Archivist, notes: Path, write: Write) -> None:
    done = archivist("show", "guides/empty.md")
    assert done.code == 0
    assert "guides/empty.md has no text: empty" in done.err
    write("runbooks/cache.md", "changed since")
    assert "its file has changed since it was indexed just now" in archivist("show", "cache.md").err
    (notes / "runbooks/cache.md").unlink()
    assert "its file is gone" in archivist("show", "cache.md").err


def test_a_path_that_looks_like_a_key_is_a_path(archivist: Archivist, write: Write, folder: Path) -> None:
    write("readme", "the text of readme")
    archivist("index", folder)
    assert "the text of readme" in archivist("show", "readme").out


def test_status_tells_all_there_is(archivist: Archivist, notes: Path, library_file: Path) -> None:
    done = archivist("status")
    assert (done.code, done.err) == (0, "")
    for part in (
        f"library    {library_file} (",
        "documents  4 (4 markdown)",
        "passages   3, 3 with an embedding",
        "model      stand-in (000000000000, 64 dimensions)",
        f"folder     {notes}: 4 documents, indexed just now",
        "no text    1 of 4 files:",
        "guides/empty.md: empty",
    ):
        assert part in done.out
    whole = archivist("status", "--json").json
    assert whole["without_text"][0][0] == "guides/empty.md"  # type: ignore[index]


def test_roots_lists_folders_and_single_files(archivist: Archivist, notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "single.md").write_text("single")
    archivist("index", other / "single.md")
    done = archivist("roots")
    assert f"{notes}: 4 documents, indexed just now\n" in done.out
    assert f"{other}: 1 document, indexed just now; only single.md\n" in done.out
    assert [root["path"] for root in archivist("roots", "--json").json["roots"]] == [str(notes), str(other)]  # type: ignore[attr-defined]
    (other / "single.md").unlink()
    other.rmdir()
    assert "; the folder is not there" in archivist("roots").out


def test_roots_show_the_rules_that_are_kept_and_an_empty_glob_clears_them(archivist: Archivist, notes: Path) -> None:
    archivist("index", notes, "--include", "*.md", "--exclude", "guides/**", "--exclude", "*.txt", "--max-size", "2")
    kept = archivist("roots").out.splitlines()[1:]
    assert kept == ["    only files that fit *.md", "    no files that fit guides/**, *.txt", "    files up to 2 MB"]
    assert archivist("index", notes, "--exclude", "*.tmp").out.splitlines()[-1].startswith("1 added")
    assert archivist("index", notes, "--include", "", "--exclude", "", "--max-size", "50").code == 0
    assert archivist("roots").out == f"{notes}: 4 documents, indexed just now\n"


def test_what_was_forgotten_is_shown_until_it_is_indexed_by_name(archivist: Archivist, notes: Path) -> None:
    archivist("forget", "runbooks/cache.md")
    archivist("index")
    for command in ("roots", "status"):
        assert "    1 left out by forget: runbooks/cache.md\n" in archivist(command).out
        assert archivist(command, "--json").json["roots"][0]["forgotten"] == ["runbooks/cache.md"]  # type: ignore[index]
    archivist("index", notes / "runbooks/cache.md")
    assert "forget" not in archivist("roots").out


def test_forget_counts_what_it_removed(archivist: Archivist, notes: Path) -> None:
    assert archivist("forget", notes / "guides").out == "removed 2 documents; the files stay where they are\n"
    assert archivist("forget", "runbooks/cache.md").out == "removed 1 document; the files stay where they are\n"
    assert archivist("forget", notes, "--json").json == {"removed": 1}
    assert archivist("forget", notes, "-q").code == 1
    assert (notes / "runbooks/cache.md").exists()


def test_one_root_that_is_gone_exits_1_and_keeps_its_documents(archivist: Archivist, notes: Path) -> None:
    notes.rename(notes.parent / "unplugged")
    done = archivist("index")
    assert done.code == 1
    assert "its documents stay" in done.err
    assert archivist("status", "--json").json["coverage"]["documents"] == 4  # type: ignore[index]


# What documents and names may hold

HOSTILE = "\x1b]8;;http://evil\x1b\\x\x1b[31m\x9b1m\u202eevil\u2066\u061c\r"


@pytest.fixture
def hostile(folder: Path, archivist: Archivist) -> Path:
    """A document whose name, front matter and text hold what terminals obey."""
    name = "evil\x1b[31m\u202e\x9b.md"
    front = json.dumps(f"T{HOSTILE}")  # escapes that YAML reads
    (folder / name).write_text(
        f"---\ntitle: {front}\nauthor: {front}\ntags: [{front}]\ncategory: {front}\n---\n# H\n\ngateway {HOSTILE} end\n"
    )
    (folder / f"hostile{HOSTILE.replace('/', '')}.csv").write_text(f"id,a{HOSTILE.strip()}b\n1,gateway {HOSTILE.strip()}\n2,x\n")
    assert archivist("index", folder).code == 0
    return folder


@pytest.mark.parametrize(
    "argv",
    [
        ["search", "gateway", "--mode", "keyword", "--explain"],
        ["search", "gateway", "--mode", "keyword", "--json"],
        ["search", "gateway", "--mode", "keyword", "--jsonl"],
        ["search", "gateway", "--mode", "keyword", "--csv"],
        ["search", "gateway", "--mode", "keyword", "--paths"],
        ["search", "gateway", "--mode", "keyword", "--category", "none"],
        ["search", "gateway", "--mode", "keyword", "--author", HOSTILE],
        ["search", HOSTILE, "--mode", "keyword", "--json"],
        ["show", "evil\x1b[31m\u202e\x9b.md"],
        ["show", "evil\x1b[31m\u202e\x9b.md", "--json"],
        ["show", HOSTILE],
        [HOSTILE.replace(" ", "")],
        ["status"],
        ["status", "--json"],
        ["tables"],
        ["tables", "--json"],
        ["tables", "hostile"],
        ["tables", HOSTILE],
        ["roots"],
        ["index", "--rebuild", "-v"],
        ["index", "--rebuild", "--json"],
        ["index", HOSTILE],
        ["forget", HOSTILE],
    ],
)
def test_no_command_passes_on_what_a_terminal_obeys(archivist: Archivist, hostile: Path, argv: list[str]) -> None:
    done = archivist(*argv)
    for stream in (done.out, done.err):
        assert render.safe(stream) == stream
    assert done.out + done.err


def test_json_keeps_names_exactly(archivist: Archivist, hostile: Path) -> None:
    hit = archivist("search", "gateway", "--mode", "keyword", "--json").json["hits"][0]  # type: ignore[index]
    assert (Path(hit["root"]) / hit["path"]).exists()


# Processes


def command_line(*argv: object) -> list[str]:
    return [sys.executable, "-m", "assistant", *map(str, argv)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


def on_a_terminal(argv: Sequence[str], **more: str) -> tuple[int, str]:
    """Runs a command with a terminal for standard output and error; its exit code and what it wrote."""
    parent, child = pty.openpty()
    process = subprocess.Popen(argv, stdin=child, stdout=child, stderr=child, cwd=ROOT, env=environment(**more))
    os.close(child)
    written = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([parent], [], [], 0.1)[0]:
            try:
                piece = os.read(parent, 65536)
            except OSError:  # what Linux says at the end
                break
            if not piece:
                break
            written += piece
        elif process.poll() is not None:
            break
    os.close(parent)
    return process.wait(20), written.decode()


def test_links_and_colours_are_for_terminals_and_for_our_own_files(notes: Path, library_file: Path) -> None:
    (notes / "trap.md").write_text("gateway \x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\ [x](http://evil)")
    assert run(["index", str(notes), "-l", str(library_file)]) == 0
    argv = command_line("search", "gateway", "--mode", "keyword", "-l", library_file)
    code, shown = on_a_terminal(argv, TERM="xterm-256color", COLUMNS="100")
    assert code == 0
    targets = re.findall(r"\x1b\]8;;([^\x1b]*)\x1b\\", shown)
    opened = [target for target in targets if target]
    assert {target.partition(str(notes))[2] for target in opened} == {"/trap.md", "/runbooks/gateway.md"}
    assert len(opened) == len(targets) / 2 == 2
    assert all(target.startswith("file://") for target in opened)
    assert "\x1b[1;33mgateway\x1b[0m" in shown
    code, shown = on_a_terminal(argv, TERM="xterm-256color", NO_COLOR="1")
    assert (code, "\x1b" in shown) == (0, False)
    code, shown = on_a_terminal(argv, TERM="dumb")
    assert (code, "\x1b" in shown) == (0, False)
    done = subprocess.run(
        argv, capture_output=True, text=True, cwd=ROOT, env=environment(TERM="xterm-256color"), timeout=120, check=True
    )
    assert "\x1b" not in done.stdout + done.stderr


def test_whoever_stops_reading_is_not_bothered(write: Write, folder: Path, archivist: Archivist, library_file: Path) -> None:
    for number in range(400):
        write(f"{number:03}.md", f"gateway {'filler ' * 100}{number}")
    archivist("index", folder)
    argv = command_line("search", "gateway", "--mode", "keyword", "-n", 1000, "--jsonl", "-q", "-l", library_file)
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=environment())
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["path"]
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("command", "target", "said"),
    [
        ("status", ">/dev/full", "No space left on device"),
        ("search gateway --mode keyword", ">/dev/full", "No space left on device"),
        ("--help", ">/dev/full", "No space left on device"),
        ("status", ">&-", "standard output is closed"),
        ("search gateway --mode keyword --json", ">&-", "standard output is closed"),
    ],
)
def test_output_that_cannot_be_written_exits_1_with_the_reason(
    notes: Path, library_file: Path, command: str, target: str, said: str
) -> None:
    line = f"{shlex.join(command_line(*command.split()))} {target}"
    env = environment(ARCHIVIST_LIBRARY=str(library_file))
    done = subprocess.run(line, shell=True, capture_output=True, text=True, cwd=ROOT, env=env, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"archivist: {said}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("search gateway --mode keyword", 0, ""),
        ("ask -m offline --json", 2, "give a question"),
        ("", 2, "Usage: archivist"),
        ("keys set openrouter", 1, "key: want one word"),
        ("chat -m offline", 0, ""),
    ],
)
@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_stream_that_was_closed_is_nothing_to_read_and_nobody_to_tell(
    notes: Path, archivist: Archivist, library_file: Path, tmp_path: Path, command: str, code: int, said: str, closed: str
) -> None:
    archivist("index", notes)
    line = f"{shlex.join(command_line(*command.split()))} {closed}"
    env = environment(ARCHIVIST_LIBRARY=str(library_file), ARCHIVIST_CONFIG_DIR=str(tmp_path))
    done = subprocess.run(
        line, shell=True, capture_output=True, text=True, cwd=ROOT, env=env, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert said in done.stderr or "2>&-" in closed
    assert done.stdout or not command.startswith("search")


@pytest.mark.parametrize("command", ["--help", "search --help", "config"])
def test_whoever_reads_nothing_at_all_is_not_bothered_either(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command_line(*command.split()), stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, env=environment(), check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_day_that_is_given_stands_above_the_one_that_is_set(
    archivist: Archivist, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCHIVIST_TODAY", "garbage")
    argv = ["search", "gateway", "--mode", "keyword", "--during", "this decade"]
    assert archivist(*argv).code == 2
    assert archivist(*argv, "--today", "2026-10-15").code == 0


def test_names_that_are_no_text_are_shown_alike_everywhere(archivist: Archivist, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"lat\xe9")
    odd.mkdir()
    (odd / "note.md").write_text("the gateway")
    shown = f"{tmp_path}/lat\N{REPLACEMENT CHARACTER}E9"
    library = odd / "library.db"
    assert archivist("index", odd, "-l", library).code == 0
    for argv in (["status"], ["search", "gateway", "--mode", "keyword"]):
        done = archivist(*argv, "--json", "-l", library)
        assert shown in done.out
        assert "\\udc" not in done.out
    assert archivist("roots", "-l", library).out.startswith(f"{shown}: 1 document, indexed just now\n")
    assert archivist("status", "-l", odd / "none.db").err.startswith(f"archivist: there is no library at {shown}/none.db")
    assert archivist("show", f"{shown}/note.md", "-l", library).code == 0
    assert archivist("forget", shown, "-l", library).code == 0


def test_an_unreadable_folder_is_a_failure_not_a_usage_error(
    archivist: Archivist, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr("search.sources._names", denied)
    done = archivist("index", notes)
    assert done.code == 1
    assert "Permission denied; nothing of it was removed" in done.err


def test_watch_says_when_removals_are_held_back(
    archivist: Archivist, write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [write(f"{number:02}.md", f"text {number}") for number in range(30)]
    archivist("index", folder)

    def bursts(roots: Sequence[Path], **_: object) -> Iterator[set[Path]]:
        for file in files:
            file.unlink(missing_ok=True)
        yield set(roots)
        yield set(roots)

    monkeypatch.setattr("search.sources.watch", bursts)
    said = archivist("index", "--watch").err
    assert said.count("30 of 30 documents") == 1


def test_an_encoding_that_lacks_letters_is_no_error(notes: Path, library_file: Path) -> None:
    for form in ("--json", "--csv", "--paths", "--explain"):
        argv = command_line("search", "接続", "--mode", "keyword", form, "-l", library_file)
        done = subprocess.run(
            argv, capture_output=True, cwd=ROOT, env=environment(PYTHONIOENCODING="ascii"), timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


INTERRUPTED = """
import signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts jobs in the background has them ignore it
sys.path.insert(0, {tests!r})
from standin import StandIn
import search.embedding

class Slow(StandIn):
    def embed_passages(self, texts):
        if len(self.embedded) >= 100:
            print("READY", file=sys.stderr, flush=True)
            threading.Event().wait(60)
        return super().embed_passages(texts)

search.embedding.load_embedder = lambda *_, **__: Slow()
from assistant.cli import main
main(sys.argv[1:])
"""


def test_ctrl_c_exits_130_and_keeps_what_is_done(write: Write, folder: Path, archivist: Archivist, library_file: Path) -> None:
    for number in range(300):
        write(f"{number:03}.md", f"text number {number}")
    program = INTERRUPTED.format(tests=str(ROOT / "tests"))
    argv = [sys.executable, "-c", program, "index", str(folder), "-v", "-l", str(library_file)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment()) as process:
        assert process.stderr is not None
        while process.stderr.readline() not in {"READY\n", ""}:
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = archivist("status", "--json").json["coverage"]["documents"]  # type: ignore[index]
    assert 100 <= kept < 300
    assert err.strip() == f"interrupted; the library holds {kept} documents, the next run goes on from there"
    assert out.count("+ ") == kept, "no file is called added before it is"
    done = archivist("index", folder, "--json").json
    assert (done["added"], done["unchanged"]) == (300 - kept, kept)


def test_ctrl_c_in_a_rebuild_says_that_the_library_is_as_before(
    archivist: Archivist, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(StandIn, "embed_passages", interrupted)
    done = archivist("index", "--rebuild")
    assert (done.code, done.err) == (
        130,
        "interrupted; the library holds 4 documents as before, nothing of the new one is kept\n",
    )
    assert archivist("status", "--json").json["coverage"]["documents"] == 4  # type: ignore[index]


@pytest.mark.parametrize("options", [[], ["--watch"]])
def test_ctrl_c_before_anything_is_stored_says_so(
    archivist: Archivist, write: Write, folder: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(StandIn, "embed_passages", interrupted)
    write("a.md", "text")
    assert archivist("index", folder, *options) == Done(
        130, "", "interrupted; the library holds 0 documents, the next run goes on from there\n"
    )


LOADING = """
import sys

class CtrlC:
    def find_spec(self, name, *_):
        if name == "search":
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
from assistant.__main__ import main
main(["status"])
"""


def test_ctrl_c_while_the_commands_load_exits_130_too() -> None:
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, cwd=ROOT, env=environment(), check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_a_bar_is_shown_on_a_terminal_only(write: Write, folder: Path, library_file: Path) -> None:
    for number in range(3):
        write(f"{number}.md", f"text number {number}")
    program = INTERRUPTED.format(tests=str(ROOT / "tests"))
    argv = [sys.executable, "-c", program, "index", str(folder), "-l", str(library_file)]
    code, shown = on_a_terminal(argv, TERM="xterm-256color", COLUMNS="100")
    assert code == 0
    assert "indexing" in shown
    assert "+ 2.md" in shown
    assert "3 added" in shown
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, env=environment(), timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("0 added, 0 changed, 0 moved, 0 removed, 3 unchanged\n", "")


@pytest.mark.model
@pytest.mark.slow
def test_the_script_does_what_the_command_does(write: Write, folder: Path, tmp_path: Path) -> None:
    write("a.md", "# Gateway\n\nThe gateway has a timeout.")
    write("b.md", "Passwords are reset on the account page.")
    ran = []
    for name, argv in (("one", command_line("index")), ("two", [sys.executable, str(ROOT / "scripts" / "index.py")])):
        library = tmp_path / name / "library.db"
        done = subprocess.run(
            [*argv, str(folder), "-l", str(library)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(),
            timeout=300,
            check=True,
        )
        search = command_line("search", "credentials forgotten", "-l", library, "--json")
        found = subprocess.run(search, capture_output=True, text=True, cwd=ROOT, env=environment(), timeout=300, check=True)
        hits = json.loads(found.stdout)["hits"]
        assert hits[0]["path"] == "b.md"
        ran.append((re.sub(r"in .* s", "", done.stdout), done.stderr, hits))
    assert ran[0] == ran[1]
    assert ran[0][1] == ""
