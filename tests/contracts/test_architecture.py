"""The house: search/ knows no assistant, imports run downwards, public names are what __all__ says, modules stay readable."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import assistant
import search

ROOT = Path(__file__).parents[2]
FILES = sorted(path for package in ("search", "assistant") for path in (ROOT / package).rglob("*.py"))
LONGEST = 450


def module_name(file: Path) -> str:
    """The dotted name of a file."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in FILES}


def imported(tree: ast.AST, *, deferred: bool) -> Iterator[str]:
    """Modules of ours that a module imports; without `deferred` those alone that are imported while it is being imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif deferred or not (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_for_types(node)):
            yield from imported(node, deferred=deferred)


def is_for_types(node: ast.AST) -> bool:
    """Whether a node is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def packages_of(name: str) -> set[str]:
    """The packages that Python imports before a module."""
    return {name.rsplit(".", depth)[0] for depth in range(1, name.count(".") + 1)}


@pytest.mark.parametrize("name", [name for name in MODULES if name.split(".")[0] == "search"])
def test_search_never_imports_assistant(name: str) -> None:
    assert [other for other in imported(parsed(MODULES[name]), deferred=True) if other.split(".")[0] == "assistant"] == []


def test_imports_run_downwards() -> None:
    # `from search import readers` runs search/__init__ first: what that imports in turn must not lead back to the module that
    # holds the import. Python forgives this for submodules, so a package's own __init__ is left out of the order.
    graph = {
        name: {other for other in imported(parsed(file), deferred=False) if other in MODULES and other != name}
        for name, file in MODULES.items()
    }
    for name, others in graph.items():
        graph[name] = others - packages_of(name)
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"imports run in a circle: {' <- '.join(error.args[1])}")
    assert len(order) == len(MODULES)


def test_search_knows_no_model_and_no_terminal() -> None:
    barred = {"httpx", "ollama", "rich", "prompt_toolkit", "click"}
    found = {
        (name, other)
        for name, file in MODULES.items()
        if name.split(".")[0] == "search"
        for other in imported(parsed(file), deferred=True)
        if other.split(".")[0] in barred
    }
    assert found == set()


def test_assistant_knows_no_sql_but_that_of_its_own_history() -> None:
    users = {
        name.rpartition(".")[0]
        for name, file in MODULES.items()
        if name.split(".")[0] == "assistant" and "sqlite3" in set(imported(parsed(file), deferred=True))
    }
    assert users == {"assistant.history"}


@pytest.mark.parametrize("package", [search, assistant], ids=lambda package: package.__name__)
def test_the_public_names_are_there_and_no_others(package: object) -> None:
    names = getattr(package, "__all__", [])
    assert names == sorted(names, key=lambda name: (not name.isupper(), name)) or names == sorted(names)
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(package, name)] == []
    submodules = {module.name for module in pkgutil.iter_modules(package.__path__)}  # type: ignore[attr-defined]
    public = {name for name in vars(package) if not name.startswith("_")} - submodules - {"annotations", "TYPE_CHECKING"}
    assert public - set(names) == set()


@pytest.mark.parametrize("name", MODULES)
def test_every_module_can_be_imported_by_itself_and_says_what_it_is_for(name: str) -> None:
    importlib.import_module(name)
    documented = ast.get_docstring(parsed(MODULES[name]))
    assert documented
    assert len(documented.split()) >= 4


@pytest.mark.parametrize("name", MODULES)
def test_no_module_outgrows_a_readable_size(name: str) -> None:
    assert len(MODULES[name].read_text("utf-8").splitlines()) <= LONGEST
