"""`archivist ask` and what belongs to it: the last turn, limits, the request shown, models, tools and keys."""

from __future__ import annotations

import io
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant import backends, cli, history, settings
from assistant.errors import UserError
from search import Library

QUESTION = "when does the gateway give up?"


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library], library_file: Path) -> str:
    write("runbooks/gateway.md", "# Gateway\n\nThe gateway gives up after 4 seconds. Raising the limit is forbidden.")
    write("runbooks/empty.txt", "")
    indexed()
    return str(library_file)


@pytest.fixture(autouse=True)
def words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library was made with the stand-in: hybrid search would need the model that it was not made with."""
    from search import library as library_module
    from tests.standin import StandIn

    opened = library_module.Library.open.__func__  # type: ignore[attr-defined]

    def with_stand_in(cls, path, *, embedder=None, **more):  # type: ignore[no-untyped-def]
        return opened(cls, path, embedder=embedder or StandIn(), **more)

    monkeypatch.setattr(library_module.Library, "open", classmethod(with_stand_in))
    monkeypatch.setenv("OLLAMA_HOST", "http://models.example:11434")  # none is looked for on this machine


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_an_answer_goes_to_standard_output_and_its_footer_to_standard_error(
    library: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "ask", QUESTION, "-l", library)
    assert code == 0
    assert "gives up after 4 seconds" in out
    assert "[1] runbooks/gateway.md:" in out
    assert "offline" in err
    assert "steps" in err
    assert "checked: 1 citation retrieved, 1 quotation verified" in err
    assert "model: offline (no model is named" in err


def test_the_same_question_gives_the_same_bytes(library: str, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ([], ["--json"]):
        first, second = (run(capsys, "ask", QUESTION, "-l", library, "-m", "offline", *form)[1] for _ in range(2))
        assert first == second


def test_json_has_what_scripts_need(library: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(run(capsys, "ask", QUESTION, "-l", library, "-m", "offline", "--json")[1])
    assert {"answer", "outcome", "citations", "quotes", "numbers", "calls", "usage", "cost", "model"} <= set(answer)
    assert answer["outcome"] == "answer"
    assert {"key", "source", "verdict"} <= set(answer["citations"][0])
    assert {"text", "key", "verdict", "nearest"} <= set(answer["quotes"][0])
    assert answer["calls"][0].keys() == {"name", "arguments", "ok"}
    assert answer["cost"] == 0


def test_the_last_question_is_asked_again_with_other_options(library: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "ask", QUESTION, "-l", library, "-m", "offline")
    answer = json.loads(run(capsys, "ask", "--again", "-l", library, "-m", "offline", "--category", "runbooks", "--json")[1])
    assert answer["question"] == QUESTION
    assert answer["scope"] == "category runbooks"
    kept = history.place()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_no_history_keeps_nothing(library: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "ask", QUESTION, "-l", library, "-m", "offline", "--no-history")
    assert not history.place().exists()
    code, _, err = run(capsys, "ask", "--again", "-l", library)
    assert code == 1
    assert "no last question" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ask"], 2, "give a question"),
        (["ask", "--again", "other?"], 2, "give no other"),
        (["ask", "x?", "--max-steps", "0"], 2, "--max-steps: got 0"),
        (["ask", "x?", "--max-cost", "-1"], 2, "--max-cost: got -1"),
        (["ask", "x?", "-m", "olama:qwen"], 2, "Did you mean ollama"),
        (["ask", "x?", "-m", "gemini:"], 2, "want gemini:NAME"),
        (["ask", "x?", "-m", "replay:nowhere.jsonl"], 1, "cannot be read as a recording"),
        (["ask", "x?", "-m", "offline", "--base-url", "http://x/v1"], 2, "has its own address"),
        (["ask", "x?", "-m", "openrouter:m", "--base-url", "ftp://x"], 2, "want http(s)"),
        (["ask", "x?", "-m", "openrouter:m", "--base-url", "http://user:secret@x/v1"], 2, "want http(s)"),
        (["ask", "x?", "-m", ""], 2, "want PROVIDER:MODEL"),
        (["ask", "x?", "-m", "openrouter:m", "--base-url", ""], 2, "want http(s)"),
        (["ask", "--show-request"], 2, "give "),
        (["ask", "x?", "--record", "/nowhere/at/all.jsonl"], 1, "cannot be written"),
        *(
            (["ask", "x?", "-m", "openrouter:m", "--base-url", url], 2, "want http(s)")
            for url in (
                "http://[::1",
                "http://xn--/v1",
                f"http://{'a' * 300}/v1",
                "http://a..b/",
                "http://b\u202eox/",
                "http://x:99999/",
                "http://x:port/",
                "http://:secret@x/v1",
                "http://[x]/",
                "http://x/\x01",
            )
        ),
        (["ask", "x?", "-m", "gemini:gemini-3.8-flash"], 1, "key"),
        (["ask", "x?", "-m", "gemini:gemini-3.8-flash", "--max-cost", "1"], 1, "price"),
        (["models", "use", "gpt"], 2, "want PROVIDER:MODEL"),
        (["keys", "set", "gemni"], 2, "did you mean 'gemini'"),
    ],
)
def test_bad_input_ends_in_a_message_and_the_right_code(
    library: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.setenv("ARCHIVIST_LIBRARY", library)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    got, out, err = run(capsys, *arguments)
    assert (got, out) == (code, "")
    assert message in err
    assert "secret" not in err


@pytest.mark.parametrize("model", ["gemini:gemini-3.8-flash", "openrouter:x/y", "ollama:qwen3:8b"])
def test_the_request_is_shown_and_nothing_sent(library: str, capsys: pytest.CaptureFixture[str], model: str) -> None:
    code, out, _ = run(capsys, "ask", "--show-request", "-m", model, QUESTION, "-l", library)
    assert code == 0
    assert QUESTION in out
    assert "hybrid_search" in json.dumps(json.loads(out))


def test_tools_are_printed_with_their_cost(library: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(run(capsys, "tools", "-l", library, "--json")[1])
    names = [tool["name"] for tool in shown["tools"]]
    assert names[0] == "hybrid_search"
    assert shown["tokens"] == sum(tool["tokens"] for tool in shown["tools"]) < 2600
    text = run(capsys, "tools", "-l", library)[1]
    assert all(name in text for name in names)


def test_a_saved_model_is_used_and_other_settings_stay(capsys: pytest.CaptureFixture[str]) -> None:
    path = settings.save_model("offline")
    path.write_text("# mine\n" + path.read_text())
    assert backends.choose(None).spec == "offline"
    assert run(capsys, "models", "use", "ollama/qwen3:8b")[0] == 0
    assert backends.choose(None) == backends.Choice("ollama:qwen3:8b", "saved in the settings")
    assert path.read_text().startswith("# mine")
    path.unlink()


def test_the_environment_goes_before_what_is_saved_and_a_key_alone_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-0123456789")
    assert backends.choose(None).spec == "offline"
    monkeypatch.setenv("ARCHIVIST_MODEL", "gemini:x")
    assert backends.choose(None).spec == "gemini:x"
    assert backends.choose("offline").spec == "offline"


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("ollama:qwen3:8b", ("ollama", "qwen3:8b")),
        ("ollama/qwen3:8b", ("ollama", "qwen3:8b")),
        ("openrouter:anthropic/claude-haiku-5.5", ("openrouter", "anthropic/claude-haiku-5.5")),
        ("openrouter:google/gemma:free", ("openrouter", "google/gemma:free")),
        ("replay:a/b:c.jsonl", ("replay", "a/b:c.jsonl")),
        ("offline", ("offline", "")),
    ],
)
def test_a_model_s_name_is_split_once(spec: str, parts: tuple[str, str]) -> None:
    assert backends.split(spec) == parts


def test_an_unknown_setting_is_refused_with_the_nearest() -> None:
    path = settings.folder() / "config.toml"
    settings.write_private(path, 'modle = "x"\n')
    with pytest.raises(UserError, match="did you mean 'model'"):
        settings.saved_model()
    path.unlink()


def test_a_key_file_that_is_broken_is_named_without_its_content() -> None:
    path = settings.folder() / "keys.json"
    settings.write_private(path, '{"gemini": "sk-secret-0123"')
    with pytest.raises(UserError, match=r"keys\.json") as raised:
        settings.find_key("gemini")
    assert "secret" not in str(raised.value)
    path.unlink()


@pytest.mark.parametrize("words", ["gateway \u2028 and \u2029 or \x85?", "what \udcff is that gateway?", "gateway \ud800?"])
def test_any_question_can_be_recorded_and_replayed_on_its_day(
    library: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    record = tmp_path / "r.jsonl"
    code, first, _ = run(capsys, "ask", words, "-l", library, "-m", "offline", "--record", str(record))
    assert code == 0
    assert json.loads(record.read_text().split("\n")[0])["today"] == "2026-10-15"
    monkeypatch.setenv("ARCHIVIST_TODAY", "2027-01-01")
    code, again, _ = run(capsys, "ask", words, "-l", library, "-m", f"replay:{record}")
    assert code == 0
    assert again == first


def test_a_history_that_cannot_be_written_spoils_no_answer(
    library: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCHIVIST_HISTORY", "/dev/null/x")
    code, out, err = run(capsys, "ask", QUESTION, "-l", library, "-m", "offline", "--json")
    assert code == 0
    assert json.loads(out)["outcome"] == "answer"
    assert "not kept" in err
