"""What is marked local_only reaches no model elsewhere: by no tool, no declaration, no earlier turn, no attached text."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standin import StandIn

from assistant import answer_view
from assistant.backends.base import Capabilities, Price
from assistant.backends.offline import Offline, catalogue_of
from assistant.backends.replay import Replay
from assistant.conversation import Answered, Conversation, Snapshot, Turn
from assistant.errors import UserError
from assistant.events import Notice
from assistant.messages import Reply, Request, ToolCall, Usage
from assistant.recording import Recorder
from search import Filters, Library, upkeep
from tests.assistant.scripted import Line, Scripted, says

MARK = "heliotrope"  # stands in everything that is withheld, and in no question
CLOUD = Capabilities(price=Price(1, 1), local=False)
CLOUD_WITHOUT_TOOLS = replace(CLOUD, tools=False)
HERE = Capabilities(price=Price(0, 0), local=True)
PATTERNS = ("private",)
OPEN = {
    "runbooks/gateway.md": (
        "---\ntags: [edge]\nauthor: Mara\ndate: 2026-02-03\nstatus: old\n---\n# Gateway\n\nThe gateway had timeouts.\n"
    ),
    "runbooks/cache.md": "---\nauthor: Mara\ndate: 2026-08-03\n---\n# Cache\n\nThe cache had timeouts and was slow.\n",
    "tables/hours.csv": "team,hours\nNord,7\nSued,5\n",
}
SECRET = {
    "private/gateway.md": (
        f"---\ncategory: {MARK}\ntags: [{MARK}, edge]\nauthor: {MARK}\ndate: 2026-08-03\nstatus: old\n{MARK}: {MARK}\n"
        f"title: The {MARK} timeouts\n---\n# Gateway {MARK}\n\nThe gateway had timeouts because of {MARK}, as everybody knew.\n"
    ),
    f"private/{MARK}/cache.md": f"# Cache {MARK}\n\nThe cache had timeouts, {MARK}.\n",
    "private/payroll.csv": f"team,{MARK}\nNord,1000\n{MARK},1000\n",
    f"private/{MARK}_hours.csv": f"team,hours\nNord,1000\n{MARK},1000\n",
    "private/empty.md": "",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("vault")
    write(folder, OPEN | SECRET)
    file = tmp_path_factory.mktemp("library") / "library.db"
    upkeep.index(file, [folder], StandIn())
    with Library.open(file, embedder=StandIn()) as opened:
        yield opened


def sent(backend: Scripted) -> str:
    """All that a model was sent."""
    return "\n".join(json.dumps(answer_of(request), ensure_ascii=False) for request in backend.requests)


def answer_of(request: Request) -> object:
    return [[repr(message) for message in request.messages], [[t.name, t.description, dict(t.parameters)] for t in request.tools]]


def turn_of(conversation: Conversation, question: str, attached: str = "") -> Turn:
    *_, last = conversation.ask(question, attached)
    assert isinstance(last, Answered)
    return last.turn


def cloud(*script: Line, capabilities: Capabilities = CLOUD) -> Scripted:
    return Scripted(script or [says("Nothing to say.")], capabilities=capabilities)


def talk(library: Library, backend: object, **more: Any) -> Conversation:
    return Conversation(library, backend, local_only=PATTERNS, **more)  # type: ignore[arg-type]


def keys_of(library: Library) -> list[str]:
    keys = [hit.passage.key for hit in library.vector_search("gateway timeouts", limit=50)]
    return keys + [key[:5] for key in keys]


WORDS = st.sampled_from(["gateway timeouts", '"had timeouts"', "timeouts -nothing", "private", "zzz", "*", "everybody knew"])
NARROWING = {
    "category": st.sampled_from(["runbooks", "private", ""]),
    "tags": st.lists(st.sampled_from(["edge", "adge"]), max_size=2),
    "after": st.sampled_from(["2020-01-01", "2026-07-01"]),
    "within": st.sampled_from(["set_1", "set_2", "private", "*"]),
    "limit": st.integers(1, 50),
}
SELECTING = NARROWING | {
    "source": st.sampled_from(["*", "private/*", "../*", "payroll", "*_hours*"]),
    "author": st.sampled_from(["Mara", "Nobody"]),
    "title": st.sampled_from(["timeouts", "e"]),
    "metadata": st.lists(st.sampled_from(["status=old", "status!=x", "nokey=1"]), max_size=2),
}
STATEMENTS = st.sampled_from(
    [
        "SELECT * FROM payroll",
        "SELECT p.* FROM hours JOIN payroll p ON p.team = hours.team",
        "SELECT path, title, category, author, metadata FROM documents",
        "SELECT tag FROM document_tags",
        "SELECT text FROM passages WHERE text LIKE '%timeouts%'",
        "SELECT * FROM main.documents",
        "SELECT sql FROM sqlite_master",
        "SELECT * FROM _tables",
        "WITH documents AS (SELECT * FROM main.documents) SELECT title FROM documents",
        "SELECT group_concat(team) FROM hours",
        "SELECT nothing FROM hours",
    ]
)


def calls(keys: list[str]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Calls of every tool that try to get at what is withheld."""
    paths = st.sampled_from(["private/gateway.md", "gateway.md", "cache.md", "empty.md", "payroll.csv", "private/empty.md:1"])
    groups = st.sampled_from(["category", "tag", "author", "month", "text_status"])
    tables = st.sampled_from(["hours", "payroll", "private_hours", "hours_2"])
    each: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        **{name: ({"query": WORDS}, NARROWING) for name in ("hybrid_search", "keyword_search", "vector_search")},
        "find_similar": ({}, NARROWING | {"key": st.sampled_from(keys), "text": WORDS}),
        "filter_documents": ({}, SELECTING | {"order_by": st.sampled_from(["path", "date"])}),
        "count_documents": ({}, {name: s for name, s in SELECTING.items() if name != "limit"} | {"group_by": groups}),
        "read_document": ({}, {"key": st.sampled_from(keys), "path": paths}),
        "describe_tables": ({}, {"table": tables, "search": st.sampled_from(["team", "pay", "1000"])}),
        "query_table": ({"table": tables}, {"columns": st.just(["team"])}),
        "run_sql": ({"sql": STATEMENTS}, {}),
    }
    return st.one_of(
        *(st.tuples(st.just(name), st.fixed_dictionaries(needed, optional=optional)) for name, (needed, optional) in each.items())
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_call_of_any_tool_gives_away_what_is_withheld(library: Library, data: st.DataObject) -> None:
    wanted = data.draw(st.lists(calls(keys_of(library)), min_size=1, max_size=6))
    script = [says("", (str(number), name, json.dumps(arguments))) for number, (name, arguments) in enumerate(wanted)]
    backend = cloud(*script, says("Done."))
    scope = data.draw(
        st.sampled_from([Filters(), Filters(tags=("edge",)), Filters(after="2020"), Filters(within=Filters(title="e"))])
    )
    turn = turn_of(talk(library, backend, scope=scope), "what happened?")
    assert len(backend.requests) == len(wanted) + 1
    assert MARK not in sent(backend)
    assert not [call.ran.failure for call in turn.calls if call.ran.failure]


def test_every_tool_shows_it_to_a_model_on_this_machine(library: Library) -> None:
    for name, arguments in [
        ("keyword_search", {"query": "everybody knew"}),
        ("count_documents", {"group_by": "category"}),
        ("run_sql", {"sql": "SELECT * FROM payroll"}),
        ("describe_tables", {"table": "payroll"}),
    ]:
        backend = Scripted([says("", ("1", name, json.dumps(arguments))), says("Done.")], capabilities=HERE)
        turn = turn_of(talk(library, backend), "what happened?")
        assert MARK in backend.requests[-1].messages[-1].results[0].content
        assert turn.withheld is None


@pytest.mark.parametrize("statement", ["SELECT * FROM {}", "SELECT h.team FROM hours h, {}", 'SELECT nothing FROM "{}"'])
def test_a_withheld_table_is_refused_as_one_that_does_not_exist(library: Library, statement: str) -> None:
    box = talk(library, cloud()).toolbox

    def refusal(name: str) -> str:
        ran = box.run(ToolCall("1", "run_sql", json.dumps({"sql": statement.format(name)})))
        assert ran.result.is_error
        return ran.result.content.replace(name, "it")

    assert refusal("payroll") == refusal("zzz")


@pytest.mark.parametrize("argument", ["key", "path"])
def test_a_withheld_document_is_refused_as_one_that_does_not_exist(library: Library, argument: str) -> None:
    key = library.keyword_search("everybody knew")[0].passage.key
    there, missing = {"key": (key, "aaaaaaaaaa"), "path": ("private/gateway.md", "private/gatewax.md")}[argument]
    box = talk(library, cloud(), scope=Filters(category=("runbooks",))).toolbox

    def refusal(value: str) -> str:
        ran = box.run(ToolCall("1", "read_document", json.dumps({argument: value})))
        assert ran.result.is_error
        return ran.result.content.replace(value, "it")

    assert refusal(there) == refusal(missing)


def test_a_search_that_finds_nothing_speaks_of_no_scope(library: Library) -> None:
    box = talk(library, cloud()).toolbox
    content = box.run(ToolCall("1", "keyword_search", '{"query": "zzz"}')).result.content
    assert "scope" not in content
    assert "of the" not in content


def test_the_turn_says_what_was_withheld_and_that_it_would_have_been_found(library: Library) -> None:
    search = ("1", "keyword_search", '{"query": "gateway timeouts"}')
    turn = turn_of(talk(library, cloud(says("", search), says("Done."))), "what happened?")
    assert turn.withheld is not None
    assert (turn.withheld.documents, turn.withheld.patterns, turn.withheld.hits) == (5, PATTERNS, 2)
    assert answer_view.withheld_line(turn.withheld) == (
        "withheld from this model: 5 documents (private), 2 of them among what was looked for"
    )
    scoped = turn_of(talk(library, cloud(), scope=Filters(category=("runbooks",))), "what happened?")
    assert scoped.withheld is None


def test_a_model_without_tools_gets_nothing_of_it_with_its_first_passages(library: Library) -> None:
    backend = cloud(capabilities=CLOUD_WITHOUT_TOOLS)
    turn = turn_of(talk(library, backend), "what had timeouts, as everybody knew?")
    assert "runbooks/gateway.md" in sent(backend)
    assert MARK not in sent(backend)
    assert turn.withheld is not None
    assert turn.withheld.hits > 0


def test_a_description_of_a_root_that_is_withheld_as_a_whole_is_not_sent(tmp_path: Path) -> None:
    write(tmp_path / "open", OPEN)
    write(tmp_path / "sealed", SECRET)
    upkeep.index(tmp_path / "library.db", [tmp_path / "open", tmp_path / "sealed"], StandIn())
    said = {str(tmp_path / "open"): "What runs where.", str(tmp_path / "sealed"): f"All about {MARK}."}
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as library:
        for capabilities, seen in ((CLOUD, False), (HERE, True)):
            backend = Scripted([says("Done.")], capabilities=capabilities)
            turn_of(Conversation(library, backend, local_only=(str(tmp_path / "sealed"),), descriptions=said), "what?")
            assert "open: What runs where." in sent(backend)
            assert (f"All about {MARK}." in sent(backend)) is seen


def test_what_a_request_would_hold_is_shown_without_it(library: Library) -> None:
    class Showing(Scripted):
        def body(self, request: Request) -> dict[str, object]:
            return {"body": answer_of(request)}

    body = json.dumps(talk(library, Showing([], capabilities=CLOUD)).request_body("what?"))
    assert "runbooks" in body
    assert MARK not in body


# What was said before, while everything was in reach


LOCAL_TURNS: list[tuple[str, list[Reply]]] = [
    ("a search", [says("", ("1", "keyword_search", '{"query": "gateway timeouts"}')), says("It had timeouts.")]),
    ("a count", [says("", ("1", "count_documents", "{}")), says("There are 8 documents.")]),
    ("a name that was declared", [says(f"There is a category {MARK}.")]),
    ("a text without a call", [says("The gateway had timeouts because of something, as everybody knew.")]),
    ("a table", [says("", ("1", "run_sql", '{"sql": "SELECT team FROM payroll"}')), says("Two teams.")]),
    ("an error", [says("", ("1", "query_table", '{"table": "pay"}')), says("No such table.")]),
]


def test_a_request_that_is_only_shown_is_refused_and_told_like_one_that_is_sent(library: Library) -> None:
    search = ("c1", "keyword_search", json.dumps({"query": "timeouts"}))
    before = talk(library, Scripted([says("", search), says(f"Because of {MARK}.")], capabilities=HERE))
    turn_of(before, "why were there timeouts?")
    conversation = talk(library, Scripted([], capabilities=CLOUD))
    conversation.restore(before.snapshot())
    with pytest.raises(UserError, match="withheld"):
        conversation.request_body("what is it?", SECRET[f"private/{MARK}/cache.md"])
    conversation.request_body("what is it?")
    told = "\n".join(conversation.withheld_from_request())
    assert "1 earlier turn is not sent" in told
    assert "withheld from this request: 5 documents (private)" in told


@pytest.mark.parametrize(("what", "script"), LOCAL_TURNS, ids=[what for what, _ in LOCAL_TURNS])
def test_a_turn_that_saw_it_is_not_sent_after_a_switch(library: Library, what: str, script: list[Reply]) -> None:
    if what == "a text without a call":
        script = [says(f"The gateway had timeouts because of {MARK}, as everybody knew.")]
    conversation = talk(library, Scripted([*script, says("And so on.")], capabilities=HERE))
    turn_of(conversation, "first?")
    turn_of(conversation, "second?")
    backend = cloud()
    (notice,) = conversation.switch(backend)
    assert "2 earlier turns are not sent to scripted:test" in notice
    turn_of(conversation, "third?")
    assert [message.text for message in backend.requests[0].messages[1:]] == ["third?"]
    assert MARK not in sent(backend)


def test_a_turn_that_saw_none_of_it_goes_on_after_a_switch(library: Library) -> None:
    search = ("1", "keyword_search", '{"query": "slow"}')
    thought = replace(says("It was slow.").message, origin=None)
    conversation = talk(library, Scripted([says("", search), Reply(thought, usage=Usage(1, 1))], capabilities=HERE))
    turn_of(conversation, "first?")
    backend = cloud()
    assert conversation.switch(backend) == ()
    turn_of(conversation, "second?")
    assert [message.role for message in backend.requests[0].messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


def test_back_on_this_machine_everything_is_sent_again(library: Library) -> None:
    search = ("1", "keyword_search", '{"query": "gateway timeouts"}')
    conversation = talk(library, Scripted([says("", search), says("It had.")], capabilities=HERE))
    turn_of(conversation, "first?")
    conversation.switch(cloud())
    turn_of(conversation, "second?")
    local = Scripted([says("Done.")], capabilities=HERE)
    assert conversation.switch(local) == ()
    turn_of(conversation, "third?")
    assert MARK in sent(local)


def test_the_first_passages_of_a_model_without_tools_are_not_sent_after_a_switch(library: Library) -> None:
    conversation = talk(library, Scripted([says("It had.")], capabilities=replace(HERE, tools=False)))
    turn_of(conversation, "what had timeouts?")
    backend = cloud()
    conversation.switch(backend)
    turn_of(conversation, "second?")
    assert MARK not in sent(backend)


def test_a_conversation_that_was_kept_is_looked_through_when_it_goes_on(library: Library) -> None:
    here = talk(library, Offline(catalogue_of(library)))
    turn_of(here, "why did the gateway have timeouts?")
    kept = here.snapshot()
    assert MARK in repr(kept.messages)
    for snapshot in (kept, Snapshot(kept.messages, kept.evidence), replace(kept, guards=(("other",),))):
        backend = cloud()
        again = talk(library, backend)
        again.restore(snapshot)
        again.size()
        notices = [event.text for event in again.ask("and then?") if isinstance(event, Notice)]
        assert ["1 earlier turn is not sent to scripted:test" in notice for notice in notices] == [True]
        assert MARK not in sent(backend)


def test_a_recording_that_is_played_on_is_no_way_out(library: Library, tmp_path: Path) -> None:
    search = ("1", "keyword_search", '{"query": "gateway timeouts"}')
    recorder = Recorder(Scripted([says("", search), says(f"It was {MARK}.")], capabilities=HERE))
    turn_of(talk(library, recorder), "first?")
    recorder.write(tmp_path / "played.jsonl", "first?", None)
    conversation = talk(library, Replay(tmp_path / "played.jsonl"))
    assert MARK in turn_of(conversation, "first?").answer
    backend = cloud()
    conversation.switch(backend)
    turn_of(conversation, "second?")
    assert MARK not in sent(backend)


def test_lines_of_a_withheld_document_are_not_attached(library: Library) -> None:
    backend = cloud(says("Done."), says("Done."))
    conversation = talk(library, backend)
    with pytest.raises(UserError, match="holds lines of documents that are withheld"):
        turn_of(conversation, "what is this?", f"x\nThe gateway had timeouts because of {MARK}, as everybody knew.\n")
    assert backend.requests == []
    turn_of(conversation, "what is this?", "The gateway had timeouts.\nThe cache had timeouts and was slow.\n")
    assert len(backend.requests) == 1


PAYROLL = "name,street,iban,salary\nMara Winter,Lindenallee 24 in Hamburg,DE89370400440532013000,81234\n"
PASSWORDS = "# Passwords\n\nrouter: hunter2xyz\nwifi: correct horse\nsafe: 44-12-91\n"
OFFER = (
    "---\nmost we would pay: 130000 euros to Acme by the end of May\n---\n"
    "# Offer\n\nAcme gets 120000 euros in May, said Otto,\nno more.\n"
)
SHORT = "The door: 4711 0815\n"


@pytest.mark.parametrize(
    ("path", "text", "attached"),
    [
        ("payroll.csv", PAYROLL, PAYROLL),
        ("payroll.csv", PAYROLL, PAYROLL.splitlines()[1]),
        ("passwords.md", PASSWORDS, PASSWORDS),
        ("passwords.md", PASSWORDS, PASSWORDS.replace("\n", "\r\n> ")),
        ("offer.md", OFFER, "12: log\n13: Acme gets 120000 euros in May, said Otto,\n14: end\n"),
        ("offer.md", OFFER, "Acme gets 120000 euros\nin May,\nsaid Otto, no more."),
        ("offer.md", OFFER, "we would pay: 130000 euros to Acme by the end of May"),
        ("door.txt", SHORT, f"what is this?\n{SHORT}"),
    ],
)
def test_a_withheld_file_is_known_again_however_it_is_attached(tmp_path: Path, path: str, text: str, attached: str) -> None:
    write(tmp_path / "vault", {f"private/{path}": text, "open/other.md": "# Other\n\nAn open note about nothing at all.\n"})
    upkeep.index(tmp_path / "library.db", [tmp_path / "vault"], StandIn())
    backend = cloud(says("Done."))
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as library:
        with pytest.raises(UserError, match="holds lines of documents that are withheld"):
            turn_of(talk(library, backend), "what is this?", attached)
        assert backend.requests == []
        write(tmp_path / "vault", {f"open/{path}": text})
        upkeep.index(tmp_path / "library.db", [tmp_path / "vault"], StandIn())
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as library:
        turn_of(talk(library, backend), "what is this?", attached)  # what also stands in an open file is no secret


def test_rows_of_a_withheld_workbook_are_not_attached(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in csv.reader(PAYROLL.splitlines()):
        book.active.append(row)
    (tmp_path / "vault" / "private").mkdir(parents=True)
    book.save(tmp_path / "vault" / "private" / "payroll.xlsx")
    upkeep.index(tmp_path / "library.db", [tmp_path / "vault"], StandIn())
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as library, pytest.raises(UserError, match="holds lines"):
        turn_of(talk(library, cloud(says("Done."))), "what is this?", PAYROLL)


# What changes


def test_what_moves_and_what_is_indexed_again_stays_withheld(tmp_path: Path) -> None:
    folder, file = tmp_path / "vault", tmp_path / "library.db"
    write(folder, OPEN | SECRET)
    upkeep.index(file, [folder], StandIn())
    search = says("", ("1", "hybrid_search", '{"query": "gateway timeouts"}'))
    backend = cloud(search, says("One."), search, says("Two."), search, says("Three."))
    with Library.open(file, embedder=StandIn()) as library:
        key = library.keyword_search("everybody knew")[0].passage.key
        conversation = talk(library, backend)
        turn_of(conversation, "first?")
        (folder / "private/gateway.md").rename(folder / "private/other.md")
        write(folder, {"private/more.md": f"# More\n\nThe gateway had timeouts again, {MARK}.\n"})
        upkeep.index(file, [folder], StandIn())
        turn_of(conversation, "second?")
        (folder / "private/other.md").write_text(SECRET["private/gateway.md"] + "\nAnd more.\n", encoding="utf-8")
        upkeep.index(file, [folder], StandIn())
        turn_of(conversation, "third?")
        moved = conversation.toolbox.run(ToolCall("9", "read_document", json.dumps({"key": key}))).result
        assert moved.is_error
    assert MARK not in sent(backend) + moved.content


@pytest.mark.parametrize("spelled", ["{folder}/private", "{link}/private", "~/vault/private", "PRIVATE/**", "vault/private"])
def test_a_folder_is_withheld_however_it_is_spelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelled: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "vault"
    write(folder, OPEN | SECRET)
    (tmp_path / "link").symlink_to(folder)
    upkeep.index(tmp_path / "library.db", [folder], StandIn())
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as library:
        pattern = spelled.format(folder=folder, link=tmp_path / "link")
        box = Conversation(library, cloud(), local_only=(pattern,)).toolbox
        assert json.loads(box.run(ToolCall("1", "count_documents", "{}")).result.content)["total"] == len(OPEN)


def test_a_root_that_is_a_link_is_withheld_by_where_it_leads(tmp_path: Path) -> None:
    write(tmp_path / "real", OPEN | SECRET)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    upkeep.index(tmp_path / "library.db", [tmp_path / "link"], StandIn())
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as library:
        for pattern, left in ((str(tmp_path / "real/private"), len(OPEN)), (str(tmp_path / "real"), 0)):
            box = Conversation(library, cloud(), local_only=(pattern,)).toolbox
            value = json.loads(box.run(ToolCall("1", "count_documents", "{}")).result.content)
            assert value.get("total", 0) == left


def test_a_pattern_that_is_not_understood_lets_no_conversation_begin(library: Library) -> None:
    with pytest.raises(UserError, match="local_only: got"):
        Conversation(library, cloud(), local_only=("{private,other}/*",))
