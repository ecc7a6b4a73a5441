"""The report of a run as one page: nothing in it is loaded from anywhere, nothing in it runs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files

from assistant.evaluation import figures
from assistant.evaluation.comparing import compare
from assistant.evaluation.report.changes import changes
from assistant.evaluation.report.choices import choices
from assistant.evaluation.report.details import cases
from assistant.evaluation.report.effort import latency, quality_and_cost
from assistant.evaluation.report.elements import Markup, element, join, style
from assistant.evaluation.report.evidence import citations
from assistant.evaluation.report.overview import by_parts, facts, gates, summary
from assistant.evaluation.report.retrieval import retrieval
from assistant.evaluation.report.verdicts import Verdict, verdict
from assistant.evaluation.runs import Key, Result, Run

_CONTENTS = {
    "gates": "Gates",
    "summary": "Summary",
    "changes": "What changed",
    "parts": "By kind and language",
    "tools": "Tools",
    "citations": "Citations",
    "retrieval": "Retrieval",
    "cost": "Cost",
    "latency": "Latency",
    "cases": "Cases",
}


def html(run: Run, compared: Run | None = None, *, fallen: Sequence[str] | None = None) -> str:
    """A run as an HTML page. compared: an earlier run. fallen: the gates that were not met, in words; None where none was set.

    Raises UserError when a run's files cannot be read.
    """
    results = run.results
    models = list(dict.fromkeys([*run.head.models, *(result.model for result in results)]))
    comparison = compare(compared, run) if compared else None
    earlier = _earlier(compared, comparison.pairs) if compared and comparison else {}
    sections = {
        "gates": gates(fallen),
        "summary": summary(results, models),
        "changes": changes(comparison, results, earlier, compared.head) if compared and comparison else None,
        "parts": by_parts(results, models) if results else None,
        "tools": choices(results, models),
        "citations": citations(results, models),
        "retrieval": retrieval(figures.of_retrieval(run), figures.of_reranking(run)),
        "cost": quality_and_cost(results, models),
        "latency": latency(results, models),
        "cases": cases(results, earlier),
    }
    shown = {name: part for name, part in sections.items() if part is not None}
    title = f"{run.head.name}: evaluation"
    masthead = element(
        "header",
        element("p", "Archivist evaluation", class_="kicker"),
        element("h1", run.head.name),
        element("p", _in_short(results, models), class_="lead"),
        facts(run.head, results),
        class_="masthead",
    )
    links = [element("li", element("a", _CONTENTS[name], href=f"#{name}")) for name in shown]
    contents = element("nav", element("ul", links), class_="contents", aria_label="Contents")
    footer = element(
        "footer", f"Made by Archivist {run.head.archivist}. This page is one file: it loads nothing and runs no script."
    )
    skip = element("a", "Skip to the results", href="#results", class_="skip")
    body = element("body", skip, masthead, contents, element("main", shown.values(), id="results", tabindex=-1), footer)
    return f"<!DOCTYPE html>\n{element('html', _head(title), body, lang='en')}\n"


def _earlier(compared: Run, pairs: Mapping[str, str]) -> dict[Key, Result]:
    """The results of an earlier run by the question of the later run that each is compared with."""
    later = {was: now for now, was in pairs.items()}
    return {result.key._replace(model=later[result.model]): result for result in compared.results if result.model in later}


def _head(title: str) -> Markup:
    """The head: the policy stands before everything that it governs, and allows this one style sheet by its hash."""
    sheet = files("assistant.evaluation.report").joinpath("style.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(sheet.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        style(sheet),
    )


def _in_short(results: Sequence[Result], models: Sequence[str]) -> Markup:
    """One sentence: how many answers of each model are right."""
    parts = []
    for model in models:
        found = [verdict(result) for result in results if result.model == model]
        if found:
            right = sum(one >= Verdict.PARTLY for one in found)
            parts.append(f"{model}: {right} of {len(found)} right")
    return join(["; ".join(parts) or "No question has been finished yet", "."])


__all__ = ["html"]
