"""What an index was made of: its sources, their documents and rows, and how the last run of each went."""

from collections.abc import Collection, Mapping
from typing import Any


def describe_sources(
    *,
    states: Mapping[str, Mapping[str, int]],
    rows: Mapping[str, Mapping[str, Any]],
    runs: Mapping[str, Mapping[str, Any]],
    under_way: Collection[str],
) -> dict[str, Any]:
    """Return each source by its name: documents by state, rows that readers see, and its last run.

    Args: runs: the last reports by source. under_way: names of leases that somebody holds.
    """
    return {
        name: {
            "documents": dict(states.get(name, {})),
            "rows": rows.get(name, {}),
            "last_run": last_run(runs.get(name), under_way=f"source:{name}" in under_way),
        }
        for name in source_names(states, rows, runs)
    }


def source_names(
    states: Collection[str], rows: Collection[str], runs: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return, in order, the sources of an index: with documents, with rows, or with a run that went wrong.

    Args: runs: the last reports by source.
    """
    return tuple(sorted({*states, *rows, *_unfinished(runs)} - {""}))


def _unfinished(runs: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Sources whose last run says why there is nothing of them; one that was dropped is no news."""
    return {name for name, run in runs.items() if run["state"] != "finished"}


def last_run(run: Mapping[str, Any] | None, *, under_way: bool) -> dict[str, Any] | None:
    """What a person asks of the last run of a source; one that ended without closing was interrupted."""
    if run is None:
        return None
    report = run["report"] or {}
    is_open = run["state"] == "running"
    return {
        "state": "interrupted" if is_open and not under_way else run["state"],
        "started_at": run["started_at"],
        "finished_at": run["finished_at"],
        "generation": report.get("generation"),
        "reason": None if is_open and under_way else report.get("reason"),
        "problems": len(problems := report.get("problems", [])),
        "problem_list": problems,
    }
