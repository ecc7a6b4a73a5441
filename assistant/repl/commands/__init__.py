"""The commands of a session, as a table; what is typed is found in it, and a typo finds the nearest.

A line that begins with "/" is a command. One whose first word holds a further "/", such as a path, is a question; so is anything
behind a space.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from assistant import render
from assistant.errors import UsageError
from assistant.repl.commands import conversations, keeping, looking, models, sources, turns
from assistant.repl.commands.base import Command, Leave, Next

if TYPE_CHECKING:
    from assistant.repl.state import Session


def help_lines(session: Session, typed: str) -> Next:
    """List the commands, or tell of one."""
    out = render.out()
    chosen = [find(typed.lstrip("/"))] if typed else list(COMMANDS)
    heads = [f"/{command.name} {command.arguments}".rstrip() for command in chosen]
    width = max(map(len, heads))
    beside = out.width - width - 2 >= 30
    for command, head in zip(chosen, heads, strict=True):
        also = f" Also {', '.join(f'/{alias}' for alias in command.aliases)}." if typed and command.aliases else ""
        told = render.wrapped(command.help + also, out.width - (width + 2 if beside else 4))
        if beside:
            out.write(out.style(f"{head:<{width}}", "1") + f"  {told[0]}")
        else:
            out.write(out.style(head, "1"))
            out.write(f"    {told[0]}")
        for line in told[1:]:
            out.write(" " * (width + 2 if beside else 4) + line)
    if not typed:
        out.write()
        keys = [
            "Ctrl-R searches what you typed, Esc Enter begins a new line, Tab completes, Ctrl-C stops an answer, Ctrl-D leaves."
        ]
        for line in render.wrapped(" ".join(keys if session.rich else ["The end of the input leaves."]), out.width):
            out.write(out.style(line, "2"))
    return None


def leave(_: Session, __: str) -> Next:
    """End the session."""
    return Leave()


COMMANDS: tuple[Command, ...] = (
    Command("help", "[COMMAND]", "List the commands.", help_lines, ("h", "?"), "command"),
    Command("model", "[PROVIDER:MODEL]", "Show the model, or go on with another.", models.model, ("m",), "model"),
    Command("models", "", "List the models that can be used now.", models.models),
    Command("role", "[NAME|none]", "Show the roles, or give the model the instructions of one.", models.role, (), "role"),
    Command(
        "filter", "[NAME:VALUE ... | clear [NAME]]", "Show or set filters that stay.", models.filter_documents, ("f",), "filter"
    ),
    Command("search", "WORDS [--category NAME ...] [-n N]", "Find passages by words and meaning.", looking.search, ("s",)),
    Command("keyword", "WORDS", "Find passages by words alone.", looking.keyword, ("k",)),
    Command("vector", "TEXT", "Find passages by meaning alone.", looking.vector, ("v",)),
    Command("similar", "N|KEY|TEXT", "Find passages similar to one, or to a text.", looking.similar, (), "number"),
    Command("read", "N|KEY|FILE [FROM-TO]", "Show a passage or a document as it is stored.", looking.read, ("r",), "file"),
    Command("tables", "[NAME]", "List the tables, or describe one.", looking.tables, ("t",), "table"),
    Command("sql", "SELECT ...", "Run one SELECT over tables and documents.", looking.sql, (), "table"),
    Command("sources", "", "List the sources of the last answer again.", sources.sources),
    Command("open", "N", "Start your editor at the line of a source.", sources.open_source, ("o",), "number"),
    Command("why", "N", "Tell how a source was found: ranks, scores, words.", sources.why, ("w",), "number"),
    Command("trace", "[on|off]", "Show all steps of the last turn; on shows them always.", turns.trace),
    Command("retry", "[PROVIDER:MODEL]", "Ask the last question again, with another model if named.", turns.retry, (), "model"),
    Command("edit", "[editor]", "Change the last question and ask it anew.", turns.edit, ("e",)),
    Command("cost", "", "What this session has used, by model.", turns.cost),
    Command("tokens", "", "How full the model's window is.", turns.tokens),
    Command("sessions", "[WORDS]", "List the conversations that are kept, or find words in them.", conversations.sessions),
    Command("resume", "[ID|NAME]", "Go on with a kept conversation.", conversations.resume, (), "conversation"),
    Command("name", "NAME", "Give this conversation a name.", conversations.name),
    Command("export", "FILE", "Write the conversation to a file: .md or .jsonl.", conversations.export, (), "place"),
    Command("copy", "", "Put the last answer on the clipboard.", keeping.copy, ("c",)),
    Command("save", "FILE", "Write the last answer with its sources to a file.", keeping.save, (), "place"),
    Command("eval", "[FILE]", "Make a case for `archivist evaluate` of the last turn.", keeping.make_case, (), "place"),
    Command("index", "[DIR]", "Bring the library in step with its folders.", models.index, (), "place"),
    Command("status", "", "Show what the library holds.", models.status),
    Command("clear", "", "Begin a new conversation.", turns.clear, ("new",)),
    Command("quit", "", "Leave.", leave, ("q", "exit")),
)
_BARE = frozenset({"exit", "quit", "help"})  # typed alone they ask nothing of the documents
_BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


def is_command(line: str) -> bool:
    """Whether a line is a command: it begins with "/", and its first word holds no other; or it is exit, quit or help alone."""
    if line.strip().casefold() in _BARE:
        return True
    if not line.startswith("/"):
        return False
    return "/" not in next(iter(line[1:].split()), "")


def find(name: str) -> Command:
    """The command with a name or an alias. Raises UsageError with the nearest ones."""
    command = _BY_NAME.get(name.casefold())
    if command is not None:
        return command
    near = difflib.get_close_matches(name.casefold(), [one.name for one in COMMANDS], n=1, cutoff=0.5)
    meant = f"; did you mean /{near[0]}?" if near else ""
    raise UsageError(f"no command /{name}{meant}", "/help lists the commands; a question that begins with / goes behind a space")


def run(session: Session, line: str) -> Next:
    """Run a line that is a command. Raises what the command raises."""
    head, *rest = line.removeprefix("/").strip().split(None, 1) or [""]
    command = find(head or "help")
    if rest and not command.arguments:
        raise UsageError(f"/{command.name}: takes nothing behind it, got {render.cut(rest[0], 40)!r}", f"/{command.name}")
    return command.run(session, rest[0] if rest else "")
