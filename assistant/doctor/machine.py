"""Python, SQLite, disk, proxies, and where everything lies."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from assistant import settings
from assistant.doctor.models import Check, Named, Scene

_LEAST_PYTHON = (3, 11)
_SPARE_BYTES = 200_000_000
_LEAST_BYTES = 50_000_000
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


def checks(scene: Scene) -> Iterator[Named]:
    """What the machine has."""
    yield "Python", _python
    yield "SQLite", _sqlite
    yield "disk", lambda: _disk(scene)
    yield "proxies", _proxies


def places(scene: Scene) -> Iterator[Named]:
    """Where everything lies."""
    from platformdirs import user_cache_path, user_data_path, user_state_path

    yield "library", lambda: Check("library", "ok", str(scene.library))
    for name, place in (
        ("config", settings.folder()),
        ("data", user_data_path("archivist")),
        ("state", user_state_path("archivist")),
        ("cache", user_cache_path("archivist")),
    ):
        yield name, lambda name=name, place=place: _place(name, place)  # type: ignore[misc]


def _python() -> Check:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < _LEAST_PYTHON:
        return Check("Python", "failed", found, "python3.11 -m venv .venv && .venv/bin/pip install archivist")
    return Check("Python", "ok", found)


def _sqlite() -> Check:
    from search import health

    trouble = health.engine_trouble()
    if trouble:
        fix = "python3.12 -m venv .venv && .venv/bin/pip install archivist  # a Python whose SQLite has FTS5"
        return Check("SQLite", "failed", f"{health.engine_version()} cannot hold a library: {trouble}", fix)
    return Check("SQLite", "ok", f"{health.engine_version()} with FTS5")


def _disk(scene: Scene) -> Check:
    """Free space beside the library: the log of a large run and a rebuild need as much again."""
    place = next(folder for folder in (scene.library.absolute().parent, *scene.library.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    size = scene.library.stat().st_size if scene.library.is_file() else 0
    found = f"{megabytes(free)} free at {place}"
    fix = f"df -h {shlex.quote(str(place))}  # free some space"
    if free < _LEAST_BYTES:
        return Check("disk", "failed", f"{found}: an index run may stop half-way", fix)
    if free < size + _SPARE_BYTES:
        return Check("disk", "warning", f"{found}, the library has {megabytes(size)}: a rebuild needs as much again", fix)
    return Check("disk", "ok", found)


def _proxies() -> Check:
    found = []
    for name in _PROXIES:
        for spelled in (name, name.lower()):
            value = os.environ.get(spelled, "").strip()
            if value:
                found.append(f"{spelled} {_without_password(value)}")
    if not found:
        return Check("proxies", "ok", "none set")
    none = os.environ.get("NO_PROXY") or os.environ.get("no_proxy")
    beside = f"; not for {none}" if none else ""
    return Check("proxies", "ok", f"{', '.join(found)}{beside}; this machine itself is always asked directly")


def _without_password(address: str) -> str:
    """The address of a proxy without who asks and with which password."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(cannot be read as an address)"
    return f"{parts.scheme}://{parts.hostname or ''}{port}"


def _place(name: str, place: Path) -> Check:
    nearest = next(folder for folder in (place.absolute(), *place.absolute().parents) if os.path.lexists(folder))
    if not nearest.is_dir():
        return Check(name, "warning", f"{place} cannot be made: {nearest} is no folder", f"ls -ld {shlex.quote(str(nearest))}")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Check(name, "warning", f"nothing can be written to {nearest}", f"chmod u+rwx {shlex.quote(str(nearest))}")
    return Check(name, "ok", f"{place}{'' if place.is_dir() else ' (not there yet)'}")


def megabytes(size: int) -> str:
    """A size for people."""
    if size >= 10_000_000_000:
        return f"{size / 1e9:,.0f} GB"
    return f"{size / 1e9:.1f} GB" if size >= 1_000_000_000 else f"{size / 1e6:,.1f} MB"


__all__ = ["checks", "megabytes", "places"]
