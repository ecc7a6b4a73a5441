"""`archivist config`, and the settings where commands use them: libraries by name, roles, completion of names."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from standin import StandIn

from assistant import ask_command, backends, cli, render, settings
from assistant.settings import SETTINGS

KEY = "sk-planted-0123456789abcdef"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Archivist = Callable[..., Done]


@pytest.fixture
def archivist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Archivist:
    """Runs a command line with settings of its own, in an empty folder below a home."""
    monkeypatch.setenv("ARCHIVIST_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OLLAMA_HOST", "http://models.example:11434")  # none is looked for on this machine
    here = tmp_path / "home" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setattr("search.embedding.load_embedder", lambda *_, **__: StandIn())

    def command(*argv: str) -> Done:
        capfd.readouterr()
        code = cli.run(argv)
        return Done(code, *capfd.readouterr())

    return command


def shown(done: Done) -> dict[str, tuple[str, str]]:
    """The list: name, origin and value of each line."""
    rows = (line.split(None, 2) for line in done.out.splitlines())
    return {row[0]: (row[1], row[2]) for row in rows}


def test_every_setting_is_listed_with_its_origin(archivist: Archivist, monkeypatch: pytest.MonkeyPatch) -> None:
    archivist("config", "set", "limits.steps", "5")
    archivist("config", "set", "libraries.work", "~/work.db")
    Path(".archivist.toml").write_text("trace = true\nmodel = 'gemini:x'")
    monkeypatch.setenv("ARCHIVIST_MODEL", "ollama:y")
    done = archivist("config")
    rows = shown(done)
    assert rows["limits.steps"] == ("file", "5")
    assert rows["libraries.work"] == ("file", "~/work.db")
    assert rows["trace"] == ("project", "true")
    assert rows["model"] == ("ARCHIVIST_MODEL", "ollama:y")
    assert rows["limits.calls"] == ("default", "40")
    assert rows["limits.cost"] == ("default", "-")
    assert {setting.name for setting in SETTINGS if not setting.entry} <= set(rows)
    assert done.err.count("not used: model") == 1
    assert str(settings.config_file()) in done.err
    assert str(Path(".archivist.toml").absolute()) in done.err


def test_the_json_form_says_the_same_with_files(archivist: Archivist) -> None:
    archivist("config", "set", "trace", "yes")
    told = json.loads(archivist("config", "--json").out)
    rows = {row["name"]: row for row in told["settings"]}
    assert rows["trace"] == {
        "name": "trace",
        "value": True,
        "origin": {"kind": "file", "where": str(settings.config_file())},
    }
    assert rows["limits.cost"]["value"] is None
    assert (told["file"], told["project"], told["notices"]) == (str(settings.config_file()), None, [])


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_of_keys_only_the_place_is_told(archivist: Archivist, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    settings.save_key("gemini", KEY + "2")
    settings.save("editor", f"edit {KEY}")
    done = archivist("config", *form)
    assert "OPENROUTER_API_KEY" in done.out
    assert "keys.json" in done.out
    assert KEY not in done.out + done.err
    assert KEY not in archivist("config", "get", "editor").out


@pytest.mark.parametrize("width", [40, 60, 100])
def test_the_list_fits_a_terminal_and_loses_no_path(archivist: Archivist, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    path = f"/srv/{'very-long-folder/' * 4}work.db"
    archivist("config", "set", "libraries.work", path)
    archivist("config", "set", "descriptions.~/語/notes of a long name that goes on", "日本語の説明" * 20)
    monkeypatch.setattr(render.Terminal, "__init__", terminal(width))
    out = archivist("config").out
    assert max(map(render.columns, out.splitlines())) <= width
    assert path in "".join(line.strip() for line in out.splitlines())
    assert "説明" in out


def terminal(width: int) -> Callable[..., None]:
    """A terminal of so many columns, without styles."""

    def made(self: render.Terminal, stream: object) -> None:
        self.stream = stream  # type: ignore[assignment]
        self.interactive, self.styled, self._linked, self.width = True, False, False, width

    return made


def test_get_prints_the_value_alone(archivist: Archivist) -> None:
    archivist("config", "set", "roles.brief", "One.\nTwo.")
    archivist("config", "set", "local_only", "private/**", "~/hr")
    assert archivist("config", "get", "roles.brief").out == "One.\nTwo.\n"
    assert archivist("config", "get", "local_only").out == "private/**\n~/hr\n"
    assert archivist("config", "get", "history").out == "true\n"
    assert archivist("config", "get", "limits").out == "limits.steps 10\nlimits.calls 40\n"
    assert json.loads(archivist("config", "get", "limits.steps", "--json").out)["value"] == 10
    assert len(json.loads(archivist("config", "get", "roles", "--json").out)["settings"]) == 1


@pytest.mark.parametrize("pattern", ["..", "a/{b,c}", "[ab*", "!open"])
def test_a_pattern_that_would_stop_every_question_is_not_saved(archivist: Archivist, pattern: str) -> None:
    done = archivist("config", "set", "local_only", "hr", pattern)
    assert (done.code, "local_only: got" in done.err) == (2, True)
    assert archivist("config", "get", "local_only").code == 0  # the default, which is none
    assert archivist("config", "get", "local_only").out == ""


@pytest.mark.parametrize("name", ["model", "libraries", "libraries.work"])
def test_get_of_what_is_not_set_says_so_and_ends_with_1(archivist: Archivist, name: str) -> None:
    assert archivist("config", "get", name) == Done(1, "", f"{name} is not set\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["limits.steps", "ten"], "limits.steps: got 'ten', want a whole number from 1"),
        (["limits.steps", "-1"], "limits.steps: got -1, want a whole number from 1"),
        (["limits.steps", "1", "2"], "limits.steps: got 2 values, want a whole number from 1"),
        (["modle", "x"], "unknown setting 'modle'; did you mean 'model'?"),
        (["model", "offlin"], "want PROVIDER:MODEL"),
        (["role", "brief"], "no role is named 'brief'"),
        (["library", "wrk"], "no library is named 'wrk'"),
        (["libraries.a/b", "x.db"], "got the name 'a/b'"),
        (["gemini_key", KEY], "keys are not kept among the settings"),
        (["base_url", f"https://{KEY}@x/"], "want http(s)://"),
        (["model"], "Missing argument"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_written(archivist: Archivist, words: list[str], message: str) -> None:
    done = archivist("config", "set", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert KEY not in done.err
    assert not settings.config_file().exists()


def test_paths_are_kept_in_full_as_they_were_typed(archivist: Archivist) -> None:
    archivist("config", "set", "libraries.here", "sub/x.db")
    archivist("config", "set", "libraries.home", "~/x.db")
    archivist("config", "set", "library", "./y.db")
    values = settings.own().values
    assert values["libraries.here"] == str(Path("sub/x.db").absolute())
    assert values["libraries.home"] == "~/x.db"
    assert values["library"] == str(Path("y.db").absolute())


def test_a_value_that_the_environment_goes_before_is_said_to_be(archivist: Archivist, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHIVIST_MODEL", "ollama:y")
    done = archivist("config", "set", "model", "offline")
    assert done.code == 0
    assert "ARCHIVIST_MODEL is set and goes before it" in done.err


def test_unset_takes_a_value_out(archivist: Archivist) -> None:
    archivist("config", "set", "trace", "true")
    assert archivist("config", "unset", "trace").code == 0
    assert archivist("config", "get", "trace").out == "false\n"
    assert archivist("config", "unset", "trace").code == 2


def test_the_file_is_private(archivist: Archivist) -> None:
    archivist("config", "set", "trace", "true")
    path = Path(archivist("config", "path").out.strip())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(archivist("config", "path", "--json").out) == {"file": str(path)}


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that writes down how it was called and puts $TEXT into the file, in a folder whose name a shell would obey."""
    script = tmp_path / "a; touch pwned" / "edit"
    script.parent.mkdir()
    called = tmp_path / "called"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {called}\nif [ -n "$TEXT" ]; then printf "%s" "$TEXT" > "$2"; fi\n')
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", f"'{script}' '--flag;touch pwned'")
    return called


def test_edit_starts_the_editor_with_a_list_and_no_shell(archivist: Archivist, editor: Path) -> None:
    done = archivist("config", "edit")
    assert done.code == 0, done.err
    assert editor.read_text().splitlines() == ["--flag;touch pwned", str(settings.config_file())]
    assert not Path("pwned").exists()
    assert "is in order" in done.err
    assert settings.own().values.keys() <= {"editor"}


def test_the_file_stands_where_the_editor_s_arguments_say(archivist: Archivist, editor: Path) -> None:
    settings.save("editor", f"'{editor.parent}/a; touch pwned/edit' '+{{line}}' '{{path}}' -x")
    assert archivist("config", "edit").code == 0
    assert editor.read_text().splitlines() == ["+1", str(settings.config_file()), "-x"]


def test_edit_says_what_is_wrong_afterwards_and_opens_a_broken_file(
    archivist: Archivist, editor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXT", "trase = true")
    done = archivist("config", "edit")
    assert done.code == 1
    assert "config.toml:1: unknown setting 'trase'; did you mean 'trace'?" in done.err
    monkeypatch.setenv("TEXT", "trace = true")
    again = archivist("config", "edit")
    assert again.code == 0, again.err
    assert settings.own().trace is True


@pytest.mark.parametrize(
    ("command", "message"),
    [("no-such-editor-here", "is no command that can be run"), ("'", "cannot be read as a command"), ("false", "ended with 1")],
)
def test_an_editor_that_does_not_work_is_named(
    archivist: Archivist, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.setenv("EDITOR", command)
    done = archivist("config", "edit")
    assert done.code == 1
    assert message in done.err
    assert "archivist config set editor" in done.err


@pytest.mark.parametrize("name", ["roles.choir", "system"])
def test_instructions_from_a_file_that_is_not_there_are_not_saved(archivist: Archivist, name: str) -> None:
    done = archivist("config", "set", name, "@choir.md")
    assert done.code == 1
    assert f"{name}: {settings.folder() / 'choir.md'} cannot be read" in done.err
    settings.write_private(settings.folder() / "choir.md", "Sing.")
    assert archivist("config", "set", name, "@choir.md").code == 0


# Where commands use them


@pytest.fixture
def note(folder: Path) -> Path:
    (folder / "note.md").write_text("# Gateway\n\nThe gateway had a timeout.\n", "utf-8")
    return folder


def test_a_library_is_made_asked_and_shown_by_its_name(archivist: Archivist, note: Path, tmp_path: Path) -> None:
    file = tmp_path / "libraries" / "work.db"
    archivist("config", "set", "libraries.work", str(file))
    assert archivist("index", str(note), "-l", "work").code == 0
    assert file.is_file()
    assert "note.md" in archivist("search", "gateway", "--mode", "keyword", "-l", "work").out
    assert f"library    work: {file}" in archivist("status", "-l", "work").out
    archivist("config", "set", "library", "work")
    assert json.loads(archivist("status", "--json").out)["name"] == "work"
    assert json.loads(archivist("status", "--json").out)["path"] == str(file)


@pytest.mark.parametrize("command", [["status"], ["search", "x"], ["sql", "select 1"], ["index"], ["tools"], ["forget", "x"]])
def test_every_command_refuses_an_unknown_library_with_the_nearest(archivist: Archivist, command: list[str]) -> None:
    archivist("config", "set", "libraries.work", "~/work.db")
    done = archivist(*command, "-l", "wrk")
    assert (done.code, done.out) == (2, "")
    assert "no library is named 'wrk'; did you mean 'work'?" in done.err
    assert "archivist config set libraries.wrk ~/wrk.db" in done.err


def asked(archivist: Archivist, monkeypatch: pytest.MonkeyPatch, note: Path, *options: str) -> ask_command.Options:
    """How a question is asked with these options."""
    seen: list[ask_command.Options] = []
    archivist("index", str(note), "-l", "./x.db")
    monkeypatch.setattr(ask_command, "ask", lambda _, __, ___, how, *____: seen.append(how))
    done = archivist("ask", "-l", "./x.db", "-m", "offline", "what waits?", *options)
    assert done.code == 0, done.err
    return seen[0]


def test_what_is_set_reaches_the_question_and_options_go_before_it(
    archivist: Archivist, monkeypatch: pytest.MonkeyPatch, note: Path, tmp_path: Path
) -> None:
    for name, value in {
        "system": "S.",
        "roles.brief": "B.",
        "descriptions.~/notes": "Mine.",
        "local_only": "hr/**",
        "history": "false",
        "trace": "true",
        "limits.steps": "5",
        "limits.cost": "0.5",
    }.items():
        assert archivist("config", "set", name, value).code == 0
    how = asked(archivist, monkeypatch, note)
    assert (how.instructions, how.local_only, how.history, how.trace) == ("S.", ("hr/**",), False, True)
    assert how.descriptions == {str(tmp_path / "home" / "notes"): "Mine."}
    assert (how.limits.steps, how.limits.calls, how.limits.cost) == (5, 40, 0.5)
    how = asked(archivist, monkeypatch, note, "--role", "brief", "--no-trace", "--history", "--max-steps", "7")
    assert (how.instructions, how.trace, how.history, how.limits.steps) == ("B.", False, True, 7)
    assert asked(archivist, monkeypatch, note, "--system", "").instructions == ""


def test_no_history_is_for_one_question(archivist: Archivist, monkeypatch: pytest.MonkeyPatch, note: Path) -> None:
    assert asked(archivist, monkeypatch, note, "--no-history").history is False
    assert asked(archivist, monkeypatch, note).history is True


def test_the_saved_address_and_embedder_are_used(archivist: Archivist, monkeypatch: pytest.MonkeyPatch, note: Path) -> None:
    archivist("config", "set", "base_url", "http://127.0.0.1:8080/v1")
    archivist("config", "set", "embedder", "mine/model")
    named: list[str] = []
    monkeypatch.setattr("search.embedding.load_embedder", lambda name, **_: named.append(name) or StandIn())
    archivist("index", str(note), "-l", "./x.db")
    archivist("index", str(note), "-l", "./x.db", "--embedder", "other/model")
    assert named == ["mine/model", "other/model"]
    assert backends.resolve("openrouter:x")._transport.host == "127.0.0.1"  # type: ignore[attr-defined]


# Completion


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        (["config", "set"], "limits.s", {"limits.steps", "limits.seconds"}),
        (["config", "get"], "libraries", {"libraries.", "libraries.work", "libraries.wiki"}),
        (["ask", "--role"], "b", {"brief"}),
        (["search", "-l"], "w", {"work", "wiki"}),
    ],
)
def test_a_shell_completes_settings_roles_and_libraries(
    archivist: Archivist, words: list[str], incomplete: str, expected: set[str]
) -> None:
    for name, value in {"libraries.work": "/a.db", "libraries.wiki": "/b.db", "roles.brief": "B.", "roles.long": "L."}.items():
        archivist("config", "set", name, value)
    assert {item for item in completed(words, incomplete) if item != incomplete} == expected


def test_completion_says_nothing_of_a_broken_file(archivist: Archivist) -> None:
    settings.write_private(settings.config_file(), "trace = ")
    assert completed(["ask", "--role"], "") == []
    assert "model" in completed(["config", "get"], "mod")


def completed(words: list[str], incomplete: str) -> list[str]:
    from click.shell_completion import ShellComplete

    found = ShellComplete(cli.archivist, {}, "archivist", "_ARCHIVIST_COMPLETE").get_completions(words, incomplete)
    return [item.value for item in found]


@pytest.mark.parametrize("arguments", [("config", "--help"), ("config",), ("config", "get", "trace")])
def test_reading_settings_loads_no_writer_and_no_model(archivist: Archivist, arguments: tuple[str, ...]) -> None:
    program = "import sys; from assistant import cli; cli.run(sys.argv[1:]); print('LOADED', *sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[2])}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    loaded = done.stdout.rpartition("LOADED")[2].split()
    assert not {"tomlkit", "httpx", "torch", "ollama", "prompt_toolkit", "numpy", "rich", "pydantic"}.intersection(loaded)
