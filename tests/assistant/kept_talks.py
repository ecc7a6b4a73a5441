"""Conversations for tests of the history: each question is searched for, and answered with a citation of what was found."""

from __future__ import annotations

import json

from assistant.conversation import Answered, Conversation, Turn
from assistant.history import History
from assistant.messages import Reply, Request
from search import Filters, Library
from tests.assistant.scripted import Scripted, says

FILES = {
    "runbooks/gateway.md": "# Gateway\n\nThe gateway gives up after 4 seconds. Raising the limit is forbidden.",
    "notes/tide.md": "# Tide\n\nHigh water in Bristol is at six.",
    "notes/shio.md": "# 潮\n\n満潮は六時です。",
}


def answering(request: Request) -> Reply:
    """Search for the words of the question, then cite the first hit."""
    last = request.messages[-1]
    if last.role == "user":
        number = len(request.messages)
        return says("", (f"call_{number}", "keyword_search", json.dumps({"query": last.text})))
    result = last.results[0]
    hits = [] if result.is_error else json.loads(result.content).get("hits", [])
    return says(f"As written [{hits[0]['key']}]." if hits else "Not in your documents.")


def talk(library: Library, **options: object) -> Conversation:
    return Conversation(library, Scripted([answering] * 100), **options)  # type: ignore[arg-type]


def ask(conversation: Conversation, question: str) -> Turn:
    *_, last = conversation.ask(question)
    assert isinstance(last, Answered)
    return last.turn


def kept(history: History, library: Library, *questions: str, name: str | None = None) -> int:
    """The id of a conversation with these questions, kept turn by turn."""
    conversation = talk(library)
    session = history.begin(library.path, name)
    for question in questions:
        turn = ask(conversation, question)
        session = history.add(session, turn, conversation.snapshot(), Filters())
    return session
