"""The file of kept conversations: what goes in comes out, for its owner alone, and nothing else is in the way of anything."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.errors import HistoryError, UsageError
from assistant.history import History, Keeper, file, place, serial
from assistant.messages import Message, Origin, ToolCall, ToolResult
from assistant.tools import Evidence
from search import Condition, Filters, Library
from tests.assistant.kept_talks import FILES, ask, kept, talk

ROOT = Path(__file__).parents[2]
EVERYTHING = Filters(
    category=("runbooks",),
    tags=("a", "b"),
    source=("*.md",),
    title="x",
    during="last month",
    date_field="modified",
    metadata=(
        Condition("status", "in", ("open", "5")),
        Condition("n", ">=", 3),
        Condition("share", "<", 0.5),
        Condition("x", "=", "5"),
    ),
)


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    for path, text in FILES.items():
        write(path, text)
    return indexed()


@pytest.fixture
def history() -> Iterator[History]:
    with History.open() as opened:
        yield opened


def questions(history: History, session: int) -> list[str]:
    return [one.turn.question for one in history.load(session).turns]


def test_a_conversation_comes_out_as_it_went_in(library: Library, history: History) -> None:
    conversation = talk(library, scope=Filters(category=("runbooks",)), scope_words="category runbooks")
    session = history.begin(library.path)
    turns = [ask(conversation, words) for words in ("gateway?", "limit?")]
    history.add(session, turns[-1], conversation.snapshot(), EVERYTHING)
    with History.open() as another:
        found = another.load(session)
    assert found.snapshot == conversation.snapshot()
    assert found.filters == EVERYTHING
    one = found.turns[-1].turn
    assert (one.question, one.model, one.outcome, one.scope) == ("limit?", "scripted:test", "answer", "category runbooks")
    assert one.checked == turns[-1].checked
    assert (one.usage, one.steps, one.at) == (turns[-1].usage, turns[-1].steps, turns[-1].at)
    assert [(call.call.name, call.ran.arguments) for call in one.calls] == [("keyword_search", {"query": "limit?"})]


def test_a_row_is_there_with_the_first_turn_and_not_before(library: Library, history: History) -> None:
    session = history.begin(library.path, "tides")
    assert history.sessions() == []
    conversation = talk(library)
    history.add(session, ask(conversation, "tide?"), conversation.snapshot(), Filters())
    (found,) = history.sessions()
    assert (found.id, found.name, found.library, found.turns, found.first_question) == (
        session,
        "tides",
        library.path.resolve(),
        1,
        "tide?",
    )


def test_a_turn_that_was_taken_back_goes_with_what_it_found(library: Library, history: History) -> None:
    conversation = talk(library)
    session = history.begin(library.path)
    for words in ("gateway?", "tide?"):
        history.add(session, ask(conversation, words), conversation.snapshot(), Filters())
    assert conversation.undo() == "tide?"
    history.add(session, ask(conversation, "tide in Bristol?"), conversation.snapshot(), Filters())
    assert questions(history, session) == ["gateway?", "tide in Bristol?"]
    assert history.load(session).snapshot == conversation.snapshot()


def test_a_question_asked_anew_that_is_answered_in_the_same_words_is_kept_once(library: Library, history: History) -> None:
    conversation = talk(library)
    session = history.begin(library.path)
    for _ in range(2):
        history.add(session, ask(conversation, "tide?"), conversation.snapshot(), Filters())
        conversation.undo()
    assert questions(history, session) == ["tide?"]


def test_a_turn_that_was_stopped_stays_in_the_messages(library: Library, history: History) -> None:
    conversation = talk(library)
    session = history.begin(library.path)
    history.add(session, ask(conversation, "gateway?"), conversation.snapshot(), Filters())
    stopped = conversation.ask("tide?")
    while "CallFinished" not in type(next(stopped)).__name__:
        pass
    stopped.close()  # type: ignore[attr-defined]
    history.add(session, ask(conversation, "limit?"), conversation.snapshot(), Filters())
    assert questions(history, session) == ["gateway?", "limit?"]
    assert history.load(session).snapshot.questions == ("gateway?", "tide?", "limit?")


def test_going_on_after_loading_adds_to_the_same_conversation(library: Library, history: History) -> None:
    session = kept(history, library, "gateway?")
    with History.open() as later:
        conversation = talk(library)
        conversation.restore(later.load(session).snapshot)
        assert later.add(session, ask(conversation, "tide?"), conversation.snapshot(), Filters()) == session
        assert questions(later, session) == ["gateway?", "tide?"]


def test_two_programs_that_go_on_with_one_conversation_keep_both(library: Library, history: History) -> None:
    session = kept(history, library, "gateway?")
    with History.open() as one, History.open() as other:
        first, second = talk(library), talk(library)
        first.restore(one.load(session).snapshot)
        second.restore(other.load(session).snapshot)
        assert one.add(session, ask(first, "tide?"), first.snapshot(), Filters()) == session
        forked = other.add(session, ask(second, "limit?"), second.snapshot(), Filters())
        assert forked != session
        assert other.add(forked, ask(second, "潮?"), second.snapshot(), Filters()) == forked
        assert questions(history, session) == ["gateway?", "tide?"]
        assert questions(history, forked) == ["gateway?", "limit?", "潮?"]
        assert history.load(forked).snapshot == second.snapshot()


def test_what_was_deleted_meanwhile_does_not_come_back(library: Library, history: History) -> None:
    conversation = talk(library)
    session = history.begin(library.path)
    history.add(session, ask(conversation, "gateway?"), conversation.snapshot(), Filters())
    with History.open() as other:
        other.delete([session])
    with pytest.raises(HistoryError, match="deleted meanwhile"):
        history.add(session, ask(conversation, "tide?"), conversation.snapshot(), Filters())
    assert history.sessions() == []
    assert history.begin(library.path) > session


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gateway", ["gateway?"]),
        ("GATE", ["gateway?"]),
        ("満潮", ["満潮?"]),
        ("満潮?", ["満潮?"]),
        ("潮", ["満潮?"]),
        ("is it", ["proxy is slow, is it?"]),
        ("is proxy", ["proxy is slow, is it?"]),
        ('"is proxy"', []),
        ('"slow, is"', ["proxy is slow, is it?"]),
        ("as written", ["満潮?", "gateway?"]),
        ("STRASSE", ["Straße?"]),
        ('x" OR "gateway', []),
        ("100%", []),
        ("NOT NEAR(", []),
    ],
)
def test_a_search_finds_turns_that_have_all_words(library: Library, history: History, text: str, found: list[str]) -> None:
    kept(history, library, "gateway?")
    kept(history, library, "満潮?", "Straße?")
    kept(history, library, "proxy is slow, is it?")
    assert [one.question for one in history.search(text)] == found


def test_a_search_names_the_turn_and_can_be_of_one_library(library: Library, history: History) -> None:
    session = kept(history, library, "gateway?", "tide?")
    (found,) = history.search("tide")
    assert (found.session.id, found.number) == (session, 2)
    assert history.search("tide", library=Path("/elsewhere.db")) == []
    with pytest.raises(UsageError, match="give words"):
        history.search(' "" ')


def test_conversations_are_found_by_id_name_and_beginning_and_typos_get_the_nearest(library: Library, history: History) -> None:
    session = kept(history, library, "gateway?", name="Gateway timeouts")
    kept(history, library, "tide?", name="Tides")
    for which in (str(session), "Gateway timeouts", "gateway TIMEOUTS", "gate", f" {session} "):
        assert history.find(which).id == session
    for which, meant in (("tidse", "did you mean 'Tides'"), ("999", "no conversation '999'"), ("", "no conversation")):
        with pytest.raises(HistoryError, match=meant):
            history.find(which)
    for which in ("\udcff", "\x00", "9" * 5000, f"{session}{'0' * 30}"):
        with pytest.raises(HistoryError, match="no conversation"):
            history.find(which)
    assert history.find(f"{'0' * 30}{session}").id == session
    kept(history, library, "tide?", name="Tidal waves")
    with pytest.raises(HistoryError, match="2 names of conversations begin"):
        history.find("tid")


@pytest.mark.parametrize("name", ["", "  ", "12", "-x", "n" * 81, "\x1b[31m", "TIDES"])
def test_a_name_that_cannot_be_told_from_an_id_or_another_name_is_refused(library: Library, history: History, name: str) -> None:
    session = kept(history, library, "gateway?")
    kept(history, library, "tide?", name="Tides")
    with pytest.raises(UsageError, match="name: "):
        history.rename(session, name)
    assert history.rename(session, " the\n gateway ") == "the gateway"
    assert history.rename(session, "The Gateway") == "The Gateway"


def test_the_last_conversation_is_the_one_gone_on_with_last(library: Library, history: History) -> None:
    first = kept(history, library, "gateway?")
    second = kept(history, library, "tide?")
    conversation = talk(library)
    conversation.restore(history.load(first).snapshot)
    history.add(first, ask(conversation, "limit?"), conversation.snapshot(), Filters())
    assert [session.id for session in history.sessions()] == [first, second]
    assert history.sessions(1, Path("/elsewhere.db")) == []
    assert history.last() is not None
    assert history.last()["question"] == "limit?"  # type: ignore[index]


# The file


def test_the_file_and_those_beside_it_are_their_owner_s_alone(library: Library, history: History) -> None:
    kept(history, library, "gateway?")
    assert stat.S_IMODE(place().parent.stat().st_mode) == 0o700
    beside = {each.name: stat.S_IMODE(each.stat().st_mode) for each in place().parent.iterdir()}
    assert len(beside) >= 2
    assert set(beside.values()) == {0o600}


def test_a_file_that_others_could_read_is_closed_to_them() -> None:
    History.open().close()
    place().chmod(0o644)
    History.open().close()
    assert stat.S_IMODE(place().stat().st_mode) == 0o600


def test_what_is_no_file_of_ours_keeps_its_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign, pipe = tmp_path / "other.db", tmp_path / "pipe"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    os.mkfifo(pipe)
    for path, said in ((foreign, "holds no conversations"), (pipe, "is no file")):
        path.chmod(0o644)
        monkeypatch.setenv("ARCHIVIST_HISTORY", str(path))
        with pytest.raises(HistoryError, match=said):
            History.open()
        assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_home_that_is_not_there_is_a_folder_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARCHIVIST_HISTORY", "~nobody-here/talks.db")
    History.open().close()
    assert (tmp_path / "~nobody-here" / "talks.db").is_file()


def test_bytes_that_are_no_text_name_no_conversation(history: History) -> None:
    with pytest.raises(HistoryError, match="no conversation"):
        history.find("caf\udce9")


@pytest.mark.parametrize("change", ["library = X'00'", "last = 'long ago'", "started = '2026-10-15T10:00:00'", "model = X'FF'"])
def test_a_row_that_was_never_written_so_is_said_to_be_damaged(library: Library, history: History, change: str) -> None:
    session = kept(history, library, "gateway?")
    with closing(sqlite3.connect(place(), isolation_level=None)) as connection:
        connection.execute(f"UPDATE sessions SET {change}")
    for read in (
        history.sessions,
        lambda: history.find(str(session)),
        lambda: history.load(session),
        lambda: history.search("gateway"),
    ):
        with pytest.raises(HistoryError, match="is damaged"):
            read()


def test_a_damaged_schema_is_said_to_be_one(library: Library, history: History) -> None:
    kept(history, library, "gateway?")
    history.close()
    content = place().read_bytes()
    assert content.count(b"CREATE TABLE turns") == 1
    place().write_bytes(content.replace(b"CREATE TABLE turns", b"CRE\xd3\xd3\xd3ABLE turns"))
    with pytest.raises(HistoryError, match="is damaged"):
        History.open()


def held(folder: Path, words: list[bytes]) -> list[tuple[str, bytes]]:
    return [(each.name, word) for each in folder.iterdir() for word in words if word in each.read_bytes()]


@pytest.mark.parametrize("others", [0, 3])
def test_deleted_is_deleted_from_the_file_its_log_and_its_index(library: Library, history: History, others: int) -> None:
    for number in range(others):
        kept(history, library, f"tide {number}?", "潮?")
    session = kept(history, library, "what of Xylophonquartett at the gateway?", "limit forbidden?", name="Zwieback")
    words = ["Xylophonquartett", "xylophonquartett", "Zwieback", "zwieback", "forbidden", "4 seconds"]
    encoded = [word.encode() for word in words]
    assert {word for _, word in held(place().parent, encoded)} == set(encoded)
    with History.open() as idle:  # another program that has the file open, and looks at it no more
        assert len(idle.sessions()) == others + 1
        assert history.delete([session])
        assert held(place().parent, encoded) == []
        with sqlite3.connect(place()) as connection:
            connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, found, row)")
            assert connection.execute("SELECT term FROM temp.v WHERE term IN ('xyl', 'yqu', 'rbi')").fetchall() == []
        connection.close()
        assert len(idle.search("tide")) == others


def test_a_program_that_is_reading_keeps_the_log_from_being_emptied_and_that_is_said(
    library: Library, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = kept(history, library, "gateway?")
    history._connection.execute("PRAGMA busy_timeout = 1")
    with sqlite3.connect(place()) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM sessions").fetchall()
        assert history.delete([session]) is False
    reader.close()
    assert history.sessions() == []


def test_what_is_old_is_found_and_deleted(library: Library, history: History) -> None:
    old, new = kept(history, library, "gateway?"), kept(history, library, "tide?")
    history._connection.execute("UPDATE sessions SET last = '2020-01-01T00:00:00+00:00' WHERE id = ?", (old,))
    assert [session.id for session in history.older(30)] == [old]
    assert history.delete_older(30) == 1
    assert [session.id for session in history.sessions()] == [new]


def test_a_newer_file_is_refused_and_left_alone() -> None:
    History.open().close()
    with sqlite3.connect(place()) as connection:
        connection.execute(f"PRAGMA user_version = {file.VERSION + 1}")
    connection.close()
    with pytest.raises(HistoryError, match="newer Archivist"):
        History.open()


def test_an_older_file_is_brought_up_to_date(library: Library, history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    session = kept(history, library, "gateway?")
    monkeypatch.setattr(file, "_STEPS", (*file._STEPS, ("ALTER TABLE sessions ADD COLUMN colour TEXT",)))
    monkeypatch.setattr(file, "VERSION", file.VERSION + 1)
    for _ in range(2):
        with History.open() as later:
            assert questions(later, session) == ["gateway?"]
            assert later._connection.execute("SELECT colour FROM sessions").fetchall() == [(None,)]
            assert later._connection.execute("PRAGMA user_version").fetchone() == (file.VERSION,)


def test_a_file_of_another_program_is_refused_and_left_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(library.path, copy)
    before = copy.read_bytes()
    monkeypatch.setenv("ARCHIVIST_HISTORY", str(copy))
    with pytest.raises(HistoryError, match="holds no conversations"):
        History.open()
    assert copy.read_bytes() == before


def damage(kind: str) -> None:
    place().parent.mkdir(parents=True, exist_ok=True)
    if kind == "no database":
        place().write_bytes(b"nonsense" * 1000)
    elif kind == "a folder":
        place().mkdir()
    elif kind == "a hole":
        History.open().close()
        with place().open("r+b") as opened:
            opened.seek(4096)
            opened.write(b"\xff" * 4096 * 12)


@pytest.mark.parametrize("kind", ["no database", "a folder", "a hole"])
def test_a_history_that_cannot_be_used_is_said_once_and_spoils_nothing(library: Library, kind: str) -> None:
    damage(kind)
    told: list[str] = []
    conversation = talk(library)
    with Keeper(library.path, told.append) as keeper:
        for words in ("gateway?", "tide?"):
            keeper.keep(ask(conversation, words), conversation.snapshot(), Filters())
    assert len(told) == 1
    assert told[0].startswith("this conversation is not kept: ")
    assert str(place()) in told[0]


@pytest.mark.parametrize("column", ["filters", "record", "said", "item"])
@pytest.mark.parametrize("value", ["{}", "[]", "x", "null", "[" * 100_000, '{"messages": [{}], "guard": 1, "question": 1}'])
def test_what_was_tampered_with_is_refused(library: Library, history: History, column: str, value: str) -> None:
    session = kept(history, library, "gateway?")
    table = {"said": "messages", "item": "evidence"}.get(column, "turns")
    history._connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
    with pytest.raises(HistoryError, match=f"conversation {session} in "):
        history.load(session)


def test_programs_that_begin_at_once_make_one_file_and_lose_nothing(library: Library) -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from pathlib import Path\n"
        "from standin import StandIn\n"
        "from assistant.history import History\n"
        "from search import Library\n"
        "from tests.assistant.kept_talks import kept\n"
        "with Library.open(sys.argv[3], embedder=StandIn()) as library:\n"
        "    sys.stdin.readline()\n"
        "    with History.open() as history:\n"
        "        [kept(history, library, 'gateway?', 'tide?') for _ in range(3)]\n"
    )
    command = [sys.executable, "-c", program, str(ROOT), str(ROOT / "tests"), str(library.path)]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for each in running:
        assert each.stdin
        each.stdin.write("go\n")
        each.stdin.flush()
    for each in running:
        _, told = each.communicate()
        assert each.returncode == 0, told
    with History.open() as history:
        found = history.sessions(100)
        assert sorted(session.id for session in found) == list(range(1, 10))
        assert all(questions(history, session.id) == ["gateway?", "tide?"] for session in found)


def test_keys_are_masked(library: Library, history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-Planted-0123456789"
    monkeypatch.setenv("OPENROUTER_API_KEY", key)
    session = kept(history, library, f"gateway {key}?", name=f"my {key}")
    assert held(place().parent, [key.encode(), key.lower().encode()]) == []
    assert history.load(session).session.name == "my [key]"
    assert questions(history, session) == ["gateway [key]?"]


# As JSON

texts = st.text(st.characters(), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
messages = st.builds(
    Message,
    st.sampled_from(["user", "assistant", "tool"]),
    texts,
    st.lists(st.builds(ToolCall, texts, texts, texts), max_size=2).map(tuple),
    st.lists(st.builds(ToolResult, texts, texts, texts, st.booleans()), max_size=2).map(tuple),
    st.none() | st.builds(Origin, texts, texts, values, st.booleans()),
)


@settings(deadline=None)
@given(st.builds(serial.Said, texts, st.lists(texts, max_size=2).map(tuple), st.lists(messages, max_size=4).map(tuple)))
def test_messages_survive_with_the_providers_own_parts(said: serial.Said) -> None:
    text = serial.said_as_json(said)
    text.encode("utf-8")
    assert serial.said_from_json(text) == said


@settings(deadline=None)
@given(
    st.builds(
        Evidence,
        *(texts,) * 4,
        st.lists(texts, max_size=2).map(tuple),
        st.none() | st.integers(),
        st.integers(),
        st.integers(),
        st.none() | texts,
        texts,
        st.none() | texts,
        texts,
        st.lists(st.none() | texts | st.integers() | st.floats(allow_nan=False), max_size=2).map(tuple),
        texts,
    )
)
def test_evidence_survives(evidence: Evidence) -> None:
    assert serial.evidence_from_json(serial.evidence_as_json(evidence)) == evidence


def test_half_characters_do_not_stand_in_the_way(library: Library, history: History) -> None:
    session = kept(history, library, "gateway \ud800?")
    assert questions(history, session) == ["gateway \ud800?"]
    assert [one.question for one in history.search("gateway")] == ["gateway ?"]
