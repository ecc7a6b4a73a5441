"""What `assistant.wire_names` promises: names that every wire takes, unique, and the declared ones back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.wire_names import WireNames


@given(st.lists(st.text(max_size=80) | st.sampled_from(["a.b", "a_b", "a b", "1a", "", "x" * 70]), max_size=12))
def test_any_names_become_allowed_and_come_back(names: list[str]) -> None:
    wire = WireNames(names)
    written = {name: wire.to_wire(name) for name in names}
    assert len(set(written.values())) == len(set(names))
    for name, other in written.items():
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", other)
        assert wire.from_wire(other) == name


@pytest.mark.parametrize("name", ["hybrid_search", "a-b", "_x", "x" * 64])
def test_an_allowed_name_stays_as_it_is_even_beside_one_that_would_become_it(name: str) -> None:
    assert WireNames([name.replace("_", "."), name]).to_wire(name) == name


def test_an_unknown_name_comes_back_as_the_model_wrote_it() -> None:
    assert WireNames(["a.b"]).from_wire("c.d") == "c.d"


def test_a_name_of_an_old_conversation_is_made_fit() -> None:
    assert WireNames([]).to_wire("gone.tool") == "gone_tool"
