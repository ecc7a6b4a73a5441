"""The embedding model, which is not loaded: whether it is on this machine, and whether the library was made with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from assistant.doctor.models import Check, Named, Scene
from search import connections, health, weights
from search.errors import EmbedderError, LibraryError


def checks(scene: Scene) -> Iterator[Named]:
    """Its files, and its likeness to the library's."""
    yield "files", lambda: _files(scene)
    yield "library's model", lambda: _same(scene)


def _files(scene: Scene) -> Check:
    name = scene.embedder or weights.DEFAULT_MODEL
    try:
        folder = weights.find(name)
    except EmbedderError as error:
        return Check("files", "failed", str(error), error.hint)
    if folder is None:
        finding = f"{name} is not on this machine: the first search by meaning would download it"
        return Check("files", "warning", finding, scene.command("index"))
    return Check("files", "ok", f"{name} at {folder}, safetensors")


def _same(scene: Scene) -> Check:
    from search.embedding import SentenceEmbedder

    name = scene.embedder or weights.DEFAULT_MODEL
    folder = weights.find(name)
    if folder is None or not connections.is_there(scene.library):
        return Check("library's model", "skipped", "there is no model, or no library, to compare")
    identity = SentenceEmbedder(folder, weights.DEFAULT_MODEL if weights.is_default(name) else name).identity
    try:
        with health.examine(scene.library) as found:
            made_with = found.status.model
            try:
                found.check_embedder(asdict(identity))
            except LibraryError as error:
                return Check("library's model", "failed", str(error), _fix(scene, made_with, tuple(_folders(scene))))
    except LibraryError as error:
        return Check("library's model", "skipped", f"the library cannot be opened: {error}")
    if made_with is None:
        return Check("library's model", "skipped", "the library holds no embeddings yet")
    return Check("library's model", "ok", f"the library was made with {made_with}, which is the one in use")


def _folders(scene: Scene) -> Iterator[str]:
    with health.examine(scene.library) as found:
        yield from (root.path for root in found.status.roots if Path(root.path).is_dir())


def _fix(scene: Scene, made_with: str | None, folders: tuple[str, ...]) -> str:
    """To make the library anew with the model in use; the name in the library is only shown, never loaded from."""
    import shlex

    from assistant import render

    named = f" --embedder {shlex.quote(scene.embedder)}" if scene.embedder else ""
    places = " ".join(shlex.quote(render.one_line(folder)) for folder in folders) or "~/notes"
    other = f"  # or name its own: --embedder {render.one_line(made_with)}" if made_with else ""
    return f"{scene.command(f'index --rebuild {places}{named}')}{other}"


__all__ = ["checks"]
