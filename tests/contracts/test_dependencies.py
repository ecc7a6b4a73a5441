"""What the packages import is what pyproject.toml asks for: a distribution that only the tests bring along is missing elsewhere."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN = {"search", "assistant"}
# Parts of what is asked for: sentence-transformers cannot be had without them, and their versions are its own to choose.
BROUGHT_ALONG = {"torch", "transformers", "huggingface_hub", "safetensors"}


def imported(package: str) -> set[str]:
    names: set[str] = set()
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.partition(".")[0])
    return names - OWN - BROUGHT_ALONG - set(sys.stdlib_module_names)


def asked_for() -> set[str]:
    listed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["parquet"]]
    return {Requirement(line).name.lower().replace("_", "-") for line in listed}


@pytest.mark.parametrize("package", sorted(OWN))
def test_every_import_is_of_a_distribution_that_is_asked_for(package: str) -> None:
    owners = packages_distributions()
    missing = {
        name: owners.get(name, [])
        for name in imported(package)
        if not {owner.lower().replace("_", "-") for owner in owners.get(name, [])} & asked_for()
    }
    assert not missing
