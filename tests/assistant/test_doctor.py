"""`archivist doctor`: each thing that can be wrong is found and its fix is named, quietly, without network and without keys."""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from standin import StandIn

from assistant import doctor, settings
from assistant.cli import run
from assistant.doctor import Check, library, machine, running
from assistant.doctor.models import Scene
from assistant.history import History
from search import Library, upkeep

KEY = "sk-planted-0123456789abcdef"
SAVED = "sk-saved-fedcba9876543210"
Write = Callable[[str, str], Path]


class Default(StandIn):
    """The stand-in under the identity of the model in use, so that the library agrees with it."""

    def __init__(self) -> None:
        super().__init__()
        from search.embedding import load_embedder

        self.identity = load_embedder().identity


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[httpx.Request]:
    """Places of this test's own, and no server anywhere; the requests that were made all the same."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for name in ("OLLAMA_HOST", "ARCHIVIST_CONFIG_DIR", "VISUAL", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EDITOR", "python3")
    asked: list[httpx.Request] = []

    def refuse(_: object, request: httpx.Request) -> httpx.Response:
        asked.append(request)
        raise httpx.ConnectError("refused")

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", refuse)
    return asked


@pytest.fixture
def sound(write: Write, folder: Path, library_file: Path) -> Path:
    """A library without a fault."""
    write("a.md", "# Gateway\n\nThe gateway waits thirty seconds.")
    write("b.md", "# Cache\n\nThe cache is cold.")
    upkeep.index(library_file, [folder], Default())
    return library_file


def looked(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit code, and the checks by family and name."""
    capsys.readouterr()
    code = run(["doctor", "--json", *map(str, words)])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return code, {f"{check['family']}: {check['name']}": check for check in json.loads(out)["checks"]}


def damaged(file: Path, statement: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(statement)
    connection.close()


def test_a_sound_library_passes_every_check(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = looked(capsys, "-l", sound)
    assert code == 0
    assert [check for check in found.values() if check["state"] in {"warning", "failed"}] == []
    assert found["Library: file"]["finding"].startswith("2 documents, 2 passages, 0 tables")
    assert found["Embedding model: library's model"]["state"] == "ok"


def test_nothing_is_said_quietly_when_all_is_well(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "-q", "-l", str(sound)]) == 0
    assert capsys.readouterr() == ("", "")


def test_no_torch_is_loaded_and_no_key_needed_for_a_first_look(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = looked(capsys)
    assert code == 0
    assert found["Library: file"] == {
        "family": "Library",
        "name": "file",
        "state": "warning",
        "finding": found["Library: file"]["finding"],
        "fix": "archivist index ~/notes",
    }


def test_a_library_that_was_named_and_is_not_there_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = looked(capsys, "-l", tmp_path / "no file.db")
    assert code == 1
    words = shlex.split(found["Library: file"]["fix"])
    assert words == ["archivist", "index", "~/notes", "--library", str(tmp_path / "no file.db")]


FAULTS: dict[str, tuple[str, str, str, str]] = {
    "index lacks a passage": ("DELETE FROM _passages_fts_docsize WHERE id = 1", "keyword index", "failed", "lacks 1 passage"),
    "index holds too much": (
        "INSERT INTO _passages_fts_docsize(id, sz) VALUES (99, x'00')",
        "keyword index",
        "failed",
        "still holds 1 passage",
    ),
    "words are not found": ("UPDATE _passages_fts_data SET block = x'00000000' WHERE id > 10", "keyword index", "failed", ""),
    "dangling row": ("INSERT INTO _embeddings VALUES (99, x'00', x'00')", "integrity", "failed", "1 row without"),
    "vector of another size": ("UPDATE _embeddings SET vector = x'00' WHERE passage_id = 1", "embeddings", "failed", "1 vector"),
    "passage without embedding": ("DELETE FROM _embeddings WHERE passage_id = 1", "embeddings", "warning", "1 passage of 2"),
    "old": ("UPDATE _roots SET indexed_at = '2020-01-01T00:00:00+00:00'", "age", "warning", "days ago"),
    "unreadable": (
        "UPDATE documents SET failed = 1, text_status = 'cannot be read' WHERE id = 1",
        "text",
        "warning",
        "1 of 2 files",
    ),
}


@pytest.mark.parametrize(("statement", "name", "state", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_a_library_is_found(
    sound: Path, capsys: pytest.CaptureFixture[str], statement: str, name: str, state: str, said: str
) -> None:
    damaged(sound, statement)
    code, found = looked(capsys, "-l", sound)
    check = found[f"Library: {name}"]
    assert (check["state"], code) == (state, 1 if state == "failed" else 0)
    assert said in check["finding"]
    assert check["fix"].startswith("archivist ")


def test_what_a_rebuild_mends_is_mended_by_the_fix(sound: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged(sound, "DELETE FROM _passages_fts_docsize WHERE id = 1")
    fix = shlex.split(looked(capsys, "-l", sound)[1]["Library: keyword index"]["fix"])
    assert fix == ["archivist", "index", "--rebuild", str(folder), "--library", str(sound)]
    upkeep.rebuild(sound, [folder], Default())
    assert looked(capsys, "-l", sound)[0] == 0


def test_a_file_that_is_cut_off_fails_and_the_other_families_are_heard(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = sound.read_bytes()
    sound.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    code, found = looked(capsys, "-l", sound)
    assert code == 1
    assert "failed" in {check["state"] for name, check in found.items() if name.startswith("Library")}
    assert found["Places: config"]["state"] == "ok"


def test_no_library_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello")
    code, found = looked(capsys, "-l", other)
    assert (code, found["Library: file"]["state"]) == (1, "failed")
    assert "not an Archivist library" in found["Library: file"]["finding"]


def test_an_older_library_names_the_command_that_migrates_it(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged(sound, "PRAGMA user_version = 1")
    _, found = looked(capsys, "-l", sound)
    assert found["Library: file"]["fix"] == f"archivist index --library {sound}"


def test_files_that_changed_and_folders_that_went_are_told(
    sound: Path, folder: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("a.md", "# Gateway\n\nIt waits no more.")
    (folder / "b.md").unlink()
    found = looked(capsys, "-l", sound)[1]
    assert found["Library: changes"]["finding"] == "1 changed (a.md) and 1 gone (b.md) since they were indexed"
    folder.rename(folder.with_name("elsewhere"))
    found = looked(capsys, "-l", sound)[1]
    assert found["Library: folders"]["state"] == "warning"
    assert f"forget {shlex.quote(str(folder))}" in found["Library: folders"]["fix"]
    assert found["Library: changes"]["finding"].startswith("none in 0 files")


def test_a_library_of_another_embedding_model_fails(
    write: Write, folder: Path, library_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("a.md", "# Gateway\n\nIt waits.")
    upkeep.index(library_file, [folder], StandIn())
    code, found = looked(capsys, "-l", library_file)
    check = found["Embedding model: library's model"]
    assert (code, check["state"]) == (1, "failed")
    assert check["fix"].startswith(f"archivist index --rebuild {folder} --library {library_file}")


def test_a_model_that_would_be_downloaded_is_no_surprise(capsys: pytest.CaptureFixture[str]) -> None:
    check = looked(capsys, "--embedder", "intfloat/e5-small-v2")[1]["Embedding model: files"]
    assert check["state"] == "warning"
    assert "would download" in check["finding"]


# Keys and private files


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", "another-0123456789")
    settings.save_key("openrouter", SAVED)


def test_where_keys_come_from_is_told_and_never_what_they_are(keys: None, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["doctor"], ["doctor", "--json"], ["doctor", "--online"]):
        run(words)
        shown = "".join(capsys.readouterr())
        assert not [key for key in (KEY, SAVED, "another-0123456789") if key in shown]
    found = looked(capsys)[1]
    gemini = found["Keys and private files: key for gemini"]
    assert gemini["finding"] == "from GOOGLE_API_KEY; GEMINI_API_KEY is set, too, and not used"
    assert found["Keys and private files: key for openrouter"]["finding"].endswith("keys.json")


def test_a_proxy_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://anna:secret@proxy.example:3128")
    finding = looked(capsys)[1]["Machine: proxies"]["finding"]
    assert "HTTPS_PROXY http://proxy.example:3128" in finding
    assert "secret" not in finding


def test_files_that_others_can_read_are_closed_by_the_fix(keys: None, sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys_file = settings.folder() / "keys.json"
    keys_file.chmod(0o644)
    sound.chmod(0o640)
    code, found = looked(capsys, "-l", sound)
    assert code == 1
    check = found["Keys and private files: settings folder"]
    assert (check["state"], check["fix"]) == ("failed", f"chmod 600 {keys_file}")
    assert found["Keys and private files: library file"]["fix"] == f"chmod 600 {sound}"
    keys_file.chmod(0o600)
    settings.folder().chmod(0o755)
    check = looked(capsys)[1]["Keys and private files: settings folder"]
    assert (check["state"], check["fix"]) == ("warning", f"chmod 700 {settings.folder()}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('role = "nope"', "no role is named 'nope'"),
        ('[roles]\nbrief = "@gone.md"', "gone.md cannot be read"),
        ('library = "nope"', "no library is named 'nope'"),
        ('local_only = ["../x"]', "local_only: got '../x'"),
    ],
)
def test_settings_that_would_stop_a_question_fail(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings.write_private(settings.config_file(), text)
    code, found = looked(capsys)
    check = found["Keys and private files: settings"]
    assert code == 1
    assert (check["state"], check["fix"]) == ("failed", "archivist config edit")
    assert said in check["finding"]


def test_what_each_pattern_withholds_is_told(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "Keys and private files: local_only"
    settings.save("local_only", ("a.md", "secrte"))
    check = looked(capsys, "-l", sound)[1][name]
    assert (check["state"], check["finding"]) == ("ok", "a.md withholds 1 document; secrte withholds 0 documents")
    settings.save("local_only", ("secrte",))
    assert looked(capsys, "-l", sound)[1][name]["state"] == "warning"


def test_a_place_that_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    check = looked(capsys)[1]["Places: state"]
    assert check["state"] == "warning"
    assert "/dev/null is no folder" in check["finding"]


def test_conversations_that_cannot_be_read_or_that_others_can_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine" / "kept.db"
    monkeypatch.setenv("ARCHIVIST_HISTORY", str(file))
    with History.open():
        pass
    name = "Keys and private files: conversations"
    assert looked(capsys)[1][name]["finding"] == f"0 conversations in {file}, yours alone"
    file.chmod(0o644)
    assert looked(capsys)[1][name]["fix"] == f"chmod 600 {file}"
    file.chmod(0o600)
    file.write_bytes(b"no database" * 1000)
    code, found = looked(capsys)
    assert (code, found[name]["state"]) == (1, "failed")


def test_what_a_project_asks_for_and_does_not_get_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".archivist.toml").write_text('model = "gemini:x"\n')
    monkeypatch.chdir(tmp_path)
    check = looked(capsys)[1]["Keys and private files: project settings"]
    assert check["state"] == "warning"
    assert "not used: model" in check["finding"]


def test_a_cloud_in_use_without_a_key_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ARCHIVIST_MODEL", "gemini:gemini-3.8-flash")
    code, found = looked(capsys)
    check = found["Keys and private files: key for gemini"]
    assert (code, check["state"], check["fix"]) == (1, "failed", "archivist keys set gemini")


# Models and the network


def test_only_this_machine_is_asked(
    keys: None, places: list[httpx.Request], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = looked(capsys, "--base-url", "http://models.example/v1")[1]
    assert {request.url.host for request in places} == {"127.0.0.1"}
    assert found["Models: Ollama"]["state"] == "skipped"
    places.clear()
    monkeypatch.setenv("OLLAMA_HOST", "gpu.example")
    found = looked(capsys, "--base-url", "http://models.example/v1")[1]
    assert places == []
    assert "--online" in found["Models: Ollama"]["finding"]
    looked(capsys, "--online", "--base-url", "http://models.example/v1")
    hosts = {request.url.host for request in places}
    assert hosts == {"gpu.example", "models.example", "openrouter.ai", "generativelanguage.googleapis.com"}


def answering(monkeypatch: pytest.MonkeyPatch, pages: dict[str, Any]) -> None:
    def answer(_: object, request: httpx.Request) -> httpx.Response:
        page = pages.get(request.url.path)
        if isinstance(page, httpx.Response):
            return page
        return httpx.Response(200, json=page) if page is not None else httpx.Response(404, json={"error": "not found"})

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)


def ollama(*capabilities: str, context: int = 40960) -> dict[str, Any]:
    return {
        "/api/tags": {"models": [{"model": "qwen3:8b"}]},
        "/api/show": {"capabilities": ["completion", *capabilities], "model_info": {"qwen3.context_length": context}},
    }


def test_what_the_models_of_ollama_can_do_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answering(monkeypatch, ollama("tools"))
    found = looked(capsys)[1]
    assert found["Models: tools"]["finding"] == "1 of 1 model can call them: qwen3:8b"
    assert found["Models: context"]["finding"] == "qwen3:8b was made for 40,960 tokens, 8,192 are used (num_ctx)"


@pytest.mark.parametrize(
    ("pages", "model", "name", "state", "fix"),
    [
        (ollama(), None, "tools", "warning", "archivist models pull qwen3:8b"),
        (ollama(), "ollama:qwen3:8b", "tools", "warning", "archivist models pull qwen3:8b"),
        (ollama("tools"), "ollama:gone:1b", "tools", "failed", "archivist models pull gone:1b"),
        (ollama("tools", context=2048), None, "context", "warning", "archivist models pull qwen3:8b"),
        ({"/api/tags": {"models": []}}, None, "Ollama", "warning", "archivist models pull qwen3:8b"),
        ({"/api/tags": [1]}, None, "Ollama", "warning", "echo $OLLAMA_HOST"),
    ],
    ids=["no tools", "in use, no tools", "in use, not there", "small window", "no model", "another program"],
)
def test_a_fault_of_ollama_is_found(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pages: dict[str, Any],
    model: str | None,
    name: str,
    state: str,
    fix: str,
) -> None:
    answering(monkeypatch, pages)
    if model:
        monkeypatch.setenv("ARCHIVIST_MODEL", model)
    code, found = looked(capsys)
    assert (found[f"Models: {name}"]["state"], found[f"Models: {name}"]["fix"]) == (state, fix)
    assert code == (1 if state == "failed" else 0)


def test_an_ollama_in_use_that_does_not_run_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ARCHIVIST_MODEL", "ollama:qwen3:8b")
    code, found = looked(capsys)
    assert (code, found["Models: Ollama"]["state"], found["Models: Ollama"]["fix"]) == (1, "failed", "ollama serve")


def test_a_key_that_a_cloud_refuses_fails(keys: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    refusal = httpx.Response(401, json={"error": {"code": 401, "message": f"no user for {SAVED}"}})
    answering(monkeypatch, {"/api/v1/key": refusal, "/v1beta/models": {"models": []}})
    code, found = looked(capsys, "--online")
    assert code == 1
    assert found["Models: openrouter"]["state"] == "failed"
    assert found["Models: openrouter"]["fix"]
    assert found["Models: gemini"]["finding"] == "answers and knows the key"


def test_a_server_of_one_s_own_is_asked_for_its_models(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answering(monkeypatch, {"/v1/models": {"data": [{"id": "local-gguf"}]}})
    found = looked(capsys, "--base-url", "http://127.0.0.1:8080/v1")[1]
    assert found["Models: server"]["finding"] == "answers and lists local-gguf"


# The place itself


def test_a_check_that_breaks_says_so_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def break_down() -> Check:
        raise RuntimeError(f"a bug with {KEY}")

    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    monkeypatch.setattr(machine, "_sqlite", break_down)
    monkeypatch.setattr(running, "_FAMILIES", (*running._FAMILIES[:1], ("Broken", lambda _: 1 / 0), *running._FAMILIES[-1:]))
    code, found = looked(capsys)
    assert code == 1
    assert found["Machine: SQLite"]["finding"] == "the check itself broke: RuntimeError: a bug with [key]"
    assert found["Broken: broken"]["finding"] == "the check itself broke: ZeroDivisionError: division by zero"
    assert found["Machine: Python"]["state"] == found["Places: config"]["state"] == "ok"


def test_settings_and_keys_that_cannot_be_read_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    settings.write_private(settings.folder() / "config.toml", "model = ")
    settings.write_private(settings.folder() / "keys.json", f'{{"gemini": "{SAVED}"')
    code, found = looked(capsys)
    assert code == 1
    assert found["Terminal: editor"]["state"] == "failed"
    private = {name.partition(": ")[2]: check for name, check in found.items() if name.startswith("Keys")}
    assert private["settings"]["state"] == private["key for gemini"]["state"] == "failed"
    assert private["key for openrouter"]["finding"] == "from OPENROUTER_API_KEY"
    assert private["key for gemini"]["fix"] == "remove the file and set the keys again"
    assert SAVED not in json.dumps(found)
    assert found["Library: file"]["state"] == "warning"


def test_little_space_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    usage = type("Usage", (), {"free": 10_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    code, found = looked(capsys)
    assert (code, found["Machine: disk"]["state"]) == (1, "failed")


@pytest.mark.parametrize(("editor", "state"), [("no-such-editor --wait", "warning"), ("'", "warning"), ("python3 -u", "ok")])
def test_an_editor_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], editor: str, state: str
) -> None:
    monkeypatch.setenv("EDITOR", editor)
    assert looked(capsys)[1]["Terminal: editor"]["state"] == state


def test_names_from_a_library_do_not_reach_the_terminal_or_the_shell(
    tmp_path: Path, library_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "x; touch $(id) \x1b[31m'"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nText.")
    upkeep.index(library_file, [folder], Default())
    folder.rename(tmp_path / "gone")
    assert run(["doctor", "-l", str(library_file)]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    fix = next(line.partition("fix: ")[2] for line in shown.splitlines() if "forget" in line)
    assert shlex.split(fix.partition("  #")[0])[2].startswith(f"{tmp_path}/x; touch $(id)")


def test_lines_are_aligned_and_fixes_are_not_broken(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged(sound, "DELETE FROM _embeddings WHERE passage_id = 1")
    assert run(["doctor", "-l", str(sound)]) == 0
    lines = capsys.readouterr().out.splitlines()
    block = lines[lines.index("Library") + 1 :]
    block = block[: block.index("")]
    fix = next(line for line in block if "fix:" in line)
    assert fix.strip() == f"fix: archivist index --library {sound}"
    start = fix.index("fix:")
    assert {line[start - 1] for line in block} == {" "}
    assert all(line[start] != " " for line in block)
    assert lines[-1].startswith("0 failed, 1 warning, ")


def test_every_check_has_a_name_a_finding_and_a_known_state(sound: Path) -> None:
    checks = [check for group in doctor.examine(Scene(sound)) for check in group.checks]
    assert len(checks) > 25
    assert all(check.name and check.finding and check.state in doctor.STATES for check in checks)
    assert all(check.fix for check in checks if check.state in {"warning", "failed"})


def test_a_library_that_is_being_read_and_written_is_looked_at(sound: Path) -> None:
    with Library.open(sound) as reader, sqlite3.connect(sound) as writer, reader.snapshot():
        writer.execute("BEGIN IMMEDIATE")
        names = [name for name, ask in library.checks(Scene(sound)) if ask().state == "ok"]
        writer.rollback()
    writer.close()
    assert "keyword index" in names


def test_nothing_is_written(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sound.read_bytes(), sound.stat().st_mtime_ns
    looked(capsys, "-l", sound)
    assert (sound.read_bytes(), sound.stat().st_mtime_ns) == before
