"""What a terminal shows of a run and of a comparison: plain lines of at most 80 columns.

A figure stands with the 95 % interval of its mean: 0.912 [.860 .953].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assistant import render
from assistant.evaluation import figures
from assistant.evaluation.cases import Case
from assistant.evaluation.comparing import Change, Comparison
from assistant.evaluation.costs import Estimated
from assistant.evaluation.models import Model
from assistant.evaluation.runs import Result, Run
from assistant.evaluation.scoring import MEASURES, QUALITY, SPENT
from assistant.evaluation.statistics import Difference, Estimate
from search.counting import counted
from search.evaluation import MEASURES as RETRIEVAL

WIDTH = 80
_LABEL, _COLUMN = 19, 20
_WRONG = 12  # cases that are named
_CHANGED = 30

Table = Mapping[str, Mapping[str, str]]


def of_run(run: Run) -> list[str]:
    """The head, the searches' figures, the models' figures, those by kind, and the cases that went wrong."""
    library = run.head.library
    head = f"{run.head.name}: {counted(len(run.cases), 'case')}"
    head += f", {run.head.repeats} times" if run.head.repeats > 1 else ""
    for name in ("document", "passage"):
        number = library.get(f"{name}s")
        head += f", {counted(number, name)}" if isinstance(number, int) and number else ""
    lines = [_cut(head)]
    searches = {
        mode: _shown({measure: found[measure] for measure in RETRIEVAL if measure in found})
        for mode, found in figures.of_retrieval(run).items()
    }
    lines += _table("search", searches)
    lines += of_reranking(run)
    models = {model: _shown(found) for model, found in figures.of_models(run).items()}
    lines += _table("model", {model: found for model, found in models.items() if found}, MEASURES)
    return [*lines, *_by_kind(run), *_wrong(run)]


def of_reranking(run: Run) -> list[str]:
    """What reading the best hits again gains, and what it takes, below an empty line; nothing where that was not measured."""
    found = figures.of_reranking(run)
    if found is None:
        return []
    gain = found.gain
    figure = f"{found.measure} {gain.mean:+.3f} [{gain.low:+.3f} {gain.high:+.3f}] over hybrid"
    return ["", _cut(f"reranked: {figure}, {found.after:.0f} ms a question against {found.before:.0f}")]


def _shown(found: figures.Figures) -> dict[str, str]:
    return {measure: _figure(measure, one) for measure, one in found.items()}


def _figure(measure: str, one: Estimate) -> str:
    if measure == "cost":
        return f"${one.mean:.5f}" if one.mean else "$0"
    if measure in SPENT:
        digits = 0 if measure == "tokens" else 1
        return f"{one.mean:,.{digits}f}"
    return f"{one.mean:.3f} [{_short(one.low)} {_short(one.high)}]"


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if 0 <= value < 0.9995 else f"{value:.2f}"


def _table(what: str, columns: Table, order: Sequence[str] = ()) -> list[str]:
    """Measures as rows, in an order where it is given; as many columns beside each other as 80 characters hold, the rest below."""
    lines: list[str] = []
    names = list(columns)
    room = (WIDTH - _LABEL) // _COLUMN
    for at in range(0, len(names), room):
        shown = names[at : at + room]
        rows = list(dict.fromkeys(row for name in shown for row in columns[name]))
        rows.sort(key=lambda row: order.index(row) if row in order else len(order))
        lines += ["", f"{what:<{_LABEL}}" + "".join(f"{_name(name):<{_COLUMN}}" for name in shown).rstrip()]
        lines += [f"{_cut(row, _LABEL - 1):<{_LABEL}}" + _cells(row, [columns[name] for name in shown]) for row in rows]
    return lines


def _cells(row: str, columns: Sequence[Mapping[str, str]]) -> str:
    return "".join(f"{column.get(row, '-'):<{_COLUMN}}" for column in columns).rstrip()


def _name(text: str) -> str:
    """A model's name in a column: the end tells models of one provider apart."""
    text = render.one_line(text)
    return text if len(text) < _COLUMN else "…" + text[-(_COLUMN - 2) :]


def _by_kind(run: Run) -> list[str]:
    """The share of right answers, or of right tools where no answer is expected, by kind of question."""
    kinds = sorted({case.kind for case in run.cases if case.kind})
    if len(kinds) < 2:
        return []
    columns: dict[str, dict[str, str]] = {}
    for model in run.head.models:
        found = {kind: figures.of_model(run, model, kind) for kind in kinds}
        shown = {kind: each.get("answer") or each.get("tool_choice") for kind, each in found.items()}
        columns[model] = {kind: f"{one.mean:.3f} of {one.count}" for kind, one in shown.items() if one is not None}
    return _table("answer by kind", {model: column for model, column in columns.items() if column}, kinds)


def _wrong(run: Run) -> list[str]:
    """The questions with a wrong answer or wrong tools, the first dozen by name."""
    wrong = [result for result in run.results if result.failed or _missed(result)]
    lines = ["", f"not right: {counted(len(wrong), 'question')}"] if wrong else []
    for result in wrong[:_WRONG]:
        why = f"failed: {result.failed}" if result.failed else ", ".join(_missed(result))
        model = f" {_name(result.model)}" if len(run.head.models) > 1 else ""
        lines.append(_cut(f"  {result.case}{model}: {why} - {result.question}"))
    return [*lines, f"  and {len(wrong) - _WRONG} more"] if len(wrong) > _WRONG else lines


def _missed(result: Result) -> list[str]:
    """The measures of a result that are not whole, those aside that only tell of a detour."""
    kept = [name for name in QUALITY if name not in {"valid_calls", "recovered", "citation_precision", "tool_order"}]
    return [name for name in kept if (result.scores.get(name) or 0.0) < 1 and result.scores.get(name) is not None]


def of_comparison(found: Comparison, earlier: str) -> list[str]:
    """The differences by model and search mode, then case by case what changed, the worse first."""
    lines = [_cut(f"compared with {earlier}")]
    for who, differences in found.differences.items():
        moved = {measure: one for measure, one in differences.items() if one.better or one.worse}
        lines += ["", _cut(f"{who}: " + ("" if moved else "no difference"))]
        lines += [_difference(measure, one) for measure, one in moved.items()]
    worse = [change for change in found.changes if change.worse]
    better = [change for change in found.changes if not change.worse]
    for title, changes in (("worse", worse), ("better", better)):
        lines += ["", f"{title}: {counted(len({(one.who, one.case) for one in changes}), 'case')}"] if changes else []
        lines += [line for change in changes[:_CHANGED] for line in _change(change)]
        lines += [f"  and {counted(len(changes) - _CHANGED, 'more change')}"] if len(changes) > _CHANGED else []
    if found.alone:
        lines += ["", _cut(f"in one run only: {', '.join(found.alone)}")]
    return lines


def _difference(measure: str, one: Difference) -> str:
    digits = 5 if measure == "cost" else 3
    sign = "" if one.certain else " (may be chance)"
    more, less = ("higher", "lower") if measure in SPENT else ("better", "worse")
    counts = f"{one.better} {more}, {one.worse} {less} of {one.count}"
    return _cut(f"  {measure:<18} {one.mean:+.{digits}f} [{one.low:+.{digits}f} {one.high:+.{digits}f}]  {counts}{sign}")


def _change(change: Change) -> list[str]:
    line = f"  {change.case}  {_name(change.who)} {change.measure} {change.before:.3f} -> {change.after:.3f}"
    lines = [_cut(line), _cut(f"      {change.question}")]
    if change.was != change.now:
        lines.append(_cut(f"      {change.was} -> {change.now}"))
    return lines


def of_estimates(estimates: Sequence[Estimated]) -> list[str]:
    """What is about to be asked, and what it will cost, as well as that is known."""
    lines = []
    for one in estimates:
        how = " by what it has cost so far" if one.from_results else ""
        lines.append(_cut(f"{one.model}: {counted(one.questions, 'question')} to ask, {_cost(one.total)}{how}"))
    return lines


def of_unrecorded(models: Sequence[Model], cases: Sequence[Case]) -> list[str]:
    """Which cases a replayed model is not asked, for want of a recording."""
    lines = []
    for model in models:
        without = [case.id for case in cases if not model.answers(case.id, 1)]
        if without:
            lines.append(_cut(f"{model.name}: no recording of {counted(len(without), 'case')}: {', '.join(without)}"))
    return lines


def _cost(total: float | None) -> str:
    if total is None:
        return "the price is not known"
    return f"about ${total:.{4 if total < 1 else 2}f}" if total else "no cost"


def _cut(text: str, width: int = WIDTH) -> str:
    """A harmless line of at most so many characters; its indentation stays."""
    indent = text[: len(text) - len(text.lstrip())]
    line = indent + render.one_line(text)
    return line if len(line) <= width else line[: width - 1] + "…"
