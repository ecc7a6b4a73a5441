"""What `search.embedding` promises: prefixes by family, the model's own limits and tokens, vectors of length 1."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from search import EmbedderError
from search.embedding import SentenceEmbedder, load_embedder, prefixes
from search.weights import DEFAULT_MODEL, PACKAGED_SHA256

TEXTS = [
    "The gateway times out after 30 s.",
    "naïve café, ÅNGSTRÖM",
    "C++ foo_bar() -> x != y",
    "日本語のテキスト",
    "a" * 400,
    " leading and trailing \n\n",
    "😀 emoji",
    "",
]


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("all-MiniLM-L6-v2", "", ""),
        ("intfloat/e5-small-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-base", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-m3", "", ""),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("thenlper/gte-base", "", ""),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("mixedbread-ai/mxbai-embed-large-v1", "Represent this sentence for searching relevant passages: ", ""),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-s", "Represent this sentence for searching relevant passages: ", ""),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "", ""),
    ],
)
def test_families_have_the_prefixes_they_were_trained_with(name: str, query: str, passage: str) -> None:
    assert prefixes(name) == (query, passage)
    assert prefixes(name.upper()) == (query, passage)


Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A model's folder with a tokenizer that makes a token of every word, and given settings."""

    def make(name: str, **settings: object) -> Path:
        from tokenizers import Tokenizer, models, pre_tokenizers

        place = tmp_path / name
        place.mkdir(parents=True)
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.enable_truncation(3)
        tokenizer.enable_padding(length=50)
        tokenizer.save(str(place / "tokenizer.json"))
        (place / "model.safetensors").write_bytes(b"weights")
        (place / "config.json").write_text("{}")
        for file, value in settings.items():
            (place / f"{file}.json").write_text(json.dumps(value))
        return place

    return make


def test_a_folders_name_tells_the_family_and_the_folders_above_it_do_not(folder: Folder) -> None:
    place = folder("bge-models/e5-small-v2")
    assert load_embedder(str(place)).identity.query_prefix == "query: "
    place = folder("e5-models/mine")
    assert load_embedder(str(place)).identity.query_prefix == ""


def test_prompts_that_a_model_states_come_before_the_table(folder: Folder) -> None:
    place = folder("e5-own", config_sentence_transformers={"prompts": {"query": "Q: ", "document": "D: "}})
    identity = load_embedder(str(place)).identity
    assert (identity.query_prefix, identity.passage_prefix) == ("Q: ", "D: ")
    place = folder("e5-none", config_sentence_transformers={"prompts": {"query": "", "document": ""}})
    assert load_embedder(str(place)).identity.query_prefix == "query: "


def test_every_token_is_counted_whatever_the_file_says_of_cutting_and_padding(folder: Folder) -> None:
    embedder = load_embedder(str(folder("plain")))
    assert embedder.token_starts("one two  three\nfour five") == [0, 4, 9, 15, 20]
    assert embedder.token_starts("") == []


def test_the_limit_is_the_models_own_less_special_tokens_and_prefix(folder: Folder) -> None:
    limits = {
        "a": ({"config": {"max_position_embeddings": 512}}, 510),
        "b": ({"config": {"max_position_embeddings": 512}, "sentence_bert_config": {"max_seq_length": 128}}, 126),
        "c": ({}, 510),
        "d": ({"sentence_bert_config": {"max_seq_length": None}}, 510),
        "e5-x": ({"sentence_bert_config": {"max_seq_length": 128}}, 124),  # "passage" and ":"
    }
    for name, (settings, expected) in limits.items():
        assert load_embedder(str(folder(name, **settings))).max_tokens == expected


def test_settings_that_are_none_are_refused(folder: Folder) -> None:
    with pytest.raises(EmbedderError, match="holds no settings"):
        load_embedder(str(folder("x", config_sentence_transformers=[1])))
    place = folder("y")
    (place / "config.json").write_text("{")
    with pytest.raises(EmbedderError, match="cannot be read"):
        _ = load_embedder(str(place)).max_tokens


@pytest.mark.parametrize(("terminal", "seconds", "told"), [(True, 0.5, True), (True, 0.0, False), (False, 0.5, False)])
def test_loading_that_takes_long_is_told_on_a_terminal(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, terminal: bool, seconds: float, told: bool
) -> None:
    monkeypatch.setattr("search.embedding._LONG_SECONDS", 0.2)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(SentenceEmbedder, "_loaded", lambda _: time.sleep(seconds))
    said: list[str] = []
    place = folder("slow")
    assert load_embedder(str(place), announce=said.append)._model is None
    assert said == ([f"loading the embedding model {place} …"] if told else [])


@pytest.mark.model
def test_weights_that_cannot_be_loaded_are_a_clear_error(folder: Folder) -> None:
    with pytest.raises(EmbedderError, match="cannot be loaded") as caught:
        load_embedder(str(folder("broken"))).embed_query("x")
    assert "--embedder" in caught.value.hint


def test_identity_tokens_and_limit_are_there_without_loading_torch() -> None:
    code = (
        "import sys\n"
        "from search.embedding import load_embedder\n"
        "model = load_embedder()\n"
        "print(model.identity.revision, model.max_tokens, len(model.token_starts('the gateway')), len(list(model.vocabulary())))\n"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == [f"{PACKAGED_SHA256} 254 2 30522", "[]"]


# The real model


@pytest.fixture(scope="module")
def real() -> SentenceEmbedder:
    return load_embedder()


@pytest.mark.model
def test_limit_and_tokens_are_those_of_the_models_own_tokenizer(real: SentenceEmbedder) -> None:
    model = real._model
    assert real.max_tokens == model.max_seq_length - 2
    for text in TEXTS:
        own = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False)
        assert real.token_starts(text) == [start for start, _ in own["offset_mapping"]]


@pytest.mark.model
def test_vectors_have_length_1_and_do_not_depend_on_company(real: SentenceEmbedder) -> None:
    together = real.embed_passages(TEXTS)
    assert together.shape == (len(TEXTS), 384)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)
    alone = real.embed_passages([TEXTS[0]])[0]
    assert together[0] == pytest.approx(alone, abs=1e-5)
    assert real.embed_query(TEXTS[0]) == pytest.approx(alone, abs=1e-5)


@pytest.mark.model
def test_nothing_within_the_limit_is_cut(real: SentenceEmbedder) -> None:
    words = "gateway " * real.max_tokens
    assert len(real.token_starts(words)) == real.max_tokens
    changed = words.rsplit("gateway", 1)[0] + "whale"
    assert real.embed_query(words) @ real.embed_query(changed) < 0.99999
    longer = real.embed_query(words + "whale " * 50)
    assert real.embed_query(words) @ longer == pytest.approx(1, abs=1e-5)


@pytest.mark.model
def test_the_default_model_finds_by_meaning(real: SentenceEmbedder) -> None:
    query = real.embed_query("how do I change my password?")
    near, far = real.embed_passages(["Resetting the credentials of your account", "The soup needs more salt"])
    assert query @ near > query @ far + 0.2
    assert real.identity.name == DEFAULT_MODEL
