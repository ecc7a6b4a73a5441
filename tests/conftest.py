"""What all tests share: an environment of their own, a stand-in embedder, small libraries, the evaluation data if it is there."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from standin import StandIn

from search import Library, upkeep

ROOT = Path(__file__).resolve().parent.parent
KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OLLAMA_API_KEY", "ARCHIVIST_API_KEY")


# Nothing here is held to the speed of the machine.
settings.register_profile("archivist", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("archivist")


def pytest_report_header() -> str:
    return f"SQLite {sqlite3.sqlite_version}, ARCHIVIST_EVALS {os.environ.get('ARCHIVIST_EVALS', 'not set')}"


@pytest.fixture(autouse=True)
def own_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the person's own library, cache or settings; the day is fixed."""
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    ours = ("ARCHIVIST_LIBRARY", "ARCHIVIST_EMBEDDER", "ARCHIVIST_MODEL", "ARCHIVIST_CONFIG_DIR")
    for name in (*ours, "NO_COLOR", "FORCE_COLOR", "EDITOR_URI", "VISUAL", "EDITOR", *KEYS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ARCHIVIST_HISTORY", str(home / uuid4().hex / "conversations.db"))
    monkeypatch.setenv("ARCHIVIST_TODAY", "2026-10-15")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def embedder() -> StandIn:
    return StandIn()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to index."""
    place = tmp_path / "notes"
    place.mkdir()
    return place


@pytest.fixture
def write(folder: Path) -> Callable[[str, str], Path]:
    """Writes a text file below the folder."""

    def write_file(path: str, text: str) -> Path:
        full = folder / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
        return full

    return write_file


@pytest.fixture
def library_file(tmp_path: Path) -> Path:
    return tmp_path / "library" / "library.db"


@pytest.fixture
def indexed(folder: Path, library_file: Path, embedder: StandIn) -> Iterator[Callable[[], Library]]:
    """Indexes the folder and opens the library."""
    opened: list[Library] = []

    def index_and_open() -> Library:
        upkeep.index(library_file, [folder], embedder)
        opened.append(Library.open(library_file, embedder=embedder))
        return opened[-1]

    yield index_and_open
    for library in opened:
        library.close()


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The sample library, indexed with the default model; for tests marked `model`."""
    from search.embedding import load_embedder
    from search.weights import DEFAULT_MODEL

    file = tmp_path_factory.mktemp("sample") / "library.db"
    embedder = load_embedder(DEFAULT_MODEL)
    upkeep.index(file, [ROOT / "data" / "library"], embedder)
    with Library.open(file, embedder=embedder) as library:
        yield library


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny cross-encoder of random weights; for tests marked `model`."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    from search.weights import DEFAULT_MODEL, locate

    folder = tmp_path_factory.mktemp("cross-encoder")
    tokenizer = AutoTokenizer.from_pretrained(str(locate(DEFAULT_MODEL, lambda _: None)))
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "num_labels": 1}
    torch.manual_seed(0)
    BertForSequenceClassification(BertConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def evals() -> Path:
    """The folder of evaluation data; the test is skipped without it."""
    place = os.environ.get("ARCHIVIST_EVALS")
    if not place:
        pytest.skip("ARCHIVIST_EVALS is not set")
    return Path(place)
