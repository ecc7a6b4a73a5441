"""The report in a real browser: narrow, wide, dark, on paper, by keyboard, as a screen reader is told of it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from sample_run import ASKED, MODELS, answer_of, make_run, sample_results

from assistant.evaluation import report

PHONE = 360
LONG = "openrouter:" + "a-provider-with-a-long-name/and-a-model-without-an-end" * 4
EVERYTHING_OPEN = "document.querySelectorAll('details').forEach(one => { one.open = true })"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the sample run, compared with one in which less was wrong."""
    folder = tmp_path_factory.mktemp("report")
    before = make_run(folder / "before", name="before", results=sample_results({}))
    report.write(make_run(folder / "run"), folder / "report.html", before, fallen=["offline answer is 0.750, want 0.9"])
    return folder / "report.html"


@pytest.fixture(scope="module")
def unwieldy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with names and words that do not end, and with a script in an answer."""
    folder = tmp_path_factory.mktemp("unwieldy")
    results = [
        replace(
            result,
            model=LONG if result.model == MODELS[0] else result.model,
            answer=f"{'word' * 300}<script>document.title = 'planted'</script><img src='https://evil.example/x.png'>",
            question="Donaudampfschifffahrt" * 30,
            calls=[{**call, "arguments": {"query": "x" * 900}} for call in result.calls],
        )
        for result in sample_results()
    ]
    report.write(make_run(folder / "run", name="unwieldy" * 20, results=results), folder / "report.html")
    return folder / "report.html"


@pytest.mark.parametrize("name", ["page", "unwieldy"])
@pytest.mark.parametrize("unfolded", [False, True])
def test_a_phone_scrolls_the_tables_and_never_the_page(
    name: str, unfolded: bool, browser: Browser, request: pytest.FixtureRequest
) -> None:
    browser.window(PHONE, 800)
    browser.open(request.getfixturevalue(name))
    if unfolded:
        browser.run(EVERYTHING_OPEN)
    assert browser.run("document.documentElement.scrollWidth") == PHONE
    wide = browser.run("[...document.querySelectorAll('.box')].filter(one => one.scrollWidth > one.clientWidth).length")
    assert wide > 0


@pytest.mark.parametrize("name", ["page", "unwieldy"])
def test_the_console_has_nothing_to_say_and_nothing_is_asked_for(
    name: str, browser: Browser, request: pytest.FixtureRequest
) -> None:
    browser.log()
    browser.open(request.getfixturevalue(name))
    assert browser.log() == []
    assert browser.run("performance.getEntriesByType('resource').length") == 0
    assert browser.run("document.scripts.length + document.images.length") == 0
    assert browser.run("document.title") != "planted"


def test_what_gets_into_the_page_all_the_same_is_stopped_by_its_policy(browser: Browser, page: Path, tmp_path: Path) -> None:
    planted = tmp_path / "planted.html"
    attack = "<script>document.title = 'planted'</script><img src='https://evil.example/x.png'><p style='color: red'>"
    planted.write_text(page.read_text("utf-8").replace("<main", f"{attack}<main"), encoding="utf-8")
    browser.log()
    browser.open(planted)
    assert browser.run("document.title") == "sample: evaluation"
    told = " ".join(entry["message"] for entry in browser.log())
    assert all(f"directive &#39;{name}" in told or f"'{name}" in told for name in ("default-src", "style-src")), told


@pytest.mark.parametrize("width", [390, 1280])
def test_no_word_of_a_drawing_is_cut_off(browser: Browser, tmp_path: Path, width: int) -> None:
    results = [replace(one, seconds=(0.02, 0.578)[place % 2]) for place, one in enumerate(sample_results())]
    report.write(make_run(tmp_path / "run", results=results), tmp_path / "report.html")
    browser.window(width, 900)
    browser.open(tmp_path / "report.html")
    outside = """[...document.querySelectorAll('svg text')].filter(text => {
        const word = text.getBoundingClientRect(), whole = text.ownerSVGElement.getBoundingClientRect();
        return word.left < whole.left - 1 || word.right > whole.right + 1 || word.bottom > whole.bottom + 1;
    }).map(text => text.textContent)"""
    assert browser.run(outside) == []


def test_light_and_dark_show_the_same_in_other_colours(browser: Browser, page: Path) -> None:
    pictures, grounds = [], []
    for dark in (False, True):
        browser.window(1200, 900, dark=dark)
        browser.open(page)
        pictures.append(browser.picture())
        grounds.append(browser.run("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(251, 250, 247)", "rgb(21, 24, 27)"]
    assert pictures[0] != pictures[1]
    # A window of one colour is a picture of a few thousand bytes.
    assert all(len(picture) > 30_000 for picture in pictures)


def test_paper_holds_every_case_unfolded(browser: Browser, page: Path) -> None:
    from pypdf import PdfReader

    browser.window(1200, 900)
    browser.open(page)
    pages = PdfReader(io.BytesIO(browser.paper())).pages
    printed = squeezed("".join(part.extract_text() for part in pages))
    assert len(pages) > 3
    for case, _, language, question, _ in ASKED:
        if language in {"en", "de"}:
            assert squeezed(question) in printed
        assert squeezed(answer_of(case).split("\n")[0]) in printed
    calls = sum(len(result.calls) for result in sample_results())
    assert printed.count('"limit":') >= calls


def squeezed(text: str) -> str:
    """Text without the spaces and line breaks that a page sets anew, ligatures taken apart."""
    return re.sub(r"\s", "", text.replace("ﬁ", "fi").replace("ﬂ", "fl").replace("ﬀ", "ff").replace("ﬃ", "ffi").replace("ﬄ", "ffl"))


def test_the_keyboard_skips_to_the_results_opens_a_case_and_scrolls_a_table(browser: Browser, page: Path) -> None:
    browser.window(PHONE, 800)
    browser.open(page)
    browser.press("Tab")
    assert browser.run("document.activeElement.className") == "skip"
    assert browser.run("document.activeElement.getBoundingClientRect().top") >= 0
    browser.press("Enter", "Tab")
    assert browser.run("document.activeElement.className") == "box"
    assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.run("document.querySelector('.case > summary').focus()")
    browser.press("Enter")
    assert browser.run("document.querySelector('.case').open") is True


def test_a_link_to_a_failure_unfolds_it(browser: Browser, page: Path) -> None:
    browser.window(1200, 900)
    browser.open(page)
    browser.run("document.querySelector('.failures a').click()")
    target = "document.querySelector(document.querySelector('.failures a').hash)"
    assert browser.run(f"{target}.closest('details').open") is True
    assert browser.run("document.querySelectorAll('.case[open]').length") == 1
    # The question above the place that was jumped to is in the window.
    assert 0 <= browser.run(f"{target}.closest('details').getBoundingClientRect().top") < 900


def test_a_screen_reader_is_told_of_drawings_tables_and_cases_by_name(browser: Browser, page: Path) -> None:
    browser.window(1200, 900)
    browser.open(page)
    nodes = [node for node in browser.protocol("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    named: dict[str, list[Any]] = {}
    for node in nodes:
        named.setdefault(str(node["role"]["value"]), []).append(node.get("name", {}).get("value", ""))
    assert len(named["image"]) == 5
    for role in ("image", "table", "navigation", "main"):
        assert all(named[role]) or role == "main"
    assert "How many tutorials are there?" in named["heading"]
    assert any("offline" in name for name in named["rowheader"])
    assert len(named["columnheader"]) > 30
