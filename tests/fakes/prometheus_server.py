"""A real Prometheus (Debian's package prometheus) that collects what a service gives at /metrics."""

import json
import shutil
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakes.prefect_server import REPO, free_port, poll, running_process

RULES = REPO / "deploy" / "monitoring" / "alerts.yml"
START_SECONDS = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """A running server; `query` gives series as its API does: `metric`, and `value` or `values`."""

    url: str

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What an expression is now."""
        found: list[dict[str, Any]] = self._get("query", query=expression)["result"]
        return found

    def query_range(self, expression: str, *, start: float, end: float, step: float) -> list[dict[str, Any]]:
        """What an expression was from *start* to *end*, seconds since 1970, each *step* seconds."""
        asked = {"query": expression, "start": str(start), "end": str(end), "step": str(step)}
        found: list[dict[str, Any]] = self._get("query_range", **asked)["result"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        """The alert rules with their state and health."""
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def _get(self, path: str, **parameters: str) -> Any:
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.loads(answer.read())["data"]


@contextmanager
def running_prometheus(folder: Path, *, targets: Sequence[str], seconds: int = 1) -> Iterator[Prometheus]:
    """Collect from *targets*, HOST:PORT, every few *seconds*, and judge our alert rules, for the block."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("prometheus is needed")
    job = {"job_name": "sitegraph", "static_configs": [{"targets": list(targets)}]}
    every = {"scrape_interval": f"{seconds}s", "evaluation_interval": f"{seconds}s"}
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump({"global": every, "rule_files": [str(RULES)], "scrape_configs": [job]}))
    server = Prometheus(url=f"http://127.0.0.1:{(port := free_port())}")
    command = [program, f"--config.file={file}", f"--storage.tsdb.path={folder / 'data'}"]
    command.append(f"--web.listen-address=127.0.0.1:{port}")
    with running_process(command, environment={}, log=folder / "prometheus.log", grace=20):
        poll(
            lambda: _is_collecting(server, len(targets)), timeout=START_SECONDS, what="Prometheus to collect"
        )
        yield server


def _is_collecting(server: Prometheus, targets: int) -> bool | None:
    try:
        return len([one for one in server.query("up") if one["value"][1] == "1"]) == targets or None
    except OSError:
        return None
