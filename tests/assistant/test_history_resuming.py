"""Going on with a kept conversation: what the library has no more is said, and providers get back only what is theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from standin import StandIn

from assistant import render
from assistant.answer_view import as_object
from assistant.backends import resolve
from assistant.conversation import Conversation
from assistant.errors import UsageError, UserError
from assistant.history import History, Kept, resuming
from assistant.messages import Message, Origin, Reply, ToolCall
from search import Filters, Library, upkeep
from tests.assistant.kept_talks import FILES, ask, kept, talk
from tests.assistant.scripted import Scripted, says


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    for path, text in FILES.items():
        write(path, text)
    return indexed()


@pytest.fixture
def history() -> Iterator[History]:
    with History.open() as opened:
        yield opened


@pytest.fixture
def talked(library: Library, history: History) -> Kept:
    """A conversation that was given both the gateway and the tide."""
    return history.load(kept(history, library, "gateway?", "tide?"))


def resumed(library: Library, kept: Kept) -> tuple[Conversation, str]:
    snapshot, told = resuming.opened(library, kept)
    conversation = talk(library)
    conversation.restore(snapshot)
    return conversation, "\n".join(told)


def index(folder: Path, library_file: Path) -> None:
    upkeep.index(library_file, [folder], StandIn(), prune=True)


def test_an_unchanged_library_has_nothing_to_tell(library: Library, talked: Kept) -> None:
    conversation, told = resumed(library, talked)
    assert told == "going on with conversation 1: 2 turns, the last just now"
    assert conversation.snapshot() == talked.snapshot


def test_passages_that_are_gone_are_named_and_marked_where_they_are_cited(
    library: Library, talked: Kept, folder: Path, library_file: Path
) -> None:
    (folder / "notes" / "tide.md").unlink()
    (folder / "runbooks" / "gateway.md").write_text("# Gateway\n\nThe gateway never gives up.", "utf-8")
    index(folder, library_file)
    conversation, told = resumed(library, talked)
    assert "1 passage of this conversation has another text now: runbooks/gateway.md" in told
    assert "1 passage of this conversation is not in the library any more: notes/tide.md" in told
    assert "archivist history delete 1" in told
    old = next(one for one in talked.snapshot.evidence if one.path == "notes/tide.md").key
    conversation.switch(Scripted([says(f'"High water in Bristol is at six." [{old}]')]))
    turn = ask(conversation, "and tomorrow?")
    shown = render.source_lines(turn.checked, render.out())[0]
    assert "notes/tide.md" in shown
    assert shown.endswith("(removed from the library since it was indexed)")


def test_passages_that_moved_stand_where_they_are_now(library: Library, talked: Kept, folder: Path, library_file: Path) -> None:
    (folder / "notes" / "tide.md").rename(folder / "notes" / "ebb.md")
    (folder / "runbooks" / "gateway.md").write_text("---\ntags: [x]\n---\n" + FILES["runbooks/gateway.md"], "utf-8")
    index(folder, library_file)
    snapshot, told = resuming.opened(library, talked)
    assert len(told) == 1
    before = {one.key: one for one in talked.snapshot.evidence}
    moved = {one.path: one for one in snapshot.evidence if one != before[one.key]}
    assert moved.keys() == {"notes/ebb.md", "runbooks/gateway.md"}
    assert moved["runbooks/gateway.md"].first_line == before[moved["runbooks/gateway.md"].key].first_line + 3


def test_a_library_that_was_indexed_since_is_said_where_queries_were_run(
    library: Library, history: History, folder: Path, library_file: Path
) -> None:
    (folder / "carriers.csv").write_text("carrier,parcels\nNordpost,120\nKurierwerk,90\n")
    index(folder, library_file)
    call = ("a", "run_sql", '{"sql": "SELECT sum(parcels) FROM carriers"}')
    conversation = Conversation(library, Scripted([says("", call), says("210.")]))
    session = history.begin(library.path)
    history.add(session, ask(conversation, "how many?"), conversation.snapshot(), Filters())
    history._connection.execute("UPDATE sessions SET last = '2020-01-01T00:00:00+00:00'")
    _, told = resumed(library, history.load(session))
    assert "results of queries in this conversation are older than that" in told


THOUGHTS: dict[str, Any] = {
    "openrouter:x/y": {"reasoning_details": [{"type": "reasoning.encrypted", "data": "OPAQUE"}]},
    "gemini:gemini-3.8-flash": [
        {"functionCall": {"name": "keyword_search", "args": {"query": "tide"}}, "thoughtSignature": "OPAQUE"},
    ],
}


@pytest.mark.parametrize("spec", THOUGHTS)
@pytest.mark.parametrize("asked", [*THOUGHTS, "ollama:qwen3:8b"])
def test_a_provider_s_own_parts_go_back_to_it_alone(library: Library, history: History, spec: str, asked: str) -> None:
    provider, _, model = spec.partition(":")
    call = Reply(
        Message(
            "assistant",
            "",
            (ToolCall("c1", "keyword_search", '{"query": "tide"}'),),
            origin=Origin(provider, model, THOUGHTS[spec]),
        )
    )
    conversation = Conversation(library, Scripted([call, says("At six.")]))
    session = history.begin(library.path)
    history.add(session, ask(conversation, "tide?"), conversation.snapshot(), Filters())
    with History.open() as later:
        snapshot, _ = resuming.opened(library, later.load(session))
    again = Conversation(library, resolve(asked))
    again.restore(snapshot)
    assert ("OPAQUE" in json.dumps(again.request_body("and tomorrow?"))) == (asked == spec)


def test_an_answer_of_a_resumed_conversation_is_as_that_of_one_that_went_on(library: Library, history: History) -> None:
    one = talk(library)
    ask(one, "gateway?")
    session = history.begin(library.path)
    history.add(session, ask(one, "tide?"), one.snapshot(), Filters())
    other, _ = resumed(library, history.load(session))
    assert as_object(ask(one, "limit?")) == as_object(ask(other, "limit?"))


def test_a_conversation_goes_on_where_its_library_has_moved_to(
    library: Library, talked: Kept, library_file: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    with pytest.raises(UsageError, match=r"is about .*, not "):
        resuming.meant("1", elsewhere, library_file)
    library.close()
    library_file.rename(elsewhere)
    with pytest.raises(UserError, match="not there any more") as caught:
        resuming.meant("1", None, library_file)
    assert "--resume 1 -l FILE" in caught.value.hint
    assert resuming.meant("1", elsewhere, library_file).library == elsewhere
