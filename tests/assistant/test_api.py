"""The assistant for programs: its public names and signatures, a conversation, and what it loads."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest
from standin import StandIn

import assistant
from assistant import Answered, Assistant, CallFinished, Limits, Turn, UserError, Withheld
from assistant.backends.base import Capabilities, Price
from assistant.settings import folder as settings_folder
from search import Filters, Library, upkeep
from tests.assistant.scripted import Scripted, says
from tests.conftest import ROOT

SIGNATURES = {
    "__init__": "(library, model='offline', *, scope=None, limits=None, today=None, instructions='', descriptions=None, "
    "local_only=None, base_url=None) -> None",
    "ask": "(question, attached='') -> Turn",
    "close": "() -> None",
    "restore": "(snapshot) -> None",
    "rescope": "(scope) -> None",
    "snapshot": "() -> Snapshot",
    "stream": "(question, attached='') -> Iterator[Event | Answered]",
    "switch": "(model) -> tuple[str, ...]",
}
TURN = (
    "question model answered_by answer outcome stopped checked unprinted calls nearest queries coverage scope usage steps seconds "
    "notices at withheld"
)
CLOUD = Capabilities(price=Price(1, 1), local=False)


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    write("runbooks/gateway.md", "---\ndate: 2026-09-12\n---\n# Gateway\n\nThe gateway gives up after 4 seconds.")
    write("runbooks/cache.md", "---\ndate: 2026-03-12\n---\n# Cache\n\nThe cache is cleared at noon.")
    write("private/pay.md", "# Pay\n\nThe gateway team is paid on the last day of the month.")
    return indexed()


def signature(method: object) -> str:
    """Names, defaults and result; without self and the types of parameters."""
    shown = inspect.signature(method)  # type: ignore[arg-type]
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in list(shown.parameters.values())[1:]]
    return str(shown.replace(parameters=parameters)).replace("'" + str(shown.return_annotation) + "'", str(shown.return_annotation))


def test_the_public_surface_is_this() -> None:
    methods = {
        name: method for name, method in vars(Assistant).items() if callable(method) and (name == "__init__" or name[0] != "_")
    }
    assert {name: signature(method) for name, method in methods.items()} == SIGNATURES
    assert " ".join(field.name for field in fields(Turn)) == TURN
    assert [field.name for field in fields(Withheld)] == ["documents", "patterns", "hits"]
    assert assistant.__all__ == sorted(assistant.__all__)
    for name in assistant.__all__:
        public = getattr(assistant, name)
        assert public.__doc__ or name == "Event"
        assert name in dir(assistant)
    with pytest.raises(AttributeError, match="no attribute 'Asisstant'"):
        assistant.Asisstant  # type: ignore[attr-defined]  # noqa: B018 - that it is refused is the test


def test_the_packages_say_that_they_are_typed() -> None:
    assert (ROOT / "assistant" / "py.typed").is_file()
    assert (ROOT / "search" / "py.typed").is_file()


def test_importing_the_assistant_loads_no_model_and_no_network() -> None:
    program = (
        "import sys, assistant; early = set(sys.modules); from assistant import Assistant, Turn; from search import Library; "
        "print(sorted({'torch', 'httpx', 'ollama', 'prompt_toolkit', 'pydantic', 'numpy', 'rich'} & set(sys.modules)), "
        "'assistant.loop' in early)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[] False"


def test_a_question_and_one_that_goes_on_from_it(library: Library) -> None:
    with Assistant(library, today=date(2026, 10, 15)) as talk:
        assert "Gateway" in talk.ask("which runbooks are from last month?").checked.text
        turn = talk.ask("and those from March?")
    assert turn.outcome == "answer"
    assert "runbooks/cache.md" in turn.checked.text


def test_a_turn_can_be_watched(library: Library) -> None:
    events = list(Assistant(library).stream("when does the gateway give up?"))
    assert [event.call.name for event in events if isinstance(event, CallFinished)] == ["hybrid_search"]
    assert isinstance(events[-1], Answered)


def test_filters_hold_and_can_be_changed(library: Library) -> None:
    talk = Assistant(library, scope=Filters(category=("private",)))
    assert talk.ask("how many documents are there?").scope == "category private"
    talk.rescope(Filters())
    turn = talk.ask("how many documents are there?")
    assert turn.scope == ""
    assert "3 documents" in turn.checked.text


def test_a_conversation_goes_on_with_another_model_and_in_another_program(library: Library) -> None:
    talk = Assistant(library, Scripted([says("Hello.")]), limits=Limits(steps=3))
    talk.ask("hello?")
    again = Assistant(library, "offline")
    again.restore(talk.snapshot())
    other = Scripted([says("Yes.")])
    assert again.switch(other) == ()
    assert again.ask("are you there?").answer == "Yes."
    assert [message.text for message in other.requests[0].messages[1:]] == ["hello?", "Hello.", "are you there?"]


def test_what_the_settings_withhold_is_withheld_from_programs_too(library: Library) -> None:
    (settings_folder()).mkdir(parents=True, exist_ok=True)
    file = settings_folder() / "config.toml"
    file.write_text('local_only = ["private"]\n', encoding="utf-8")
    try:
        talk = Assistant(library, Scripted([says("Done.")], capabilities=CLOUD))
        assert talk.ask("who is paid?").withheld == Withheld(1, ("private",))
        open_talk = Assistant(library, Scripted([says("Done.")], capabilities=CLOUD), local_only=())
        assert open_talk.ask("who is paid?").withheld is None
    finally:
        file.unlink()


def test_one_text_in_place_of_a_list_is_refused_where_its_letters_would_withhold_nothing(library: Library) -> None:
    with pytest.raises(UserError, match="local_only: got the text 'private'"):
        Assistant(library, Scripted([], capabilities=CLOUD), local_only="private")


@pytest.mark.parametrize(("model", "said"), [("offlin", "want PROVIDER:MODEL"), ("gemini:", "want gemini:NAME")])
def test_a_model_that_is_not_understood_is_refused_at_once(library: Library, model: str, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        Assistant(library, model)


def test_an_empty_question_is_refused_before_anything_is_sent(library: Library) -> None:
    with pytest.raises(UserError, match="question: got an empty one"):
        Assistant(library).stream(" ")


def test_the_models_of_a_program_are_its_own_to_close(library: Library) -> None:
    class Closing(Scripted):
        closed = False

        def close(self) -> None:
            self.closed = True

    backend = Closing([])
    with Assistant(library, backend):
        pass
    assert not backend.closed


def test_the_program_of_the_documentation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    program = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "from assistant import" in block)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("search.embedding.load_embedder", lambda *_, **__: StandIn())
    upkeep.index(tmp_path / "library.db", [ROOT / "data" / "library"], StandIn())
    exec(compile(program, "python.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "gateway-timeout.md" in shown
    assert "[1]" in shown
