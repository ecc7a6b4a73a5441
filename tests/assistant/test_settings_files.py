"""The file of settings: errors with their line, and writing that leaves everything else as it was."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from assistant import settings
from assistant.errors import UsageError, UserError
from assistant.settings import reading, schema


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARCHIVIST_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config" / "config.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('# mine\n\nmodle = "x"\n', ":3: unknown setting 'modle'; did you mean 'model'?"),
        ("[limits]\n# few\nstpes = 3\n", ":3: unknown setting 'limits.stpes'; did you mean 'limits.steps'?"),
        ("limits = {stpes = 3}", ":1: unknown setting 'limits.stpes'"),
        ("trace = true\nlimits.stpes = 3", ":2: unknown setting 'limits.stpes'"),
        ('[limits]\nsteps = "ten"', ":2: limits.steps: got 'ten', want a whole number from 1"),
        ("[limits]\nsteps = true", ":2: limits.steps: got True, want a whole number from 1"),
        ("[limits.steps]\na = 1", ":1: limits.steps: got {'a': 1}, want a whole number from 1"),
        ("history = 0", ":1: history: got 0, want true or false"),
        ('local_only = "private/**"', ":1: local_only: got 'private/**', want a list of texts"),
        ('local_only = [\n  "a",\n  3,\n]', ":1: local_only: got ['a', 3], want a list of texts"),
        ("model = 2026-01-01", ":1: model: got datetime.date(2026, 1, 1), want a text of one line"),
        ("trace = true\nlibraries = 3", ":2: libraries: got a int, want a table, as in [libraries]"),
        ("limits = 3", ":1: limits: got a int, want a table, as in [limits]"),
        ('[libraries]\nwork = "work.db"', ":2: libraries.work: got 'work.db', want a path that is absolute"),
        ('[libraries]\n"a.b" = "/x.db"', ":2: libraries: got the name 'a.b'"),
        ('[descriptions]\nnotes = "x"', ":2: descriptions: got 'notes', want a folder's path"),
        ("[[limits]]\nsteps = 1", ":1: limits: got a list, want a table"),
        ("model = \nx", ":1: is no TOML: Invalid value"),
        ('model = "x', ":1: is no TOML: "),
        ('model = "a"\nmodel = "b"', ":2: is no TOML: Cannot overwrite a value"),
        ("local_only = " + "[" * 20_000, ": is nested too deeply"),
    ],
)
def test_what_cannot_be_understood_is_said_with_file_and_line(config: Path, text: str, message: str) -> None:
    settings.write_private(config, text)
    with pytest.raises(UserError) as raised:
        settings.own()
    assert f"{config}{message}" in str(raised.value)


@pytest.mark.parametrize("content", [b"\xff", b"# " + b"x" * 1_000_001])
def test_a_file_that_is_no_text_or_far_too_large_is_refused(config: Path, content: bytes) -> None:
    settings.write_private(config, "")
    config.write_bytes(content)
    with pytest.raises(UserError, match=r"config\.toml: "):
        settings.own()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir])
@pytest.mark.parametrize("name", ["config.toml", "keys.json"])
def test_what_is_no_file_is_neither_waited_for_nor_read_without_end(
    config: Path, make: Callable[[Path], object], name: str
) -> None:
    config.parent.mkdir()
    make(config.parent / name)
    use: dict[str, list[Callable[[], object]]] = {
        "config.toml": [settings.own, lambda: settings.save("trace", True), lambda: settings.unset("trace")],
        "keys.json": [lambda: settings.find_key("openrouter"), lambda: settings.redact("x")],
    }
    for do in use[name]:
        with pytest.raises(UserError, match=name):
            do()


def test_a_file_that_is_far_too_large_is_not_parsed_to_set_something_in_it(config: Path) -> None:
    settings.write_private(config, "#" * 2_000_000)
    with pytest.raises(UserError, match="is larger than"):
        settings.save("trace", True)


def test_what_is_saved_at_the_same_moment_is_all_kept(config: Path) -> None:
    names = [f"r{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: settings.save(f"roles.{name}", "x"), names))
        list(pool.map(lambda provider: settings.save_key(provider, f"sk-{provider}-0123456789"), settings.KEY_NAMES))
    assert set(settings.own().roles) == set(names)
    assert all(settings.find_key(provider) for provider in settings.KEY_NAMES)


def test_the_mark_that_some_editors_put_in_front_is_no_error(config: Path) -> None:
    settings.write_private(config, '\ufeffmodel = "offline"\n')
    assert settings.own().model == "offline"
    settings.save("trace", True)
    assert (settings.own().model, settings.own().trace) == ("offline", True)


def test_a_key_that_was_put_into_the_file_is_not_repeated(config: Path) -> None:
    settings.write_private(config, 'openrouter_api_key = "sk-secret-0123456789"\n')
    with pytest.raises(UserError, match="keys are not kept among the settings") as raised:
        settings.own()
    assert "sk-secret" not in str(raised.value)
    assert raised.value.hint == "archivist keys set PROVIDER"


def test_each_key_has_the_line_on_which_it_begins() -> None:
    text = 'a = 1\n\nb = """\n[no]\nc = 2\n"""\nd.e = [\n 1,\n]\n[t]\n# x\nf = 1\n[t.u]\ng = {h = 1}\n'
    found = reading.lines(text)
    at = {"a": 1, "b": 3, "d": 7, "d.e": 7, "t": 10, "t.f": 12, "t.u": 13, "t.u.g": 14, "t.u.g.h": 14}
    assert {".".join(place): line for place, line in found.items()} == at


MINE = """# first
model = "offline" # the quick one
local_only = [ # two
  "a/**",
  "b/**",
]

# how much
[limits] # in all
steps = 5

[roles]
"brief" = '''
Short.
''' # ok
"""
_FOLDERS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).map(lambda text: "/" + text)
_PLACES = _FOLDERS.filter(lambda text: text.isprintable() and text == text.strip())
_NAMES = st.text(st.sampled_from("abcXYZ019_-äé語"), min_size=1, max_size=12)
_LINES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=30)
_CHANGES = st.one_of(
    st.tuples(st.sampled_from(["model", "embedder", "editor", "role"]), _LINES),
    st.tuples(st.sampled_from(["trace", "history"]), st.booleans()),
    st.tuples(st.sampled_from(["limits.steps", "limits.tokens"]), st.integers(1, 10**12)),
    st.tuples(st.sampled_from(["limits.cost", "limits.seconds"]), st.floats(1e-9, 1e9)),
    st.tuples(st.just("local_only"), st.lists(_LINES, max_size=4).map(tuple)),
    st.tuples(
        _NAMES.map(lambda name: f"libraries.{name}"), _FOLDERS.filter(lambda text: text.isprintable() and text == text.strip())
    ),
    st.tuples(_NAMES.map(lambda name: f"roles.{name}"), _LINES),
    st.tuples(_FOLDERS.map(lambda folder: schema.dotted(schema.BY_NAME["descriptions"], folder)), _LINES),
)


@pytest.mark.parametrize("before", ["", MINE, 'limits = {steps = 5}\nroles.brief = "x"\n', "[limits]\n[roles]\n"])
@given(change=_CHANGES)
@settings_of(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_saved_is_read_again_and_all_else_stays(config: Path, before: str, change: tuple[str, schema.Value]) -> None:
    settings.write_private(config, before)
    known = dict(settings.own().values)
    name, value = change
    settings.save(name, value)
    assert dict(settings.own().values) == {**known, name: value}
    kept = config.read_text("utf-8")
    head = schema.find(name)[0].name
    for comment in ("# first", "# the quick one", "# how much", "# in all", "# ok", *(["# two"] if head != "local_only" else [])):
        assert (comment in kept) == (comment in before)
    settings.unset(name)
    assert dict(settings.own().values) == {key: value for key, value in known.items() if key != name}


def test_a_setting_at_the_top_does_not_slip_into_the_last_table(config: Path) -> None:
    settings.write_private(config, "[limits]\nsteps = 5\n")
    settings.save("model", "offline")
    assert tomllib.loads(config.read_text()) == {"model": "offline", "limits": {"steps": 5}}


def test_a_folder_has_one_description_however_it_is_written(config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings.set_value("descriptions.~/notes", ["One."])
    settings.set_value(f"descriptions.{tmp_path}/notes/", ["Two."])
    assert settings.own().descriptions == {str(tmp_path / "notes"): "Two."}
    settings.unset(f"descriptions.{tmp_path}/notes")
    assert settings.own().descriptions == {}


def test_a_broken_file_is_not_written_over(config: Path) -> None:
    settings.write_private(config, "model = \n")
    for change in (lambda: settings.save("model", "offline"), lambda: settings.unset("model")):
        with pytest.raises(UserError, match=":1: is no TOML"):
            change()
    assert config.read_text() == "model = \n"


def test_a_wrong_entry_stops_another_from_being_set_and_can_be_taken_out(config: Path) -> None:
    settings.write_private(config, 'modle = "x"\n[limits]\nstpes = 3\n')
    with pytest.raises(UserError, match="did you mean"):
        settings.save("trace", value=True)
    settings.unset("modle")
    settings.unset("limits.stpes")
    settings.save("trace", value=True)
    assert settings.own().trace is True


@pytest.mark.parametrize("name", ["model", "limits.steps", "roles.brief"])
def test_what_is_not_set_cannot_be_taken_out(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is not set in"):
        settings.unset(name)


def test_the_file_stays_private_and_a_link_to_it_a_link(config: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "archivist.toml"
    kept.parent.mkdir()
    kept.write_text("# mine\n")
    config.parent.mkdir(mode=0o700)
    config.symlink_to(kept)
    settings.save("trace", value=True)
    assert config.is_symlink()
    assert kept.read_text() == "# mine\ntrace = true\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_the_template_names_every_setting_and_sets_none() -> None:
    text = settings.template()
    assert tomllib.loads(text) == {}
    assert all(setting.help in text for setting in settings.SETTINGS)
