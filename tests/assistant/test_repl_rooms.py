"""The rooms of the REPL by themselves: Markdown, filters, editors, the clipboard, the embedding model that loads behind."""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standin import StandIn

from assistant import editor, markdown, render
from assistant.errors import UsageError, UserError
from assistant.repl import copying, filtering, opening
from assistant.repl.warming import Warming
from assistant.spinner import reminding
from search import Condition, Filters, Library

_SGR = re.compile(r"\x1b\[[0-9;]*m")


class TestMarkdown:
    @pytest.mark.parametrize(
        "written",
        [
            "see [the page](http://x.example/a)",
            "![a picture](http://x.example/b.png)",
            "<http://x.example>",
            "the tag <gateway> and <b>bold</b>",
            "<div>a block</div>",
            "[1]: http://x.example/reference",
            "&#x202e;reversed &#27;[31m",
        ],
    )
    def test_nothing_that_was_written_is_hidden(self, written: str) -> None:
        assert markdown.lines(written, width=100, styled=False) == [written]

    @pytest.mark.parametrize(
        "text",
        [
            "\n".join(f"{'  ' * depth}- item{depth}x" for depth in range(30)),
            f"{'>' * 60} item0x",
            f"{'- ' * 60}item0x",
            "\n".join([f"|{'h|' * 60}", f"|{'-|' * 60}", f"|{'|'.join(f'item{number}x' for number in range(60))}|"]),
        ],
        ids=["nested", "quoted", "listed", "table"],
    )
    def test_what_is_nested_too_deep_or_too_wide_is_shown_as_it_was_written(self, text: str) -> None:
        shown = markdown.lines(text, width=80, styled=True)
        assert re.findall("item[0-9]+x", text) == re.findall("item[0-9]+x", "".join(shown))
        assert max(render.columns(line) for line in shown) <= 80

    @pytest.mark.parametrize("width", [40, 60, 120])
    def test_no_line_is_wider_than_the_terminal(self, width: int) -> None:
        text = f"{'words ' * 40}\n\n- {'日本語のテキスト' * 10}\n\n| a | b |\n|---|---|\n| {'x ' * 60} | 1 |\n\n> {'quoted ' * 30}"
        assert max(render.columns(line) for line in markdown.lines(text, width=width, styled=False)) <= width

    def test_styles_add_no_character(self) -> None:
        text = "# Head\n\n**bold** and `code`\n\n- one\n\n```python\nx = 1\n```"
        styled = [_SGR.sub("", line) for line in markdown.lines(text, width=80, styled=True)]
        assert styled == markdown.lines(text, width=80, styled=False)

    def test_a_block_that_goes_on_inside_an_item_is_no_code(self) -> None:
        assert markdown.lines("\n\n   goes **on** here", width=60, styled=False) == ["   goes on here"]

    @settings(deadline=None)
    @given(st.text(max_size=300))
    def test_any_text_can_be_shown(self, text: str) -> None:
        for line in markdown.lines(render.safe(text), width=40, styled=False):
            assert "\n" not in line
            assert "\x1b" not in line


class TestFilters:
    @pytest.mark.parametrize(
        ("typed", "filters"),
        [
            ("category:runbooks", Filters(category=("runbooks",))),
            ("--category runbooks --category notes", Filters(category=("runbooks", "notes"))),
            ("--category=runbooks", Filters(category=("runbooks",))),
            ("category:-- category:--title title:--x", Filters(category=("--", "--title"), title="--x")),
            ('during:"last month" tag:urgent', Filters(during="last month", tags=("urgent",))),
            ("type:pdf author:'Ada L.'", Filters(format=("pdf",), author=("Ada L.",))),
            ("where:minutes>=30", Filters(metadata=(Condition("minutes", ">=", 30),))),
            ("--where 'status in open, blocked'", Filters(metadata=(Condition("status", "in", ("open", "blocked")),))),
            ("--title a:b", Filters(title="a:b")),
        ],
    )
    def test_options_and_short_forms_mean_the_same(self, typed: str, filters: Filters) -> None:
        assert filtering.read(typed, Filters()) == filters

    def test_a_filter_that_is_named_again_is_replaced_and_the_others_stay(self) -> None:
        before = Filters(category=("runbooks",), tags=("urgent",))
        assert filtering.read("category:notes", before) == Filters(category=("notes",), tags=("urgent",))
        assert filtering.without(["category"], before) == Filters(tags=("urgent",))
        assert filtering.without([], before) == Filters()

    @pytest.mark.parametrize(
        ("typed", "message"),
        [
            ("categroy:runbooks", "did you mean 'category'"),
            ("--categroy runbooks", "--categ"),
            ('during:"last month', "no closing quotation"),
            ("runbooks", "unexpected extra argument"),
            ("where:x", "want KEY=VALUE"),
        ],
    )
    def test_what_is_not_understood_is_named(self, typed: str, message: str) -> None:
        with pytest.raises(UserError, match=re.escape(message)) as caught:
            filtering.read(typed, Filters())
        assert caught.value.hint

    @settings(deadline=None)
    @given(
        st.builds(
            Filters,
            category=st.lists(st.text(min_size=1, max_size=20), max_size=2).map(tuple),
            title=st.none() | st.text(min_size=1, max_size=20),
            during=st.none() | st.sampled_from(["last month", "Q2 2025"]),
        )
    )
    def test_what_is_written_is_read_back(self, filters: Filters) -> None:
        assert filtering.read(filtering.written(filters), Filters()) == filters


class TestOpening:
    @pytest.mark.parametrize(
        ("setting", "words"),
        [
            ("vim", ["vim", "+7", "--", "/d/-x.md"]),
            ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+7", "--", "/d/-x.md"]),
            ("micro", ["micro", "+7", "/d/-x.md"]),
            ("code -w", ["code", "-w", "--goto", "/d/-x.md:7"]),
            ("subl", ["subl", "/d/-x.md:7"]),
            ("hx", ["hx", "--", "/d/-x.md:7"]),
            ("strange", ["strange", "/d/-x.md"]),
            ("my 'two words' {line} {path}", ["my", "two words", "7", "/d/-x.md"]),
        ],
    )
    def test_each_editor_gets_the_line_in_its_own_way(self, setting: str, words: list[str]) -> None:
        assert editor.command(shlex.split(setting), Path("/d/-x.md"), 7) == words

    @pytest.mark.parametrize("setting", ["no-such-editor -w", "'", " "])
    def test_an_editor_that_cannot_be_run_is_named(self, setting: str) -> None:
        with pytest.raises(UserError, match=r"^editor: "):
            editor.words(setting)

    def test_without_a_setting_the_first_that_is_there_is_taken(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(UserError, match="no editor is set"):
            editor.words(None)
        for name in ("vi", "nano"):
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)
        assert editor.words(None) == ["nano"]

    def test_an_editor_that_is_not_there_is_said(self) -> None:
        with pytest.raises(UserError, match="cannot be started"):
            editor.start(["/nowhere/editor"])

    def test_a_file_that_is_gone_or_leads_out_of_its_folder_is_not_opened(
        self, write: Callable[[str, str], Path], indexed: Callable[[], Library], tmp_path: Path
    ) -> None:
        file = write("a.md", "# A\n\nGateway.")
        library = indexed()
        document = library.document("a.md")
        assert opening.file_of(library, document) == file
        outside = tmp_path / "secret.md"
        outside.write_text("secret")
        file.unlink()
        with pytest.raises(UserError, match="not there any more"):
            opening.file_of(library, document)
        file.symlink_to(outside)
        with pytest.raises(UserError, match="leads out of its folder"):
            opening.file_of(library, document)

    def test_the_line_is_found_in_the_file_as_it_is_now(self, tmp_path: Path) -> None:
        file = tmp_path / "a.md"
        file.write_text("new\nnew\nThe gateway gives up.\nother\n")
        assert opening.line_in_file(file, ["", "The gateway gives up."], 1) == 3
        assert opening.line_in_file(file, ["not in it"], 2) == 2
        assert opening.line_in_file(file, ["not in it"], 99) == 1
        file.write_bytes(b"%PDF-1.7\n")
        with pytest.raises(UserError, match="no text"):
            opening.line_in_file(file, ["x"], 1)


class TestReminding:
    def test_what_takes_long_is_said_again_and_again_until_it_ends(self) -> None:
        said: list[str] = []
        heard = threading.Event()

        def say(text: str) -> None:
            said.append(text)
            if len(said) == 2:
                heard.set()

        with reminding(say, lambda: "waiting for a model", after=(0, 0, 3600)):
            assert heard.wait(60)
        assert said == ["waiting for a model, for 0 s now"] * 2

    def test_what_is_quick_is_not_mentioned(self) -> None:
        said: list[str] = []
        with reminding(said.append, lambda: "waiting", after=(3600,)):
            pass
        assert said == []


class TestCopying:
    def test_the_terminal_gets_an_escape_and_a_huge_text_does_not(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(copying, "program", lambda *_: None)
        assert copying.copy("日本語", terminal=True) == "the terminal"
        assert capsys.readouterr().out == "\x1b]52;c;5pel5pys6Kqe\x07"
        with pytest.raises(UserError, match="no clipboard"):
            copying.copy("x" * 100_000, terminal=True)

    def test_the_desktop_program_gets_the_text_itself(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        kept = tmp_path / "kept"
        program = tmp_path / "wl-copy"
        program.write_text(f"#!/bin/sh\ncat > {kept}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
        assert copying.copy("$(touch x); `y`", terminal=False) == "wl-copy"
        assert kept.read_text() == "$(touch x); `y`"


class TestWarming:
    def test_whoever_comes_early_waits_and_is_seen_waiting(self) -> None:
        go = threading.Event()

        def load() -> StandIn:
            assert go.wait(60)
            return StandIn()

        warming = Warming(load)
        warming.begin()
        assert warming.loading
        got: list[int] = []
        asking = threading.Thread(target=lambda: got.append(len(warming.embed_query("x"))))
        asking.start()
        while not warming.awaited:
            assert asking.is_alive()
        go.set()
        asking.join(60)
        assert got == [64]
        assert not warming.loading

    def test_a_failure_is_raised_to_whoever_asks(self) -> None:
        def load() -> StandIn:
            raise UsageError("no such model")

        warming = Warming(load)
        with pytest.raises(UsageError, match="no such model"):
            warming.vocabulary()
        assert str(warming.failure) == "no such model"
