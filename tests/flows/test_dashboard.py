"""The dashboard and the alert rules over a real Prometheus that collects from a real `serve`."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.prefect_server import REPO, poll
from tests.fakes.prometheus_server import Prometheus, running_prometheus
from tests.fakes.running_service import served_pages
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.timeout(1800)]

PANELS = json.loads((REPO / "deploy" / "monitoring" / "dashboard.json").read_text())["panels"]
VARIABLES = {"$index": ".*", "$source": ".*", "$__rate_interval": "30s"}
QUIET = {"HTTP answers of the last run"}
"""Panels that have nothing to show of a source of files."""


@pytest.fixture(scope="module")
def collected(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """What Prometheus has of two pages of the manual, one broken file and questions by two doors."""
    folder = tmp_path_factory.mktemp("watched")
    notes = folder / "notes"
    notes.mkdir()
    for name in ("generations.md", "glossary.md"):
        (notes / name).write_bytes((REPO / "docs" / name).read_bytes())
    (notes / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    (folder / "notes.yaml").write_text("name: notes\nkind: files\nroots: [notes]\nfreshness: {slo: 24h}\n")
    sitegraph.run(folder / "notes.yaml", folder / "index")
    query = sitegraph.call("query", "What is a generation?", "--no-rerank", "--index", str(folder / "index"))
    assert query.returncode == 0, query.stderr
    with (
        served_pages(folder / "index", SITEGRAPH_METRICS_OPEN="1") as origin,
        running_prometheus(folder, targets=[origin.removeprefix("http://")]) as server,
    ):
        poll(lambda: asked_often(server, origin), timeout=300, what="a rate of questions")
        yield server


def asked_often(server: Prometheus, origin: str) -> float | None:
    """Ask once more; how many questions a second there were, once Prometheus knows."""
    ask(origin, "What is a generation?")
    return value(server, "sum(rate(sitegraph_questions_total[30s])) > 0")


def ask(origin: str, question: str) -> None:
    """Ask as a program does, which is counted and logged."""
    body = json.dumps({"query": question, "rerank": False}).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{origin}/retrieve", body, headers)) as answer:
        assert answer.status == 200


def value(server: Prometheus, expression: str) -> float | None:
    """The only value of an expression."""
    found = server.query(expression)
    return float(found[0]["value"][1]) if found else None


def queries(panel: dict[str, Any]) -> list[str]:
    """The expressions of a panel, with all of each variable chosen."""
    asked = []
    for target in panel["targets"]:
        expression = target["expr"]
        for name, chosen in VARIABLES.items():
            expression = expression.replace(name, chosen)
        asked.append(expression)
    return asked


@pytest.mark.parametrize(
    "panel", [one for one in PANELS if one["type"] != "row"], ids=lambda panel: str(panel["title"])
)
def test_each_panel_has_something_to_show(collected: Prometheus, panel: dict[str, Any]) -> None:
    if panel["title"] not in QUIET:
        poll(lambda: shown(collected, panel), timeout=60, what=f"all of {panel['title']}")
    else:
        assert shown(collected, panel) is None


def shown(server: Prometheus, panel: dict[str, Any]) -> bool | None:
    """Whether every query of a panel gives something."""
    return all(server.query(expression) for expression in queries(panel)) or None


def test_what_the_panels_show_is_what_the_index_is(collected: Prometheus) -> None:
    shown = {panel["title"]: queries(panel)[0] for panel in PANELS if panel["type"] == "stat"}

    assert value(collected, shown["Generation"]) == 1
    assert value(collected, shown["Index readable"]) == 1
    assert value(collected, shown["Publishing held"]) == 0
    assert 0 <= (value(collected, shown["Last publish"]) or -1) < 3600


def test_of_an_index_that_is_well_but_for_one_file_of_three_that_alarm_alone_is_raised(
    collected: Prometheus,
) -> None:
    rules = collected.rules()

    assert {rule["health"] for rule in rules} == {"ok"}
    assert {rule["name"] for rule in rules if rule["state"] != "inactive"} == {"SitegraphDocumentsFail"}
