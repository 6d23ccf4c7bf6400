"""Every library that the code imports is a dependency, and a missing one is traced to the right extra."""

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from schemas.settings import EXTRAS, extra_of

REPO = Path(__file__).resolve().parents[2]
PACKAGES = ("flows", "indexes", "ingest", "retrieval", "runtime", "schemas", "sitegraph")
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BROUGHT = {
    "huggingface_hub": "tokenizers", "torch": "sentence_transformers",
    "transformers": "sentence_transformers",
    "tqdm": "sentence_transformers", "brotli": "httpx2", "backports": "httpx2", "starlette": "fastapi",
    "referencing": "jsonschema", "aiohttp": "s3fs", "botocore": "s3fs", "httpx": "prefect",
    "pydantic_core": "pydantic", "markupsafe": "jinja2", "mcp_types": "mcp",
}  # fmt: skip
"""Modules that a declared dependency depends on for us."""
OWN = re.compile(r"sitegraph\[(.*)\]")
FORMATS = REPO / "ingest" / "parse" / "formats"


def _imported(*, of_formats: bool = False) -> set[str]:
    """Modules of others that the code imports; those of formats, or of all else."""
    found: set[str] = set()
    files = (file for package in PACKAGES for file in (REPO / package).rglob("*.py"))
    for file in (file for file in files if file.is_relative_to(FORMATS) is of_formats):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - set(PACKAGES)


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


def _names(requirements: list[str]) -> set[str]:
    """What is asked for, by the extras of ours that are named there, too."""
    names = {_plain(re.split(r"[\[<>=!~; ]", line)[0]) for line in requirements}
    ours = [extra for line in requirements if (own := OWN.match(line)) for extra in own[1].split(",")]
    return names.union(*(_names(PROJECT["optional-dependencies"][extra]) for extra in ours))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_a_missing_module_names_an_extra_that_brings_it() -> None:
    assert [module for module in sorted(_imported()) if not _is_brought(module)] == []


def _is_brought(module: str) -> bool:
    """Whether the extra that is told of a missing module brings it, or the installation without extras."""
    declared = BROUGHT.get(module, module)
    distributions = {_plain(name) for name in _distributions().get(declared, [declared])}
    extra = extra_of(module)
    of_extra = _names(PROJECT["optional-dependencies"][extra]) if extra else set()
    return bool(distributions & (_names(PROJECT["dependencies"]) | of_extra))


def test_what_a_format_parses_with_comes_with_the_pipeline() -> None:
    # A document whose format lacks its library is told this extra, without a list of such libraries.
    pipeline = _names(PROJECT["optional-dependencies"]["pipeline"])
    modules = sorted(_imported(of_formats=True))

    assert modules
    assert [name for name in modules if not pipeline & set(map(_plain, _distributions()[name]))] == []


def test_every_extra_for_users_is_known_by_modules_that_it_brings() -> None:
    declared = PROJECT["optional-dependencies"]

    assert set(EXTRAS) == declared.keys() - {"dev", "demo", "manual"}
    assert all(extra_of(module) for modules in EXTRAS.values() for module in modules)
