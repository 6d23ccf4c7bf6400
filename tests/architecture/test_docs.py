"""What the manual and the README say, held against the code."""

import importlib
import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from docs.layers import draw, with_picture
from docs.navigation import nav_paths, read_settings
from flows.recrawl import index_source
from ingest.link.tool_evidence import WEIGHTS
from ingest.parse.tools.file import parse_tools
from ingest.sources.registry import OURS, kind_named
from schemas.cost import Cause
from schemas.documents import DocumentState, Outcome
from schemas.edges import EdgeKind, LinkPosition
from schemas.evidence import FILTER_FIELDS, Citation, ContextBundle, Evidence, Scores, ToolPlan
from schemas.nodes import NODE_TYPES, Chunk, RegionType
from schemas.report import RunReport
from schemas.settings import PREFIX, Settings
from schemas.source import Source, ToolFormat
from sitegraph.cli.app import COMMANDS

REPO = Path(__file__).resolve().parents[2]
DOCS = REPO / "docs"
PAGES = sorted(
    [
        REPO / "README.md",
        REPO / "CHANGELOG.md",
        REPO / "CONTRIBUTING.md",
        REPO / "deploy" / "runbook.md",
        *DOCS.rglob("*.md"),
    ]
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def _cells(page: str, column: int = 0) -> set[str]:
    """The code words in one column of all tables of a page."""
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("|")]
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row[column])}


def _names(cls: type[Any]) -> set[str]:
    return {field.name for field in fields(cls)}


def _blocks(language: str) -> list[tuple[str, str]]:
    found = [(page, block) for page in PAGES for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    return [(str(page.relative_to(REPO)), body) for page, (name, body) in found if name == language]


def test_every_make_target_that_is_documented_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPO / "Makefile").read_text(), re.MULTILINE))
    documented = {
        name for page in PAGES for name in re.findall(r"\bmake ([a-z-]+)\b(?=[`\s]*$|`|  )", page.read_text())
    }

    assert {"demo", "test", "help"} <= documented
    assert documented <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPO)))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    made_by_the_build = {"manual.pdf"}

    files = [link for link in links if "://" not in link and link not in made_by_the_build]
    assert [link for link in files if not (page.parent / link).exists()] == []


def test_every_page_of_the_manual_is_in_its_navigation() -> None:
    listed = list(nav_paths(read_settings(DOCS)["nav"]))

    assert len(listed) == len(set(listed))
    # `development/` is for those who change sitegraph, and is not built.
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert set(listed) == {page for page in pages if not page.startswith("development/")}


FLOORS_ON_THE_PAGE = {
    "headings found, in order": [("html", "postgresql.headings_in_order")],
    "entries of the printed index": [("html", "postgresql.index_targets")],
    "headings, recall and precision": [
        ("html", "wcxb.documentation.heading_recall"),
        ("html", "wcxb.documentation.heading_precision"),
    ],
    "HTML pages per CPU second": [("html", "postgresql.pages_per_cpu_second")],
    "heading paths of a PDF": [("pdf", "same_heading_path")],
    "bookmarks that are a heading": [("pdf", "outline_titles")],
    "tables found": [
        ("pdf", "table_region_recall"),
        ("pdf", "table_cell_recall"),
        ("pdf", "table_cell_precision"),
    ],
    "the same tables where the reports have an outline": [
        ("pdf", "outlined_table_region_recall"),
        ("pdf", "outlined_table_region_precision"),
        ("pdf", "outlined_table_cell_recall"),
        ("pdf", "outlined_table_cell_precision"),
    ],
    "reading order; tables": [("pdf", "olmocr_order"), ("pdf", "olmocr_table")],
    "chunk text found at its box": [("pdf", "text_at_bbox"), ("pdf", "text_at_bbox_of_reports")],
    "PDF pages per CPU second": [("pdf", "pages_per_cpu_second")],
    "precision, recall": [("tools", "flask-3.1.precision"), ("tools", "flask-3.1.recall")],
    "commands whose best edge": [("tools", "git.own_page")],
    "linked documents joined": [
        ("entities", "2wiki.linked_pairs_joined"),
        ("entities_at_most", "2wiki.random_pairs_joined"),
    ],
    "questions after relations": [("relationship", "right_of_60")],
}


@pytest.mark.parametrize("measured", FLOORS_ON_THE_PAGE)
def test_a_floor_on_the_page_about_quality_is_the_one_that_tests_hold(measured: str) -> None:
    rows = [line.split("|") for line in _read("quality.md").splitlines() if line.startswith(f"| {measured}")]
    floors = json.loads((REPO / "tests" / "quality" / "floors.json").read_text())

    told = [float(number) for number in re.findall(r"\d*\.?\d+", rows[0][4])]

    assert told == [floors[group][name] for group, name in FLOORS_ON_THE_PAGE[measured]]


def test_the_manual_has_one_list_of_gaps_and_readme_and_changelog_lead_to_it() -> None:
    gaps = re.compile(r"^#+ .*(?:\bgaps?\b|not (?:there|do) yet|limitations)", re.MULTILINE | re.IGNORECASE)
    lists = {str(page.relative_to(REPO)): gaps.findall(page.read_text(encoding="utf-8")) for page in PAGES}

    assert {page for page, found in lists.items() if found} == {"docs/index.md"}
    assert gaps.search(_read("index.md"))[0].lower() == "## what sitegraph does not do yet"  # type: ignore[index]
    for page in ("README.md", "CHANGELOG.md"):
        assert "(docs/index.md#what-sitegraph-does-not-do-yet)" in (REPO / page).read_text(encoding="utf-8")


def test_the_changelog_begins_with_the_version_of_the_project() -> None:
    version = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", (REPO / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert newest is not None
    assert newest[1] == version


@pytest.mark.parametrize(("page", "block"), _blocks("yml"))
def test_every_file_of_tools_that_is_shown_is_valid(page: str, block: str) -> None:
    assert parse_tools(block.encode(), source="x", path=page).nodes


def test_the_page_on_tools_has_every_format_and_every_evidence() -> None:
    formats, _, evidence = _read("tools.md").partition("## What explains a tool")
    documented = {
        kind: float(weight)
        for kind, weight in re.findall(
            r"^\| `([a-z ]+)` \|.*\| (\.\d+)(?: each)? \|$", evidence, re.MULTILINE
        )
    }

    assert _cells(formats) >= {form.value for form in ToolFormat}
    assert documented == {kind.value: weight for kind, weight in WEIGHTS.items()}


def test_the_source_file_reference_has_every_key_and_its_default() -> None:
    rows = [
        line.split("|")[1:-1]
        for line in _read("reference/source-file.md").splitlines()
        if line.startswith("| `")
    ]
    documented = {row[0].strip(" `"): row[2].strip() for row in rows}
    source = Source(name="x", kind="web")
    values = dict(_flatten(source))
    del values["kind_keys"]  # the pages of the kinds have them
    of_family = ("version", "version.all", "version.url", "version.title", "version.meta")
    values |= dict.fromkeys(of_family)

    assert set(documented) == set(values)
    for key, default in documented.items():
        if re.fullmatch(r"\d+", default):
            assert float(default) == values[key], key
        elif match := re.fullmatch(r"(\d+)([hd])", default):
            assert int(match[1]) * {"h": 3600, "d": 86400}[match[2]] == values[key], key


@pytest.mark.parametrize("kind", sorted(OURS))
def test_the_page_of_a_kind_has_its_keys_with_their_defaults(kind: str) -> None:
    keys = kind_named(kind).keys.model_fields
    page = _read(f"{kind}.md") if keys else ""
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| `")]
    documented = {row[0].strip(" `"): row[2].strip() for row in rows}

    assert set(documented) == set(keys)
    for name, default in documented.items():
        assert (default == "required") == keys[name].is_required(), name
        assert not default.isdigit() or int(default) == keys[name].default, name


def _flatten(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for field in fields(value):
        inner = getattr(value, field.name)
        if hasattr(inner, "__dataclass_fields__"):
            yield from _flatten(inner, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}", inner


def test_the_run_report_reference_has_every_field_outcome_and_cause() -> None:
    top, _, rest = _read("reference/run-report.md").partition("## Documents")
    documents, _, cost = rest.partition("## Cost")

    assert _cells(top) == _names(RunReport)
    assert _cells(documents) == {outcome.value for outcome in Outcome}
    assert _cells(cost) == {cause.value for cause in Cause}


def test_the_bundle_reference_has_every_field() -> None:
    top, _, rest = _read("reference/bundle.md").partition("## Evidence")
    passages, _, citations = rest.partition("## Citations")
    evidence, _, tools = passages.partition("## Tools")

    assert _cells(top) == _names(ContextBundle)
    assert _cells(evidence) == _names(Evidence)
    assert _names(Scores) <= _cells(evidence, 1)
    assert _cells(tools) == _names(ToolPlan)
    assert set(re.findall(r"`(\w+)`", citations)) == _names(Citation)


def test_the_rows_reference_has_every_field_of_a_row() -> None:
    render = importlib.import_module("retrieval.bundle.render")

    assert _cells(_read("reference/rows.md")) == set(render._ROW_FIELDS)


def test_the_export_reference_has_every_field_of_a_chunk() -> None:
    _, _, chunks = _read("reference/export.md").partition("## Chunks")

    assert _cells(chunks) == _names(Chunk)


def test_the_graph_reference_has_every_kind() -> None:
    page = _read("reference/graph.md")
    not_made_yet = {"alias_of"}

    nodes, _, edges = page.partition("## Edges")
    assert _cells(nodes) == {kind.value for kind in NODE_TYPES}
    assert _cells(edges) == {kind.value for kind in EdgeKind} - not_made_yet
    assert {f"`{region.value}`" for region in RegionType} <= set(re.findall(r"`\w+`", nodes))
    assert {f"`{position.value}`" for position in LinkPosition} <= set(re.findall(r"`\w+`", edges))


def test_the_recrawl_rules_name_every_state() -> None:
    table = _read("rules/recrawl.md").partition("## When to look again")[0]
    named = set(re.findall(r"^\| (\w+) \|", table, re.MULTILINE)) - {"state"}

    assert named == {state.value for state in DocumentState}


def test_the_querying_page_lists_every_filter() -> None:
    section = _read("querying.md").partition("## Filters")[2].partition("## ")[0]

    assert set(FILTER_FIELDS) <= set(re.findall(r"`(\w+)`", section))


def test_the_configuration_page_lists_the_settings() -> None:
    # `fault` is for tests.
    names = {f"{PREFIX}{name.upper()}" for name in _names(Settings) - {"fault"}}

    assert {cell for cell in _cells(_read("configuration.md")) if cell.startswith(PREFIX)} == names


def test_the_page_on_architecture_lists_every_room() -> None:
    table = _read("architecture.md").partition("## Rooms")[2].partition("\n## ")[0]
    packages = ("sitegraph", "runtime", "flows", "ingest", "schemas", "indexes", "retrieval")
    rooms = {
        str(module.parent.relative_to(REPO)) for name in packages for module in (REPO / name).rglob("*.py")
    }

    assert {row.split("`")[1] for row in table.splitlines() if row.startswith("| `")} == rooms


def test_the_picture_of_the_layers_is_drawn_from_the_import_law() -> None:
    page = _read("architecture.md")

    assert with_picture(page, draw((REPO / "pyproject.toml").read_text(encoding="utf-8"))) == page
    assert len(page.splitlines()) <= 150


def test_what_the_page_on_architecture_sends_changes_to_is_there() -> None:
    rows = _read("architecture.md").partition("## Where a change goes")[2].partition("## Rooms")[0]
    named = [name for name in re.findall(r"`([\w/]+(?:\.\w+)?)`", rows) if "/" in name]

    assert len(named) >= 10
    assert [name for name in named if not (REPO / name).exists()] == []


def test_the_glossary_names_classes_that_exist() -> None:
    named = re.findall(r"[cC]lass `(\w+)`|class\s+`(\w+)`", _read("glossary.md"))
    modules: list[ModuleType] = [
        importlib.import_module(f"schemas.{path.stem}") for path in (REPO / "schemas").glob("[a-z]*.py")
    ]

    classes = [first or second for first, second in named]
    assert len(classes) >= 6
    assert [name for name in classes if not any(hasattr(module, name) for module in modules)] == []


def test_the_page_on_events_has_every_event_and_what_each_says() -> None:
    events = importlib.import_module("flows.run.events")
    names = {value for name, value in vars(events).items() if name.isupper() and str(value).count(".") == 2}

    assert len(names) == 8
    assert {cell for cell in _cells(_read("reference/events.md")) if cell.startswith("sitegraph.")} >= names


def test_the_how_to_on_alarms_has_every_alarm() -> None:
    alarms = importlib.import_module("flows.deploy.alarms")
    shared = {one["name"] for one in alarms.alarms([], alarms.AlarmOptions())}

    assert _cells(_read("how-to/schedules-and-alarms.md")) >= {*shared, f"{alarms.NO_PUBLISH}NAME"}


def test_the_readme_shows_or_lists_every_command() -> None:
    readme = (REPO / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^(?:`|)sitegraph ([a-z][a-z-]+)(?= |`)", readme, re.MULTILINE)) - {
        "crawls"
    }  # prose
    sentence = readme.partition("lists the other commands: ")[2].partition(".\n")[0]
    listed = set(re.findall(r"`([a-z-]+)`", sentence))

    assert shown | listed == COMMANDS.keys()
    assert not shown & listed


def test_the_readme_lists_every_extra_for_users() -> None:
    extras = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    table = (
        (REPO / "README.md").read_text(encoding="utf-8").partition("| extra | for |")[2].partition("\n\n")[0]
    )

    assert _cells(table) == extras.keys() - {"dev", "manual"}


def test_the_operations_page_lists_every_parameter_of_the_flow() -> None:
    listed = _read("operations.md").partition("Parameters of the flow are ")[2].partition(";")[0]

    assert re.findall(r"`([a-z]+)`", listed) == list(inspect.signature(index_source.fn).parameters)
