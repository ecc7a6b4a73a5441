"""What `search.sources` promises: which files are taken, which are not and why, names of any encoding, careful reading."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from search.errors import ReadError, SourceError
from search.sources import (
    Skipped,
    SourceFile,
    content_hash,
    exact_glob,
    locate,
    read_bytes,
    to_os,
    to_text,
    walk,
    watch,
)

MARK = "\N{REPLACEMENT CHARACTER}"
GIT = shutil.which("git")


def grow(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")


def taken(root: Path, **choice: tuple[str, ...]) -> list[str]:
    return [found.path for found in walk(root, **choice) if isinstance(found, SourceFile)]  # type: ignore[arg-type]


def skipped(root: Path, **choice: tuple[str, ...]) -> dict[str, str]:
    return {found.path: found.reason for found in walk(root, **choice) if isinstance(found, Skipped)}  # type: ignore[arg-type]


# Names


@given(st.binary().filter(lambda name: b"\0" not in name))
@example(b"caf\xe9.md")
@example(b"\xef\xbf\xbdE9\xe9")
@example(b"\xed\xb3\xa9")
def test_any_name_comes_back_from_its_text(name: bytes) -> None:
    text = to_text(os.fsdecode(name))
    assert text.encode("utf-8").decode("utf-8") == text
    assert os.fsencode(to_os(text)) == name


@given(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda name: MARK not in name))
@example("100%25 %E9 \\xe9 =E9.md")
def test_a_name_that_can_be_decoded_is_left_alone(name: str) -> None:
    assert to_text(name) == name
    assert to_os(name) == name


@pytest.mark.parametrize("name", [MARK, f"{MARK}.md", f"{MARK}e9", f"a{MARK}{MARK}b", f"{MARK}41", "café", "cafe\u0301"])
def test_a_name_that_holds_the_mark_is_left_alone_unless_it_looks_escaped(name: str) -> None:
    assert to_text(name) == name
    assert to_os(name) == name


def test_a_name_that_looks_escaped_does_not_share_its_text_with_the_one_it_looks_like() -> None:
    assert to_text(os.fsdecode(b"caf\xe9.md")) == f"caf{MARK}E9.md"
    assert to_text(f"caf{MARK}E9.md") == f"caf{MARK}EF{MARK}BF{MARK}BDE9.md"


@given(st.lists(st.binary(min_size=1).filter(lambda part: not set(part) & {0, 0x2F}), min_size=1))
def test_the_text_of_a_path_is_made_of_the_texts_of_its_parts(parts: list[bytes]) -> None:
    names = [os.fsdecode(part) for part in parts]
    assert to_text("/".join(names)) == "/".join(map(to_text, names))


def test_files_with_undecodable_names_are_taken_and_can_be_opened(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xffdir"
    Path(os.fsdecode(folder)).mkdir()
    Path(os.fsdecode(folder + b"/caf\xe9.md")).write_bytes(b"latin")
    (found,) = walk(tmp_path, include=("*.md",))
    assert isinstance(found, SourceFile)
    assert found.path == f"{MARK}FFdir/caf{MARK}E9.md"
    assert read_bytes(found) == b"latin"
    assert tmp_path / to_os(found.path) == found.full


def test_composed_and_decomposed_names_stay_two_files(tmp_path: Path) -> None:
    grow(tmp_path, {"caf\u00e9.md": "1", "cafe\u0301.md": "2"})
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system makes the two names one")
    assert sorted(taken(tmp_path)) == ["cafe\u0301.md", "caf\u00e9.md"]


# What is taken, in which order


def test_the_order_is_by_name_within_a_folder_and_repeats(tmp_path: Path) -> None:
    grow(tmp_path, dict.fromkeys(["b/2.md", "b/10.md", "a.md", "c.md", "b/a/x.md", "B.md"], ""))
    assert taken(tmp_path) == ["B.md", "a.md", "b/10.md", "b/2.md", "b/a/x.md", "c.md"]


def test_a_source_carries_size_modified_time_and_where_to_open_it(tmp_path: Path) -> None:
    grow(tmp_path, {"a/b.md": "four"})
    os.utime(tmp_path / "a/b.md", ns=(1, 1_700_000_000_123_456_789))
    changed = (tmp_path / "a/b.md").stat().st_ctime_ns
    assert list(walk(tmp_path)) == [SourceFile("a/b.md", tmp_path / "a/b.md", 4, 1_700_000_000_123_456_789, changed)]


def test_the_walk_is_lazy(tmp_path: Path) -> None:
    grow(tmp_path, {"a/1.md": "", "b/1.md": ""})
    found = walk(tmp_path)
    next(found)
    grow(tmp_path, {"b/2.md": ""})
    assert [source.path for source in found] == ["b/1.md", "b/2.md"]


def test_a_folder_of_many_files_is_listed_whole(tmp_path: Path) -> None:
    for number in range(20_000):
        (tmp_path / f"{number:05}.md").touch()
    assert taken(tmp_path) == [f"{number:05}.md" for number in range(20_000)]


@pytest.fixture
def deep_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is gone after the test: trees this deep are beyond what pytest can remove."""
    yield tmp_path / "deep"
    subprocess.run(["rm", "-rf", str(tmp_path / "deep")], check=True)


def dig(folder: Path, name: str, depth: int) -> None:
    """Folders in folders, and a file in the last."""
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("end.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_a_tree_deeper_than_the_recursion_limit_is_walked(deep_folder: Path) -> None:
    depth = sys.getrecursionlimit() + 100
    dig(deep_folder, "d", depth)
    assert taken(deep_folder) == ["d/" * depth + "end.md"]


def test_a_tree_deeper_than_paths_can_be_is_reported_and_survived(deep_folder: Path) -> None:
    dig(deep_folder, "d" * 200, 25)
    grow(deep_folder, {"z.md": ""})
    *_, too_deep, last = walk(deep_folder)
    assert isinstance(too_deep, Skipped)
    assert too_deep.blind
    assert last.path == "z.md"


def test_hidden_and_junk_is_left_out_without_a_word(tmp_path: Path) -> None:
    hidden = [".git/config", ".env", ".obsidian/app.json", "a/.b/c.md", "node_modules/m/README.md", "a/__pycache__/c.pyc"]
    grow(tmp_path, dict.fromkeys([*hidden, "a/kept.md"], "x"))
    assert [found.path for found in walk(tmp_path)] == ["a/kept.md"]


def test_a_hidden_root_is_walked(tmp_path: Path) -> None:
    grow(tmp_path, {".notes/a.md": ""})
    assert taken(tmp_path / ".notes") == ["a.md"]


# Ignore files


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("*.log\n!keep.log\n", ["a.md", "d/b.md", "d/keep.log"]),
        ("d/\n!d/b.md\n", ["a.md", "x.log"]),
        ("d/*\n!d/b.md\n", ["a.md", "d/b.md", "x.log"]),
        ("d/**\n!d/b.md\n", ["a.md", "d/b.md", "x.log"]),
        ("/*.log\n", ["a.md", "d/b.md", "d/keep.log"]),
        ("*\n!*/\n!*.md\n", ["a.md", "d/b.md"]),
        ("\ufeff*.log\r\nd\r\n", ["a.md"]),
        ("# d\n\\#x\n\n   \n*.log   \n", ["a.md", "d/b.md"]),
        ("a.md/\n[\nd\\\n[z-a]\n[[]\n", ["a.md", "d/b.md", "d/keep.log", "x.log"]),
    ],
)
def test_ignore_lines_mean_what_they_mean_to_git(tmp_path: Path, rules: str, expected: list[str]) -> None:
    grow(tmp_path, dict.fromkeys(["a.md", "d/b.md", "d/keep.log", "x.log"], ""))
    grow(tmp_path, {".gitignore": rules})
    assert taken(tmp_path) == expected


def test_an_ignore_file_speaks_for_its_own_folder_and_the_deepest_decides(tmp_path: Path) -> None:
    grow(tmp_path, dict.fromkeys(["a.md", "d/a.md", "d/e/a.md", "f/a.md", "f/b.md"], ""))
    grow(tmp_path, {".gitignore": "a.md", "d/.gitignore": "!a.md", "d/e/.gitignore": "/a.md", "f/.gitignore": "b.md"})
    assert taken(tmp_path) == ["d/a.md"]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("drafts/\n", ["a.md", "build/b.md"]),
        ("!build/\n", ["a.md", "build/b.md", "drafts/d.md"]),
        ("!node_modules/\n", ["a.md", "build/b.md", "drafts/d.md", "node_modules/r.md"]),
    ],
)
def test_archivistignore_outranks_any_gitignore(tmp_path: Path, own: str, expected: list[str]) -> None:
    git_rule = "build/" if "build" in own else ""
    grow(tmp_path, dict.fromkeys(["a.md", "build/b.md", "drafts/d.md", "node_modules/r.md"], ""))
    grow(tmp_path, {".archivistignore": own, ".gitignore": git_rule})
    assert taken(tmp_path) == expected


def test_an_archivistignore_above_outranks_a_gitignore_below(tmp_path: Path) -> None:
    grow(tmp_path, {".archivistignore": "!*.log", "d/.gitignore": "*.log", "d/x.log": "", "d/y.md": ""})
    assert taken(tmp_path) == ["d/x.log", "d/y.md"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    grow(tmp_path, {".git/HEAD": "", ".gitignore": "*.log\nprivate/\n/docs/old.md", "docs/.archivistignore": "tmp*"})
    grow(tmp_path, dict.fromkeys(["docs/a.md", "docs/x.log", "docs/old.md", "docs/in/old.md", "docs/in/tmp.md"], ""))
    grow(tmp_path, dict.fromkeys(["private/p.md", "private/x.log"], ""))
    return tmp_path


def test_rules_above_the_root_count_up_to_the_repositorys_top(repository: Path) -> None:
    assert taken(repository / "docs") == ["a.md", "in/old.md"]
    assert taken(repository / "docs/in") == ["old.md"]


def test_rules_above_the_root_count_through_a_linked_root(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(repository / "docs")
    assert taken(link) == ["a.md", "in/old.md"]


def test_a_folder_that_was_asked_for_is_walked_though_rules_above_ignore_it(repository: Path) -> None:
    assert taken(repository / "private") == ["p.md", "x.log"]


def test_rules_above_the_root_do_not_count_outside_a_repository(tmp_path: Path) -> None:
    grow(tmp_path, {".gitignore": "*.log", "d/x.log": ""})
    assert taken(tmp_path / "d") == ["x.log"]


def test_an_ignore_file_that_is_a_pipe_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    grow(tmp_path, {"d/a.md": ""})
    os.mkfifo(tmp_path / "d/.gitignore")
    assert skipped(tmp_path) == {"d/.gitignore": "its rules are not applied: not a regular file"}
    assert taken(tmp_path) == ["d/a.md"]


def test_an_ignore_file_that_is_a_link_is_applied(tmp_path: Path) -> None:
    grow(tmp_path, {"rules.txt": "secret.md\n", "d/secret.md": "", "d/a.md": ""})
    (tmp_path / "d/.archivistignore").symlink_to("../rules.txt")
    assert taken(tmp_path) == ["d/a.md", "rules.txt"]


def test_an_ignore_line_of_undecodable_bytes_matches_the_name_of_these_bytes(tmp_path: Path) -> None:
    for name in (b"caf\xe9.md", b"caf\xe8.md"):
        os.close(os.open(os.fsencode(tmp_path) + b"/" + name, os.O_CREAT | os.O_WRONLY))
    (tmp_path / ".gitignore").write_bytes(b"caf\xe9.md\n")
    assert taken(tmp_path) == [f"caf{MARK}E8.md"]


# The same, compared with git itself

NAMES = ("a", "b", "ab", "b.md")
TREE = [*NAMES, *(f"d/{n}" for n in NAMES), *(f"d/e/{n}" for n in NAMES), *(f"ab.d/{n}" for n in NAMES), "d/d/d/a", "e"]
SEGMENTS = st.sampled_from(["a", "b", "ab", "d", "e", "*", "**", "?", "a*", "*b", "*.md", "[ab]", "[!a]*", "a?", "*.d", "[a-c]b"])


@st.composite
def ignore_lines(draw: st.DrawFn) -> str:
    body = "/".join(draw(st.lists(SEGMENTS, min_size=1, max_size=3)))
    return (
        draw(st.sampled_from(["", "", "!"])) + draw(st.sampled_from(["", "", "/"])) + body + draw(st.sampled_from(["", "/", "  "]))
    )


def ignore_files(folders: tuple[str, ...]) -> st.SearchStrategy[dict[str, list[str]]]:
    return st.dictionaries(st.sampled_from(folders), st.lists(ignore_lines(), min_size=1, max_size=4), min_size=1)


@pytest.fixture(scope="module")
def git_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if GIT is None:
        pytest.skip("git is not installed")
    root = tmp_path_factory.mktemp("git") / "tree"
    grow(root, dict.fromkeys(TREE, ""))
    ask_git(root, "init", "-q")
    return root


def ask_git(folder: Path, *words: str) -> str:
    assert GIT is not None
    nowhere = {
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    done = subprocess.run([GIT, *words], cwd=folder, env=nowhere, capture_output=True, text=True, check=True)
    return done.stdout


def untracked(folder: Path) -> list[str]:
    paths = ask_git(folder, "ls-files", "-o", "--exclude-standard", "-z").split("\0")
    return sorted(path for path in paths if path and not path.rpartition("/")[2].startswith("."))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules=ignore_files(("", "d/", "d/e/", "ab.d/")), below=st.sampled_from(["", "d", "d/d"]))
@example(rules={"": ["*", "!*/", "!*.md"]}, below="")
@example(rules={"": ["d/**", "!d/e"], "d/e/": ["a"]}, below="")
@example(rules={"": ["/d/e/"]}, below="d")
def test_git_agrees_on_what_is_ignored(git_tree: Path, rules: dict[str, list[str]], below: str) -> None:
    for old in git_tree.rglob(".gitignore"):
        old.unlink()
    grow(git_tree, {f"{folder}.gitignore": "\n".join(lines) for folder, lines in rules.items()})
    if below and untracked(git_tree / below) == []:
        return  # git lists nothing of an ignored folder, while naming it here means that it is wanted
    assert sorted(taken(git_tree / below)) == untracked(git_tree / below)


# Globs of the person's own


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (("*.md",), (), ["a.md", "drafts/b.md", "drafts/x/c.md"]),
        (("drafts/**",), (), ["drafts/b.md", "drafts/d.txt", "drafts/x/c.md"]),
        (("drafts",), (), ["drafts/b.md", "drafts/d.txt", "drafts/x/c.md"]),
        (("./drafts/*.md",), (), ["drafts/b.md"]),
        (("a.md", "*.txt"), (), ["a.md", "drafts/d.txt", "z.txt"]),
        ((), ("drafts/**",), ["!z.rst", "#y.rst", "a.md", "z.txt"]),
        ((), ("x/",), ["!z.rst", "#y.rst", "a.md", "drafts/b.md", "drafts/d.txt", "z.txt"]),
        (("*.md",), ("x",), ["a.md", "drafts/b.md"]),
        (("#y.rst", "!z.rst"), (), ["!z.rst", "#y.rst"]),
    ],
)
def test_globs_choose(tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], expected: list[str]) -> None:
    grow(tmp_path, dict.fromkeys(["a.md", "z.txt", "drafts/b.md", "drafts/x/c.md", "drafts/d.txt", "#y.rst", "!z.rst"], ""))
    assert taken(tmp_path, include=include, exclude=exclude) == expected


def test_include_brings_back_nothing_that_is_ignored_or_hidden(tmp_path: Path) -> None:
    grow(tmp_path, {".gitignore": "build/", "build/a.md": "", ".hidden.md": "", "b.md": ""})
    assert taken(tmp_path, include=("*.md", "build/*", ".hidden.md")) == ["b.md"]


@pytest.mark.parametrize("glob", ["", "  ", "a\\", "[z-a]", "/"])
def test_a_glob_that_says_nothing_is_refused_with_its_option(tmp_path: Path, glob: str) -> None:
    with pytest.raises(SourceError, match="--exclude: cannot understand") as caught:
        walk(tmp_path, exclude=(glob,))
    assert "*.md" in caught.value.hint


def test_globs_are_matched_with_the_text_of_a_name(tmp_path: Path) -> None:
    for name in (b"caf\xe9.md", b"caf\xe8.md"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).touch()
    assert taken(tmp_path, include=(os.fsdecode(b"caf\xe9.*"),)) == [f"caf{MARK}E9.md"]
    assert taken(tmp_path, exclude=(f"caf{MARK}E9.md",)) == [f"caf{MARK}E8.md"]


AWKWARD = [
    "a b ",
    "a\t",
    "a\n",
    "x[1]*?.md",
    "[",
    "a\\b",
    "\\",
    "!x",
    "#y",
    "**",
    "*",
    "caf\u00e9",
    "a]",
    "-",
    "{a,b}",
    "$",
    "a\u2003",
    " a",
]


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("folder", ["", "d/", "[d]/"])
def test_an_exact_glob_excludes_one_path_and_what_lies_below_it(tmp_path: Path, name: str, folder: str) -> None:
    others = ["z", "d/z", "[d]/z", f"e/{folder}{name}", f"{folder}{name}z", f"{folder}{name.strip()}y"]
    grow(tmp_path, dict.fromkeys([*others, f"{folder}{name}/below.md"], ""))
    assert sorted(taken(tmp_path, exclude=(exact_glob(f"{folder}{name}"),))) == sorted(others)
    (tmp_path / folder / name / "below.md").unlink()
    (tmp_path / folder / name).rmdir()
    grow(tmp_path, {f"{folder}{name}": ""})
    assert sorted(taken(tmp_path, exclude=(exact_glob(f"{folder}{name}"),))) == sorted(others)
    assert taken(tmp_path, include=(exact_glob(f"{folder}{name}"),)) == [f"{folder}{name}"]


# A file that is named by itself


@pytest.mark.parametrize("name", ["a.md", ".hidden.md", "ignored.log", "node_modules/r.md"])
def test_a_named_file_is_taken_whatever_the_rules_say(tmp_path: Path, name: str) -> None:
    grow(tmp_path, {".gitignore": "*.log", name: "text"})
    (found,) = walk(tmp_path / name, include=("*.rst",), exclude=("*",))
    assert isinstance(found, SourceFile)
    assert found.path == Path(name).name
    assert read_bytes(found) == b"text"


def test_a_named_link_is_taken_under_its_own_name(tmp_path: Path) -> None:
    grow(tmp_path, {"there/v2.md": "text", "here/x.md": ""})
    (tmp_path / "here/current.md").symlink_to("../there/v2.md")
    assert locate(tmp_path / "here/current.md") == (tmp_path / "here", "current.md")
    (found,) = walk(tmp_path / "here/current.md")
    assert isinstance(found, SourceFile)
    assert found.path == "current.md"
    assert read_bytes(found) == b"text"


def test_a_named_file_that_is_too_large_is_skipped(tmp_path: Path) -> None:
    grow(tmp_path, {"a.md": "12345"})
    assert list(walk(tmp_path / "a.md", max_bytes=4)) == [Skipped("a.md", "larger than 4 bytes; --max-size raises the limit")]


def test_a_root_is_located_by_any_way_of_writing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grow(tmp_path, {"d/e/a.md": ""})
    (tmp_path / "link").symlink_to("d")
    monkeypatch.chdir(tmp_path / "d")
    ways = [Path(), Path("../d"), Path("e/.."), tmp_path / "link/e/..", tmp_path / "e/../d"]
    assert {locate(way) for way in ways} == {(tmp_path / "d", None)}
    assert locate(tmp_path / "link") == (tmp_path / "link", None)


# Links, pipes, sizes


def test_links_inside_the_root_are_not_taken_twice_and_loops_end(tmp_path: Path) -> None:
    grow(tmp_path, {"a.md": "", "d/b.md": ""})
    (tmp_path / "again.md").symlink_to("a.md")
    (tmp_path / "again").symlink_to("d")
    (tmp_path / "d/up").symlink_to("..")
    (tmp_path / "d/root").symlink_to(tmp_path)
    assert [found.path for found in walk(tmp_path)] == ["a.md", "d/b.md"]


def test_links_that_cannot_be_followed_are_reported(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    grow(outside, {"secret.md": "", f"{tmp_path.name}/x.md": ""})
    grow(tmp_path, {".hidden/b.md": "", "a.md": ""})
    links = {
        "file": outside / "secret.md",
        "folder": outside,
        "sibling": Path(f"{tmp_path}x"),
        "broken": Path("nothing.md"),
        "self": Path("self"),
        "through": Path("a.md/b"),
        "hidden": Path(".hidden/b.md"),
    }
    Path(f"{tmp_path}x").mkdir()
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    leaves = dict.fromkeys(["file", "folder", "sibling"], "link leaves the folder")
    others = {"broken": "broken link", "through": "broken link", "self": "link that leads to itself"}
    assert skipped(tmp_path) == {**leaves, **others, "hidden": "link to something hidden"}
    assert taken(tmp_path) == ["a.md"]


def test_links_that_are_ignored_excluded_or_not_included_are_not_spoken_of(tmp_path: Path) -> None:
    grow(tmp_path, {".gitignore": "out1"})
    for name in ("out1", "out2", "out3"):
        (tmp_path / name).symlink_to("/etc/hostname")
    assert skipped(tmp_path, exclude=("out2",)) == {"out3": "link leaves the folder"}
    assert skipped(tmp_path, include=("*.md",)) == {}


def test_a_linked_root_is_walked_and_keeps_its_name(tmp_path: Path) -> None:
    grow(tmp_path, {"real/a.md": "", "real/d/b.md": ""})
    (tmp_path / "real/inner").symlink_to(tmp_path / "real/d")
    (tmp_path / "root").symlink_to("real")
    assert [found.path for found in walk(tmp_path / "root")] == ["a.md", "d/b.md"]
    assert {s.full for s in walk(tmp_path / "root") if isinstance(s, SourceFile)} == {
        tmp_path / "root" / p for p in ("a.md", "d/b.md")
    }


def test_pipes_and_sockets_are_reported_and_never_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    really_open = os.open

    def note(path: str, flags: int) -> int:
        opened.append(str(path))
        return really_open(path, flags)

    # A socket's path must be short: the folder of the other tests may be too long for it.
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server, monkeypatch.context() as patch:
        root = Path(folder).resolve()
        grow(root, {".gitignore": "#"})
        os.mkfifo(root / "pipe")
        server.bind(str(root / "socket"))
        patch.setattr(os, "open", note)
        assert skipped(root) == {"pipe": "not a regular file but a named pipe", "socket": "not a regular file but a socket"}
        assert str(root / ".gitignore") in opened
        assert not {str(root / "pipe"), str(root / "socket")} & set(opened)


@pytest.mark.parametrize(
    ("limit", "words"), [(50_000_000, "50 MB"), (1_500_000, "1.5 MB"), (2_000_000_000, "2 GB"), (2000, "2 kB"), (0, "0 bytes")]
)
def test_a_file_above_the_limit_is_reported_with_the_limit_and_how_to_raise_it(tmp_path: Path, limit: int, words: str) -> None:
    for name, size in (("fits", limit), ("large", limit + 1)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    fits, large = walk(tmp_path, max_bytes=limit)
    assert isinstance(fits, SourceFile)
    assert large == Skipped("large", f"larger than {words}; --max-size raises the limit")


# What cannot be read


@pytest.mark.parametrize("path", ["missing", "a.md/b", "a\0b", "x" * 300])
def test_a_missing_root_is_refused_with_a_hint(tmp_path: Path, path: str) -> None:
    grow(tmp_path, {"a.md": ""})
    with pytest.raises(SourceError) as caught:
        walk(tmp_path / path)
    assert caught.value.hint


def test_a_root_that_is_a_broken_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to("nothing")
    (tmp_path / "self").symlink_to("self")
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("broken", "no such file or folder"), ("self", "cannot look at"), ("pipe", "but a named pipe")):
        with pytest.raises(SourceError, match=words):
            walk(tmp_path / name)


def test_a_refusal_can_be_printed_whatever_the_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        walk(tmp_path / os.fsdecode(b"caf\xe9"))
    assert str(caught.value).encode("utf-8")


UNPRIVILEGED = """
import json, os, sys
from pathlib import Path
import pathspec.patterns.gitignore.spec
from search.errors import ReadError, SourceError
from search.sources import Skipped, read_bytes, walk
if os.geteuid() == 0:  # after the imports: an ordinary user may not be able to read the checkout
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
def ask(found):
    if isinstance(found, Skipped):
        return [found.path, found.reason, found.blind]
    try:
        return [found.path, read_bytes(found).decode()]
    except ReadError as error:
        return [found.path, str(error)]
try:
    answers = [ask(found) for found in walk(Path(sys.argv[1]))]
except SourceError as error:
    answers = [["SourceError", str(error), error.hint]]
print(json.dumps(answers))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield folder
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)


def as_ordinary_user(root: Path) -> list[list[object]]:
    checkout = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", UNPRIVILEGED, str(root)], cwd=checkout, capture_output=True, text=True, check=True)
    answers: list[list[object]] = json.loads(done.stdout)
    return answers


def test_what_may_not_be_read_is_reported_and_the_walk_goes_on(open_folder: Path) -> None:
    grow(open_folder, {"a/x.md": "", "b/x.md": "", "c/.gitignore": "y.md", "c/y.md": "y", "d.md": "", "e.md": "text"})
    for name, mode in (("a", 0), ("b", 0o444), ("c/.gitignore", 0), ("d.md", 0)):
        (open_folder / name).chmod(mode)
    assert as_ordinary_user(open_folder) == [
        ["a", "cannot be read: Permission denied", True],
        ["b", "cannot be read: Permission denied", True],
        ["c/.gitignore", "its rules are not applied: Permission denied", False],
        ["c/y.md", "y"],
        ["d.md", "cannot be read: Permission denied"],
        ["e.md", "text"],
    ]


@pytest.mark.parametrize("mode", [0, 0o444, 0o111])
def test_a_root_that_may_not_be_read_is_refused_with_a_hint(open_folder: Path, mode: int) -> None:
    grow(open_folder, {"root/a.md": ""})
    (open_folder / "root").chmod(mode)
    ((kind, message, hint),) = as_ordinary_user(open_folder / "root")
    assert kind == "SourceError"
    assert message == f"cannot read {open_folder / 'root'}: Permission denied"
    assert "chmod" in str(hint)


# Reading


@pytest.fixture
def listed(tmp_path: Path) -> SourceFile:
    grow(tmp_path, {"a.md": "text"})
    (found,) = walk(tmp_path)
    assert isinstance(found, SourceFile)
    return found


def test_the_bytes_are_those_of_the_file(listed: SourceFile) -> None:
    data = os.urandom(3_000_000)
    listed.full.write_bytes(data)
    assert read_bytes(listed, max_bytes=len(data)) == data


def test_a_link_that_took_the_files_place_is_not_followed(listed: SourceFile) -> None:
    listed.full.rename(listed.full.with_name("secret"))
    listed.full.symlink_to("secret")
    with pytest.raises(ReadError, match="became a link"):
        read_bytes(listed)


@pytest.mark.parametrize(("make", "reason"), [(os.mkfifo, "a named pipe"), (os.mkdir, "a folder")])
def test_what_else_took_the_files_place_is_refused_without_waiting(listed: SourceFile, make: object, reason: str) -> None:
    listed.full.unlink()
    assert callable(make)
    make(listed.full)
    with pytest.raises(ReadError, match=f"not a regular file but {reason}"):
        read_bytes(listed)


def test_a_file_that_is_gone_is_an_error_with_its_reason(listed: SourceFile) -> None:
    listed.full.unlink()
    with pytest.raises(ReadError, match="cannot be read: No such file"):
        read_bytes(listed)


def test_a_file_that_grew_beyond_the_limit_is_refused(listed: SourceFile) -> None:
    with pytest.raises(ReadError, match="larger than 3 bytes; --max-size"):
        read_bytes(listed, max_bytes=3)


def test_a_file_that_grows_while_it_is_read_is_refused_beyond_the_limit(
    listed: SourceFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_stat = os.fstat

    def stat_then_grow(descriptor: int) -> os.stat_result:
        info = really_stat(descriptor)
        listed.full.write_text("text and more", encoding="utf-8")
        return info

    monkeypatch.setattr(os, "fstat", stat_then_grow)
    with pytest.raises(ReadError, match="larger than 4 bytes"):
        read_bytes(listed, max_bytes=4)


def test_no_descriptor_is_left_open_by_a_refusal(listed: SourceFile) -> None:
    before = os.dup(0)
    os.close(before)
    for limit in (0, 1, 4):
        try:
            read_bytes(listed, max_bytes=limit)
        except ReadError:
            continue
    after = os.dup(0)
    os.close(after)
    assert after == before


def test_the_hash_is_sha256() -> None:
    assert content_hash(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


# Watching


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    """Ends a watch that would never end, after a minute."""
    event = threading.Event()
    timer = threading.Timer(60, event.set)
    timer.start()
    yield event
    event.set()
    timer.cancel()
    timer.join()


def test_watching_gives_all_roots_first_and_then_those_that_changed(tmp_path: Path, stop: threading.Event) -> None:
    grow(tmp_path, {"one/a.md": "", "two/b/c.md": ""})
    one, two = tmp_path / "one", tmp_path / "two"
    sets = watch([one, two], stop)
    assert next(sets) == {one, two}
    grow(two, {"b/new.md": ""})
    assert next(sets) == {two}
    (one / "a.md").unlink()
    assert next(sets) == {one}


def test_watching_a_linked_root_and_a_single_file(tmp_path: Path, stop: threading.Event) -> None:
    grow(tmp_path, {"real/a.md": "", "alone.md": ""})
    (tmp_path / "root").symlink_to("real")
    roots = [tmp_path / "root", tmp_path / "alone.md"]
    sets = watch(roots, stop)
    next(sets)
    grow(tmp_path, {"real/a.md": "changed"})
    assert next(sets) == {roots[0]}
    grow(tmp_path, {"alone.md": "changed"})
    assert next(sets) == {roots[1]}


@pytest.mark.parametrize("quiet", [".git/index", "a/.b/c.md", "node_modules/m.md", ".draft.md.swp", "library.db", "library.db-wal"])
def test_changes_that_say_nothing_wake_nobody(tmp_path: Path, stop: threading.Event, quiet: str) -> None:
    loud = tmp_path / "loud"
    silent = tmp_path / "silent"
    grow(silent, {quiet: ""})
    loud.mkdir()
    sets = watch([loud, silent], stop, besides=[silent / "library.db"])
    next(sets)
    grow(silent, {quiet: "changed"})
    grow(loud, {"a.md": ""})
    assert next(sets) == {loud}


@pytest.mark.parametrize("name", [".gitignore", ".archivistignore"])
def test_a_changed_ignore_file_wakes(tmp_path: Path, stop: threading.Event, name: str) -> None:
    sets = watch([tmp_path], stop)
    next(sets)
    grow(tmp_path, {name: "*.log"})
    assert next(sets) == {tmp_path}


def test_watching_ends_when_it_is_stopped(tmp_path: Path, stop: threading.Event) -> None:
    sets = watch([tmp_path], stop)
    next(sets)
    stop.set()
    assert list(sets) == []


def test_watching_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file or folder") as caught:
        next(watch([tmp_path / "missing"]))
    assert caught.value.hint
    with pytest.raises(SourceError, match="no folder to watch"):
        next(watch([]))


def test_a_used_up_limit_of_watches_is_told_and_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: str, ignore_permission_denied: bool, **__: object) -> Iterator[set[tuple[int, str]]]:
        if not ignore_permission_denied:  # what watchfiles does: asked to forgive, it forgives this as well
            raise OSError(28, "OS file watch limit reached")
        yield set()

    monkeypatch.setattr("watchfiles.watch", refuse)
    with pytest.raises(SourceError, match="watch limit") as caught:
        next(watch([tmp_path]))
    assert "max_user_watches" in caught.value.hint


def test_a_locked_folder_does_not_end_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: str, ignore_permission_denied: bool, **__: object) -> Iterator[set[tuple[int, str]]]:
        if not ignore_permission_denied:
            raise PermissionError(13, "Permission denied")
        yield set()
        yield {(2, str(tmp_path / "a.md"))}

    monkeypatch.setattr("watchfiles.watch", stumble)
    assert list(watch([tmp_path])) == [{tmp_path}, {tmp_path}]


# Start-up


def test_the_module_loads_neither_watchfiles_nor_pathspec() -> None:
    program = "import sys, search.sources; print(sorted({'watchfiles', 'pathspec'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
