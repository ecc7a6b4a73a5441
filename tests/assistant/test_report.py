"""The report of a run: everything in it is text, nothing is loaded, and it is put together so that everybody can read it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import ASKED, MODELS, UNFINISHED, make_run, sample_results

from assistant.evaluation import report
from assistant.evaluation.report.choices import confusion
from assistant.evaluation.report.details import cases
from assistant.evaluation.report.elements import element, style
from assistant.evaluation.report.measures import percent, seconds
from assistant.evaluation.report.plots import _apart
from assistant.evaluation.report.scales import Scale, spanning
from assistant.evaluation.report.verdicts import Verdict, verdict
from assistant.evaluation.runs import Result

SHEET = files("assistant.evaluation.report").joinpath("style.css").read_text(encoding="utf-8")
HOSTILE = "</title></style><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='x' \u202egnp.exe\x1b[31m\x00 https://evil.example"
VOID = {"br", "meta", "wbr"}


@dataclass
class Node:
    """An element of the page."""

    name: str
    attributes: dict[str, str]
    inside: list[str]
    text: str = ""
    children: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """The elements of a page in order; raises for one that is not closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[Node] = []
        self._open: list[Node] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs}, [one.name for one in self._open])
        assert len(node.attributes) == len(attrs)
        if self._open:
            self._open[-1].children.append(tag)
        self.nodes.append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag

    def handle_data(self, data: str) -> None:
        for node in self._open:
            node.text += data

    def all(self, *names: str) -> list[Node]:
        return [node for node in self.nodes if node.name in names]


@pytest.fixture
def html(tmp_path: Path) -> str:
    run, before = make_run(tmp_path / "now"), make_run(tmp_path / "before", name="before", results=sample_results({}))
    return report.html(run, before, fallen=["offline tool_choice is 0.727, want 0.9"])


@pytest.fixture
def page(html: str) -> Page:
    return Page(html)


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    """A report of a run in which every text is an attack."""
    case, kind, language, question, expect = ASKED[0]
    bad: dict[str, Any] = dict.fromkeys(("kind", "language", "answer", "outcome", "stopped", "recording"), HOSTILE)
    result = replace(
        sample_results()[0],
        **bad,
        question=HOSTILE,
        expected={HOSTILE: [HOSTILE], "tools": [[HOSTILE]]},
        calls=[
            {
                "name": HOSTILE,
                "arguments": {HOSTILE: HOSTILE},
                "ok": ok,
                "error": HOSTILE,
                "summary": HOSTILE,
                "seconds": 0,
                "repeated": False,
            }
            for ok in (True, False)
        ],
        citations=[{"key": HOSTILE, "number": 1, "source": HOSTILE, "verdict": one} for one in ("retrieved", "unknown")],
        quotes=[{"text": HOSTILE, "key": None, "verdict": "altered", "nearest": HOSTILE}],
        numbers=[{"text": HOSTILE, "verdict": "not found"}],
        notices=[HOSTILE],
    )
    broken = replace(result, model=HOSTILE, failed=HOSTILE)
    run = make_run(tmp_path / "run", name=HOSTILE, results=[result, broken], asked=[(case, kind, language, question, expect)])
    run.keep_retrieval({HOSTILE: {case: {"ndcg@1": 0.1, "ndcg@5": 0.2, "ndcg@10": 0.5, HOSTILE: 0.1}}})
    run.widen(replace(run.head, archivist=HOSTILE, started=HOSTILE, library={"path": HOSTILE}, settings={HOSTILE: HOSTILE}))
    before = make_run(tmp_path / "before", name=HOSTILE, results=[replace(result, answer=f"{HOSTILE} before")], asked=[ASKED[0]])
    return report.html(run, before, fallen=[HOSTILE])


def test_what_models_and_documents_say_is_text_and_nothing_else(hostile: str) -> None:
    page = Page(hostile)
    assert page.all("script", "img", "iframe", "object", "embed", "form", "link", "base") == []
    assert [name for node in page.nodes for name in node.attributes if name.startswith("on") or name in {"src", "style"}] == []
    assert "<script>alert(1)</script>" in page.all("main")[0].text
    assert "<script>alert(1)</script>" in page.all("h1")[0].text


def test_control_and_direction_changing_characters_are_left_out(hostile: str) -> None:
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", hostile) == []
    assert "gnp.exe" in hostile


@pytest.mark.parametrize("which", ["html", "hostile"])
def test_nothing_is_loaded_from_anywhere(which: str, request: pytest.FixtureRequest) -> None:
    page = Page(request.getfixturevalue(which))
    assert [node.attributes["href"] for node in page.nodes if not node.attributes.get("href", "#").startswith("#")] == []
    (sheet,) = page.all("style")
    assert re.findall(r"url\(|@import|image-set|https?:", sheet.text) == []


def test_the_policy_allows_the_one_style_sheet_and_nothing_else(page: Page) -> None:
    policies = [node for node in page.all("meta") if node.attributes.get("http-equiv") == "Content-Security-Policy"]
    (sheet,) = page.all("style")
    digest = base64.b64encode(hashlib.sha256(sheet.text.encode()).digest()).decode()
    (policy,) = policies
    assert policy.attributes["content"].split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]
    assert page.nodes.index(policy) < page.nodes.index(sheet)
    assert [node for node in page.nodes if "style" in node.attributes] == []


@pytest.mark.parametrize("which", ["html", "hostile"])
def test_ids_are_unique_and_links_lead_somewhere(which: str, request: pytest.FixtureRequest) -> None:
    page = Page(request.getfixturevalue(which))
    ids = Counter(node.attributes["id"] for node in page.nodes if "id" in node.attributes)
    assert [name for name, count in ids.items() if count > 1] == []
    named = [
        value for node in page.nodes for name, value in node.attributes.items() if name.startswith("aria-") and name.endswith("by")
    ]
    links = [node.attributes["href"].removeprefix("#") for node in page.all("a")]
    assert set(named) | set(links) <= ids.keys()
    assert len(links) > 5


def test_headings_are_in_order(page: Page) -> None:
    levels = [int(node.name[1]) for node in page.all("h1", "h2", "h3", "h4", "h5")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert [(above, below) for above, below in pairwise(levels) if below > above + 1] == []


def test_every_drawing_has_a_title_and_a_description_with_its_values(page: Page) -> None:
    drawings = page.all("svg")
    assert len(drawings) == 5
    for drawing in drawings:
        assert drawing.children[:2] == ["title", "desc"]
        assert drawing.attributes["role"] == "img"
    described = [node.text for node in page.all("desc")]
    assert all(re.search(r"\d", text) for text in described)
    assert any("ollama:qwen3:8b: 75\N{NO-BREAK SPACE}%" in text for text in described)


def test_every_table_has_a_caption_and_heads_with_a_scope_in_a_box_that_the_keyboard_reaches(page: Page) -> None:
    tables = page.all("table")
    assert tables
    assert [table for table in tables if table.children[0] != "caption"] == []
    assert [head for head in page.all("th") if head.attributes.get("scope") not in {"col", "row", "colgroup"}] == []
    boxes = [node for node in page.all("div") if node.attributes.get("class") == "box"]
    assert len(boxes) == len(tables)
    assert all(box.attributes["tabindex"] == "0" and box.attributes["aria-label"] for box in boxes)


def test_every_row_of_a_table_is_as_wide_as_its_head(html: str) -> None:
    for table in re.findall(r"<table.*?</table>", html, re.DOTALL):
        head, body = re.search(r"<thead>(.*?)</thead>", table, re.DOTALL), re.findall(r"<tr>(.*?)</tr>", table.split("<tbody>")[1])
        assert head
        first = re.findall(r"<th[^>]*>", head[1].split("</tr>")[0])
        width = sum(int(found[1]) if (found := re.search(r'colspan="(\d+)"', cell)) else 1 for cell in first)
        assert {len(re.findall(r"<t[hd][ >]", row)) for row in body} == {width}


def test_languages_and_directions_are_said(page: Page) -> None:
    assert page.all("html")[0].attributes["lang"] == "en"
    (arabic,) = [node for node in page.all("bdi") if node.attributes.get("lang") == "ar"]
    assert "h4" in arabic.inside
    assert [
        node for node in page.all("div") if node.attributes.get("class") == "text" and node.attributes.get("dir") != "auto"
    ] == []


def test_a_language_that_is_none_does_not_become_one(hostile: str) -> None:
    assert {node.attributes["lang"] for node in Page(hostile).nodes if "lang" in node.attributes} == {"en"}


def test_the_skip_link_comes_first(page: Page) -> None:
    first = page.all("a")[0]
    assert first.attributes["href"] == "#results"
    assert page.all("main")[0].attributes["id"] == "results"


def test_the_best_is_said_in_a_word(page: Page) -> None:
    cells = [node for node in page.all("td") if node.text.startswith("91\N{NO-BREAK SPACE}%")]
    assert any("best" in cell.text for cell in cells)


def test_nobody_is_the_best_where_all_are_alike(tmp_path: Path) -> None:
    alike = [replace(result, seconds=1.0, scores={"answer": 1.0}, failed=None) for result in sample_results({})]
    page = Page(report.html(make_run(tmp_path / "run", results=alike, retrieval=False)))
    assert [cell for cell in page.all("td") if "best" in cell.text] == []


def test_nobody_is_the_best_where_models_were_asked_different_cases(tmp_path: Path) -> None:
    one, *others = sample_results({})
    page = Page(report.html(make_run(tmp_path / "run", results=others)))
    assert one.case not in {other.case for other in others if other.model == one.model}
    (section,) = [node for node in page.all("section") if node.attributes.get("id") == "summary"]
    assert "The models were asked different cases" in section.text
    assert "best" not in section.text.replace("marked as best", "")


def test_limits_are_told_in_words(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    run.widen(replace(run.head, settings={"limits": {"steps": 10, "call_seconds": 60.0}, "today": "2026-10-15"}))
    facts = {node.text for node in Page(report.html(run)).all("dd")}
    assert {"steps 10, call seconds 60", "2026-10-15"} <= facts


def test_gates_that_fell_are_named_first(page: Page, tmp_path: Path) -> None:
    text = page.all("main")[0].text
    assert text.startswith("✗ 1 gate felloffline tool_choice is 0.727, want 0.9")
    run = make_run(tmp_path / "run")
    assert [node for node in Page(report.html(run)).nodes if node.attributes.get("id") == "gates"] == []
    assert "All gates held" in report.html(run, fallen=[])


def test_failures_are_linked_before_the_cases_and_the_worst_stand_first(page: Page) -> None:
    links = [node.text for node in page.all("a") if node.attributes["href"].startswith("#case-") and "nav" in node.inside]
    assert links == ["count", "largest", "absent", "which-one", "leitfaden", "arabic"]
    titles = [node.text for node in page.all("h3") if re.search(r"case", node.text)]
    assert [title.split(":")[0] for title in titles] == [
        "Failures",
        "Not finished",
        "Wrong",
        "Right, with faults on the way",
        "Right",
    ]


def test_every_case_is_there_with_its_calls(page: Page) -> None:
    shown = [node for node in page.all("details") if node.attributes.get("class", "").startswith("case")]
    assert sorted(node.text.count("Trace:") for node in shown) == [2] * len(ASKED)
    assert {question for *_, question, _ in ASKED} == {node.text for node in page.all("h4")}
    (invalid,) = [node for node in shown if "What did we spend" in node.text]
    assert 'refused or failed: "limit": got 500, want an integer from 1 to 50' in invalid.text


def test_what_fell_since_the_earlier_run_is_shown_case_by_case(page: Page) -> None:
    (section,) = [node for node in page.all("section") if node.attributes.get("id") == "changes"]
    assert "Tools right 100\N{NO-BREAK SPACE}% → 0\N{NO-BREAK SPACE}%" in section.text
    assert "query_table (answer) → keyword_search (answer)" in section.text
    assert "Fell: 9" in section.text
    assert "Rose" not in section.text


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    assert report.html(run) == report.html(run)


def test_a_run_without_results_is_a_page_that_says_so(tmp_path: Path) -> None:
    page = Page(report.html(make_run(tmp_path / "run", results=[], retrieval=False)))
    assert "Nothing has been scored yet." in page.all("main")[0].text
    assert page.all("svg") == []


def test_where_nothing_was_spent_there_is_a_table_and_no_plot_of_cost(tmp_path: Path) -> None:
    free = [result for result in sample_results() if result.model == "offline"]
    page = Page(report.html(make_run(tmp_path / "run", results=free, retrieval=False)))
    assert {node.attributes["aria-labelledby"] for node in page.all("svg")} == {"plot-quotes-title", "plot-latency-title"}
    assert any(node.text.startswith("Means a question") for node in page.all("caption"))


def test_the_file_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "run", name="with sk-or-0123456789abcdef in it")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-0123456789abcdef")
    report.write(run, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o600
    assert "with [key] in it" in (tmp_path / "report.html").read_text("utf-8")


def test_a_thousand_cases_with_long_texts_make_a_file_that_opens() -> None:
    long = replace(sample_results()[1], answer="long words " * 2000, question="why " * 2000)
    calls = [{**long.calls[0], "summary": "found " * 500, "arguments": {"query": "x" * 3000}}] * 30
    many = [replace(long, case=f"case {number}", calls=calls) for number in range(1000)]
    page = cases(many, {})
    assert len(page) < 25_000_000
    assert "more characters)" in page
    assert "6 more calls." in page
    assert page.count('class="case ') == 1000


def test_results_beyond_what_a_page_holds_are_counted() -> None:
    short = replace(sample_results({})[0], calls=(), citations=(), quotes=(), answer="yes", scores={})
    assert "3 more results are in the run" in cases([replace(short, case=str(number)) for number in range(4003)], {})


# The matrix of first tools


def made(expected: list[list[str]], *called: str, refused: str = "") -> Result:
    calls = [{"name": refused, "ok": False, "repeated": False}] if refused else []
    calls += [{"name": name, "ok": True, "repeated": False} for name in called]
    return Result("case", "offline", 1, expected={"tools": expected}, calls=calls)


@pytest.mark.parametrize(
    ("result", "pair"),
    [
        (made([["keyword_search"]], "keyword_search"), ("keyword_search", "keyword_search")),
        (made([["keyword_search"], ["hybrid_search"]], "hybrid_search"), ("hybrid_search", "hybrid_search")),
        (made([["keyword_search"], ["hybrid_search"]], "run_sql", "keyword_search"), ("keyword_search", "run_sql")),
        (made([["query_table|run_sql"]], "run_sql"), ("run_sql", "run_sql")),
        (made([["query_table"]], "query_table", refused="run_sql"), ("query_table", "query_table")),
        (made([["query_table"]], refused="run_sql"), ("query_table", "none valid")),
        (made([["query_table"]]), ("query_table", "no tool")),
        (made([[]]), ("no tool", "no tool")),
        (made([[]], "hybrid_search"), ("no tool", "hybrid_search")),
    ],
)
def test_expected_first_tool_against_the_one_called(result: Result, pair: tuple[str, str]) -> None:
    assert confusion([result]) == Counter([pair])


def test_a_case_that_expects_no_tool_in_particular_is_not_in_the_matrix() -> None:
    assert confusion([replace(made([]), expected={}), replace(made([["calculate"]]), failed="gone")]) == Counter()


def test_the_matrix_counts_what_stands_in_its_cells(page: Page) -> None:
    (caption,) = [node.text for node in page.all("caption") if node.text.startswith("offline: 9 of 11 first calls were right")]
    assert "82\N{NO-BREAK SPACE}%" in caption
    heat = [node for node in page.all("td") if node.attributes.get("class", "").startswith("heat ") and node.text[0].isdigit()]
    judged = [result for result in sample_results() if result.expected.get("tools") and not result.failed]
    assert sum(int(re.match(r"\d+?(?=\d+\N{NO-BREAK SPACE}%|$|[<>])", node.text)[0]) for node in heat) == len(judged)  # type: ignore[index]


# Verdicts, words, scales


@pytest.mark.parametrize(
    ("scores", "failed", "expected"),
    [
        ({"answer": 1.0, "tool_choice": None}, None, Verdict.RIGHT),
        ({"answer": 1.0, "tool_choice": 0.0}, None, Verdict.PARTLY),
        ({"answer": 0.5, "tool_choice": 1.0}, None, Verdict.WRONG),
        ({"abstention": 0.0}, None, Verdict.WRONG),
        ({}, None, Verdict.RIGHT),
        ({"answer": 1.0, "steps": 0.5}, None, Verdict.RIGHT),
        ({"answer": 1.0}, "no connection", Verdict.UNFINISHED),
    ],
)
def test_what_became_of_a_result(scores: dict[str, float | None], failed: str | None, expected: Verdict) -> None:
    assert verdict(Result("case", "offline", 1, scores=scores, failed=failed)) is expected


def test_a_case_is_as_bad_as_its_worst_result(page: Page) -> None:
    (unfinished,) = [
        node for node in page.all("details") if "Was bedeutet" in node.text and "case" in node.attributes.get("class", "")
    ]
    assert UNFINISHED[0] in MODELS
    assert unfinished.attributes["class"] == "case is-wrong"


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (percent, 1.0, "100 %"),
        (percent, 0.999, ">99 %"),
        (percent, 0.001, "<1 %"),
        (percent, 0.0, "0 %"),
        (seconds, 0.0804, "80 ms"),
        (seconds, 0.9996, "1.0 s"),
        (seconds, 120.0, "120 s"),
    ],
)
def test_figures_as_they_are_written(write: Callable[[float], str], value: float, text: str) -> None:
    assert write(value) == text.replace(" ", "\N{NO-BREAK SPACE}")


@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from([32.0, 46.0]))
def test_a_scale_keeps_values_in_order_inside_the_drawing(values: list[float], apart: float) -> None:
    scale = spanning(values, 14.0, 380.0)
    places = [scale(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(14.0 - 1e-6 <= place <= 380.0 + 1e-6 for place in places)
    ticks = scale.ticks(apart=apart)
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= 24


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (Scale(0.0, 1.0, 200.0, 0.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (Scale(1.0, 100.0, 40.0, 320.0, logarithmic=True), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]),
        (Scale(1.0, 1000.0, 40.0, 320.0, logarithmic=True), [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]),
    ],
)
def test_ticks_are_round(scale: Scale, ticks: list[float]) -> None:
    assert scale.ticks() == ticks


@given(st.lists(st.floats(0, 200), min_size=1, max_size=8))
def test_labels_do_not_stand_on_each_other(heights: list[float]) -> None:
    placed = _apart(heights)
    assert all(below - above >= 14.99 for above, below in pairwise(sorted(placed)))
    assert all(place >= height for place, height in zip(placed, heights, strict=True))


# Elements


@pytest.mark.parametrize(
    "make",
    [
        lambda: element("script", "alert(1)"),
        lambda: element("img", href="#x"),
        lambda: element("p", onclick="x"),
        lambda: element("p", style="color: red"),
        lambda: element("a", href="https://example.org"),
        lambda: element("a", href="javascript:alert(1)"),
        lambda: style("</style><script>"),
    ],
)
def test_what_a_report_has_no_use_for_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"report|style sheet"):
        make()


@given(st.text())
def test_any_text_stays_text(text: str) -> None:
    node, *others = Page(element("p", text, aria_label=text)).nodes
    assert others == []
    assert "<" not in str(element("p", text)).removeprefix("<p>").removesuffix("</p>")
    assert node.attributes.keys() == {"aria-label"}


# Colours

INK = ("ink", "soft", "accent", "good", "bad", "mixed")
GROUNDS = ("paper", "raised", "sunken")
HEATS = tuple(f"{kind}-{strength}" for kind in ("good", "bad") for strength in range(1, 5))
DRAWN = (*(f"series-{number}" for number in range(1, 7)), "edge")


def schemes() -> dict[str, dict[str, str]]:
    """The custom properties of the style sheet, in light, in dark and on paper."""
    light, *others = re.findall(r":root \{(.*?)\}", SHEET, re.DOTALL)
    found = {
        name: dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", text))
        for name, text in zip(("dark", "paper"), others, strict=True)
    }
    first = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", light))
    return {"light": first, **{name: first | changed for name, changed in found.items()}}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_worked_out_as_it_is_defined() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark", "paper"])
def test_text_has_the_contrast_of_aa_on_everything_that_it_stands_on(scheme: str) -> None:
    colours = schemes()[scheme]
    pairs = [(ink, ground) for ink in INK for ground in GROUNDS] + [("ink", heat) for heat in HEATS]
    assert {
        pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5
    } == {}


@pytest.mark.parametrize("scheme", ["light", "dark", "paper"])
def test_lines_marks_and_focus_have_the_contrast_of_graphics(scheme: str) -> None:
    colours = schemes()[scheme]
    pairs = [(drawn, ground) for drawn in (*DRAWN, "accent") for ground in ("paper", "raised")]
    assert {pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 3} == set()


def test_dark_names_every_colour_anew() -> None:
    light, dark = schemes()["light"], schemes()["dark"]
    assert [name for name in light if light[name] == dark[name]] == []


def test_every_class_is_styled_and_every_colour_is_named(html: str) -> None:
    classes = {name for node in Page(html).nodes for name in node.attributes.get("class", "").split()}
    assert {name for name in classes if f".{name}" not in SHEET} <= {"matrix"}
    assert set(re.findall(r"var\(--([a-z0-9-]+)\)", SHEET)) <= schemes()["light"].keys()
