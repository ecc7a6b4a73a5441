"""The commands of a session, one by one, without a terminal and without a model."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from scripted import Scripted, says
from standin import StandIn

from assistant import settings
from assistant.ask_command import Options
from assistant.errors import ArchivistError, HistoryError, UsageError, UserError
from assistant.history import History
from assistant.repl import commands, turns
from assistant.repl.commands import keeping
from assistant.repl.commands.base import Ask, Fill, Leave
from assistant.repl.completing import Catalogue, Completing
from assistant.repl.state import Session, Start
from search import Filters, Library, embedding

QUESTION = "when does the gateway give up?"


@pytest.fixture
def session(
    write: Callable[[str, str], Path],
    indexed: Callable[[], Library],
    library_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Session]:
    """A session over three notes and a table, offline, in a folder of its own."""
    write("runbooks/gateway.md", "# Gateway\n\nThe gateway gives up after 4 seconds. Raising the limit is forbidden.")
    write("runbooks/long.md", "# Long\n\n" + "".join(f"Line {number} of a long story.\n" for number in range(300)))
    write("notes/keys.md", "# Keys\n\nThe signing keys are rotated every 90 days.")
    write("data/carriers.csv", "carrier,parcels\nNorth,12\nSouth,30\n")
    indexed()
    monkeypatch.setattr(embedding, "load_embedder", lambda *_, **__: StandIn())
    monkeypatch.setenv("OLLAMA_HOST", "http://models.example:11434")  # none is looked for on this machine
    monkeypatch.setenv("ARCHIVIST_HISTORY", str(tmp_path / "conversations.db"))
    monkeypatch.chdir(tmp_path)
    with Session(Start(library_file, None, Filters(), Options(model="offline"), typing=False, rich=False)) as opened:
        yield opened


@pytest.fixture
def do(session: Session, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Runs a line, a command or a question, and gives back what was shown."""

    def run(line: str) -> str:
        if commands.is_command(line):
            commands.run(session, line)
        else:
            assert turns.ask(session, line)
        shown = capsys.readouterr()
        return shown.out + shown.err

    return run


@pytest.mark.parametrize("command", commands.COMMANDS, ids=lambda command: command.name)
@pytest.mark.parametrize("typed", ["", "1", "x y"])
@pytest.mark.parametrize("asked", [False, True])
def test_whatever_is_typed_each_command_works_or_says_what_to_do(
    command: commands.Command, typed: str, asked: bool, session: Session, do: Callable[[str], str]
) -> None:
    session.editor = "true"
    if asked:
        do(QUESTION)
    said = "it works"
    try:
        commands.run(session, f"/{command.name} {typed}")
    except ArchivistError as error:
        said = str(error)
    assert said


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("/search gateway gives up", "runbooks/gateway.md:"),
        ("/search gateway --category notes", "notes/keys.md"),
        ("/keyword gateway -n 1", "1  runbooks/gateway.md:"),
        ("/vector the gateway gives up", "runbooks/gateway.md:"),
        ("/similar the signing keys", "1  notes/keys.md:"),
        ("/tables", "carriers"),
        ("/tables carriers", "parcels"),
        ("/sql SELECT carrier FROM carriers WHERE parcels > 20", "South"),
        ("/sql\nSELECT carrier\nFROM carriers", "North"),
        ("/sql --records SELECT carrier FROM carriers", "carrier: North"),
        ("/read runbooks/gateway.md", "gives up after 4 seconds"),
        ("/read runbooks/long.md 5-6", "Line 2 of"),
        ("/read runbooks/long.md", "303 lines; /read runbooks/long.md 201-303 reads on"),
        ("/status", "documents  4"),
        ("/model", "offline (named)"),
        ("/models", "offline"),
        ("/filter", "no filters: every document is seen"),
        ("/filter category:runbooks", "category runbooks: 2 of 4 documents seen"),
        ("/filter category:runbok", 'no category "runbok"'),
        ("/help", "/open N"),
        ("/help /open", "Also /o."),
        ("/h sources", "/sources"),
        ("/sessions", "no conversation is kept yet"),
        ("/cost", "nothing was asked yet"),
        ("/tokens", "tokens for the next question"),
        ("/trace on", "every step is shown"),
    ],
)
def test_what_needs_no_answer_works_from_the_start(line: str, shown: str, do: Callable[[str], str]) -> None:
    assert shown in do(line)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("/sources", "[1] runbooks/gateway.md:"),
        ("/why 1", 'found by hybrid_search "when does the gateway give up?": number 1 of'),
        ("/why [1]", "matched "),
        ("/read 1", "gives up after 4 seconds"),
        ("/similar 1", "1  "),
        ("/trace", "→ hybrid_search("),
        ("/cost", "1 question, 2 steps, 1 call, 0 tokens in"),
        ("/eval", '"question": "when does the gateway give up?"'),
        ("/sessions", "when does the gateway give up?"),
        ("/sessions seconds", "when does the gateway give up?"),
        ("/sessions zebra", "nothing was found"),
        ("/clear", "a new conversation"),
    ],
)
def test_what_an_answer_stands_on_can_be_looked_at(line: str, shown: str, do: Callable[[str], str]) -> None:
    do(QUESTION)
    assert shown in do(line)


def test_filters_stay_and_hold_for_questions_and_searches(session: Session, do: Callable[[str], str]) -> None:
    do("/filter category:notes")
    assert "runbooks/" not in do(QUESTION)
    assert "runbooks/" not in do("/search gateway")
    do("/filter type:markdown")
    assert session.filters == Filters(category=("notes",), format=("markdown",))
    do("/filter clear category")
    assert session.filters == Filters(format=("markdown",))
    assert "runbooks/gateway.md" in do(QUESTION)
    with pytest.raises(UserError, match="during"):
        do("/filter during:sometime")
    assert session.filters == Filters(format=("markdown",))


def test_the_hits_of_a_search_are_numbered_for_the_commands_that_follow(do: Callable[[str], str]) -> None:
    do(QUESTION)
    do("/keyword signing keys")
    assert "notes/keys.md" in do("/sources")
    assert "found by /keyword signing keys" in do("/why 1")


def test_retry_and_edit_take_the_last_question_back(session: Session, do: Callable[[str], str]) -> None:
    do(QUESTION)
    assert commands.run(session, "/retry") == Ask(QUESTION, instead=True)
    assert commands.run(session, "/edit") == Fill(QUESTION)
    session.take_back()
    assert session.conversation.messages == []
    session.take_back()


def test_an_answer_stays_when_nothing_comes_of_asking_anew(session: Session, do: Callable[[str], str]) -> None:
    do(QUESTION)
    before = session.conversation.snapshot()
    session.use("replay:" + str(_unanswered(session.path.parent)))
    for _ in range(2):
        session.take_back()
        assert not turns.ask(session, QUESTION)
        assert session.conversation.snapshot() == before
        assert session.asked == [QUESTION]
    session.use("offline")
    session.take_back()
    do(QUESTION)
    assert session.asked == [QUESTION]
    assert session.conversation.snapshot().questions == (QUESTION,)


def _unanswered(folder: Path) -> Path:
    """A recording that runs out: its only reply is empty, which is an error."""
    file = folder / "empty.jsonl"
    head = {"archivist_recording": 1, "question": QUESTION, "model": "x", "today": None}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in (head, {"reply": {"text": "", "calls": []}})), "utf-8")
    return file


def test_an_editor_gives_the_question_back(session: Session, do: Callable[[str], str], tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "edited\\nquestion" > "$1"\n')
    editor.chmod(0o755)
    session.editor = str(editor)
    do(QUESTION)
    assert commands.run(session, "/edit editor") == Fill("edited\nquestion")


def test_a_model_that_is_not_there_changes_nothing(session: Session, do: Callable[[str], str]) -> None:
    do(QUESTION)
    with pytest.raises(UsageError, match="want PROVIDER:MODEL"):
        do("/model gpt")
    assert session.model == "offline"
    assert "gives up after 4 seconds" in do(QUESTION)


def test_a_new_file_is_found_after_index(do: Callable[[str], str], write: Callable[[str, str], Path], session: Session) -> None:
    do(QUESTION)
    write("fresh/zebra.md", "# Zebra\n\nThe zebra eats grass.")
    assert "+ fresh/zebra.md" in do("/index")
    assert "The zebra eats grass" in do("what does the zebra eat?")


@pytest.mark.parametrize("command", ["/save", "/export", "/eval", "/index"])
@pytest.mark.parametrize("place", ["~nobody-here/x.md", "a\0b.md", '""', "'", f"{'x' * 5000}.md"])
def test_a_place_that_cannot_be_is_said(command: str, place: str, do: Callable[[str], str], tmp_path: Path) -> None:
    do(QUESTION)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UserError) as raised:
        do(f"{command} {place}")
    assert len(str(raised.value)) < 400
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_written_is_its_owner_s_alone_and_whole_or_not_there(
    do: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do(QUESTION)
    do("/save answer.md")
    do("/export all.md")
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("answer.md", "all.md")} == {0o600}
    monkeypatch.setattr(keeping, "as_markdown", lambda _: "a" * 100_000_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        with pytest.raises(UserError, match="File too large"):
            do("/save large.md")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    assert not (tmp_path / "large.md").exists()


@pytest.mark.parametrize("line", ["/clear all of it", "/quit now", "/status x", "/copy 2"])
def test_a_command_that_takes_nothing_does_nothing_with_something(line: str, session: Session, do: Callable[[str], str]) -> None:
    do(QUESTION)
    with pytest.raises(UsageError, match="takes nothing behind it"):
        commands.run(session, line)
    assert session.last is not None


def test_an_answer_is_saved_once(do: Callable[[str], str], tmp_path: Path) -> None:
    do(QUESTION)
    do("/save 'an answer.md'")
    text = (tmp_path / "an answer.md").read_text("utf-8")
    assert text.startswith(f"# {QUESTION}\n")
    assert "- [1] runbooks/gateway.md:1-3 (" in text
    with pytest.raises(UserError, match="there already"):
        do("/save an answer.md")


def test_a_case_is_added_to_a_file(do: Callable[[str], str], tmp_path: Path) -> None:
    do(QUESTION)
    assert "1 case added" in do("/eval cases.jsonl")
    case = json.loads((tmp_path / "cases.jsonl").read_text("utf-8"))
    assert case["expect"]["documents"] == ["runbooks/gateway.md"]


def test_a_conversation_is_named_exported_and_gone_on_with(session: Session, do: Callable[[str], str], tmp_path: Path) -> None:
    do("/filter category:runbooks")
    do(QUESTION)
    do("and raising the limit?")
    do("/name Gateway limits")
    do("/export all.md")
    do("/export all.jsonl")
    assert "runbooks/gateway.md" in (tmp_path / "all.md").read_text("utf-8")
    assert len((tmp_path / "all.jsonl").read_text("utf-8").splitlines()) >= 2
    do("/clear")
    do("/filter clear")
    do("how often are the keys rotated?")
    assert "Gateway limits" in do("/sessions")
    shown = do("/resume gateway")
    assert "> and raising the limit?" in shown
    assert session.filters == Filters(category=("runbooks",))
    assert len([message for message in session.conversation.messages if message.role == "user"]) == 2
    assert "[1] runbooks/gateway.md" in do("/sources")
    do(QUESTION)
    assert do("/sessions").count("Gateway limits") == 1


def test_an_export_says_what_it_lacks(do: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    def full(*_: object, **__: object) -> int:
        raise HistoryError("the disk is full")

    with monkeypatch.context() as context:
        context.setattr(History, "add", full)
        do(QUESTION)
        with pytest.raises(UserError, match="could not be kept"):
            do("/export all.md")
    do("/clear")
    do(QUESTION)
    assert "without" not in do("/export whole.md")
    with monkeypatch.context() as context:
        context.setattr(History, "add", full)
        do("how often are the keys rotated?")
    assert "without 1 turn that could not be kept" in do("/export part.md")


def test_without_history_nothing_is_kept_and_it_is_said(library_file: Path, session: Session, tmp_path: Path) -> None:
    start = Start(library_file, None, Filters(), Options(model="offline", history=False), typing=False, rich=False)
    with Session(start) as unkept:
        assert turns.ask(unkept, QUESTION)
        with pytest.raises(UserError, match="not kept"):
            commands.run(unkept, "/export x.md")
    assert not (tmp_path / "conversations.db").exists()


@pytest.mark.parametrize(
    ("line", "is_command"),
    [
        ("/help", True),
        ("/", True),
        ("/ x", True),
        ("/serach x", True),
        ("exit", True),
        ("Quit", True),
        ("help me with the gateway", False),
        ("/etc/hosts", False),
        ("/usr/bin what?", False),
        (" /x", False),
    ],
)
def test_a_path_is_a_question(line: str, is_command: bool) -> None:
    assert commands.is_command(line) is is_command


def test_a_filter_that_was_ended_stays_ended_when_the_conversation_goes_on(session: Session, do: Callable[[str], str]) -> None:
    do("/filter category:runbooks")
    do(QUESTION)
    do("/filter clear")
    do("/clear")
    do("/filter category:notes")
    do("/resume 1")
    assert session.filters == Filters()


def test_a_role_holds_from_the_next_question_on(session: Session, do: Callable[[str], str]) -> None:
    settings.save("roles.brief", "Answer in one sentence.")
    assert "brief  Answer in one sentence." in do("/role")
    backend = Scripted([says("One."), says("Two."), says("Three.")])
    session.conversation.switch(backend)
    for line in ("/role brief", QUESTION, "/role", "/clear", QUESTION, "/role none", QUESTION):
        shown = do(line)
        assert line != "/role" or "the model is told: Answer in one sentence." in shown
    assert ["Answer in one sentence." in request.messages[0].text for request in backend.requests] == [True, True, False]
    with pytest.raises(UsageError, match="did you mean 'brief'"):
        do("/role breif")


def test_a_typo_names_the_nearest_command(session: Session) -> None:
    for typo, meant in (("serach", "search"), ("opne", "open"), ("modle", "model"), ("filtre", "filter")):
        with pytest.raises(UsageError, match=f"did you mean /{meant}\\?"):
            commands.run(session, f"/{typo}")


def test_quit_leaves(session: Session) -> None:
    for line in ("/q", "quit", "exit"):
        assert commands.run(session, line) == Leave()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("/fil", ["/filter"]),
        ("/filter cat", ["category:"]),
        ("/filter category:no", ["notes"]),
        ("/filter type:mark", ["markdown"]),
        ("/filter --category ru", ["runbooks"]),
        ("/read gtwy", ["runbooks/gateway.md"]),
        ("/tables carr", ["carriers"]),
        ("/sql SELECT * FROM carr", ["carriers"]),
        ("/open 1", ["1"]),
        ("/role br", ["brief"]),
        ("/model off", ["offline"]),
        ("/resume Gate", ["Gateway limits"]),
        ("what is in runb", ["runbooks", "runbooks/long.md", "runbooks/gateway.md"]),
        ("what is in zz", []),
    ],
)
def test_tab_offers_what_fits(typed: str, offered: list[str], session: Session, do: Callable[[str], str]) -> None:
    do(QUESTION)
    do("/name Gateway limits")
    settings.save("roles.brief", "Answer in one sentence.")
    catalogue = Catalogue(session.catalogue, history=True)
    catalogue.reload().join(60)
    found = Completing(session, catalogue).get_completions(Document(typed), CompleteEvent(completion_requested=True))
    assert [one.text for one in found] == offered
