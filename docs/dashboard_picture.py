"""Take the picture of the dashboard that the manual shows: a real `serve`, a real Prometheus, some questions.

python -m docs.dashboard_picture INDEX [docs/images] [--minutes 4]

Grafana is not needed: docs/panels.py draws what the queries of deploy/monitoring/dashboard.json give.
"""

import argparse
import itertools
import json
import math
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from docs.panels import Line, dashboard_page, legend
from docs.screenshots import small_png
from tests.fakes.chromium import chromium, watched_page
from tests.fakes.prometheus_server import Prometheus, running_prometheus
from tests.fakes.running_service import served_pages

DASHBOARD = Path(__file__).parents[1] / "deploy" / "monitoring" / "dashboard.json"
QUESTIONS = (
    "What is a generation?",
    "How do I roll back?",
    "zygomorphic flux",
    "Which states has a document?",
)
VARIABLES = {"$index": ".*", "$source": ".*", "$__rate_interval": "1m"}
POINTS = 80


def main() -> None:
    """Serve, collect, ask for some minutes, draw, take the picture."""
    parser = argparse.ArgumentParser(description="Picture of the dashboard.")
    parser.add_argument("index", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent / "images")
    parser.add_argument("--minutes", type=float, default=4)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as work,
        served_pages(options.index, SITEGRAPH_METRICS_OPEN="1") as origin,
        running_prometheus(Path(work), targets=[origin.removeprefix("http://")], seconds=5) as server,
        chromium() as browser,
        watched_page(browser) as watched,
    ):
        start = time.time()
        _ask(origin, until=start + options.minutes * 60)
        watched.page.set_content(dashboard_page(list(_panels(server, start, time.time()))))
        picture = small_png(watched.page.screenshot(full_page=True))
        (options.folder / "dashboard.png").write_bytes(picture)


def _ask(origin: str, *, until: float) -> None:
    """Ask again and again, more and less often."""
    for number, question in enumerate(itertools.cycle(QUESTIONS)):
        if time.time() > until:
            return
        body = json.dumps({"query": question, "rerank": False}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{origin}/retrieve", body, headers)
        # A busy machine answers 504, which is a line of the dashboard as well.
        with suppress(urllib.error.HTTPError), urllib.request.urlopen(request) as answer:
            answer.read()
        time.sleep(0.5 + abs(math.sin(number / 20)))


def _panels(
    server: Prometheus, start: float, end: float
) -> Iterator[tuple[Mapping[str, Any], Sequence[Line]]]:
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        lines = [line for target in panel.get("targets", ()) for line in _lines(server, target, start, end)]
        yield panel, lines


def _lines(server: Prometheus, target: Mapping[str, Any], start: float, end: float) -> Iterator[Line]:
    expression = target["expr"]
    for name, chosen in VARIABLES.items():
        expression = expression.replace(name, chosen)
    for one in server.query_range(expression, start=start, end=end, step=(end - start) / POINTS):
        points = [(float(at), float(value)) for at, value in one["values"] if value not in ("NaN", "+Inf")]
        if points:
            times, values = zip(*points, strict=True)
            name = legend(target.get("legendFormat", ""), one["metric"])
            yield Line(name=name, times=times, values=values, labels=one["metric"])


if __name__ == "__main__":
    main()
