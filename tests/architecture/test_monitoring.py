"""The list of metrics, the dashboard and the alert rules, held against the catalogue and promtool."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from runtime.telemetry.catalogue import INDEX_METRICS, METRICS, SERVICE_METRICS, USAGE_METRICS, MetricType
from runtime.telemetry.prometheus import QuestionOutcome

REPO = Path(__file__).resolve().parents[2]
MONITORING = REPO / "deploy" / "monitoring"
REFERENCE = (REPO / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
HOW_TO = (REPO / "docs" / "how-to" / "watch-it.md").read_text(encoding="utf-8")
NAME = re.compile(r"\bsitegraph_[a-z_]+")
LABELS = re.compile(r"(sitegraph_[a-z_]+)\{([^}]*)\}")
SERIES = {
    metric.name + suffix
    for metric in METRICS
    for suffix in (("_bucket", "_sum", "_count") if metric.type is MetricType.HISTOGRAM else ("",))
}


def rows(name: str) -> list[list[str]]:
    """Cells of the tables of the reference whose first cell is a metric."""
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in REFERENCE.splitlines() if "|" in line
    ]
    return [row for row in cells if row and row[0].startswith(f"`{name}")]


def expressions() -> Iterator[tuple[str, str]]:
    """Every PromQL expression of the rules and the dashboard, with where it stands."""
    for rule in alerts():
        yield rule["alert"], rule["expr"]
    dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    for variable in dashboard["templating"]["list"]:
        yield variable["name"], variable.get("definition", "")
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["name"], annotation["expr"]


def alerts() -> list[dict[str, Any]]:
    """The alert rules."""
    groups = yaml.safe_load((MONITORING / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_the_reference_lists_every_metric_with_its_labels_and_meaning() -> None:
    told = {row[0].strip("`"): row for row in rows("sitegraph_")}

    assert set(told) == {metric.name for metric in METRICS}
    for metric in INDEX_METRICS:
        name, labels, meaning = told[metric.name]
        assert (re.findall(r"`([^`]+)`", labels), meaning) == ([*metric.labels], metric.help), name
    for metric in (*USAGE_METRICS, *SERVICE_METRICS):
        name, kind, labels, meaning = told[metric.name]
        assert kind == metric.type.value
        assert (re.findall(r"`([^`]+)`", labels), meaning) == ([*metric.labels], metric.help), name


def test_the_reference_lists_every_outcome_of_a_question() -> None:
    listed = REFERENCE.partition("`outcome` of a question")[2].partition("\n## ")[0]

    assert re.findall(r"^\| `([a-z_]+)` \|", listed, re.MULTILINE) == [one.value for one in QuestionOutcome]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_names_follow_the_conventions_of_prometheus(metric: Any) -> None:
    assert re.fullmatch(r"sitegraph_[a-z]+(_[a-z]+)*", metric.name)
    assert metric.name.endswith("_total") is (metric.type is MetricType.COUNTER)
    assert not re.search(r"_(ms|minutes|hours|kb|mb|percent)\b", metric.name)
    assert not {"url", "uri", "query", "question", "path"} & {*metric.labels}


def test_every_metric_that_rules_and_dashboard_name_exists_and_so_do_its_labels() -> None:
    labels = {metric.name: {*metric.labels, "index", "le"} for metric in METRICS}
    asked = set()
    for where, expression in expressions():
        for name in NAME.findall(expression):
            assert name in SERIES, f"{where}: {name}"
            asked.add(name)
        for name, inside in LABELS.findall(expression):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            known = labels[base if base in labels else name]
            assert {*re.findall(r"(\w+)\s*(?:=|!)", inside)} <= known, f"{where}: {inside}"
    for metric in METRICS:
        mine = {name for name in asked if name.startswith(metric.name)}
        unused = {"sitegraph_last_run_start_timestamp_seconds", "sitegraph_last_run_end_timestamp_seconds"}
        assert mine or metric.name in unused, f"{metric.name} is shown nowhere"


def test_the_how_to_has_a_line_on_every_alert_and_on_no_other() -> None:
    told = re.findall(r"^\| `(Sitegraph\w+)` \|", HOW_TO, re.MULTILINE)

    assert sorted(told) == sorted(rule["alert"] for rule in alerts())
    for rule in alerts():
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert {"summary", "description"} <= rule["annotations"].keys()


@pytest.mark.parametrize(
    ("panel", "alert"),
    [
        ("Publishing held", "SitegraphPublishingHeld"),
        ("Last run of each source", "SitegraphRunEndedBadly"),
        ("Index readable", "SitegraphIndexUnreadable"),
    ],
)
def test_a_panel_asks_what_the_alert_on_it_asks(panel: str, alert: str) -> None:
    """Else the dashboard shows what an old textfile says while the alert is silent, or the other way."""

    def bare(expression: str) -> str:
        """Without what is chosen on the dashboard, the states that alarm, and the comparison."""
        return re.sub(r"\{[^}]*\}| == [01]|\s+", "", expression)

    dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    asked = next(one["targets"][0]["expr"] for one in dashboard["panels"] if one["title"] == panel)
    rule = next(one["expr"] for one in alerts() if one["alert"] == alert)

    assert bare(asked) == bare(rule)


def test_every_alert_is_tested() -> None:
    tested = yaml.safe_load((MONITORING / "alerts.test.yml").read_text(encoding="utf-8"))["tests"]
    fired = {one["alertname"] for test in tested for one in test["alert_rule_test"] if one.get("exp_alerts")}

    assert fired == {rule["alert"] for rule in alerts()}


def test_panels_of_the_dashboard_have_ids_and_places_of_their_own() -> None:
    panels = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))["panels"]
    places = set()
    for panel in panels:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in places, panel["title"]
                places.add((x, y))
        assert place["x"] + place["w"] <= 24
    assert len({panel["id"] for panel in panels}) == len(panels)


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts.test.yml"),
        ("check", "config", "--syntax-only", "prometheus.yml"),
    ],
    ids=" ".join,
)
def test_promtool_accepts_rules_their_tests_and_the_scrape_configuration(arguments: tuple[str, ...]) -> None:
    done = _promtool(*arguments)

    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_parses_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    found = [t["expr"] for panel in dashboard["panels"] for t in panel.get("targets", ())]
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(found)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))

    done = _promtool("check", "rules", str(file))

    assert len(rules) > 20
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_finds_no_fault_in_names_and_help() -> None:
    lines = [
        line
        for metric in METRICS
        if metric.type is not MetricType.HISTOGRAM
        for line in (
            f"# HELP {metric.name} {metric.help}",
            f"# TYPE {metric.name} {metric.type.value}",
            metric.name + "{" + ",".join(f'{label}="x"' for label in ("index", *metric.labels)) + "} 1",
        )
    ]

    done = _promtool("check", "metrics", given="\n".join(lines) + "\n")

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def _promtool(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    return subprocess.run(
        [program, *arguments],
        cwd=MONITORING,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
