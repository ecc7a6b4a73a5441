"""`archivist models` and `archivist models pull`: what can be used now, and getting what an Ollama does not have yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant import backends, completing, render, settings
from assistant.backends import catalogues
from assistant.backends.base import Capabilities, Listed, Price
from assistant.errors import BadReplyError, ProviderError, UsageError

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from assistant.backends.ollama import OllamaServer, PullProgress

_DONE = "success"  # Ollama's last word of a download
_STEP = 10  # per cent between two lines where no bar is shown


@dataclass(frozen=True, slots=True)
class Entry:
    """A model in the list. known: None for one that was not asked about. note: what stands in the way, or how it came here."""

    spec: str
    known: Listed | None
    note: str = ""
    used: bool = False


def models(*, base_url: str | None, online: bool, as_json: bool) -> None:
    """List what can be used now. Clouds and servers elsewhere are asked with `online` only, else an example stands for a cloud."""
    choice = backends.choose(None)
    base_url = base_url or settings.own().base_url
    entries, troubles = [Entry("offline", Listed("", Capabilities(True, None, Price(0.0, 0.0), local=True)))], []
    servers = [_server(base_url, online=online)] if base_url else []
    for found, trouble in (_ollama(online=online), *servers, _clouds(online=online)):
        entries += found
        troubles += [trouble] if trouble else []
    entries = _marked(entries, choice.spec)
    completing.remember_models(entry.spec for entry in entries)
    out = render.out()
    if as_json:
        told = {"models": [_as_object(entry) for entry in entries], "used": choice.spec, "why": choice.why}
        out.write(settings.redact(render.as_json({**told, "notes": troubles})))
        return
    for line in _table(entries, out):
        out.write(line)
    for trouble in troubles:
        render.err().write(render.one_line(settings.redact(trouble)))
    out.write()
    out.write(render.one_line(f"* used when none is named: {choice.spec} ({choice.why})"))


def _ollama(*, online: bool) -> tuple[list[Entry], str]:
    from assistant.backends.ollama import OllamaServer

    key = settings.find_key("ollama")
    server = OllamaServer(key=key.value if key else "")
    if not (server.loopback or online):
        return [], f"Ollama at {server.url} is another machine: --online asks it"
    try:
        return [Entry(f"ollama:{model.name}", model) for model in catalogues.of_ollama(server)], ""
    except ProviderError as error:
        return [], f"{error} ({error.hint})"


def _server(base_url: str, *, online: bool) -> tuple[list[Entry], str]:
    if not (online or catalogues.is_here(base_url)):
        return [], "the server of base_url is another machine: --online asks it"
    try:
        return [Entry(f"openrouter:{model.name}", model, "at base_url") for model in catalogues.of_server(base_url)], ""
    except ProviderError as error:
        return [], f"{error} ({error.hint})"


def _clouds(*, online: bool) -> tuple[list[Entry], str]:
    entries: list[Entry] = []
    troubles = []
    for provider, example in catalogues.CLOUDS.items():
        key = settings.find_key(provider)
        if key is None:
            entries.append(Entry(f"{provider}:{example}", None, f"for example; needs a key: archivist keys set {provider}"))
        elif not online:
            entries.append(Entry(f"{provider}:{example}", None, f"for example; key from {key.source}; --online lists them all"))
        else:
            try:
                entries += [Entry(f"{provider}:{model.name}", model) for model in catalogues.of_cloud(provider)]
            except ProviderError as error:
                troubles.append(f"{error} ({error.hint})")
    return entries, "; ".join(troubles)


def _marked(entries: Sequence[Entry], used: str) -> list[Entry]:
    """The entries with the model in use marked; one that is not among them is added."""
    provider, model = backends.split(used)
    spec = f"{provider}:{model}" if model else provider
    names = {spec, f"{spec}:latest"} if provider == "ollama" else {spec}
    marked = [Entry(entry.spec, entry.known, entry.note, used=entry.spec in names) for entry in entries]
    if any(entry.used for entry in marked):
        return marked
    return [*marked, Entry(spec, None, "not asked about", used=True)]


def _table(entries: Sequence[Entry], out: render.Terminal) -> Iterator[str]:
    """Lines with what is known in columns; a note stands in their place where nothing is."""
    head = ("  model", "where", "tools", "thinking", "context", "price for 1M tokens")
    rows = [(f"{'*' if entry.used else ' '} {render.one_line(entry.spec)}", *_columns(entry)) for entry in entries]
    widths = [max(render.columns(row[place]) for row in (head, *rows) if len(row) > 2 or place == 0) for place in range(len(head))]
    for row in (head, *rows):
        cells = [cell + " " * (width - render.columns(cell)) for cell, width in zip(row, widths, strict=False)]
        if len(row) == 2:
            cells[-1] = row[-1]
        line = "  ".join(cells).rstrip()
        yield out.style(line, "1") if row is head else line


def _columns(entry: Entry) -> tuple[str, ...]:
    if entry.known is None:
        return (render.one_line(entry.note),)
    known = entry.known.capabilities
    window = f"{known.context_length:,}" if known.context_length else "-"
    tools, thinking = ("yes" if able else "no" for able in (known.tools, entry.known.thinking))
    note = f"  {entry.note}" if entry.note else ""
    return ("local" if known.local else "cloud", tools, thinking, window, f"{_price(known.price)}{note}")


def _price(price: Price | None) -> str:
    if price is None:
        return "-"
    return "free" if price.input == price.output == 0 else f"${price.input:,.2f} in, ${price.output:,.2f} out"


def _as_object(entry: Entry) -> dict[str, object]:
    told: dict[str, object] = {"model": entry.spec, "used": entry.used, "note": entry.note}
    if entry.known is None:
        return {**told, "known": False}
    known = entry.known.capabilities
    price = {"input": known.price.input, "output": known.price.output} if known.price else None
    abilities = {"tools": known.tools, "thinking": entry.known.thinking, "context": known.context_length}
    return {**told, "known": True, "local": known.local, **abilities, "price": price}


def pull(spec: str, *, quiet: bool, server: OllamaServer | None = None) -> int:
    """Download a model with Ollama, telling how far it is; returns the exit code. server: for tests.

    Raises UsageError for a model of another provider, ProviderError when Ollama does not run, has no such model, or stops.
    """
    name = _wanted(spec)
    if server is None:
        from assistant.backends.ollama import OllamaServer

        server = OllamaServer()
    last = ""
    try:
        with closing(server.pull(name)) as steps, _Telling(name, quiet=quiet) as telling:
            for step in steps:
                telling.tell(step)
                last = step.status
    except KeyboardInterrupt:
        render.err().write(render.one_line(f"stopped; what has come is kept, and archivist models pull {name} goes on from there"))
        return 130
    except ProviderError as error:
        raise _explained(error, name) from None
    if last != _DONE:
        what = f"the download of {name} ended early{f', at: {last}' if last else ''}"
        raise BadReplyError(render.one_line(what), provider="ollama", hint=f"archivist models pull {name} goes on from there")
    if not quiet:
        render.err().write(render.one_line(f"{name} is there: {_abilities(server, name)}"))
        render.err().write(render.one_line(f"archivist models use ollama:{name} makes it the one that is used"))
    return 0


def _wanted(spec: str) -> str:
    """The name of a model as Ollama has it, from its own name or `ollama:NAME`."""
    for provider in backends.PROVIDERS:
        rest = spec.removeprefix(f"{provider}:").removeprefix(f"{provider}/")
        if provider != "ollama" and (rest != spec or spec == provider):
            raise UsageError(f"models pull: {provider} has nothing to download", f"archivist models use {spec}")
    name = spec.removeprefix("ollama:").strip()
    if not name or not name.isprintable() or any(sign.isspace() for sign in name):
        raise UsageError(f"models pull: got {spec!r}, want a name such as qwen3:8b", "the names are at https://ollama.com/library")
    return name


def _explained(error: ProviderError, name: str) -> ProviderError:
    """What Ollama answers to a name that its registry does not know is about manifests and files."""
    if "manifest" in str(error) or error.status == 404:
        unknown = f"{name}: Ollama's registry has no such model, or cannot be reached from where Ollama runs"
        return ProviderError(f"{unknown} ({error})", provider="ollama", hint="the names are at https://ollama.com/library")
    if error.status is not None:
        error.hint = error.hint or f"archivist models pull {name} goes on from where it stopped"
    return error


def _abilities(server: OllamaServer, name: str) -> str:
    facts = server.facts(name)
    told = ["can call tools" if facts.tools else "cannot call tools, and gets the passages of a first search"]
    told += ["thinks"] if facts.thinking else []
    return ", ".join([*told, *([f"was made for {facts.context_length:,} tokens"] if facts.context_length else [])])


class _Telling:
    """How far a download is, on standard error: a bar on a terminal, elsewhere a line for each step and each tenth."""

    def __init__(self, name: str, *, quiet: bool) -> None:
        self._name = name
        self._quiet = quiet
        self._bar: Bar | None = None
        self._tasks: dict[str, int] = {}
        self._told = ("", -1)

    def __enter__(self) -> _Telling:
        if not self._quiet and render.err().interactive:
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

            columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
            self._bar = Progress(TextColumn("{task.description}", markup=False), *columns, console=Console(stderr=True))
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, step: PullProgress) -> None:
        """Show a step, unless it says what was shown already."""
        status = render.one_line(step.status)
        if self._bar is not None:
            self._tell_bar(self._bar, status, step)
        elif not self._quiet:
            self._tell_line(status, step)

    def _tell_bar(self, bar: Bar, status: str, step: PullProgress) -> None:
        from rich.progress import TaskID

        if status not in self._tasks:
            self._tasks[status] = bar.add_task(status, total=step.total or 1)
        done = step.done if step.total else 1
        bar.update(TaskID(self._tasks[status]), completed=done, total=step.total or 1)

    def _tell_line(self, status: str, step: PullProgress) -> None:
        tenth = int(100 * step.done / step.total) // _STEP * _STEP if step.total else -1
        if (status, tenth) != self._told:
            self._told = (status, tenth)
            render.err().write(f"{status}{f' {tenth} % of {step.total / 1e6:,.0f} MB' if step.total else ''}")
            render.err().stream.flush()


__all__ = ["models", "pull"]
