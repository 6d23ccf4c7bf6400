"""A dashboard of Grafana's as one page: its panels where it places them, drawn as SVG. No server in sight."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

COLUMN, ROW, GAP = 50, 30, 8
"""Pixels of a cell of Grafana's grid of 24 columns, and between panels."""

COLOURS = ("#3274d9", "#e0752d", "#299c46", "#a352cc", "#d44a3a", "#0a9ea4", "#b8860b", "#6e7077")
STYLE = """
body{margin:12px;font:13px system-ui,sans-serif;color:#24292e;background:#f4f5f7;width:1208px}
main{position:relative}
section{position:absolute;box-sizing:border-box;padding:6px 10px;overflow:hidden}
section{background:#fff;border:1px solid #d8dbe0}
h2{margin:0;font-size:13px}h1{position:absolute;margin:0;font-size:14px}
.value{font-size:28px;text-align:center;margin:10px 0}
.key{font-size:11px;margin-right:10px;white-space:nowrap}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:2px 8px 2px 0;border-bottom:1px solid #e4e6ea}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A series by its legend: times in seconds, and values."""

    name: str
    times: tuple[float, ...]
    values: tuple[float, ...]
    labels: Mapping[str, str]


def dashboard_page(panels: Sequence[tuple[Mapping[str, Any], Sequence[Line]]]) -> str:
    """Lay the panels out, each with what its queries gave, as an HTML page that loads nothing."""
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel, _ in panels) * (ROW + GAP)
    placed = "".join(_placed(panel, lines) for panel, lines in panels)
    return f'<meta charset="utf-8"><style>{STYLE}</style><main style="height:{height}px">{placed}</main>'


def legend(form: str, labels: Mapping[str, str]) -> str:
    """Fill Grafana's `{{label}}` in."""
    for name, value in labels.items():
        form = form.replace(f"{{{{{name}}}}}", value)
    return form


def with_unit(value: float, unit: str) -> str:
    """A number as a person reads it, by Grafana's names of units."""
    if unit == "s":
        for name, size in (("days", 86_400), ("hours", 3_600), ("min", 60)):
            if abs(value) >= size:
                return f"{value / size:.1f} {name}"
        return f"{value:.1f} s" if abs(value) >= 1 or not value else f"{value * 1000:.0f} ms"
    if unit == "bytes":
        for name, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
            if abs(value) >= size:
                return f"{value / size:.1f} {name}"
    return f"{value:.0%}" if unit == "percentunit" else f"{value:.4g}"


def _placed(panel: Mapping[str, Any], lines: Sequence[Line]) -> str:
    at = panel["gridPos"]
    left, top = at["x"] * COLUMN, at["y"] * (ROW + GAP)
    width, height = at["w"] * COLUMN - GAP, at["h"] * (ROW + GAP) - GAP
    title = escape(panel["title"])
    if panel["type"] == "row":
        return f'<h1 style="left:{left}px;top:{top + GAP}px">{title}</h1>'
    draw = {"stat": _stat, "table": _table}.get(panel["type"], _chart)
    style = f"left:{left}px;top:{top}px;width:{width}px;height:{height}px"
    body = draw(panel, lines, width, height) if lines else '<p class="value">–</p>'
    return f'<section style="{style}"><h2>{title}</h2>{body}</section>'


def _unit(panel: Mapping[str, Any]) -> str:
    return str(panel["fieldConfig"]["defaults"].get("unit", "short"))


def _stat(panel: Mapping[str, Any], lines: Sequence[Line], *_: int) -> str:
    value = lines[0].values[-1]
    mapped = {
        key: named["text"]
        for mapping in panel["fieldConfig"]["defaults"].get("mappings", ())
        for key, named in mapping["options"].items()
    }
    return f'<p class="value">{escape(mapped.get(f"{value:g}") or with_unit(value, _unit(panel)))}</p>'


def _table(_: Mapping[str, Any], lines: Sequence[Line], *__: int) -> str:
    states = {line.labels["source"]: line.labels["state"] for line in lines if "state" in line.labels}
    ages = {line.labels["source"]: line.values[-1] for line in lines if "state" not in line.labels}
    rows = "".join(
        f"<tr><td>{escape(source)}</td><td>{escape(state)}</td><td>{with_unit(ages[source], 's')}</td></tr>"
        for source, state in sorted(states.items())
        if source in ages
    )
    return f"<table><tr><th>source</th><th>state</th><th>since success</th></tr>{rows}</table>"


def _chart(panel: Mapping[str, Any], lines: Sequence[Line], width: int, height: int) -> str:
    inside, tall = width - 90, height - 78
    start, end = min(line.times[0] for line in lines), max(line.times[-1] for line in lines)
    top = max((value for line in lines for value in line.values), default=0.0) or 1.0
    drawn, keys = [], []
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(
            f"{60 + inside * (time - start) / ((end - start) or 1):.1f},{6 + tall * (1 - value / top):.1f}"
            for time, value in zip(line.times, line.values, strict=True)
        )
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        keys.append(f'<span class="key" style="color:{colour}">■ {escape(line.name)}</span>')
    for part in (0.0, 0.5, 1.0):
        y = 6 + tall * (1 - part)
        drawn.append(f'<line x1="60" x2="{60 + inside}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e6ea"/>')
        text = escape(with_unit(top * part, _unit(panel)))
        drawn.append(f'<text x="54" y="{y + 4:.1f}" font-size="10" text-anchor="end">{text}</text>')
    return f'<svg width="{width - 20}" height="{tall + 14}">{"".join(drawn)}</svg><div>{" ".join(keys)}</div>'
