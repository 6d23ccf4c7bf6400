"""The dashboard drawn without Grafana: every panel in its place, values as a person reads them."""

import json
from pathlib import Path

import pytest
from lxml import html

from docs.panels import Line, dashboard_page, legend, with_unit

REPO = Path(__file__).resolve().parents[3]
PANELS = json.loads((REPO / "deploy" / "monitoring" / "dashboard.json").read_text(encoding="utf-8"))["panels"]


def line(*values: float, **labels: str) -> Line:
    times = tuple(float(number) for number in range(len(values)))
    return Line(name=labels.get("source", "all"), times=times, values=values, labels=labels)


def test_every_panel_of_the_dashboard_is_there_under_its_title_and_none_lies_on_another() -> None:
    page = html.fromstring(dashboard_page([(panel, []) for panel in PANELS]))

    titles = [one.text for one in page.iter("h1", "h2")]
    assert titles == [panel["title"] for panel in PANELS]
    assert len({one.get("style") for one in page.iter("section")}) == len(list(page.iter("section")))


def test_a_chart_has_a_line_and_a_legend_for_each_series_and_shows_names_as_text() -> None:
    panel = next(one for one in PANELS if one["title"] == "Share within the SLO")
    page = html.fromstring(
        dashboard_page([(panel, [line(0.5, 1.0, source="<b>notes</b>"), line(1.0, 1.0, source="wiki")])])
    )

    assert len(list(page.iter("polyline"))) == 2
    assert [one.text for one in page.iter("span")] == ["■ <b>notes</b>", "■ wiki"]


def test_a_value_that_has_a_name_is_shown_by_it() -> None:
    panel = next(one for one in PANELS if one["title"] == "Publishing held")

    for value, shown in ((0.0, "no"), (1.0, "held")):
        page = html.fromstring(dashboard_page([(panel, [line(value)])]))
        assert [one.text for one in page.iter("p")] == [shown]


def test_the_last_run_of_each_source_is_a_row() -> None:
    panel = next(one for one in PANELS if one["type"] == "table")
    lines = [line(1.0, source="wiki", state="finished"), line(7_200.0, source="wiki")]

    page = html.fromstring(dashboard_page([(panel, lines)]))

    assert [one.text for one in page.iter("td")] == ["wiki", "finished", "2.0 hours"]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, "s", "0.0 s"),
        (0.0421, "s", "42 ms"),
        (5.0, "s", "5.0 s"),
        (90_000.0, "s", "1.0 days"),
        (1_572_864.0, "bytes", "1.5 MiB"),
        (12.0, "bytes", "12"),
        (0.5, "percentunit", "50%"),
        (1_234.0, "short", "1234"),
    ],
)
def test_numbers_are_written_with_their_unit(value: float, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


def test_a_legend_has_the_labels_filled_in() -> None:
    assert legend("{{source}} p{{percentile}}", {"source": "wiki", "percentile": "95"}) == "wiki p95"
