"""Reading a line on a terminal: history with search, several lines, large pastes folded, completion, a quiet line below."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import islice

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.filters import Condition, has_focus, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.styles import Style

from assistant import render, settings
from assistant.cleaning import whole
from assistant.repl import commands, filtering, history_file
from assistant.repl.completing import Catalogue, Completing
from assistant.repl.fences import is_open, unfenced
from assistant.repl.state import Session

_FOLDED_FROM = 2000  # characters of a paste from which on the line shows its size in its place
_FOLDED_LINES = 12
_LEAST_PROMPT = 12  # columns for the filters
_STYLE = Style.from_dict(
    {
        "prompt": "bold",
        "filters": "ansicyan",
        "bottom-toolbar": "noreverse fg:ansibrightblack",
        "completion-menu.completion": "noreverse",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "noreverse fg:ansibrightblack",
        "completion-menu.meta.completion.current": "reverse",
        "scrollbar.background": "noreverse",
        "scrollbar.button": "reverse",
    }
)


class TerminalReader:
    """The prompt of a session. once: called when the first prompt stands on the screen."""

    def __init__(self, session: Session, once: Callable[[], None]) -> None:
        self._session = session
        self._once: Callable[[], None] | None = once
        self._pastes = Pastes()
        self._library = library_name(session)
        self.catalogue = Catalogue(session.catalogue, history=session.how.history)
        completing = Completing(session, self.catalogue)
        self._prompt: PromptSession[str] = PromptSession(
            message=self._message,
            history=history_file.opened(keep=session.how.history, unfolded=self._pastes.unfolded, say=session.announced.append),
            completer=completing,
            complete_while_typing=Condition(_types_a_command),
            key_bindings=_bindings(self._pastes, completing),
            multiline=True,
            enable_suspend=True,
            prompt_continuation=self._continuation,
            bottom_toolbar=self._toolbar,
            style=_STYLE,
            color_depth=ColorDepth.DEPTH_4_BIT if not render.out().plain else ColorDepth.DEPTH_1_BIT,
            reserve_space_for_menu=6,
            refresh_interval=0.5,
        )

    def read(self, text: str = "") -> str:
        """The next input, whole; text: what stands in the line already.

        Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C on an empty line.
        """
        typed = self._prompt.prompt(default=self._pastes.folded(text), pre_run=self._first)
        return whole(unfenced(self._pastes.unfolded(typed)))

    def _first(self) -> None:
        if self._once is not None:
            get_app().after_render += self._after_render

    def _after_render(self, _: object) -> None:
        once, self._once = self._once, None
        if once is not None:
            self.catalogue.reload()
            once()

    def _message(self) -> StyleAndTextTuples:
        shown = render.one_line(filtering.written(self._session.filters))
        sign = "❯ " if _takes_unicode() else "> "
        if not shown:
            return [("class:prompt", sign)]
        room = max(_columns() // 2, _LEAST_PROMPT)
        return [("class:filters", f"{render.cut(shown, room)} "), ("class:prompt", sign)]

    def _continuation(self, width: int, _number: int, _wrapped: int) -> StyleAndTextTuples:
        return [("class:bottom-toolbar", " " * max(width - 2, 0) + ("· " if _takes_unicode() else ". "))]

    def _toolbar(self) -> StyleAndTextTuples:
        """Model, library, filters; what is being loaded goes before the filters, which the prompt has already."""
        session = self._session
        parts = [session.model or "choosing a model", self._library]
        if session.warming.loading:
            parts.append("loading the embedding model")
        elif session.warming.failure is not None:
            parts.append("no embedding model: words alone")
        parts += [session.scope] if session.scope else []
        parts += [] if session.last is not None else ["/help"]
        sign = " · " if _takes_unicode() else " | "
        return [("class:bottom-toolbar", render.cut(sign.join(map(render.one_line, parts)), _columns() - 1))]


class Pastes:
    """Large pastes: the line shows how much was pasted, the input has all of it."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def folded(self, text: str) -> str:
        """What the line shows for a text: the text itself unless it is large."""
        if len(text) < _FOLDED_FROM and text.count("\n") < _FOLDED_LINES:
            return text
        shown = f"[pasted {len(self._kept) + 1}: {len(text):,} characters]"
        self._kept[shown] = text
        return shown

    def unfolded(self, text: str) -> str:
        """A line with what was pasted into it."""
        for shown, pasted in self._kept.items():
            text = text.replace(shown, pasted)
        return text


def library_name(session: Session) -> str:
    """The library in one word: its name in the settings, else its file's, or its folder's where the file has the usual name."""
    named = settings.library_name(session.path)
    return named or (session.path.parent.name if session.path.name == "library.db" else session.path.stem)


def _bindings(pastes: Pastes, completing: Completing) -> KeyBindings:
    keys = KeyBindings()
    typing = has_focus("DEFAULT_BUFFER") & ~is_searching

    @keys.add("enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_open(buffer.text) and buffer.document.is_cursor_at_the_end:
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("tab", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        wanted = CompleteEvent(completion_requested=True)
        found = list(islice(completing.get_completions(buffer.document, wanted), 2))
        if len(found) == 1:
            buffer.apply_completion(found[0])
        elif buffer.complete_state:
            buffer.complete_next()
        else:
            buffer.start_completion(insert_common_part=True)

    @keys.add("c-c", filter=typing)
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    @keys.add(Keys.BracketedPaste, filter=typing)
    def _(event: KeyPressEvent) -> None:
        text = re.sub(r"\r\n?", "\n", event.data)
        event.current_buffer.insert_text(pastes.folded(render.safe(text)))

    return keys


def _types_a_command() -> bool:
    return commands.is_command(get_app().current_buffer.text)


def _columns() -> int:
    return get_app().output.get_size().columns


def _takes_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")
