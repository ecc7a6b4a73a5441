"""Settings: what there is, where a value comes from, libraries and roles by name, a person's own instructions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assistant import loop, settings
from assistant.errors import UsageError, UserError
from assistant.settings import Origin, schema

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "settings.md"


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of settings, in a folder of its own; the current folder is beside it, and no project's."""
    monkeypatch.setenv("ARCHIVIST_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    here = tmp_path / "home" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    return tmp_path / "config" / "config.toml"


def write(path: Path, text: str) -> None:
    settings.write_private(path, text)


def test_without_a_file_everything_is_a_default() -> None:
    chosen = settings.load()
    assert {chosen.origin(setting.name).kind for setting in settings.SETTINGS if not setting.entry} == {"default"}
    assert chosen == settings.Settings()


def test_the_usual_limits_are_those_of_the_loop() -> None:
    usual, limits = loop.Limits(), settings.Settings().limits
    assert limits == settings.Limits(usual.steps, usual.calls, usual.tokens, usual.cost, usual.seconds)
    by_name = {setting.name.removeprefix("limits."): setting.default for setting in settings.SETTINGS if "limits." in setting.name}
    assert settings.Limits(**by_name) == limits  # type: ignore[arg-type]


def test_each_field_has_its_value_and_its_origin(config: Path, tmp_path: Path) -> None:
    write(
        config,
        """model = "offline"
        base_url = "http://127.0.0.1:8080/v1"
        library = "work"
        local_only = ["private/**", "~/hr"]
        history = false
        editor = "code --wait"
        trace = true
        system = "Be brief."
        role = "reviewer"
        [libraries]
        work = "~/work.db"
        [roles]
        reviewer = "Find faults."
        [descriptions]
        "~/notes" = "Mine."
        [limits]
        steps = 5
        cost = 0.5
        """,
    )
    chosen = settings.load()
    home = tmp_path / "home"
    assert (chosen.model, chosen.base_url, chosen.library) == ("offline", "http://127.0.0.1:8080/v1", "work")
    assert chosen.libraries == {"work": home / "work.db"}
    assert chosen.local_only == ("private/**", str(home / "hr"))
    assert (chosen.history, chosen.trace, chosen.editor) == (False, True, "code --wait")
    assert (chosen.system, chosen.role, chosen.roles) == ("Be brief.", "reviewer", {"reviewer": "Find faults."})
    assert chosen.descriptions == {str(home / "notes"): "Mine."}
    assert chosen.limits == settings.Limits(steps=5, cost=0.5)
    for name in ("model", "limits.steps", "libraries.work", "descriptions.~/notes", 'descriptions."~/notes"'):
        assert chosen.origin(name) == Origin("file", str(config))
    assert chosen.origin("limits.calls") == Origin("default")


def test_flags_go_before_the_environment_which_goes_before_the_project_and_the_file(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(config, 'model = "offline"\n[limits]\nsteps = 8\ncalls = 30\n')
    Path(".archivist.toml").write_text("[limits]\nsteps = 4\n")
    monkeypatch.setenv("ARCHIVIST_MODEL", "gemini:x")
    chosen = settings.load()
    assert (chosen.model, chosen.origin("model")) == ("gemini:x", Origin("environment", "ARCHIVIST_MODEL"))
    assert (chosen.limits.steps, chosen.origin("limits.steps").kind) == (4, "project")
    assert (chosen.limits.calls, chosen.origin("limits.calls").kind) == (30, "file")
    flagged = settings.with_flags(chosen, {"model": "ollama:y", "limits.steps": 20, "trace": None})
    assert (flagged.model, flagged.origin("model")) == ("ollama:y", Origin("flag", "--model"))
    assert (flagged.limits.steps, flagged.origin("limits.steps")) == (20, Origin("flag", "--max-steps"))
    assert flagged.origin("trace").kind == "default"
    assert settings.own().limits.steps == 8


@pytest.mark.parametrize("value", [0, -1])
def test_a_flag_that_a_setting_does_not_take_is_named(value: int) -> None:
    with pytest.raises(UsageError, match=f"--max-steps: got {value}, want a whole number from 1"):
        settings.with_flags(settings.Settings(), {"limits.steps": value})


def test_visual_goes_before_editor_and_the_setting_before_both(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "ed")
    assert (settings.own().editor, settings.own().origin("editor").where) == ("ed", "EDITOR")
    monkeypatch.setenv("VISUAL", "vis")
    assert settings.own().editor == "vis"
    write(config, 'editor = "mine -n"')
    assert settings.own().editor == "mine -n"


@pytest.mark.parametrize(
    ("name", "setting", "key"),
    [
        ("model", "model", ""),
        ("limits.cost", "limits.cost", ""),
        ("libraries.work", "libraries", "work"),
        ("descriptions.~/notes", "descriptions", "~/notes"),
        ("descriptions./srv/v1.2 drafts", "descriptions", "/srv/v1.2 drafts"),
        ('descriptions."~/a \\"b\\""', "descriptions", '~/a "b"'),
        ("descriptions.'/a.b'", "descriptions", "/a.b"),
        ("roles.日本語", "roles", "日本語"),
    ],
)
def test_a_name_leads_to_its_setting_and_back(name: str, setting: str, key: str) -> None:
    found = schema.find(name)
    assert (found[0].name, found[1]) == (setting, key)
    assert schema.find(schema.dotted(*found)) == found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("modle", "unknown setting 'modle'; did you mean 'model'?"),
        ("steps", "did you mean 'limits.steps'?"),
        ("limits.stpes", "did you mean 'limits.steps'?"),
        ("limits", "unknown setting 'limits'"),
        ("model.name", "did you mean 'model'?"),
        ("lbraries.work", "did you mean 'libraries'?"),
        ("libraries", "is a table"),
        ("libraries.a.b", "got the name 'a.b'"),
        ("descriptions.notes", "want a folder's path"),
        ("gemini_key", "keys are not kept among the settings"),
        ("keys.gemini", "keys are not kept among the settings"),
        ("x" * 500, "unknown setting 'xxx"),
    ],
)
def test_a_name_that_is_no_setting_is_refused_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as raised:
        schema.find(name)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize(
    ("name", "word", "message"),
    [
        ("limits.steps", "ten", "got 'ten', want a whole number from 1"),
        ("limits.steps", "0", "got 0, want a whole number from 1"),
        ("limits.steps", "2.5", "got 2.5, want a whole number from 1"),
        ("limits.cost", "nan", "got nan, want a number above 0"),
        ("limits.cost", "inf", "got inf, want a number above 0"),
        ("trace", "maybe", "got 'maybe', want true or false"),
        ("model", "", "got '', want a text of one line"),
        ("model", "a\nb", "want a text of one line"),
        ("embedder", "\x1b[31m", "want a text of one line"),
        ("base_url", "ftp://x", "got something else, want http(s)://"),
        ("base_url", "https://me:secret@x/", "got something else, want http(s)://"),
        ("base_url", "https://x/?key=secret", "got something else, want http(s)://"),
        ("descriptions.~/a", "x" * 301, "at most 300 characters"),
        ("system", "x" * 20_001, "at most 20,000 characters"),
    ],
)
def test_a_value_of_the_wrong_kind_is_said_with_what_is_wanted(name: str, word: str, message: str) -> None:
    setting, _ = schema.find(name)
    with pytest.raises(schema.BadValueError, match=re.escape(message)) as raised:
        schema.from_words(setting, [word])
    assert "secret" not in str(raised.value)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize(("word", "value"), [("true", True), ("Yes", True), ("on", True), ("0", False), ("no", False)])
def test_flags_are_typed_in_words(word: str, value: bool) -> None:
    assert schema.from_words(schema.BY_NAME["trace"], [word]) is value


def test_a_key_in_a_value_that_is_refused_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "sk-planted-0123456789")
    with pytest.raises(schema.BadValueError, match=r"got '\[key\]'"):
        schema.from_words(schema.BY_NAME["limits.steps"], ["sk-planted-0123456789"])


# Libraries by name


def test_a_library_is_found_by_name_path_environment_and_setting(
    config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert settings.library_file().name == "library.db"
    write(config, 'library = "work"\n[libraries]\nwork = "~/work.db"\nhome = "/srv/home.db"\n')
    work = tmp_path / "home" / "work.db"
    assert settings.library_file() == work
    assert settings.library_file("home") == Path("/srv/home.db")
    assert settings.library_file("other.db") == Path("other.db")
    assert settings.library_file("sub/other") == Path("sub/other")
    assert settings.library_file("~/x") == tmp_path / "home" / "x"
    monkeypatch.setenv("ARCHIVIST_LIBRARY", "home")
    assert settings.library_file() == Path("/srv/home.db")
    monkeypatch.setenv("ARCHIVIST_LIBRARY", "here.db")
    assert settings.library_file() == Path("here.db")
    assert settings.library_name(work) == "work"
    assert settings.library_name(Path("here.db")) is None


def test_a_file_in_the_current_folder_never_stands_in_for_a_library_s_name(config: Path) -> None:
    write(config, '[libraries]\nwork = "/srv/work.db"\n')
    Path("work").touch()
    Path("plain").touch()
    assert settings.library_file("work") == Path("/srv/work.db")
    assert settings.library_file("./work") == Path("./work").absolute()
    assert settings.library_file(Path("plain")) == Path("plain").absolute()


@pytest.mark.parametrize("given", ["wrk", None])
def test_an_unknown_library_is_refused_with_the_nearest_and_how_to_add_it(config: Path, given: str | None) -> None:
    write(config, 'library = "wrk"\n[libraries]\nwork = "/srv/work.db"\n')
    with pytest.raises(UsageError, match="no library is named 'wrk'; did you mean 'work'") as raised:
        settings.library_file(given)
    assert "archivist config set libraries.wrk ~/wrk.db" in raised.value.hint
    assert (str(config) in str(raised.value)) == (given is None)


def test_a_folder_is_no_library() -> None:
    with pytest.raises(UsageError, match="is a folder, want a file"):
        settings.library_file("./")


# Own instructions


def test_system_goes_before_role_which_goes_before_the_settings(config: Path) -> None:
    write(config, 'system = "S."\n[roles]\nbrief = "B."\nlong = "L."\n')
    chosen = settings.own()
    assert settings.own_instructions(settings.Settings()) == ""
    assert settings.own_instructions(chosen) == "S."
    assert settings.own_instructions(chosen, role="brief") == "B."
    assert settings.own_instructions(chosen, system="X.", role="brief") == "X."
    assert settings.own_instructions(chosen, system="") == ""
    standing = settings.with_flags(chosen, {"role": "long"})
    assert settings.own_instructions(standing) == "L."


def test_instructions_come_from_a_file_beside_the_settings_or_from_here(config: Path) -> None:
    write(config, 'system = "@mine.md"')
    (config.parent / "mine.md").write_text("\ufeffFrom the\x1b[31m settings.\n")
    Path("here.md").write_text("From here.")
    assert settings.own_instructions(settings.own()) == "From the settings."
    assert settings.own_instructions(settings.own(), system="@here.md") == "From here."


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read: No such file"), (b"\xff\xfe\x00", "is no UTF-8 text"), (b"x" * 20_001, "20,001 characters")],
)
def test_a_file_of_instructions_that_cannot_be_used_is_named(content: bytes | None, message: str) -> None:
    if content is not None:
        Path("mine.md").write_bytes(content)
    with pytest.raises(UserError, match=message) as raised:
        settings.own_instructions(settings.Settings(), system="@mine.md")
    assert "--system" in str(raised.value)


def test_an_unknown_role_is_refused_with_the_nearest(config: Path) -> None:
    write(config, '[roles]\nbrief = "B."\n')
    with pytest.raises(UsageError, match="--role: no role is named 'breif'; did you mean 'brief'") as raised:
        settings.own_instructions(settings.own(), role="breif")
    assert "archivist config set roles.breif" in raised.value.hint


# Documentation


def table() -> list[str]:
    """The table of docs/settings.md, made from the schema."""
    rows = ["| setting | default | option | variable | a project | |", "|---|---|---|---|---|---|"]
    for one in settings.SETTINGS:
        default = str(one.default).lower() if isinstance(one.default, bool) else str(one.default or "")
        cells = [f"`{one.shown}`", default, one.flag, one.variable, "" if one.project == "never" else one.project, one.help]
        rows.append("| " + " | ".join(cells).replace("()", "") + " |")
    return rows


def test_the_documentation_lists_every_setting_as_the_schema_has_it() -> None:
    assert "\n\n" + "\n".join(table()) + "\n\n" in DOCUMENTATION.read_text("utf-8")


def test_the_home_of_a_user_who_is_not_there_is_a_path_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="--system: ~nobody-here/x cannot be read"):
        settings.own_instructions(settings.Settings(), "@~nobody-here/x")
    monkeypatch.setenv("ARCHIVIST_CONFIG_DIR", "~nobody-here/x")
    assert settings.config_file() == Path("~nobody-here/x/config.toml")


def test_every_folder_that_is_made_for_a_private_file_is_private(tmp_path: Path) -> None:
    settings.write_private(tmp_path / "a" / "b" / "file", "x")
    assert [(tmp_path / place).stat().st_mode & 0o777 for place in ("a", "a/b", "a/b/file")] == [0o700, 0o700, 0o600]
